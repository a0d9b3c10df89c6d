/* Simulated annealing over mappings: the shared algorithm with the map space's neighbours. */
#include "engines/baseline/baseline.h"
#include "engines/baseline/mapping_search.h"
#include "engines/search/annealing_points.h"

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
    struct annealing_options options;
    struct annealing *walk; /* NULL: there is no first mapping yet */
    struct annealing_points points;
};

static enum dse_status annealing_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct annealing_options *options = &state->options;
    *options = (struct annealing_options){
        .rule = ANNEALING_RATIO,
        .n_round = (uint64_t)engine_context_option(context, OPTION_MOVES),
        .n_restart = (uint32_t)engine_context_option(context, OPTION_RESTARTS),
        .first_temperature = engine_context_option(context, OPTION_FIRST),
        .last_temperature = engine_context_option(context, OPTION_LAST),
        .return_share = 1,
    };
    uint64_t share = engine_context_left(context) / (options->n_restart + 1);
    if (share < options->n_round)
        options->n_round = share ? share : 1;
    DSE_TRY(mapping_search_init(&state->search, context, engine_context_option(context, OPTION_BYPASS) != 0,
                                err));
    return annealing_points_init(&state->points, &state->search.hooks, engine_context_arena(context), err);
}

/* Find and price a first mapping; the walk stays NULL when there is none. */
static enum dse_status start(struct state *state, struct engine_context *context, struct dse_error *err)
{
    const struct annealing_space moves = annealing_points_space(&state->points);
    struct random_stream stream = engine_context_stream(context, RANDOM_MOVE);
    double cost;
    if (annealing_points_start(&state->points, &stream, &cost) != SEARCH_PRICED)
        return DSE_OK;
    return annealing_new(&moves, &state->options, cost, stream, engine_context_arena(context), &state->walk,
                         err);
}

static enum dse_status annealing_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                     struct dse_error *err)
{
    struct state *state = memory;
    if (!state->walk)
        DSE_TRY(start(state, context, err));
    bool more = state->walk && annealing_step(state->walk, ENGINE_BATCH);
    if (!more && engine_context_left(context) > 0)
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

const struct engine engine_annealing = {
    .name = "annealing",
    .summary = "simulated annealing over valid mappings",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5, .evaluations = 40000, .evaluation_s = 1.5e-6, .option = {"moves"}},
    .state_byte = sizeof(struct state),
    .init = annealing_init,
    .step = annealing_run,
};
