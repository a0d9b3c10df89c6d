/* The mapper `optimal`: some descents give a mapping to beat. Every spread of the spatial loops has a quick
 * lower bound; those below the best are looked at in the order of that bound: a sweep over tiles bounds them
 * closer, and if need be a walk prices every mapping that the sweep cannot rule out. When no spread is left
 * the best is optimal. Everything is compared with the best less one part in 10^11, for rounding. */
#include "engines/optimal/optimal_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/baseline/baseline.h"
#include "engines/driver/driver.h"
#include "engines/driver/engine_fit.h"
#include "engines/driver/price_memo.h"
#include "engines/mapspace/mapspace_descent.h"
#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_project.h"
#include "engines/optimal/optimal_places.h"
#include "engines/optimal/optimal_prefix.h"
#include "engines/optimal/optimal_spreads.h"
#include "engines/optimal/optimal_walk.h"

enum { OPTION_STARTS, OPTION_BYPASS, N_OPTION };
enum { STEP_BLOCKS = 200, STEP_SPREADS = 20000, STEP_TILES = 20, SPREAD_ROOM = 1024 };
enum { WALK_TILES = 1000, SPLIT_MAX = 40, SHARE_ROUNDS = 3 };

static const struct engine_option option[N_OPTION] = {
    {"starts", "descents that look for a mapping to beat before the proof begins; 0: one random mapping",
     "descent", OPTION_INTEGER, 24, 0, 1e6, NULL},
    BASELINE_OPTION_BYPASS,
};

/* Of rounding, in costs that the relaxed prices are compared with. */
static const double slack = 1e-11;
/* Delays that differ less are not taken apart. */
static const double narrow = 1.02;

struct spread_entry {
    double cost; /* its quick bound */
    uint32_t choice;
    uint16_t place[ARCH_LEVEL_MAX];
};

enum phase { PHASE_START, PHASE_SPREADS, PHASE_SWEEP, PHASE_WALK, PHASE_SPLIT };

/* Mappings that take so many cycles, without latencies. */
struct delays {
    double from, to;
};

struct state {
    struct engine_context *context;
    const struct mapspace *space;
    enum phase phase;
    /* start */
    struct random_stream stream;
    struct price_memo memo;
    struct descent descent;
    struct priced_mapping now;
    uint64_t n_start;
    bool descending;
    /* proof */
    struct optimal_model model;
    struct optimal_price price[OPTIMAL_PRICE_MAX];
    uint32_t n_price;
    struct optimal_spreads spreads;
    struct optimal_prefixes prefixes;
    double decided[ARCH_LEVEL_MAX]; /* joules of a prefix whose next level is this one */
    double least_cycles;            /* of all mappings, without latencies */
    struct spread_entry *entry;     /* (n_entry) lowest cost first, once all are there */
    uint32_t n_entry, room, at;
    uint32_t choice, n_choice;    /* of what the levels keep: the model's, and how many there are */
    struct optimal_spread spread; /* the present one */
    struct optimal_places places;
    struct optimal_place (*menu)[OPTIMAL_PLACE_MAX]; /* (n_level, n_menu of the level) its places */
    uint32_t n_menu[ARCH_LEVEL_MAX], pick[ARCH_LEVEL_MAX];
    bool begun, delayed; /* the menus are there, the cycles are known */
    struct optimal_watch watch;
    struct optimal_sweep *sweep, *words;
    struct optimal_walk *walk;
    double delay;                     /* cycles that its mappings take at least, without latencies */
    double energy_j;                  /* joules */
    double swept;                     /* cost of its mappings at least; 0 before the sweep */
    double cycles[OPTIMAL_PRICE_MAX]; /* (n_price) what each bandwidth needs at least */
    uint32_t limiting;                /* the price with most of these, 0: none */
    uint32_t n_tile;                  /* tiles that the walk has seen */
    bool mixed;                       /* it goes by a mixed price, of 1 for what is as good as the best */
    uint32_t n_split;
    struct delays split[SPLIT_MAX]; /* (n_split) still to be looked at, the last first */
};

static const struct objective *objective_of(const struct state *state)
{
    return &engine_context_task(state->context)->objective;
}

/* `cycles` without latencies. */
static double cost_of(const struct state *state, double energy_j, double cycles)
{
    return objective_cost_of(objective_of(state), energy_j * (1 - 1e-12),
                             (cycles + (double)state->model.latency) / state->model.arch->clock_hz);
}

/* Is nothing of this cost, or above, worth looking at? */
static bool is_beaten(const struct state *state, double cost)
{
    return cost >= engine_context_best_cost(state->context) * (1 - slack);
}

/* Cycles of so many words' time; the evaluator rounds up after two divisions. */
static double whole_cycles(double cycles)
{
    return ceil(cycles * (1 - 1e-12));
}

/* ---------------------------------------- start */

static void start_step(struct state *state)
{
    struct misfit_info fit;
    const uint64_t n = (uint64_t)engine_context_option(state->context, OPTION_STARTS);
    for (uint32_t i = 0; i < STEP_BLOCKS && engine_context_left(state->context) > 0; i++) {
        if (state->descending) {
            state->descending = descent_block(&state->descent, price_memo_price, &state->memo);
            continue;
        }
        if (state->n_start > n || (state->n_start == n && n > 0)) {
            state->phase = PHASE_SPREADS;
            return;
        }
        uint64_t n_rejected = 0;
        const bool valid =
            mapspace_draw(state->space, &state->stream, &state->now.mapping, &n_rejected, &fit);
        engine_context_reject(state->context, n_rejected, valid ? NULL : &fit);
        if (valid && n > 0 && state->n_start % 2 == 0)
            mapspace_pour(state->space, &state->stream, &state->now.mapping);
        state->n_start++;
        if (!valid ||
            !price_memo_price(&state->memo, &state->now.mapping, &state->now.cost, &state->now.tie) || n == 0)
            continue;
        descent_start(&state->descent, state->space, &state->now.mapping, state->now.cost, state->now.tie,
                      &state->stream);
        state->descending = true;
    }
}

/* ---------------------------------------- spreads */

static int by_cost(const void *a, const void *b)
{
    const struct spread_entry *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->choice != y->choice)
        return x->choice < y->choice ? -1 : 1;
    return memcmp(x->place, y->place, sizeof x->place);
}

/* Can a continuation of the spread, chosen down to level l, be better than the best? */
static bool is_worth(void *self, const struct optimal_spread *spread, uint32_t l, const uint32_t *left)
{
    struct state *state = self;
    const int next = state->prefixes.next[l];
    const double cycles = fmax(optimal_prefix_cycles(&state->prefixes, spread, next), state->least_cycles);
    double energy = 0, rest[PROBLEM_DIM_MAX];
    if (objective_of(state)->energy_exponent > 0) {
        for (uint32_t d = 0; d < state->model.problem->n_dim; d++)
            rest[d] = left[d];
        energy =
            state->decided[l] + optimal_prefix_events(&state->prefixes, spread, rest, next, next, (int)l);
        if (next >= 0) {
            state->decided[next] = energy;
            energy += optimal_prefix_events(&state->prefixes, spread, rest, next, 0, next);
        }
        energy += optimal_prefix_fixed(&state->prefixes, spread, rest, next);
    }
    return !is_beaten(state, cost_of(state, fmax(0, energy), cycles));
}

/* All spreads from the first on. */
static void begin_spreads(struct state *state)
{
    const struct optimal_model *model = &state->model;
    const int n_level = (int)model->arch->n_level, next = state->prefixes.next[n_level];
    double whole[PROBLEM_DIM_MAX];
    for (uint32_t l = 0; l < model->arch->n_level; l++)
        for (uint32_t d = 0; d < model->problem->n_dim; d++) {
            state->spread.factor[l][d] = 1;
            whole[d] = model->problem->bound[d];
        }
    optimal_spread_complete(model, &state->spread);
    if (next >= 0)
        state->decided[next] =
            optimal_prefix_events(&state->prefixes, &state->spread, whole, next, next, n_level);
}

/* The model's levels keep what choice number `choice` says: bit by bit, a tensor is not kept where it need
 * not be. `*valid`: every tensor is kept somewhere. */
static enum dse_status choose_keeps(struct state *state, uint32_t choice, bool *valid, struct dse_error *err)
{
    uint8_t keep[ARCH_LEVEL_MAX];
    uint32_t kept = 0, left = choice;
    for (uint32_t l = 0; l < state->model.arch->n_level; l++) {
        keep[l] = (uint8_t)mapspace_keeps(state->space, l);
        for (uint32_t rest = mapspace_optional(state->space, l); rest; rest &= rest - 1, left >>= 1)
            if (left & 1u)
                keep[l] = (uint8_t)(keep[l] & ~(rest & (~rest + 1u)));
        kept |= keep[l];
    }
    state->choice = choice;
    *valid = kept == (1u << state->model.problem->n_tensor) - 1;
    return *valid ? optimal_model_keep(&state->model, keep, err) : DSE_OK;
}

/* The quick bound of the spread at hand. */
static double quick_cost(const struct state *state)
{
    double energy = 0, cycles = state->spread.cycles;
    for (uint32_t i = 0; i < state->n_price; i++) {
        const double price = optimal_quick_price(&state->model, &state->spread, state->price[i]);
        if (i == 0)
            energy = price;
        else
            cycles = fmax(cycles, whole_cycles(price));
    }
    return cost_of(state, energy, cycles);
}

static enum dse_status spreads_step(struct state *state, struct dse_error *err)
{
    struct spread_entry entry = {0};
    bool over;
    for (uint32_t i = 0; i < STEP_SPREADS / 10 && !optimal_watch_ends(&state->watch, STEP_SPREADS); i++) {
        if (!optimal_spreads_next(&state->spreads, STEP_SPREADS, &state->spread, entry.place, &over)) {
            bool valid = false;
            while (over && !valid && state->choice + 1 < state->n_choice)
                DSE_TRY(choose_keeps(state, state->choice + 1, &valid, err));
            if (!over)
                return DSE_OK;
            if (valid) {
                begin_spreads(state);
                return DSE_OK;
            }
            if (state->n_entry)
                qsort(state->entry, state->n_entry, sizeof *state->entry, by_cost);
            state->phase = PHASE_SWEEP;
            return DSE_OK;
        }
        entry.cost = quick_cost(state);
        entry.choice = state->choice;
        if (is_beaten(state, entry.cost))
            continue;
        if (state->n_entry == state->room) {
            const uint32_t room = state->room ? 2 * state->room : SPREAD_ROOM;
            void *grown = realloc(state->entry, room * sizeof *state->entry);
            if (!grown)
                return dse_fail(err, DSE_NO_MEMORY, "no memory for %u spatial factors", room);
            state->entry = grown;
            state->room = room;
        }
        state->entry[state->n_entry++] = entry;
    }
    return DSE_OK;
}

/* ---------------------------------------- sweep and walk */

/* The energy of mappings that take so many cycles and are better than the best. */
static double energy_limit(const struct state *state, double cycles)
{
    const struct objective *objective = objective_of(state);
    const double best = engine_context_best_cost(state->context) * (1 - slack);
    const double delay_s = (cycles + (double)state->model.latency) / state->model.arch->clock_hz;
    return pow(best / pow(delay_s, objective->delay_exponent), 1 / objective->energy_exponent);
}

/* The cycles of mappings that need so many joules and are better than the best. */
static double delay_limit(const struct state *state, double energy_j)
{
    const struct objective *objective = objective_of(state);
    const double best = engine_context_best_cost(state->context) * (1 - slack);
    const double delay_s =
        pow(best / pow(energy_j, objective->energy_exponent), 1 / objective->delay_exponent);
    return delay_s * state->model.arch->clock_hz - (double)state->model.latency;
}

/* Relaxed prices that the walk still looks at: below this. */
static double walk_limit(const struct state *state)
{
    if (state->mixed)
        return 1 + slack;
    return objective_of(state)->energy_exponent > 0 ? energy_limit(state, state->delay)
                                                    : delay_limit(state, 1);
}

static bool visit(void *self, const struct mapping *mapping)
{
    struct state *state = self;
    double cost;
    if (engine_context_left(state->context) == 0)
        return false;
    if (state->model.constraints && !mapspace_contains(state->space, mapping, NULL))
        return true;
    if (engine_context_evaluate(state->context, mapping, &cost))
        state->walk->limit = walk_limit(state);
    return true;
}

/* The spread and places at hand are done. */
static void next_spread(struct state *state)
{
    uint32_t l = 0;
    for (; l < state->model.arch->n_level && ++state->pick[l] == state->n_menu[l]; l++)
        state->pick[l] = 0;
    if (l == state->model.arch->n_level) {
        state->at++;
        state->begun = false;
    }
    state->swept = 0;
    state->phase = PHASE_SWEEP;
}

/* The next spread, and all places of its loops. */
static void begin_spread(struct state *state)
{
    optimal_spreads_get(&state->spreads, state->entry[state->at].place, &state->spread);
    optimal_spread_complete(&state->model, &state->spread);
    for (uint32_t l = 0; l < state->model.arch->n_level; l++) {
        state->n_menu[l] = optimal_places_list(&state->places, l, state->spread.factor[l], state->menu[l]);
        state->pick[l] = 0;
    }
    state->begun = true;
    state->delayed = false;
}

/* Walk through what the sweep has found. */
static void begin_walk(struct state *state)
{
    struct optimal_place place[ARCH_LEVEL_MAX];
    for (uint32_t l = 0; l < state->model.arch->n_level; l++)
        place[l] = state->menu[l][state->pick[l]];
    optimal_walk_start(state->walk, place, walk_limit(state));
    state->n_tile = 0;
    state->phase = PHASE_WALK;
}

/* The least cycles of the spread, bandwidth by bandwidth. */
static enum dse_status sweep_delay(struct state *state, struct dse_error *err)
{
    state->limiting = 0;
    for (uint32_t i = 1; i < state->n_price; i++) {
        if (!state->delayed)
            DSE_TRY(optimal_sweep_run(state->words, &state->spread, state->price[i], INFINITY,
                                      &state->cycles[i], err));
        if (state->limiting == 0 || state->cycles[i] > state->cycles[state->limiting])
            state->limiting = i;
        state->delay = fmax(state->delay, whole_cycles(state->cycles[i]));
    }
    state->delayed = true;
    return DSE_OK;
}

/* The closer bound of the next spread; begins its walk if it has to be. */
static enum dse_status sweep_step(struct state *state, struct dse_error *err)
{
    const struct objective *objective = objective_of(state);
    const struct spread_entry *entry = &state->entry[state->at];
    bool valid;
    if (entry->choice != state->choice)
        DSE_TRY(choose_keeps(state, entry->choice, &valid, err));
    if (!state->begun)
        begin_spread(state);
    for (uint32_t l = 0; l < state->model.arch->n_level; l++)
        memcpy(state->spread.hops[l], state->menu[l][state->pick[l]].hops, sizeof state->spread.hops[l]);
    if (is_beaten(state, quick_cost(state))) {
        next_spread(state);
        return DSE_OK;
    }
    state->delay = state->spread.cycles;
    state->energy_j = 0;
    state->mixed = false;
    state->n_split = 0;
    if (objective->energy_exponent > 0) {
        DSE_TRY(optimal_sweep_run(state->sweep, &state->spread, state->price[0], walk_limit(state),
                                  &state->energy_j, err));
        if (state->energy_j == INFINITY || is_beaten(state, cost_of(state, state->energy_j, state->delay))) {
            next_spread(state);
            return DSE_OK;
        }
    }
    if (objective->delay_exponent > 0)
        DSE_TRY(sweep_delay(state, err));
    state->swept = cost_of(state, state->energy_j, state->delay);
    if (!(state->swept < INFINITY) || is_beaten(state, state->swept)) {
        next_spread(state);
        return DSE_OK;
    }
    if (objective->energy_exponent <= 0) {
        double cycles;
        DSE_TRY(optimal_sweep_run(state->sweep, &state->spread, state->price[state->limiting],
                                  walk_limit(state), &cycles, err));
    }
    begin_walk(state);
    return DSE_OK;
}

/* ---------------------------------------- delays one after the other */

/* Energy and delay of a spread are bounded together where bandwidth decides: of two numbers below `energy_j`
 * and `cycles` any mean of their shares is below 1, and a sweep finds the least mean of all mappings. */
static enum dse_status sweep_mixed(struct state *state, uint32_t i, double share, double energy_j,
                                   double cycles, double *least, struct dse_error *err)
{
    struct optimal_price price = state->price[i];
    price.joule = (1 - share) / energy_j;
    price.cycle = share / cycles;
    return optimal_sweep_run(state->sweep, &state->spread, price, 1 + slack, least, err);
}

/* The share of the delay that bounds best, which is a maximum of a concave function. The last sweep need not
 * be that of `*share`. INFINITY: no mapping is left. */
static enum dse_status find_share(struct state *state, double energy_j, double cycles, double *share,
                                  double *least, struct dse_error *err)
{
    double width = 0.25;
    *share = 0.5;
    DSE_TRY(sweep_mixed(state, state->limiting, *share, energy_j, cycles, least, err));
    for (uint32_t round = 0; round < SHARE_ROUNDS; round++, width /= 2) {
        const double middle = *share;
        for (int side = -1; side <= 1 && *least < INFINITY; side += 2) {
            double value;
            DSE_TRY(
                sweep_mixed(state, state->limiting, middle + side * width, energy_j, cycles, &value, err));
            if (value > *least) {
                *least = value;
                *share = middle + side * width;
            }
        }
    }
    return DSE_OK;
}

/* The next delays: nothing is left of them, or they are taken apart, or walked through. */
static enum dse_status split_step(struct state *state, struct dse_error *err)
{
    if (state->n_split == 0) {
        next_spread(state);
        return DSE_OK;
    }
    const struct delays delays = state->split[--state->n_split];
    const double energy_j = energy_limit(state, delays.from);
    double share, least;
    if (energy_j <= state->energy_j)
        return DSE_OK;
    DSE_TRY(find_share(state, energy_j, delays.to, &share, &least, err));
    if (least == INFINITY)
        return DSE_OK;
    if (delays.to > delays.from * narrow && state->n_split + 2 <= SPLIT_MAX) {
        const double middle = sqrt(delays.from * delays.to);
        state->split[state->n_split++] = (struct delays){middle, delays.to};
        state->split[state->n_split++] = (struct delays){delays.from, middle};
        return DSE_OK;
    }
    state->mixed = true;
    DSE_TRY(sweep_mixed(state, state->limiting, share, energy_j, delays.to, &least, err));
    begin_walk(state);
    return DSE_OK;
}

/* A walk that has become long is one of a mixed price, if there is one. */
static void leave_walk(struct state *state)
{
    const struct objective *objective = objective_of(state);
    if (state->mixed || state->limiting == 0 || state->n_tile < WALK_TILES ||
        !(objective->energy_exponent > 0 && objective->delay_exponent > 0))
        return;
    state->split[0] = (struct delays){state->delay, delay_limit(state, state->energy_j)};
    state->n_split = 1;
    state->phase = PHASE_SPLIT;
}

static enum dse_status proof_step(struct state *state, enum engine_stop *stop, struct dse_error *err)
{
    if (state->phase == PHASE_SWEEP) {
        if (state->at < state->n_entry && !is_beaten(state, state->entry[state->at].cost))
            return sweep_step(state, err);
        *stop = engine_context_best(state->context) ? STOP_OPTIMAL : STOP_CONVERGED;
        return DSE_OK;
    }
    if (state->phase == PHASE_SPLIT)
        return split_step(state, err);
    for (uint32_t i = 0; i < STEP_TILES && engine_context_left(state->context) > 0; i++) {
        if (is_beaten(state, state->swept)) {
            next_spread(state);
            return DSE_OK;
        }
        if (!optimal_walk_next(state->walk) && state->walk->at == state->model.arch->n_level) {
            state->phase = PHASE_SPLIT;
            return DSE_OK;
        }
    }
    state->n_tile += STEP_TILES;
    leave_walk(state);
    return DSE_OK;
}

/* ---------------------------------------- the engine */

static enum dse_status takes_machine(const struct engine_question *question, struct dse_error *err)
{
    return optimal_takes_machine(question->task->architecture, err);
}

static enum dse_status takes_task(const struct engine_question *question, struct dse_error *err)
{
    const struct engine_task *task = question->task;
    const struct objective *objective = &task->objective;
    if (task->slow)
        return dse_fail(err, DSE_BAD_INPUT,
                        "engine optimal proves the best cost by the cost model, not by a simulation");
    if (objective->energy_exponent < 0 || objective->delay_exponent < 0)
        return dse_fail(err, DSE_BAD_INPUT, "engine optimal takes exponents of 0 and more");
    return optimal_takes_problem(evaluator_problem(task->evaluator), task->architecture, err);
}

static bool is_over(const void *context)
{
    return engine_context_over(context);
}

static enum dse_status optimal_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct arena *arena = engine_context_arena(context);
    const struct problem *problem = engine_context_problem(context);
    const struct engine_task *task = engine_context_task(context);
    state->context = context;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    DSE_TRY(engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0,
                                    &state->space, err));
    if (mapspace_is_empty(state->space))
        return DSE_OK;
    DSE_TRY(price_memo_new(&state->memo, context, arena, err));
    DSE_TRY(optimal_model_new(problem, task->architecture, task->constraints, arena, &state->model, err));
    state->n_choice = 1;
    for (uint32_t l = 0; l < task->architecture->n_level; l++)
        state->n_choice <<= __builtin_popcount(mapspace_optional(state->space, l));
    if (state->n_choice == 1 && (!task->constraints || mapspace_constraints_are_free(task->constraints))) {
        struct lower_bound least;
        evaluator_bound(task->evaluator, &least);
        state->least_cycles =
            least.latency_s * state->model.arch->clock_hz * (1 - 1e-12) - (double)state->model.latency;
    }
    state->n_price = optimal_prices(state->model.arch, state->price);
    DSE_TRY(optimal_spreads_init(&state->spreads, &state->model, err));
    DSE_TRY(optimal_places_new(&state->model, arena, &state->places, err));
    state->menu = arena_alloc(arena, state->model.arch->n_level, sizeof *state->menu);
    DSE_TRY(arena_check(arena, "places of spatial loops", err));
    if (!task->constraints || mapspace_constraints_are_free(task->constraints))
        optimal_spreads_mirror(&state->spreads);
    state->spreads.worth = is_worth;
    state->spreads.self = state;
    optimal_prefixes_init(&state->model, &state->spreads, &state->prefixes);
    begin_spreads(state);
    DSE_TRY(optimal_sweep_new(&state->model, arena, &state->sweep, err));
    DSE_TRY(optimal_sweep_new(&state->model, arena, &state->words, err));
    DSE_TRY(optimal_walk_new(state->sweep, arena, &state->walk, err));
    state->watch = (struct optimal_watch){.over = is_over, .self = context};
    state->sweep->watch = state->words->watch = &state->watch;
    state->walk->visit = visit;
    state->walk->self = state;
    return DSE_OK;
}

static enum dse_status optimal_step_engine(void *memory, struct engine_context *context,
                                           enum engine_stop *stop, struct dse_error *err)
{
    struct state *state = memory;
    (void)context;
    if (state->phase == PHASE_START) {
        start_step(state);
        return DSE_OK;
    }
    return state->phase == PHASE_SPREADS ? spreads_step(state, err) : proof_step(state, stop, err);
}

/* What is certain when the search ends: no spread that is left has a mapping below its bound. */
static enum dse_status optimal_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    double bound = engine_context_best_cost(context);
    (void)err;
    if (state->phase == PHASE_START || state->phase == PHASE_SPREADS)
        return DSE_OK;
    bool only = state->begun; /* no other places of the spread at hand */
    for (uint32_t l = 0; only && l < state->model.arch->n_level; l++)
        only = state->n_menu[l] == 1;
    if (state->at < state->n_entry)
        bound = fmin(bound, fmax(only ? state->swept : 0, state->entry[state->at].cost));
    if (state->at + 1 < state->n_entry)
        bound = fmin(bound, state->entry[state->at + 1].cost);
    engine_context_bound(context, bound * (1 - slack));
    return DSE_OK;
}

static void optimal_free(void *memory)
{
    struct state *state = memory;
    optimal_spreads_free(&state->spreads);
    free(state->entry);
}

/* The events are Timeloop's counts. */
static const struct engine_accounting accounting[] = {{&accounting_timeloop, NULL, 0}, {NULL, NULL, 0}};

const struct engine engine_optimal = {
    .name = "optimal",
    .summary = "finds the best mapping of the whole space and proves it, or says how far it may be",
    .kind = ENGINE_MAPPER,
    .accounting = accounting,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 0.1, .evaluations = 10000, .evaluation_s = 1.6e-6, .option = {"starts"}},
    .takes_only = "machines without link transfers; convolutions, depthwise ones and matrix products",
    .takes_machine = takes_machine,
    .takes_task = takes_task,
    .state_byte = sizeof(struct state),
    .init = optimal_init,
    .step = optimal_step_engine,
    .finish = optimal_finish,
    .free = optimal_free,
};
