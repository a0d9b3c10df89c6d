/* Adam on the relaxed model. */
#ifndef ENGINES_GRADIENT_RELAXED_DESCENT_H
#define ENGINES_GRADIENT_RELAXED_DESCENT_H

#include <stdint.h>

#include "base/random.h"
#include "engines/gradient/relaxed.h"

struct relaxed_schedule {
    uint32_t steps;
    double rate;
};

/* Descend from a random point with the choice of the model; `factor` gets the last point. The factors of a
 * dimension are its free part to the power of the softmax of free numbers, one for every open place, times
 * what is fixed: their product is the bound at every step. */
void relaxed_descend(struct relaxed *model, const struct problem *problem,
                     const struct relaxed_schedule *schedule, struct random_stream *stream,
                     relaxed_factors factor);

#endif
