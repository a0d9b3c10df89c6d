/* What the engines that are a genetic algorithm share: their options in one order, and a step. */
#ifndef ENGINES_SEARCH_GENETIC_ENGINE_H
#define ENGINES_SEARCH_GENETIC_ENGINE_H

#include "engines/driver/driver.h"
#include "engines/search/genetic.h"

/* The options of such an engine, one after the other in its table. */
enum {
    GENETIC_POPULATION,
    GENETIC_GENERATIONS,
    GENETIC_ELITE,
    GENETIC_TOURNAMENT,
    GENETIC_CROSSOVER,
    GENETIC_MUTATION,
    N_GENETIC_OPTION
};

/* genetic_new for the options from number `first` on. */
DSE_MUST_CHECK enum dse_status genetic_engine_new(const struct search_space *space,
                                                  struct engine_context *context, size_t first,
                                                  struct genetic **out, struct dse_error *err);

/* One batch; `*stop` is set when the algorithm has ended before the budget. */
void genetic_engine_step(struct genetic *genetic, const struct engine_context *context,
                         enum engine_stop *stop);

#endif
