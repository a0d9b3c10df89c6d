/* How early uops can start when cores are few, and how late they can end: longer heads and tails than those
 * of the longest paths, for bounds. */
#ifndef COSTMODEL_UOP_UOP_HEADS_H
#define COSTMODEL_UOP_UOP_HEADS_H

#include "costmodel/uop/uop_graph.h"

/* Raise the heads and tails of uops `first` to `end` - 1, a segment (uop_segments), `n_core` of which run at
 * once; both (end - first). In: longest paths before and behind each. Out: from the segment's start to that
 * of the uop, and from its end to the segment's, no schedule takes less. Memory from `scratch`: 9 B a uop;
 * nothing is raised where there is none. */
void uop_heads_raise(const struct uop_graph *graph, uint32_t first, uint32_t end, uint32_t n_core,
                     struct arena *scratch, uint64_t *head, uint64_t *tail);

#endif
