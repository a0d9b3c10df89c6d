/* The convergence trace of a search, thinned so that it always fits. */
#ifndef ENGINES_DRIVER_TRACE_H
#define ENGINES_DRIVER_TRACE_H

#include "engines/driver/engine.h"

/* Add one improvement to result->trace. When it is full, every second point but the first is dropped; the
 * newest point is always there. */
void trace_add(struct engine_result *result, uint64_t evaluation, double cost);

#endif
