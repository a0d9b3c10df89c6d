/* The parts that soma-plus tries beside the rule's (docs/soma-search.md, "soma-plus"). */
#ifndef ENGINES_SOMA_PLUS_PARTS_H
#define ENGINES_SOMA_PLUS_PARTS_H

#include "engines/soma/task.h"

enum { PLUS_PARTS = 10 };

/* The network of a task whose layers the rule has cut, in other parts and, where that may have a schedule,
 * whole: *n of them, no two alike. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_parts(const struct soma_task *ruled, struct arena *arena,
                                          struct soma_scheduled other[PLUS_PARTS], uint32_t *n,
                                          struct dse_error *err);

#endif
