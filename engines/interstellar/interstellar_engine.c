/* The engine interstellar: the authors' search of loop blockings, or branch and bound to the same optimum. By
 * other objectives than energy it goes through least energies for ever fewer cycles. */
#include "engines/interstellar/interstellar_engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "costmodel/interstellar/accounting_interstellar.h"
#include "engines/cosa/polish.h"
#include "engines/driver/driver.h"
#include "engines/driver/engine_fit.h"
#include "engines/interstellar/blocking_search.h"
#include "engines/interstellar/dataflow_list.h"
#include "engines/interstellar/mapping_words.h"
#include "engines/interstellar/time_passes.h"
#include "engines/mapspace/mapspace_constraints.h"

enum { MODE_PROVE, MODE_ENUMERATE };
enum { POLISH_EVALUATIONS = 20000, POLISH_PATIENCE = 50, LATE_EVALUATIONS = 500 };

/* A proof that has found nothing after that share of its time hurries, and what is left goes into polish. */
static const double hurry_share = 0.875;

enum {
    OPTION_MODE,
    OPTION_LOOPS,
    OPTION_THRESHOLD,
    OPTION_USE,
    OPTION_REPLICATION,
    OPTION_RAGGED,
    OPTION_EFFORT,
    N_OPTION
};

static const char *const modes[] = {"prove", "enumerate"};

static const struct engine_option option[N_OPTION] = {
    {"mode", "prove the optimum by branch and bound, or price every point as the authors' program does", "",
     OPTION_CHOICE, MODE_PROVE, 0, 1, modes},
    {"loops", "loops that one side of the array may carry", "loop", OPTION_INTEGER, 2, 1, SIDE_LOOP_MAX,
     NULL},
    {"threshold",
     "the least share of each side of the array that its loops use; -1: the machine's by "
     "interstellar-compat, none by interstellar",
     "1", OPTION_REAL, -1, -1, 1, NULL},
    {"use",
     "the least share of the whole array; -1: with a dataflow and replication that of the sides, else none",
     "1", OPTION_REAL, -1, -1, 1, NULL},
    {"replication", "a side of the array may carry several loops", "", OPTION_BOOL, 1, 0, 1, NULL},
    {"ragged", "try bounds padded to at most so many times a loop's as well; not with a schedule file", "1",
     OPTION_REAL, 1, 1, 4, NULL},
    {"effort",
     "a proof looks at so many million tiles and arrays; then a local search improves what it has; 0: any "
     "number",
     "1e6", OPTION_REAL, 6, 0, 1e9, NULL},
};

struct state {
    struct arena arena; /* of the space */
    struct blocking_space space;
    struct blocking_settings settings;
    const struct interstellar_hint *hint; /* NULL: none */
    struct blocking_search search;
    struct blocking_limits limits;
    double offered_j;   /* of the best that the driver knows */
    uint64_t n_counted; /* points that the driver knows */
    struct time_passes passes;
    uint64_t n_try;                 /* of the passes that are over */
    struct engine_context *context; /* of the local search */
    struct polish *polish;          /* NULL: none; in the driver's arena */
    uint64_t last_evaluation;       /* of it */
};

static enum dse_status takes_task(const struct engine_question *question, struct dse_error *err)
{
    const struct engine_task *task = question->task;
    if (task->constraints && !mapspace_constraints_are_free(task->constraints))
        return dse_fail(err, DSE_BAD_USAGE,
                        "engine interstellar searches by rules of its own: it takes a schedule file of "
                        "Interstellar and dataflows, no other constraints; take hybrid or descent");
    if (task->option[OPTION_MODE] == MODE_ENUMERATE && task->objective.delay_exponent != 0)
        return dse_fail(err, DSE_BAD_USAGE,
                        "engine interstellar: mode enumerate looks for the least energy, as the authors' "
                        "program; other objectives need mode=prove");
    if (task->option[OPTION_MODE] == MODE_ENUMERATE && architecture_all_leakage_w(task->architecture) > 0)
        return dse_fail(err, DSE_BAD_USAGE,
                        "engine interstellar: mode enumerate looks for the least energy of accesses, as the "
                        "authors' program, and architecture %s leaks; take mode=prove",
                        task->architecture->name);
    return DSE_OK;
}

static bool has_dataflow(const struct engine_task *task)
{
    for (uint32_t v = 0; task->constraints && v < task->constraints->n_level; v++)
        if (task->constraints->level[v].dataflow.n > 0)
            return true;
    return false;
}

/* `list`: for a list of the dataflows that the authors' program explores. */
static void settle(const struct engine_task *task, bool list, struct blocking_settings *settings,
                   const struct interstellar_hint **hint)
{
    const bool compat = evaluator_accounting(task->evaluator) == &accounting_interstellar_compat;
    const double threshold = task->option[OPTION_THRESHOLD], use = task->option[OPTION_USE];
    struct array_rule *rule = &settings->array;
    *hint = task->constraints && task->constraints->hint.present ? &task->constraints->hint : NULL;
    *settings = (struct blocking_settings){
        .rule = compat ? REUSE_COMPAT : REUSE_SANE, .half_full = compat, .pad = task->option[OPTION_RAGGED]};
    list = list || task->option[OPTION_MODE] == MODE_ENUMERATE || threshold >= 0 || use >= 0 || *hint ||
           has_dataflow(task);
    *rule = (struct array_rule){
        .any = !(compat && list), .loops = (uint32_t)task->option[OPTION_LOOPS], .share = use >= 0 ? use : 0};
    const bool authors = !rule->any || *hint;
    rule->replication =
        task->option[OPTION_REPLICATION] != 0 && !(authors && task->architecture->no_replication);
    rule->threshold = threshold >= 0 ? threshold : authors ? task->architecture->utilization_threshold : 0;
    for (uint32_t v = 0; task->constraints && v < task->constraints->n_level; v++)
        if (task->constraints->level[v].dataflow.n > 0) {
            rule->only[v] = &task->constraints->level[v].dataflow;
            rule->share = use >= 0 ? use : rule->replication ? rule->threshold : 0;
        }
}

/* By the authors' rule, whatever the accounting. */
static enum dse_status interstellar_dataflows(const struct engine_task *task, struct arena *arena,
                                              struct engine_dataflows *out, struct dse_error *err)
{
    struct blocking_settings settings;
    const struct interstellar_hint *hint;
    settle(task, true, &settings, &hint);
    settings.array.any = false;
    return dataflow_list(evaluator_problem(task->evaluator), task->architecture, hint, &settings, arena, out,
                         err);
}

static enum dse_status begin_pass(struct engine_context *context, struct state *state, struct dse_error *err)
{
    const bool enumerate = engine_context_option(context, OPTION_MODE) == MODE_ENUMERATE;
    blocking_search_free(&state->search);
    blocking_space_free(&state->space);
    arena_reset(&state->arena);
    state->n_try += state->search.n_try;
    state->limits.answered = isfinite(engine_context_best_cost(context));
    state->search.limits = state->limits;
    if (state->limits.most_try > 0) /* of all passes together */
        state->search.limits.most_try -=
            state->n_try < state->limits.most_try ? state->n_try : state->limits.most_try - 1;
    DSE_TRY(blocking_space_build(engine_context_problem(context), engine_context_task(context)->architecture,
                                 state->hint, &state->settings, &state->arena, &state->space, err));
    if (state->limits.over) {
        state->search = (struct blocking_search){.over = true, .best_j = INFINITY, .most_point = UINT64_MAX};
        return DSE_OK;
    }
    DSE_TRY(enumerate ? blocking_enumerate(&state->space, &state->search, err)
                      : blocking_prove(&state->space, &state->search, err));
    if (enumerate)
        state->search.most_point = engine_context_left(context);
    return DSE_OK;
}

static enum dse_status interstellar_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_budget *budget = &engine_context_task(context)->budget;
    arena_init(&state->arena);
    state->offered_j = INFINITY;
    state->limits.cancel = budget->cancel;
    if (budget->max_seconds > 0) {
        state->limits.stop_at_s = clock_wall_s() + budget->max_seconds;
        state->limits.hurry_at_s = clock_wall_s() + hurry_share * budget->max_seconds;
    }
    state->limits.most_try = (uint64_t)(engine_context_option(context, OPTION_EFFORT) * 1e6);
    settle(engine_context_task(context), false, &state->settings, &state->hint);
    state->settings.limits = &state->limits;
    DSE_TRY(begin_pass(context, state, err));
    time_passes_begin(&state->passes, &engine_context_task(context)->objective,
                      engine_context_problem(context), engine_context_task(context)->architecture,
                      state->space.most_use[state->space.model.n_level - 1]);
    return DSE_OK;
}

/* Price the best of the search, unless the driver knows it; its energy must be what the search says. */
static enum dse_status offer(struct engine_context *context, struct state *state, struct dse_error *err)
{
    struct mapping mapping;
    double cost;
    if (!state->search.found || state->search.best_j >= state->offered_j)
        return DSE_OK;
    state->offered_j = state->search.best_j;
    blocking_point_mapping(&state->space, engine_context_task(context)->architecture, &state->search.best,
                           &mapping);
    if (!engine_context_evaluate(context, &mapping, &cost) || !state->space.model.exact)
        return DSE_OK;
    const struct evaluation *last = engine_context_last(context);
    const double again_j = last->energy_j - last->energy_leakage_j;
    if (fabs(again_j - state->offered_j) > 1e-9 * last->energy_j)
        return dse_fail(err, DSE_INTERNAL,
                        "the search says %.17g J and the accounting %.17g J for one mapping",
                        state->offered_j, again_j);
    return DSE_OK;
}

/* A pass has ended. By an objective with time in it there may be more. */
static bool next_pass(struct engine_context *context, struct state *state)
{
    if (!time_passes_next(&state->passes, state->search.found, state->search.best_j,
                          engine_context_best_cost(context)))
        return false;
    state->settings.most_cycle = state->passes.most_cycle;
    state->limits.below_j = isfinite(state->passes.below_j) ? state->passes.below_j : 0;
    return true;
}

/* A loop of a dataflow asked for that has one iteration; NULL: none. */
static const char *lacking_loop(const struct state *state, const struct problem *problem)
{
    const char *name = NULL;
    for (uint32_t v = 0; v < state->space.model.n_level && !name; v++)
        if (state->settings.array.only[v])
            name = unrolling_lacks(state->settings.array.only[v], problem);
    return name;
}

/* Why there is nothing: what a schedule file or a dataflow asks for, or what the smallest tiles need, if that
 * is too much. */
static enum dse_status explain(struct engine_context *context, const struct state *state,
                               struct dse_error *err)
{
    const struct mapspace *space;
    char why[256];
    if (state->hint &&
        interstellar_hint_is_impossible(state->hint, engine_context_problem(context),
                                        engine_context_task(context)->architecture, why, sizeof why)) {
        engine_context_explain(context, why);
        return DSE_OK;
    }
    const char *lacking = lacking_loop(state, engine_context_problem(context));
    if (lacking) {
        snprintf(why, sizeof why, "the dataflow asked for unrolls loop %s, which has one iteration", lacking);
        engine_context_explain(context, why);
        return DSE_OK;
    }
    engine_context_explain(context, "every blocking breaks a memory's rule (too large, or by "
                                    "interstellar-compat less than half full), or no choice of loops suits "
                                    "the array");
    return engine_context_mapspace(context, false, &space, err);
}

/* The authors' candidates for an array are not all that fit it; a schedule file and a dataflow say what else
 * is wanted. */
static bool tries_all_arrays(const struct state *state)
{
    const struct array_rule *rule = &state->settings.array;
    for (uint32_t v = 0; v < state->space.model.n_level && !rule->any && !state->hint; v++)
        if (blocking_has_array(&state->space.model, v) && !rule->only[v])
            return false;
    return true;
}

static enum dse_status end_search(struct engine_context *context, struct state *state, enum engine_stop *stop,
                                  struct dse_error *err)
{
    const double best = engine_context_best_cost(context);
    double bound = state->passes.passed;
    if (time_passes_timed(&state->passes))
        bound = fmin(bound, best);
    *stop = STOP_CONVERGED;
    if (isinf(best))
        return explain(context, state, err);
    if (!state->space.model.exact || !tries_all_arrays(state))
        return DSE_OK;
    engine_context_bound(context, bound);
    if (best <= bound * (1 + 1e-12))
        *stop = STOP_OPTIMAL;
    return DSE_OK;
}

/* Points of the enumeration are evaluations; the one that the driver prices itself is among them. */
static enum dse_status enumerate_step(struct engine_context *context, struct state *state,
                                      enum engine_stop *stop, struct dse_error *err)
{
    struct blocking_search *search = &state->search;
    const bool full = search->n_point >= search->most_point;
    if (!search->done && !full)
        DSE_TRY(blocking_search_step(search, err));
    if (search->n_point > state->n_counted + 1) {
        engine_context_count(context, search->n_point - 1 - state->n_counted);
        state->n_counted = search->n_point - 1;
    }
    if (!search->done && search->n_point < search->most_point)
        return DSE_OK;
    DSE_TRY(offer(context, state, err));
    if (!search->done) {
        *stop = STOP_MAX_EVALUATIONS;
        return DSE_OK;
    }
    (void)time_passes_next(&state->passes, search->found, search->best_j, engine_context_best_cost(context));
    return end_search(context, state, stop, err);
}

static bool price(void *self, const struct mapping *mapping, double *cost, double *tie)
{
    struct state *state = self;
    if (!engine_context_evaluate(state->context, mapping, cost))
        return false;
    *tie = engine_context_last(state->context)->energy_j;
    return true;
}

/* A local search of so many evaluations from the best so far, or from all loops at the outermost level, or
 * where these leave a memory too empty from a mapping drawn at random. */
static enum dse_status start_polish(struct engine_context *context, struct state *state,
                                    uint64_t n_evaluation, struct dse_error *err)
{
    const struct engine_task *task = engine_context_task(context);
    const struct mapspace *space;
    struct mapping start;
    double cost, tie;
    DSE_TRY(engine_context_mapspace(context, false, &space, err));
    struct polish *polish = arena_alloc(engine_context_arena(context), 1, sizeof *polish);
    DSE_TRY(arena_check(engine_context_arena(context), "a local search", err));
    state->context = context;
    polish_init(polish, space, price, state, engine_context_stream(context, RANDOM_MOVE), POLISH_PATIENCE);
    mapping_init(&start, engine_context_problem(context), task->architecture);
    if (engine_context_best(context))
        start = *engine_context_best(context);
    if (!mapspace_contains(space, &start, NULL) &&
        (task->constraints || !mapspace_draw(space, &polish->stream, &start, NULL, NULL)))
        return DSE_OK;
    if (!price(state, &start, &cost, &tie))
        return DSE_OK;
    polish_add(polish, &start, cost, tie);
    state->polish = polish;
    state->last_evaluation = engine_context_evaluations(context) + n_evaluation;
    return DSE_OK;
}

/* Where the search's energies are only near the accounting's, or it was left unfinished, its answer is where
 * a local search begins. */
static enum dse_status begin_polish(struct engine_context *context, struct state *state,
                                    struct dse_error *err)
{
    if ((state->space.model.exact && !state->search.spent) || engine_context_task(context)->constraints ||
        state->settings.pad > 1)
        return DSE_OK;
    return start_polish(context, state, POLISH_EVALUATIONS, err);
}

/* True: there is more to do. */
static bool polish_some(struct engine_context *context, struct state *state)
{
    const uint64_t before = engine_context_evaluations(context);
    do {
        if (engine_context_evaluations(context) >= state->last_evaluation ||
            engine_context_left(context) == 0 || !polish_step(state->polish))
            return false;
    } while (engine_context_evaluations(context) - before < ENGINE_BATCH);
    return true;
}

static enum dse_status interstellar_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                         struct dse_error *err)
{
    struct state *state = memory;
    if (engine_context_option(context, OPTION_MODE) == MODE_ENUMERATE)
        return enumerate_step(context, state, stop, err);
    if (state->polish)
        return polish_some(context, state) ? DSE_OK : end_search(context, state, stop, err);
    if (!state->search.done)
        DSE_TRY(blocking_search_step(&state->search, err));
    DSE_TRY(offer(context, state, err));
    if (!state->search.done && !state->search.spent) {
        if (state->search.over) /* maybe in a hurry: nothing is left of the proof */
            *stop = STOP_MAX_SECONDS;
        return DSE_OK;
    }
    if (state->search.spent)
        time_passes_leave(&state->passes, state->search.bound_j);
    if (state->search.spent || !next_pass(context, state)) {
        DSE_TRY(begin_polish(context, state, err));
        return state->polish ? DSE_OK : end_search(context, state, stop, err);
    }
    state->offered_j = INFINITY;
    return begin_pass(context, state, err);
}

/* A polish that has had its evaluations goes on while there is time. */
static bool may_go_on(const struct engine_context *context, struct state *state)
{
    if (engine_context_evaluations(context) < state->last_evaluation || state->limits.stop_at_s <= 0 ||
        blocking_limits_time(state->limits.stop_at_s))
        return false;
    state->last_evaluation += LATE_EVALUATIONS;
    return true;
}

/* Where time is over the best is polished for a moment: least energy is found first, so by an objective with
 * time in it the best may be far off, and there may be none at all. Where constraints leave few arrays, or
 * the best is padded or one of the authors' enumeration, a local search would leave the space. */
static enum dse_status interstellar_finish(void *memory, struct engine_context *context,
                                           struct dse_error *err)
{
    struct state *state = memory;
    DSE_TRY(offer(context, state, err));
    const bool none = isinf(engine_context_best_cost(context));
    const bool enumerated = engine_context_option(context, OPTION_MODE) == MODE_ENUMERATE;
    const bool constrained = engine_context_task(context)->constraints != NULL;
    const atomic_int *cancel = state->limits.cancel;
    if (!state->search.over || (cancel && atomic_load(cancel)) ||
        (!none && (enumerated || constrained || state->settings.pad > 1)))
        return DSE_OK;
    DSE_TRY(start_polish(context, state, constrained ? 0 : LATE_EVALUATIONS, err));
    while (state->polish && (polish_some(context, state) || may_go_on(context, state)))
        ;
    return DSE_OK;
}

static void interstellar_free(void *memory)
{
    struct state *state = memory;
    blocking_search_free(&state->search);
    blocking_space_free(&state->space);
    arena_free(&state->arena);
}

static const struct engine_accounting accounting[] = {
    {&accounting_interstellar, NULL, 0}, {&accounting_interstellar_compat, NULL, 0}, {NULL, NULL, 0}};

const struct engine engine_interstellar = {
    .name = "interstellar",
    .summary = "least-energy dataflow and blocking, proved by branch and bound (Interstellar, ASPLOS 2020)",
    .kind = ENGINE_MAPPER,
    .accounting = accounting,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 0.01, .evaluations = 1000, .evaluation_s = 5e-5},
    .columns = &interstellar_columns,
    .dataflows = interstellar_dataflows,
    .takes_hint = true,
    .takes_only = "schedule files of Interstellar and dataflows, no other constraints; mode enumerate least "
                  "energy alone",
    .takes_task = takes_task,
    .state_byte = sizeof(struct state),
    .init = interstellar_init,
    .step = interstellar_step,
    .finish = interstellar_finish,
    .free = interstellar_free,
};
