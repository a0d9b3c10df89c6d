/* Simulated annealing over a search space. Costs are compared by their logarithms, so that temperatures mean
 * relative differences: at temperature T a point that costs x times as much is taken with probability
 * x^(-1/T). */
#ifndef ENGINES_SEARCH_ANNEALING_H
#define ENGINES_SEARCH_ANNEALING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/search/search_space.h"

struct annealing_options {
    uint64_t n_move;    /* moves of one descent from the first to the last temperature */
    uint32_t n_restart; /* further descents, each from the best point so far */
    double first_temperature, last_temperature; /* > 0; geometric in between */
};

struct annealing;

/* Memory from `arena`; `space` must outlive it. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status annealing_new(const struct search_space *space,
                                             const struct annealing_options *options,
                                             struct random_stream stream, struct arena *arena,
                                             struct annealing **out, struct dse_error *err);

/* Make up to n moves. False when the search has ended: schedule done, space over, or no first point found. */
bool annealing_step(struct annealing *annealing, uint64_t n);

#endif
