/* A genetic algorithm over a search space: tournament selection, crossover, mutation by neighbours,
 * elitism. */
#ifndef ENGINES_SEARCH_GENETIC_H
#define ENGINES_SEARCH_GENETIC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/search/search_space.h"

struct genetic_options {
    uint32_t n_population; /* >= 2 */
    uint32_t n_generation;
    uint32_t n_elite;        /* of the best that live on unchanged, < n_population */
    uint32_t n_tournament;   /* how many are drawn for one parent */
    double crossover_chance; /* that a child has two parents */
    /* that a child is moved to a neighbour, repeated while it hits; where the space mutates parts, of each
     * part */
    double mutation_chance;
};

struct genetic;

/* Memory from `arena`; `space` must outlive it. DSE_BAD_USAGE: the elite is as large as the
 * population. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status genetic_new(const struct search_space *space,
                                           const struct genetic_options *options, struct random_stream stream,
                                           struct arena *arena, struct genetic **out, struct dse_error *err);

/* Make up to n individuals, those of the elite among them. False when the search has ended: generations done,
 * space over, or no first population. */
bool genetic_step(struct genetic *genetic, uint64_t n);

#endif
