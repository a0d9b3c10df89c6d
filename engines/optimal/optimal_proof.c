/* The proof of engine `optimal`: spread by spread a sweep bounds what the quick bound has left, and where
 * that is below the best a walk prices what the sweep cannot rule out. What has the least bound so far comes
 * first, whether it is to be swept or walked through: so the best is soon found, and walks are few. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engines/mapspace/mapspace_project.h"
#include "engines/optimal/optimal_search.h"

enum { STEP_TILES = 20, WALK_TILES = 1000, SHARE_ROUNDS = 3 };

/* Of rounding, in costs that the relaxed prices are compared with. */
static const double slack = 1e-11;
/* Delays that differ less are not taken apart. */
static const double narrow = 1.02;
/* Those that differ by more will hardly be ruled out by one price. */
static const double wide = 1.1;

const struct objective *optimal_objective(const struct optimal_search *state)
{
    return &engine_context_task(state->context)->objective;
}

/* `cycles` without latencies. */
static double seconds(const struct optimal_search *state, double cycles)
{
    return (cycles + (double)state->model.latency) / state->model.arch->clock_hz;
}

double optimal_cost_of(const struct optimal_search *state, const struct optimal_spread *spread,
                       double energy_j, double cycles)
{
    if (cycles > state->most_cycles)
        return INFINITY;
    energy_j += optimal_leakage_j(&state->model, spread, cycles);
    return objective_cost_of(optimal_objective(state), energy_j * (1 - 1e-12), seconds(state, cycles));
}

/* Do the cycles of a mapping matter? */
static bool is_timed(const struct optimal_search *state)
{
    const struct objective *objective = optimal_objective(state);
    return objective->delay_exponent > 0 || state->most_cycles < INFINITY ||
           (objective->energy_exponent > 0 && state->model.leaks);
}

/* Is nothing of this cost, or above, worth looking at? */
bool optimal_is_beaten(const struct optimal_search *state, double cost)
{
    return cost >= engine_context_best_cost(state->context) * (1 - slack);
}

/* Cycles of so many words' time; the evaluator rounds up after two divisions. */
static double whole_cycles(double cycles)
{
    return ceil(cycles * (1 - 1e-12));
}

/* The model's levels keep what choice number `choice` says. `*valid`: every tensor is kept somewhere. */
enum dse_status optimal_choose_keeps(struct optimal_search *state, uint32_t choice, bool *valid,
                                     struct dse_error *err)
{
    uint8_t keep[ARCH_LEVEL_MAX];
    state->choice = choice;
    *valid = mapspace_keep_choice(state->space, choice, keep);
    return *valid ? optimal_model_keep(&state->model, keep, err) : DSE_OK;
}

/* Cycles of all mappings of a spread at least, by the quick bounds. */
static double quick_cycles(const struct optimal_search *state, const struct optimal_spread *spread)
{
    double cycles = fmax(spread->cycles, state->least_cycles);
    for (uint32_t i = 1; i < state->n_price; i++)
        cycles = fmax(cycles, whole_cycles(optimal_quick_price(&state->model, spread, state->price[i])));
    return cycles;
}

double optimal_quick_cost(const struct optimal_search *state, const struct optimal_spread *spread,
                          double energy_j)
{
    const double cost = optimal_cost_of(state, spread, energy_j, fmax(spread->cycles, state->least_cycles));
    return optimal_is_beaten(state, cost)
               ? cost
               : optimal_cost_of(state, spread, energy_j, quick_cycles(state, spread));
}

/* ---------------------------------------- sweep and walk */

/* The energy, without leakage, of mappings of the spread at hand that take so many cycles and are better than
 * the best. */
static double energy_limit(const struct optimal_search *state, double cycles)
{
    const struct objective *objective = optimal_objective(state);
    const double best = engine_context_best_cost(state->context) * (1 - slack);
    const double energy_j =
        pow(best / pow(seconds(state, cycles), objective->delay_exponent), 1 / objective->energy_exponent);
    return energy_j - optimal_leakage_j(&state->model, &state->spread, cycles);
}

/* The cycles, at most `most`, at which mappings of the spread at hand that need so many joules without
 * leakage are no better than the best. */
static double leaking_limit(const struct optimal_search *state, double energy_j, double most)
{
    enum { HALVINGS = 60 };
    double low = 0, high = state->delay;
    while (high < most && energy_limit(state, high) > energy_j) {
        low = high;
        high *= 2;
    }
    high = fmin(high, most);
    for (int i = 0; i < HALVINGS && low < high; i++) {
        const double middle = low + (high - low) / 2;
        *(energy_limit(state, middle) > energy_j ? &low : &high) = middle;
    }
    return high;
}

/* The cycles of mappings that need so many joules, without leakage, and are better than the best. */
static double delay_limit(const struct optimal_search *state, double energy_j)
{
    const struct objective *objective = optimal_objective(state);
    const double best = engine_context_best_cost(state->context) * (1 - slack);
    double most = state->most_cycles;
    if (objective->delay_exponent > 0) {
        const double delay_s =
            pow(best / pow(energy_j, objective->energy_exponent), 1 / objective->delay_exponent);
        most = fmin(delay_s * state->model.arch->clock_hz - (double)state->model.latency, most);
    }
    return objective->energy_exponent > 0 && state->model.leaks ? leaking_limit(state, energy_j, most) : most;
}

/* Relaxed prices that the walk still looks at: below this. */
static double walk_limit(const struct optimal_search *state)
{
    if (state->mixed)
        return 1 + slack;
    return optimal_objective(state)->energy_exponent > 0 ? energy_limit(state, state->delay)
                                                         : delay_limit(state, 1);
}

bool optimal_proof_visit(void *self, const struct mapping *mapping)
{
    struct optimal_search *state = self;
    double cost;
    if (engine_context_left(state->context) == 0)
        return false;
    if (state->model.constraints && !mapspace_contains(state->space, mapping, NULL))
        return true;
    if (engine_context_evaluate(state->context, mapping, &cost))
        state->walk->limit = walk_limit(state);
    return true;
}

/* Keep the spread at hand, whose mappings cost `least`, for a walk. */
static enum dse_status push(struct optimal_search *state, struct dse_error *err)
{
    if (state->n_swept == state->swept_room) {
        const uint32_t room = state->swept_room ? 2 * state->swept_room : 64;
        void *grown = realloc(state->swept, room * sizeof *state->swept);
        if (!grown)
            return dse_fail(err, DSE_NO_MEMORY, "no memory for %u spatial factors", room);
        state->swept = grown;
        state->swept_room = room;
    }
    uint32_t i = state->n_swept++;
    for (; i > 0 && state->least < state->swept[(i - 1) / 2].cost; i = (i - 1) / 2)
        state->swept[i] = state->swept[(i - 1) / 2];
    state->swept[i] = (struct optimal_swept){state->least, state->present};
    return DSE_OK;
}

static struct optimal_swept pop(struct optimal_search *state)
{
    const struct optimal_swept top = state->swept[0], last = state->swept[--state->n_swept];
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < state->n_swept) {
        child += child + 1 < state->n_swept && state->swept[child + 1].cost < state->swept[child].cost;
        if (state->swept[child].cost >= last.cost)
            break;
        state->swept[i] = state->swept[child];
        i = child;
    }
    state->swept[i] = last;
    return top;
}

/* What the spreads that are not at hand cost at least. */
static double least_of_others(const struct optimal_search *state)
{
    return fmin(state->at < state->n_entry ? state->entry[state->at].cost : INFINITY,
                state->n_swept ? state->swept[0].cost : INFINITY);
}

/* The spread and places at hand are done. */
static enum dse_status next_places(struct optimal_search *state, struct dse_error *err)
{
    state->bound = 0;
    state->phase = PHASE_SWEEP;
    if (optimal_menu_next(state->menu))
        return DSE_OK;
    state->begun = false;
    return state->looks && state->least < INFINITY ? push(state, err) : DSE_OK;
}

/* The next spread, and all places of its loops; false: there is none below the best. */
static bool begin_spread(struct optimal_search *state, struct dse_error *err, enum dse_status *status)
{
    bool valid;
    const double least = least_of_others(state);
    *status = DSE_OK;
    if (least == INFINITY || optimal_is_beaten(state, least))
        return false;
    state->looks = state->n_swept == 0 || state->swept[0].cost > least;
    state->present = state->looks ? state->at++ : pop(state).entry;
    if (state->entry[state->present].choice != state->choice)
        *status = optimal_choose_keeps(state, state->entry[state->present].choice, &valid, err);
    optimal_spreads_get(&state->spreads, state->entry[state->present].place, &state->spread);
    optimal_spread_complete(&state->model, &state->spread);
    optimal_menu_begin(state->menu, &state->spread);
    state->least = state->looks ? INFINITY : least;
    state->begun = true;
    state->delayed = false;
    return true;
}

static bool is_worth_place(void *self, const struct optimal_spread *spread)
{
    const struct optimal_search *state = self;
    const double energy_j = optimal_quick_price(&state->model, spread, state->price[0]);
    return !optimal_is_beaten(state, optimal_quick_cost(state, spread, energy_j));
}

/* Walk through what the sweep has found. */
static void begin_walk(struct optimal_search *state)
{
    optimal_walk_start(state->walk, walk_limit(state));
    state->n_tile = 0;
    state->phase = PHASE_WALK;
}

/* Is there nothing that may have better mappings? Else the spread is put off, all its places together. */
static bool begin_at_once(struct optimal_search *state)
{
    state->least = fmin(state->least, fmax(state->bound, state->entry[state->present].cost));
    state->looks = state->menu->n_pick > 1 || state->least > least_of_others(state);
    return !state->looks;
}

/* The least cycles that one bandwidth needs. The sweep is by words, which are those of any bandwidth. */
static enum dse_status sweep_words(struct optimal_search *state, uint32_t i, struct dse_error *err)
{
    struct optimal_price price = state->price[i];
    double words;
    price.cycle = optimal_bandwidth(state->model.arch, price);
    if (!optimal_known_value(state, i, &words)) {
        DSE_TRY(optimal_sweep_run(state->words, &state->spread, price, INFINITY, &words, err));
        optimal_known_keep(state, i, INFINITY, words);
    }
    state->cycles[i] = words / price.cycle;
    return DSE_OK;
}

/* The least cycles of the spread, bandwidth by bandwidth. */
static enum dse_status sweep_delay(struct optimal_search *state, struct dse_error *err)
{
    state->limiting = 0;
    for (uint32_t i = 1; i < state->n_price; i++) {
        if (!state->delayed)
            DSE_TRY(sweep_words(state, i, err));
        if (state->limiting == 0 || state->cycles[i] > state->cycles[state->limiting])
            state->limiting = i;
        state->delay = fmax(state->delay, whole_cycles(state->cycles[i]));
    }
    state->delayed = true;
    return DSE_OK;
}

/* The least energy of the spread; INFINITY where that rules it out. */
static enum dse_status sweep_energy(struct optimal_search *state, struct dse_error *err)
{
    const double least = walk_limit(state);
    state->tabled = !state->looks || !optimal_known_value(state, 0, &state->energy_j);
    if (state->tabled) {
        const double limit = state->looks ? optimal_known_limit(state, least) : least;
        DSE_TRY(
            optimal_sweep_run(state->sweep, &state->spread, state->price[0], limit, &state->energy_j, err));
        optimal_known_keep(state, 0, limit, state->energy_j);
    }
    if (state->energy_j >= least)
        state->energy_j = INFINITY;
    return DSE_OK;
}

/* Fill the tables that the walk goes by. */
static enum dse_status sweep_for_walk(struct optimal_search *state, struct dse_error *err)
{
    const bool by_energy = optimal_objective(state)->energy_exponent > 0;
    double least;
    if (!by_energy || !state->tabled)
        DSE_TRY(optimal_sweep_run(state->sweep, &state->spread, state->price[by_energy ? 0 : state->limiting],
                                  walk_limit(state), &least, err));
    if (by_energy && state->most_cycles < INFINITY && state->limiting > 0) {
        struct optimal_beside *beside = state->walk->beside;
        *beside = (struct optimal_beside){.sweep = state->words, .limit = state->most_cycles * (1 + slack)};
        state->walk->n_beside = 1;
        DSE_TRY(optimal_sweep_run(state->words, &state->spread, state->price[state->limiting], beside->limit,
                                  &least, err));
    }
    return DSE_OK;
}

/* The closer bound of the next spread; begins its walk if it has to be. */
static enum dse_status sweep_step(struct optimal_search *state, struct dse_error *err)
{
    const struct objective *objective = optimal_objective(state);
    optimal_menu_pick(state->menu, &state->spread);
    state->delay = quick_cycles(state, &state->spread);
    const double quick_j = optimal_quick_price(&state->model, &state->spread, state->price[0]);
    if (optimal_is_beaten(state, optimal_cost_of(state, &state->spread, quick_j, state->delay)))
        return next_places(state, err);
    state->mixed = false; /* walk_limit asks */
    if (optimal_known_beaten(state))
        return next_places(state, err);
    state->energy_j = 0;
    state->walk->n_beside = 0;
    state->n_split = 0;
    if (objective->energy_exponent > 0) {
        DSE_TRY(sweep_energy(state, err));
        if (state->energy_j == INFINITY ||
            optimal_is_beaten(state, optimal_cost_of(state, &state->spread, state->energy_j, state->delay)))
            return next_places(state, err);
    }
    if (is_timed(state))
        DSE_TRY(sweep_delay(state, err));
    state->bound = optimal_cost_of(state, &state->spread, state->energy_j, state->delay);
    if (!(state->bound < INFINITY) || optimal_is_beaten(state, state->bound))
        return next_places(state, err);
    if (state->looks && !begin_at_once(state))
        return next_places(state, err);
    if (objective->energy_exponent > 0 &&
        optimal_menu_expand(state->menu, &state->spread, is_worth_place, state)) {
        state->bound = 0;
        return state->menu->n_pick == 0 ? next_places(state, err) : DSE_OK;
    }
    DSE_TRY(sweep_for_walk(state, err));
    begin_walk(state);
    return DSE_OK;
}

/* ---------------------------------------- delays one after the other */

/* Energy and delay of a spread are bounded together where bandwidth decides: of two numbers below `energy_j`
 * and `cycles` any mean of their shares is below 1, and a sweep finds the least mean of all mappings. */
static enum dse_status sweep_mixed(struct optimal_search *state, uint32_t i, double share, double energy_j,
                                   double cycles, double *least, struct dse_error *err)
{
    struct optimal_price price = state->price[i];
    price.joule = (1 - share) / energy_j;
    price.cycle = share / cycles;
    return optimal_sweep_run(state->sweep, &state->spread, price, 1 + slack, least, err);
}

/* The share of the delay that bounds best, which is a maximum of a concave function: where it is higher on
 * one side of a share it is lower on the other. The last sweep need not be that of `*share`. INFINITY: no
 * mapping is left. Delays that will be taken apart again are looked at roughly. */
static enum dse_status find_share(struct optimal_search *state, double energy_j,
                                  const struct optimal_delays *delays, double *share, double *least,
                                  struct dse_error *err)
{
    const uint32_t n_round = delays->to > delays->from * wide ? 1 : SHARE_ROUNDS;
    double width = 0.5 * fmin(delays->share, 1 - delays->share);
    *share = delays->share;
    DSE_TRY(sweep_mixed(state, state->limiting, *share, energy_j, delays->to, least, err));
    for (uint32_t round = 0; round < n_round; round++, width /= 2) {
        const double middle = *share;
        for (int side = -1; side <= 1 && *least < INFINITY && *share == middle; side += 2) {
            const double there = middle + side * width;
            double value;
            DSE_TRY(sweep_mixed(state, state->limiting, there, energy_j, delays->to, &value, err));
            if (value > *least) {
                *least = value;
                *share = there;
            }
        }
    }
    return DSE_OK;
}

/* A walk by a mixed price heeds each of the two numbers by itself as well. */
static enum dse_status sweep_beside(struct optimal_search *state, double energy_j, double cycles,
                                    struct dse_error *err)
{
    struct optimal_beside *beside = state->walk->beside;
    double least;
    beside[0].sweep = state->joules;
    beside[0].limit = energy_j * (1 + slack);
    beside[1].sweep = state->words;
    beside[1].limit = cycles * (1 + slack);
    state->walk->n_beside = 2;
    DSE_TRY(optimal_sweep_run(state->joules, &state->spread, state->price[0], beside[0].limit, &least, err));
    return optimal_sweep_run(state->words, &state->spread, state->price[state->limiting], beside[1].limit,
                             &least, err);
}

/* The next delays: nothing is left of them, or they are taken apart, or walked through. */
static enum dse_status split_step(struct optimal_search *state, struct dse_error *err)
{
    if (state->n_split == 0)
        return next_places(state, err);
    const struct optimal_delays delays = state->split[--state->n_split];
    const double energy_j = energy_limit(state, delays.from);
    double share, least;
    if (energy_j <= state->energy_j)
        return DSE_OK;
    DSE_TRY(find_share(state, energy_j, &delays, &share, &least, err));
    if (least == INFINITY)
        return DSE_OK;
    if (delays.to > delays.from * narrow && state->n_split + 2 <= OPTIMAL_SPLIT_MAX) {
        const double middle = sqrt(delays.from * delays.to);
        state->split[state->n_split++] = (struct optimal_delays){middle, delays.to, share};
        state->split[state->n_split++] = (struct optimal_delays){delays.from, middle, share};
        return DSE_OK;
    }
    state->mixed = true;
    DSE_TRY(sweep_mixed(state, state->limiting, share, energy_j, delays.to, &least, err));
    DSE_TRY(sweep_beside(state, energy_j, delays.to, err));
    begin_walk(state);
    return DSE_OK;
}

/* A walk that has become long is one of a mixed price, where bandwidth decides: else energy alone is best. */
static void leave_walk(struct optimal_search *state)
{
    if (state->mixed || state->limiting == 0 ||
        whole_cycles(state->cycles[state->limiting]) <= state->spread.cycles || state->n_tile < WALK_TILES ||
        optimal_objective(state)->energy_exponent <= 0 || !is_timed(state))
        return;
    state->split[0] = (struct optimal_delays){state->delay, delay_limit(state, state->energy_j), 0.5};
    state->n_split = 1;
    state->phase = PHASE_SPLIT;
}

enum dse_status optimal_proof_step(struct optimal_search *state, enum engine_stop *stop,
                                   struct dse_error *err)
{
    if (state->phase == PHASE_SWEEP) {
        enum dse_status status = DSE_OK;
        if (state->begun || begin_spread(state, err, &status)) {
            DSE_TRY(status);
            return sweep_step(state, err);
        }
        *stop = engine_context_best(state->context) ? STOP_OPTIMAL : STOP_CONVERGED;
        return DSE_OK;
    }
    if (state->phase == PHASE_SPLIT)
        return split_step(state, err);
    for (uint32_t i = 0; i < STEP_TILES && engine_context_left(state->context) > 0; i++) {
        if (optimal_is_beaten(state, state->bound))
            return next_places(state, err);
        if (!optimal_walk_next(state->walk) && state->walk->at == state->model.arch->n_level) {
            state->phase = PHASE_SPLIT;
            return DSE_OK;
        }
    }
    state->n_tile += STEP_TILES;
    leave_walk(state);
    return DSE_OK;
}

double optimal_proof_bound(const struct optimal_search *state)
{
    double bound = fmin(engine_context_best_cost(state->context), least_of_others(state));
    const bool only = state->menu->n_pick == 1; /* no other places of the spread at hand */
    if (state->begun)
        bound = fmin(bound, fmax(fmax(only ? state->bound : 0, state->looks ? 0 : state->least),
                                 state->entry[state->present].cost));
    return bound * (1 - slack);
}
