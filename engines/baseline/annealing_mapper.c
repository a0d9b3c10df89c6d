/* Simulated annealing over mappings: the shared algorithm with the map space's neighbours. */
#include "engines/baseline/baseline.h"
#include "engines/baseline/mapping_search.h"
#include "engines/search/annealing.h"

enum { OPTION_MOVES, OPTION_RESTARTS, OPTION_FIRST, OPTION_LAST, OPTION_BYPASS, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    {"moves", "moves of one descent; fewer when the budget of evaluations is smaller", "move", OPTION_INTEGER,
     20000, 1, 1e12, NULL},
    {"restarts", "further descents, each from the best mapping so far", "descent", OPTION_INTEGER, 1, 0, 1e6,
     NULL},
    {"first_temperature",
     "at temperature T a mapping that costs x times as much is taken with probability x^(-1/T)", "",
     OPTION_REAL, 0.3, 1e-6, 1e6, NULL},
    {"last_temperature", "the same at the end of a descent; geometric in between", "", OPTION_REAL, 0.001,
     1e-9, 1e6, NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    struct mapping_search search;
    struct annealing *annealing;
};

static enum dse_status annealing_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct annealing_options options = {
        .n_move = (uint64_t)engine_context_option(context, OPTION_MOVES),
        .n_restart = (uint32_t)engine_context_option(context, OPTION_RESTARTS),
        .first_temperature = engine_context_option(context, OPTION_FIRST),
        .last_temperature = engine_context_option(context, OPTION_LAST),
    };
    uint64_t share = engine_context_left(context) / (options.n_restart + 1);
    if (share < options.n_move)
        options.n_move = share ? share : 1;
    DSE_TRY(mapping_search_init(&state->search, context, engine_context_option(context, OPTION_BYPASS) != 0,
                                err));
    return annealing_new(&state->search.hooks, &options, engine_context_stream(context, RANDOM_MOVE),
                         engine_context_arena(context), &state->annealing, err);
}

static enum dse_status annealing_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                     struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    if (!annealing_step(state->annealing, ENGINE_BATCH) && engine_context_left(context) > 0)
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

const struct engine engine_annealing = {
    .name = "annealing",
    .summary = "simulated annealing over valid mappings",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {3e-5, 40000, 1.5e-6, {"moves"}},
    .state_byte = sizeof(struct state),
    .init = annealing_init,
    .step = annealing_run,
    .free = NULL,
};
