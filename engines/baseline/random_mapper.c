/* Best of N: draw valid mappings and keep the best. */
#include "engines/baseline/baseline.h"
#include "engines/baseline/sampling.h"
#include "engines/driver/driver.h"

enum {
    OPTION_SEARCH_SIZE,
    OPTION_VICTORY,
    OPTION_TIMEOUT,
    OPTION_SAMPLING,
    OPTION_MAX_DRAWS,
    OPTION_BYPASS,
    N_OPTION
};

static const struct engine_option option[N_OPTION] = {
    {"search_size", "stop after so many valid mappings; 0: only when the budget is used up", "mapping",
     OPTION_INTEGER, 10000, 0, 1e15, NULL},
    {"victory_condition",
     "stop after so many valid mappings in a row that are not better than the best; 0: never", "mapping",
     OPTION_INTEGER, 0, 0, 1e15, NULL},
    {"timeout", "stop after so many invalid draws in a row; 0: only after 1e8", "draw", OPTION_INTEGER, 1000,
     0, 1e15, NULL},
    BASELINE_OPTION_SAMPLING,
    {"max_draws", "stop after so many draws, valid or not; 0: no limit", "draw", OPTION_INTEGER, 0, 0, 1e15,
     NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    const struct mapspace *space;
    struct random_stream stream;
    struct mapping mapping;
    uint64_t n_draw, n_valid, n_not_better, n_invalid; /* the last two: in a row */
};

static enum dse_status random_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->space,
                                   err);
}

static bool is_over(const struct state *state, const struct engine_context *context)
{
    return sampling_reached(state->n_valid, engine_context_option(context, OPTION_SEARCH_SIZE)) ||
           sampling_reached(state->n_not_better, engine_context_option(context, OPTION_VICTORY)) ||
           sampling_reached(state->n_draw, engine_context_option(context, OPTION_MAX_DRAWS)) ||
           sampling_timed_out(state->n_invalid, engine_context_option(context, OPTION_TIMEOUT));
}

static enum dse_status random_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    (void)err;
    struct state *state = memory;
    enum sampling sampling = (enum sampling)engine_context_option(context, OPTION_SAMPLING);
    for (int i = 0; i < ENGINE_BATCH && engine_context_left(context) > 0; i++) {
        uint64_t n_rejected = 0;
        double cost, best = engine_context_best_cost(context);
        bool drawn =
            sampling_draw(context, state->space, sampling, &state->stream, &state->mapping, &n_rejected);
        state->n_draw += n_rejected + drawn;
        if (drawn && engine_context_evaluate(context, &state->mapping, &cost)) {
            state->n_valid++;
            state->n_invalid = 0;
            state->n_not_better = cost < best ? 0 : state->n_not_better + 1;
        } else {
            state->n_invalid += n_rejected + drawn;
        }
        if (is_over(state, context)) {
            *stop = STOP_CONVERGED;
            break;
        }
    }
    return DSE_OK;
}

const struct engine engine_random = {
    .name = "random",
    .summary = "best of N random valid mappings",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5, .evaluations = 10000, .evaluation_s = 4.4e-6, .option = {"search_size"}},
    .state_byte = sizeof(struct state),
    .init = random_init,
    .step = random_step,
};
