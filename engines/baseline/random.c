#include "engines/baseline/baseline.h"
#include "engines/driver.h"

/* Best of N: draw valid mappings and keep the best. */

enum { OPTION_SEARCH_SIZE, OPTION_VICTORY, OPTION_TIMEOUT, OPTION_BYPASS, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    {"search_size", "stop after so many valid mappings; 0: only when the budget is used up", "mapping",
     OPTION_INTEGER, 10000, 0, 1e15, NULL},
    {"victory_condition",
     "stop after so many valid mappings in a row that are not better than the best; 0: never", "mapping",
     OPTION_INTEGER, 0, 0, 1e15, NULL},
    {"timeout", "stop after so many invalid draws in a row; 0: never", "draw", OPTION_INTEGER, 1000, 0, 1e15,
     NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    const struct mapspace *space;
    struct random_stream stream;
    struct mapping mapping;
    uint64_t n_valid, n_not_better, n_invalid;
};

static enum dse_status random_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return engine_context_mapspace(context, engine_context_option(context, OPTION_BYPASS) != 0, &state->space,
                                   err);
}

static bool reached(uint64_t n, double limit)
{
    return limit > 0 && (double)n >= limit;
}

static enum dse_status random_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    (void)err;
    struct state *state = memory;
    for (int i = 0; i < ENGINE_BATCH && engine_context_left(context) > 0; i++) {
        struct misfit_info fit;
        uint64_t n_rejected = 0;
        double cost, best = engine_context_best_cost(context);
        bool drawn = mapspace_draw(state->space, &state->stream, &state->mapping, &n_rejected, &fit);
        engine_context_reject(context, n_rejected, drawn ? NULL : &fit);
        if (drawn && engine_context_evaluate(context, &state->mapping, &cost)) {
            state->n_valid++;
            state->n_invalid = 0;
            state->n_not_better = cost < best ? 0 : state->n_not_better + 1;
        } else {
            state->n_invalid += n_rejected + (drawn ? 1 : 0);
        }
        if (reached(state->n_valid, engine_context_option(context, OPTION_SEARCH_SIZE)) ||
            reached(state->n_not_better, engine_context_option(context, OPTION_VICTORY)) ||
            reached(state->n_invalid, engine_context_option(context, OPTION_TIMEOUT))) {
            *stop = STOP_CONVERGED;
            break;
        }
    }
    return DSE_OK;
}

const struct engine engine_random = {
    .name = "random",
    .summary = "best of N random valid mappings, drawn by construction",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .state_byte = sizeof(struct state),
    .init = random_init,
    .step = random_step,
    .free = NULL,
};
