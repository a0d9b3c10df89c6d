/* Mind Mappings' genetic baseline (appendix A): the attributes of a mapping are its genes. */
#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_search.h"
#include "engines/search/genetic.h"

enum {
    OPTION_MODE,
    OPTION_POPULATION,
    OPTION_GENERATIONS,
    OPTION_TOURNAMENT,
    OPTION_CROSSOVER,
    OPTION_MUTATION,
    OPTION_ELITE,
    N_OPTION
};

static const struct engine_option option[N_OPTION] = {
    MM_OPTION_MODE,
    {"population", "mappings in one generation", "mapping", OPTION_INTEGER, 100, 2, 100000, NULL},
    {"generations", "generations after the first, random one", "generation", OPTION_INTEGER, 99, 0, 1e9,
     NULL},
    {"tournament", "mappings drawn to find one parent", "mapping", OPTION_INTEGER, 3, 1, 1000, NULL},
    {"crossover_chance", "chance that a child takes attributes of a second parent", "", OPTION_REAL, 0.75, 0,
     1, NULL},
    {"mutation_chance", "chance of each attribute to be drawn anew", "", OPTION_REAL, 0.05, 0, 1, NULL},
    {"elite", "best mappings that live on unchanged; less than the population", "mapping", OPTION_INTEGER, 0,
     0, 99999, NULL},
};

struct state {
    struct mm_search search;
    struct genetic *genetic;
};

static enum dse_status genetic_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    struct genetic_options options = {
        .n_population = (uint32_t)engine_context_option(context, OPTION_POPULATION),
        .n_generation = (uint32_t)engine_context_option(context, OPTION_GENERATIONS),
        .n_elite = (uint32_t)engine_context_option(context, OPTION_ELITE),
        .n_tournament = (uint32_t)engine_context_option(context, OPTION_TOURNAMENT),
        .crossover_chance = engine_context_option(context, OPTION_CROSSOVER),
        .mutation_chance = engine_context_option(context, OPTION_MUTATION),
    };
    if (options.n_elite >= options.n_population)
        return dse_fail(err, DSE_BAD_USAGE,
                        "engine mm-ga: elite is %u, it must be less than the population of %u",
                        options.n_elite, options.n_population);
    DSE_TRY(mm_search_init(&state->search, context, (enum mm_mode)engine_context_option(context, OPTION_MODE),
                           err));
    return genetic_new(&state->search.hooks, &options, engine_context_stream(context, RANDOM_MOVE),
                       engine_context_arena(context), &state->genetic, err);
}

static enum dse_status genetic_run(void *memory, struct engine_context *context, enum engine_stop *stop,
                                   struct dse_error *err)
{
    struct state *state = memory;
    (void)err;
    if (!genetic_step(state->genetic, ENGINE_BATCH) && engine_context_left(context) > 0)
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

const struct engine engine_mm_genetic = {
    .name = "mm-ga",
    .summary = "Mind Mappings' baseline GA: a genetic algorithm over the attributes of its vectors",
    .kind = ENGINE_MAPPER,
    .option = option,
    .n_option = N_OPTION,
    .effort = {.fixed_s = 1e-4,
               .evaluations = 10000,
               .evaluation_s = 4e-6,
               .option = {"population", "generations"}},
    .refuses_tasks = true,
    .takes_only = MM_TAKES_ONLY,
    .state_byte = sizeof(struct state),
    .init = genetic_init,
    .step = genetic_run,
};
