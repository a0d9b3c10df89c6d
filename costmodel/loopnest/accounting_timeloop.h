/* Timeloop's accounting: the numbers of Timeloop v3.0.3 for dense, perfectly factorised mappings
 * (docs/cost-model.md), with its independent checker and its lower bounds. */
#ifndef COSTMODEL_LOOPNEST_ACCOUNTING_TIMELOOP_H
#define COSTMODEL_LOOPNEST_ACCOUNTING_TIMELOOP_H

#include <stdbool.h>

#include "costmodel/accounting/accounting.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

extern const struct accounting accounting_timeloop;

/* Does the mapping cover every iteration exactly once (factors multiply to the bounds, orders are
 * permutations) and fit the machine (capacity with halo boxes, minimum utilisation, mesh, fan-out, instances,
 * kept somewhere, roles)? On false, `reason` (size bytes) says why in one sentence. */
bool checker_accepts(const struct problem *problem, const struct architecture *arch,
                     const struct mapping *mapping, char *reason, unsigned long size);

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
