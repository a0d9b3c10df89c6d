/* The independent checker: re-derives from the mapping alone that it is complete and fits. Shares no code
 * with the evaluator, so that a mistake in one is seen by the other. Slow and plain by design. */
#ifndef COSTMODEL_LOOPNEST_CHECKER_H
#define COSTMODEL_LOOPNEST_CHECKER_H

#include <stdbool.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* Does the mapping cover every iteration exactly once (factors multiply to the bounds, orders are
 * permutations) and fit the machine (capacity with halo boxes, minimum utilisation, mesh, fan-out, instances,
 * kept somewhere, roles)? On false, `reason` (size bytes) says why in one sentence. */
bool checker_accepts(const struct problem *problem, const struct architecture *arch,
                     const struct mapping *mapping, char *reason, unsigned long size);

#endif
