/* Every mapping of a small or constrained space, up to loop orders that cannot matter: the answer is
 * proved. */
#include <math.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/baseline/baseline.h"
#include "engines/driver/driver.h"
#include "engines/driver/engine_fit.h"
#include "engines/mapspace/mapspace_enumerate.h"
#include "engines/mapspace/mapspace_order.h"

enum { OPTION_MAX_SIZE, OPTION_BYPASS, N_OPTION, STEPS_AT_A_TIME = 20000 };

static const struct engine_option option[N_OPTION] = {
    {"max_size", "refuse a space with more factorisations, times keep/bypass choices, than this",
     "factorisation", OPTION_REAL, 1e8, 1, 1e18, NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    const struct mapspace *space;
    struct mapspace_enumerator *enumerator;
    struct order_walk walk;
    struct mapping mapping;
    bool walking; /* the mapping holds an order not yet priced */
};

/* A map space that can be walked through. */
static enum dse_status takes_task(const struct engine_question *question, struct dse_error *err)
{
    const struct engine_task *task = question->task;
    const struct problem *problem = evaluator_problem(task->evaluator);
    const double limit = task->option[OPTION_MAX_SIZE];
    const struct mapspace *space;
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = mapspace_new(problem, task->architecture, task->constraints,
                                          task->option[OPTION_BYPASS] != 0, &arena, &space, err);
    if (status == DSE_OK && !mapspace_is_empty(space)) {
        const struct mapspace_size size = mapspace_size(space);
        if (size.log10_factors + size.log10_bypass > log10(limit))
            status = dse_fail(err, DSE_BAD_USAGE,
                              "the map space of %s is too large for exhaustive: 10^%.1f factorisations "
                              "(10^%.1f with bypass choices and loop orders), max_size is %g; constrain it "
                              "or take another engine",
                              problem->name, size.log10_factors, size.log10_total, limit);
    }
    arena_free(&arena);
    return status;
}

static enum dse_status exhaustive_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    DSE_TRY(engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0,
                                    &state->space, err));
    return mapspace_enumerator_new(state->space, engine_context_arena(context), &state->enumerator, err);
}

static enum dse_status exhaustive_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                       struct dse_error *err)
{
    struct state *state = memory;
    double cost;
    (void)err;
    for (int i = 0; i < ENGINE_BATCH && engine_context_left(context) > 0; i++) {
        if (!state->walking) {
            struct misfit_info fit = {.what = FITS};
            enum enumerate_outcome outcome =
                mapspace_enumerator_next(state->enumerator, STEPS_AT_A_TIME, &state->mapping, &fit);
            if (outcome != ENUMERATE_FOUND && fit.what != FITS)
                engine_context_reject(context, 1, &fit);
            if (outcome == ENUMERATE_DONE)
                *stop = engine_context_best(context) ? STOP_OPTIMAL : STOP_CONVERGED;
            if (outcome != ENUMERATE_FOUND)
                return DSE_OK;
            (void)order_walk_start(&state->walk, state->space, &state->mapping, true);
        }
        (void)engine_context_evaluate(context, &state->mapping, &cost);
        state->walking = order_walk_next(&state->walk, &state->mapping);
    }
    return DSE_OK;
}

/* Which orders cannot matter is Timeloop's: by other counts the proof would not hold. */
static const struct engine_accounting accounting[] = {{&accounting_timeloop, NULL, 0}, {NULL, NULL, 0}};

const struct engine engine_exhaustive = {
    .name = "exhaustive",
    .summary = "every mapping of a small or constrained space; its optimum is proved",
    .kind = ENGINE_MAPPER,
    .accounting = accounting,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5, .evaluations = 1000000, .evaluation_s = 0.5e-6},
    .takes_only = "map spaces of max_size factorisations at most",
    .takes_task = takes_task,
    .state_byte = sizeof(struct state),
    .init = exhaustive_init,
    .step = exhaustive_step,
};
