/* Bytes alive at each position, with the largest of them: a tree over the positions in which adding to a
 * range costs the logarithm of their number. Internal to the incremental evaluator. */
#ifndef COSTMODEL_FUSED_FUSED_OCCUPANCY_H
#define COSTMODEL_FUSED_FUSED_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct fused_occupancy {
    uint32_t n_leaf; /* a power of two */
    int64_t *most; /* (2 n_leaf) the largest below a node, what its ancestors add left out; [1] is the root */
    int64_t *added; /* (n_leaf) to all below an inner node */
};

/* All zero. False: no memory. */
void fused_occupancy_init(struct fused_occupancy *occupancy, uint32_t n_position, struct arena *arena);

/* Add `byte` (or take it away) at first .. past-1. */
void fused_occupancy_add(struct fused_occupancy *occupancy, uint32_t first, uint32_t past, int64_t byte);

static inline uint64_t fused_occupancy_max(const struct fused_occupancy *occupancy)
{
    return (uint64_t)occupancy->most[1];
}

/* The last position before `past` that holds more than `byte`, and the first one from `first` on; -1:
 * none. */
int64_t fused_occupancy_last_above(const struct fused_occupancy *occupancy, uint32_t past, int64_t byte);
int64_t fused_occupancy_first_above(const struct fused_occupancy *occupancy, uint32_t first, int64_t byte);

#endif
