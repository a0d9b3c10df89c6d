/* Mind Mappings' genetic baseline (appendix A): the attributes of a mapping are its genes. */
#include "engines/mindmappings/mm_engines.h"
#include "engines/mindmappings/mm_search.h"
#include "engines/search/genetic_engine.h"

enum { OPTION_MODE, OPTION_GENETIC, N_OPTION = OPTION_GENETIC + N_GENETIC_OPTION };

static const struct engine_option option[N_OPTION] = {
    MM_OPTION_MODE,
    {"population", "mappings in one generation", "mapping", OPTION_INTEGER, 100, 2, 100000, NULL},
    {"generations", "generations after the first, random one", "generation", OPTION_INTEGER, 99, 0, 1e9,
     NULL},
    {"elite", "best mappings that live on unchanged; less than the population", "mapping", OPTION_INTEGER, 0,
     0, 99999, NULL},
    {"tournament", "mappings drawn to find one parent", "mapping", OPTION_INTEGER, 3, 1, 1000, NULL},
    {"crossover_chance", "chance that a child takes attributes of a second parent", "", OPTION_REAL, 0.75, 0,
     1, NULL},
    {"mutation_chance", "chance of each attribute to be drawn anew", "", OPTION_REAL, 0.05, 0, 1, NULL},
};

struct state {
    struct mm_search search;
    struct genetic *genetic;
};

static enum dse_status genetic_init(void *memory, struct engine_context *context, struct dse_error *err)
{
    struct state *state = memory;
    DSE_TRY(mm_search_init(&state->search, context, (enum mm_mode)engine_context_option(context, OPTION_MODE),
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
    .takes_only = MM_TAKES_ONLY,
    .takes_machine = mm_takes_machine,
    .takes_task = mm_takes_task,
    .state_byte = sizeof(struct state),
    .init = genetic_init,
    .step = genetic_run,
};
