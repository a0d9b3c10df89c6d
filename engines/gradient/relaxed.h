/* The analytical cost model with real-valued factors, and its gradient (docs/gradient.md has the formulas).
 * Every factor is given by its natural logarithm, so tiles, trips and words are exponentials of sums, and a
 * bound may be cut at any place. The value guides a search and prices nothing. */
#ifndef ENGINES_GRADIENT_RELAXED_H
#define ENGINES_GRADIENT_RELAXED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/driver/objective.h"
#include "engines/mapspace/mapspace_project.h"

/* Logarithms of factors, or slopes along them; rows are the places of a map space, columns dimensions. */
typedef double relaxed_factors[MAPSPACE_PLACE_MAX][PROBLEM_DIM_MAX];

struct relaxed;

/* What a value is made of. */
struct relaxed_terms {
    /* the time is the norm of order 2^sharpness of the MACs' cycles and those of every limited port */
    uint32_t sharpness;
    double penalty; /* weight of the squared excess of tiles and spreads, in logarithms */
};

/* Compile for a space, which must outlive the model. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status relaxed_new(const struct problem *problem, const struct architecture *arch,
                                           const struct mapspace *space, const struct objective *objective,
                                           struct arena *arena, struct relaxed **out, struct dse_error *err);

/* The model's own list of the places of the space (*n). */
const struct mapspace_place *relaxed_places(const struct relaxed *model, uint32_t *n);

/* From now on keeps, temporal orders and switches are those of `choice`. */
void relaxed_choose(struct relaxed *model, const struct mapping *choice);

/* The logarithm of the cost at `factor`, plus penalties. `slope` (NULL: not asked for) gets its derivative by
 * every factor's logarithm, 0 where a place is closed and nothing fixed. */
double relaxed_value(struct relaxed *model, relaxed_factors factor, const struct relaxed_terms *terms,
                     relaxed_factors slope);

/* The logarithms of the factors of a mapping. */
void relaxed_factors_of(const struct relaxed *model, const struct mapping *mapping, relaxed_factors factor);

#endif
