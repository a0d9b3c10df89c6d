/* Options of an engine's table as those of the algorithm, and a batch of individuals. */
#include "engines/search/genetic_engine.h"

enum dse_status genetic_engine_new(const struct search_space *space, struct engine_context *context,
                                   size_t first, struct genetic **out, struct dse_error *err)
{
    double value[N_GENETIC_OPTION];
    for (size_t i = 0; i < N_GENETIC_OPTION; i++)
        value[i] = engine_context_option(context, first + i);
    const struct genetic_options options = {
        .n_population = (uint32_t)value[GENETIC_POPULATION],
        .n_generation = (uint32_t)value[GENETIC_GENERATIONS],
        .n_elite = (uint32_t)value[GENETIC_ELITE],
        .n_tournament = (uint32_t)value[GENETIC_TOURNAMENT],
        .crossover_chance = value[GENETIC_CROSSOVER],
        .mutation_chance = value[GENETIC_MUTATION],
    };
    return genetic_new(space, &options, engine_context_stream(context, RANDOM_MOVE),
                       engine_context_arena(context), out, err);
}

void genetic_engine_step(struct genetic *genetic, const struct engine_context *context,
                         enum engine_stop *stop)
{
    if (!genetic_step(genetic, ENGINE_BATCH) && engine_context_left(context) > 0)
        *stop = STOP_CONVERGED;
}
