/* Best of N members of Mind Mappings' map space, as its data are drawn. */
#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_search.h"

enum { OPTION_MODE, OPTION_SEARCH_SIZE, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    MM_OPTION_MODE,
    {"search_size", "stop after so many mappings; 0: only when the budget is used up", "mapping",
     OPTION_INTEGER, 10000, 0, 1e15, NULL},
};

struct state {
    struct mm_search search;
    struct random_stream stream;
};

static enum dse_status random_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    state->stream = engine_context_stream(context, RANDOM_INIT);
    return mm_search_init(&state->search, context, (enum mm_mode)engine_context_option(context, OPTION_MODE),
                          err);
}

static enum dse_status random_step(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    (void)err;
    struct state *state = memory;
    double size = engine_context_option(context, OPTION_SEARCH_SIZE), cost;
    struct mm_mapping drawn;
    for (int i = 0; i < ENGINE_BATCH && engine_context_left(context) > 0; i++) {
        if (size > 0 && (double)engine_context_evaluations(context) >= size) {
            *stop = STOP_CONVERGED;
            break;
        }
        mm_space_draw(state->search.space, &state->stream, &drawn);
        (void)mm_search_price(&state->search, &drawn, &cost);
    }
    return DSE_OK;
}

const struct engine engine_mm_random = {
    .name = "mm-random",
    .summary = "best of N random mappings of Mind Mappings' map space",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 1e-4, .evaluations = 10000, .evaluation_s = 5e-6, .option = {"search_size"}},
    .takes_only = MM_TAKES_ONLY,
    .takes_machine = mm_takes_machine,
    .takes_task = mm_takes_task,
    .state_byte = sizeof(struct state),
    .init = random_init,
    .step = random_step,
};
