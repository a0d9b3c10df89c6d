/* Lower bounds that no mapping can beat, per problem and architecture: compulsory traffic, operand delivery,
 * compute and bandwidth bounds, valid for every number the evaluator can report (its quirks included).
 * Proofs: docs/lower-bounds.md. */
#ifndef COSTMODEL_LOOPNEST_LOWER_BOUND_H
#define COSTMODEL_LOOPNEST_LOWER_BOUND_H

#include <stdbool.h>

#include "costmodel/accounting/accounting.h"

/* Bound of one checked problem on one checked architecture; energy and delay of its edp have the same
 * spread over the MAC array. Holds for every valid mapping to which `lower_bound_applies`. */
void lower_bound_compute(const struct problem *problem, const struct architecture *arch,
                         struct lower_bound *out);

/* Does every tensor start and end in its home, the outermost level that may hold its role? Timeloop accepts
 * mappings that bypass it and then charges nothing for the tensor's way into the chip; no bound can cover
 * such a free gift. */
bool lower_bound_applies(const struct problem *problem, const struct architecture *arch,
                         const struct mapping *mapping);

#endif
