/* A genetic algorithm over mappings: the shared algorithm with the map space's crossover and neighbours. */
#include "engines/baseline/baseline.h"
#include "engines/baseline/mapping_search.h"
#include "engines/search/genetic_engine.h"

enum { OPTION_GENETIC, OPTION_BYPASS = N_GENETIC_OPTION, N_OPTION };

static const struct engine_option option[N_OPTION] = {
    {"population", "mappings in one generation", "mapping", OPTION_INTEGER, 200, 2, 100000, NULL},
    {"generations", "generations after the first, random one", "generation", OPTION_INTEGER, 150, 0, 1e9,
     NULL},
    {"elite", "best mappings that live on unchanged; less than the population", "mapping", OPTION_INTEGER, 4,
     0, 99999, NULL},
    {"tournament", "mappings drawn to find one parent", "mapping", OPTION_INTEGER, 3, 1, 1000, NULL},
    {"crossover_chance", "chance that a child has two parents", "", OPTION_REAL, 0.7, 0, 1, NULL},
    {"mutation_chance", "chance that a child is moved to a neighbour, again and again while it hits", "",
     OPTION_REAL, 0.5, 0, 1, NULL},
    BASELINE_OPTION_BYPASS,
};

struct state {
    struct mapping_search search;
    struct genetic *genetic;
};

static enum dse_status genetic_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    DSE_TRY(mapping_search_init(&state->search, context, engine_context_option(context, OPTION_BYPASS) != 0,
                                err));
    return genetic_engine_new(&state->search.hooks, context, OPTION_GENETIC, &state->genetic, err);
}

static enum dse_status genetic_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    genetic_engine_step(state->genetic, context, stop);
    return DSE_OK;
}

const struct engine engine_genetic = {
    .name = "genetic",
    .summary = "genetic algorithm over valid mappings",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 3e-5,
               .evaluations = 30000,
               .evaluation_s = 2.3e-6,
               .option = {"population", "generations"}},
    .state_byte = sizeof(struct state),
    .init = genetic_init,
    .step = genetic_run,
};
