/* The parts that soma-plus tries beside the rule's, and what was found for some as others have it
 * (docs/soma-search.md, "soma-plus"). */
#ifndef ENGINES_SOMA_PLUS_PARTS_H
#define ENGINES_SOMA_PLUS_PARTS_H

#include "engines/soma/search/plus_point.h"
#include "engines/soma/task.h"

enum { PLUS_PARTS = 10 };

/* The network of a task whose layers the rule has cut, in other parts and, where that may have a schedule,
 * whole: *n of them, no two alike. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_parts(const struct soma_task *ruled, struct arena *arena,
                                          struct soma_scheduled other[PLUS_PARTS], uint32_t *n,
                                          struct dse_error *err);

/* A fusion `lfa` of a network in some parts, with its leads ((n_layer)), as a point of the same network in
 * others (`to`): a layer goes where the part is that has the last of its channels, or behind what it reads,
 * and groups that no layer goes to are no more. `out` of to->n_layer layers. Whether they are the same
 * network. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_translate(const struct network *from, const struct soma_lfa *lfa,
                                              const int32_t *lead, const struct network *to,
                                              struct arena *arena, struct plus_point *out, bool *is_same,
                                              struct dse_error *err);

#endif
