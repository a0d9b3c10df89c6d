/* Lower bounds that no mapping can beat, per problem and architecture: compulsory traffic, operand delivery,
 * compute and bandwidth bounds, valid for every number the evaluator can report (its quirks included).
 * Proofs: docs/lower-bounds.md. */
#ifndef COSTMODEL_LOOPNEST_LOWER_BOUND_H
#define COSTMODEL_LOOPNEST_LOWER_BOUND_H

#include <stdbool.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

struct lower_bound {
    double latency_s;
    double energy_j;
    double edp_js; /* at least latency_s * energy_j: both with the same spread over the MAC array */
};

/* Bound of one checked problem on one checked architecture. Holds for every valid mapping to which
 * `lower_bound_applies`. */
void lower_bound_compute(const struct problem *problem, const struct architecture *arch,
                         struct lower_bound *out);

/* Does every tensor start and end in its home, the outermost level that may hold its role? Timeloop accepts
 * mappings that bypass it and then charges nothing for the tensor's way into the chip; no bound can cover
 * such a free gift. */
bool lower_bound_applies(const struct problem *problem, const struct architecture *arch,
                         const struct mapping *mapping);

#endif
