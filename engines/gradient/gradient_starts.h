/* Mappings that descents on the relaxed model lead to: of every choice of what is kept and which tensor stays
 * in place under the loops of a level, where these are few; of random ones where they are many. Nothing is
 * priced here. */
#ifndef ENGINES_GRADIENT_GRADIENT_STARTS_H
#define ENGINES_GRADIENT_GRADIENT_STARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/driver/objective.h"
#include "engines/gradient/relaxed_descent.h"

struct gradient_start {
    struct mapping mapping;
    double value; /* logarithm of the cost by the relaxed model */
    uint64_t hash;
    uint8_t part; /* of the space in which it was found */
};

struct gradient_setting {
    struct relaxed_schedule schedule;
    uint32_t descents; /* at least 1 */
    uint32_t refined;  /* the best mappings that greedy descent on the relaxed model improves */
};

struct gradient_starts;

/* Prepare; memory from `arena`. `space`, which is not empty, problem and machine outlive it all.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status gradient_starts_new(
    const struct mapspace *space, const struct problem *problem, const struct architecture *arch,
    const struct objective *objective, const struct gradient_setting *setting, struct arena *arena,
    struct gradient_starts **out, struct dse_error *err);

/* One more descent with the valid mapping nearest to where it ends, or some steps to improve one. False when
 * all is done. */
bool gradient_starts_step(struct gradient_starts *starts, struct random_stream *stream);

/* The mappings so far, best first (*n); some may be equal after all is done. No step may follow before
 * that. */
const struct gradient_start *gradient_starts_best(struct gradient_starts *starts, uint32_t *n);

#endif
