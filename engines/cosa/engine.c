/* CoSA as a mapper: its one mapping is priced once. */
#include "engines/cosa/cosa_engines.h"
#include "engines/cosa/cosa_options.h"

static const struct engine_option option[COSA_OPTION_COUNT] = {COSA_OPTIONS};

struct state {
    struct cosa_settings settings;
    struct cosa_solution solution;
};

static enum dse_status cosa_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    const struct mapspace *space;
    return cosa_begin(context, false, &state->settings, &space, err);
}

static enum dse_status cosa_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                 struct dse_error *err)
{
    struct state *state = memory;
    const struct engine_task *task = engine_context_task(context);
    struct cosa_solution *solution = &state->solution;
    double cost;
    DSE_TRY(cosa_map(engine_context_problem(context), task->architecture, task->constraints, &state->settings,
                     engine_context_arena(context), solution, err));
    if (solution->feasible)
        (void)engine_context_evaluate(context, &solution->mapping, &cost);
    else if (solution->misfit.what != FITS)
        engine_context_reject(context, 1, &solution->misfit);
    else
        engine_context_explain(context, solution->reason);
    bool limited =
        solution->drawn || solution->milp_status == MILP_FEASIBLE || solution->milp_status == MILP_NOT_SOLVED;
    bool late =
        state->settings.hurried || (limited && solution->timed_out && milp_is_over(&state->settings.limits));
    *stop = late ? STOP_MAX_SECONDS : limited ? STOP_SOLVER_LIMIT : STOP_CONVERGED;
    return DSE_OK;
}

const struct engine engine_cosa = {
    .name = "cosa",
    .summary = "one-shot mapping by mixed-integer programming (CoSA, ISCA 2021)",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = COSA_OPTION_COUNT,
    .effort = {.fixed_s = 0.01, .evaluations = 1, .evaluation_s = 4e-6},
    .better = "cosa-best",
    .better_evaluations = 12, /* its solves */
    .probe = "random",
    .probe_evaluations = 50, /* a tenth of a millisecond */
    .state_byte = sizeof(struct state),
    .init = cosa_init,
    .step = cosa_step,
};
