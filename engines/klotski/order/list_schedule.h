/* Graham's list scheduling of uops on equal cores, and the priorities that it takes: whenever a core is free,
 * the ready uop of the highest priority starts. Messages take no time here. At most 2 - 1/cores times the
 * optimum whatever the priorities (R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl.
 * Math. 1969). */
#ifndef ENGINES_KLOTSKI_ORDER_LIST_SCHEDULE_H
#define ENGINES_KLOTSKI_ORDER_LIST_SCHEDULE_H

#include <stdint.h>

#include "base/random.h"
#include "costmodel/uop/uop_graph.h"

/* Scratch for lists over one graph; made once, used for many. */
struct list_scheduler;

/* Memory from `arena`: about 40 B a uop. NULL: out of memory. */
struct list_scheduler *list_scheduler_new(const struct uop_graph *graph, uint32_t n_core,
                                          struct arena *arena);

/* Schedule uops `first` to `end` - 1, whose producers outside are all done, from time 0 on. `priority`
 * (n_uop); of equal ones the smaller number comes first. Writes `start` and `core` of these uops; returns
 * when the last one ends, or UINT64_MAX as soon as that cannot be below `limit`. */
uint64_t list_schedule(struct list_scheduler *scheduler, uint32_t first, uint32_t end,
                       const uint64_t *priority, uint64_t limit, uint64_t *start, uint32_t *core);

/* Schedule the same uops in that order, `order` (end - first), in which producers come first: each on the
 * core that is free first, when it is free and what the uop needs is made. What any schedule starts in that
 * order starts here no later. Else as list_schedule. */
uint64_t list_in_turn(struct list_scheduler *scheduler, uint32_t first, uint32_t end, const uint32_t *order,
                      uint64_t limit, uint64_t *start, uint32_t *core);

/* b-level: the longest path from the start of a uop to the end of uops `first` to `end` - 1. */
void list_b_level(const struct uop_graph *graph, uint32_t first, uint32_t end, uint64_t *priority);

/* First in, first out: by number, so layer after layer. */
void list_fifo(uint32_t first, uint32_t end, uint64_t *priority);

#endif
