/* The mapper `optimal`: some descents give a mapping to beat. Every spread of the spatial loops has a quick
 * lower bound; those below the best are looked at in the order of that bound: a sweep over tiles bounds them
 * closer, and if need be a walk prices every mapping that the sweep cannot rule out. When no spread is left
 * the best is optimal. */
#include "engines/optimal/optimal_engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/baseline/baseline.h"
#include "engines/driver/engine_fit.h"
#include "engines/mapspace/mapspace_project.h"
#include "engines/optimal/optimal_search.h"
#include "engines/optimal/row_bound.h"

enum { OPTION_STARTS, OPTION_BYPASS, N_OPTION };
enum { STEP_SPREADS = 20000, SPREAD_ROOM = 1024 };

static const struct engine_option option[N_OPTION] = {
    {"starts", "descents that look for a mapping to beat before the proof begins; 0: one random mapping",
     "descent", OPTION_INTEGER, 6, 0, 1e6, NULL},
    BASELINE_OPTION_BYPASS,
};

/* ---------------------------------------- spreads */

static int by_cost(const void *a, const void *b)
{
    const struct optimal_entry *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->choice != y->choice)
        return x->choice < y->choice ? -1 : 1;
    return memcmp(x->place, y->place, sizeof x->place);
}

/* Can a continuation of the spread, chosen down to level l, be better than the best? */
static bool is_worth(void *self, const struct optimal_spread *spread, uint32_t l, const uint32_t *left)
{
    struct optimal_search *state = self;
    const int next = state->prefixes.next[l];
    const double cycles = fmax(optimal_prefix_cycles(&state->prefixes, spread, next), state->least_cycles);
    double energy = 0, rest[PROBLEM_DIM_MAX];
    if (optimal_objective(state)->energy_exponent > 0) {
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
    const double cost = optimal_cost_of(state, spread, fmax(0, energy), cycles);
    return !optimal_is_beaten(state, cost * (1 - optimal_sure)); /* the quick bound alone decides */
}

/* All spreads from the first on. */
static void begin_spreads(struct optimal_search *state)
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

static bool next_spread(struct optimal_search *state, uint16_t *place, double *energy_j, bool *over)
{
    if (state->listed)
        return optimal_list_next(state, STEP_SPREADS, place, energy_j, over);
    if (!optimal_spreads_next(&state->spreads, STEP_SPREADS, &state->spread, place, over))
        return false;
    *energy_j = optimal_quick_price(&state->model, &state->spread, state->price[0]);
    optimal_list_add(state, place, *energy_j);
    return true;
}

static enum dse_status spreads_step(struct optimal_search *state, struct dse_error *err)
{
    struct optimal_entry entry = {0};
    double energy_j;
    bool over;
    for (uint32_t i = 0; i < STEP_SPREADS / 10 && !optimal_watch_ends(&state->watch, STEP_SPREADS); i++) {
        if (!next_spread(state, entry.place, &energy_j, &over)) {
            bool valid = false;
            while (over && !valid && state->choice + 1 < state->n_choice)
                DSE_TRY(optimal_choose_keeps(state, state->choice + 1, &valid, err));
            if (!over)
                return DSE_OK;
            if (valid) {
                begin_spreads(state);
                return DSE_OK;
            }
            optimal_list_end(state);
            if (state->n_entry)
                qsort(state->entry, state->n_entry, sizeof *state->entry, by_cost);
            state->phase = PHASE_SWEEP;
            return DSE_OK;
        }
        entry.cost = optimal_quick_cost(state, &state->spread, energy_j);
        entry.choice = state->choice;
        if (optimal_is_beaten(state, entry.cost))
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

/* NULL: they leave all. */
static const struct mapspace_constraints *constraints_of(const struct engine_task *task)
{
    const struct mapspace_constraints *constraints = task->constraints;
    bool free = !constraints || mapspace_constraints_are_free(constraints);
    for (uint32_t l = 0; free && constraints && l < constraints->n_level; l++)
        free = constraints->level[l].dataflow.n == 0; /* which are_free leaves out */
    return free ? NULL : constraints;
}

static bool is_over(const void *context)
{
    return engine_context_over(context);
}

static enum dse_status optimal_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct optimal_search *state = memory;
    struct arena *arena = engine_context_arena(context);
    const struct problem *problem = engine_context_problem(context);
    const struct engine_task *task = engine_context_task(context);
    state->context = context;
    DSE_TRY(engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0,
                                    &state->space, err));
    if (mapspace_is_empty(state->space))
        return DSE_OK;
    const struct mapspace_constraints *constraints = constraints_of(task);
    DSE_TRY(optimal_model_new(problem, task->architecture, constraints, arena, &state->model, err));
    state->n_choice = 1;
    for (uint32_t l = 0; l < task->architecture->n_level; l++)
        state->n_choice <<= __builtin_popcount(mapspace_optional(state->space, l));
    if (state->n_choice == 1 && (!task->constraints || mapspace_constraints_are_free(task->constraints))) {
        struct lower_bound least;
        evaluator_bound(task->evaluator, &least);
        state->least_cycles =
            least.latency_s * state->model.arch->clock_hz * (1 - 1e-12) - (double)state->model.latency;
    }
    state->most_cycles =
        task->cycle_limit ? (double)task->cycle_limit - (double)state->model.latency : INFINITY;
    state->n_price = optimal_prices(state->model.arch, state->price);
    optimal_known_begin(state);
    optimal_start_begin(state, (uint64_t)engine_context_option(context, OPTION_STARTS), state->n_choice);
    DSE_TRY(optimal_spreads_init(&state->spreads, &state->model, err));
    DSE_TRY(optimal_menu_new(&state->model, arena, &state->menu, err));
    if (!constraints)
        optimal_spreads_mirror(&state->spreads);
    state->spreads.worth = is_worth;
    state->spreads.self = state;
    optimal_prefixes_init(&state->model, &state->spreads, &state->prefixes);
    begin_spreads(state);
    DSE_TRY(optimal_sweep_new(&state->model, arena, &state->sweep, err));
    DSE_TRY(optimal_sweep_new(&state->model, arena, &state->words, err));
    DSE_TRY(optimal_sweep_new(&state->model, arena, &state->joules, err));
    DSE_TRY(optimal_walk_new(state->sweep, arena, &state->walk, err));
    double cost;
    if (task->start)
        (void)engine_context_evaluate(context, task->start, &cost);
    state->watch = (struct optimal_watch){.over = is_over, .self = context};
    state->sweep->watch = state->words->watch = state->joules->watch = &state->watch;
    state->walk->visit = optimal_proof_visit;
    state->walk->self = state;
    return DSE_OK;
}

static enum dse_status optimal_step_engine(void *memory, struct engine_context *context,
                                           enum engine_stop *stop, struct dse_error *err)
{
    struct optimal_search *state = memory;
    (void)context;
    if (state->phase == PHASE_START) {
        bool over;
        DSE_TRY(optimal_start_step(state, &over, err));
        if (!over)
            return DSE_OK;
        optimal_list_begin(state);
        state->phase = PHASE_SPREADS;
        return DSE_OK;
    }
    return state->phase == PHASE_SPREADS ? spreads_step(state, err) : optimal_proof_step(state, stop, err);
}

/* What is certain when the search ends: no spread that is left has a mapping below its bound. */
static enum dse_status optimal_finish(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct optimal_search *state = memory;
    (void)err;
    optimal_start_finish(state);
    if (state->phase != PHASE_START && state->phase != PHASE_SPREADS)
        engine_context_bound(context, optimal_proof_bound(state));
    return DSE_OK;
}

static void optimal_free(void *memory)
{
    struct optimal_search *state = memory;
    optimal_spreads_free(&state->spreads);
    free(state->listed);
    free(state->made);
    free(state->entry);
    free(state->swept);
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
    .takes_only = "machines without link transfers; convolutions, depthwise ones, matrix products, MTTKRP",
    .takes_machine = takes_machine,
    .takes_task = takes_task,
    .proves_front = true,
    .strengthen = row_bound,
    .state_byte = sizeof(struct optimal_search),
    .init = optimal_init,
    .step = optimal_step_engine,
    .finish = optimal_finish,
    .free = optimal_free,
};
