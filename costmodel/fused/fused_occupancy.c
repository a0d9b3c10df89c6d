/* A complete binary tree whose nodes hold what was added to their whole range and the maximum below; no
 * pushing down, so one pass from the leaves renews it. */
#include "costmodel/fused/fused_occupancy.h"

void fused_occupancy_init(struct fused_occupancy *occupancy, uint32_t n_position, struct arena *arena)
{
    occupancy->n_leaf = 2;
    while (occupancy->n_leaf < n_position)
        occupancy->n_leaf *= 2;
    occupancy->most = arena_alloc(arena, 2 * (size_t)occupancy->n_leaf, sizeof *occupancy->most);
    occupancy->added = arena_alloc(arena, occupancy->n_leaf, sizeof *occupancy->added);
}

static inline void add_below(struct fused_occupancy *occupancy, uint32_t node, int64_t byte)
{
    occupancy->most[node] += byte;
    if (node < occupancy->n_leaf)
        occupancy->added[node] += byte;
}

static inline void renew(struct fused_occupancy *occupancy, uint32_t node)
{
    int64_t left = occupancy->most[2 * node], right = occupancy->most[2 * node + 1];
    occupancy->most[node] = (left > right ? left : right) + occupancy->added[node];
}

/* The range is cut into whole subtrees from its two ends inwards; then every ancestor of the ends is renewed,
 * once. */
void fused_occupancy_add(struct fused_occupancy *occupancy, uint32_t first, uint32_t past, int64_t byte)
{
    if (first >= past)
        return;
    uint32_t left = first + occupancy->n_leaf, right = past + occupancy->n_leaf;
    uint32_t left_end = left, right_end = right - 1;
    for (; left < right; left >>= 1, right >>= 1) {
        if (left & 1)
            add_below(occupancy, left++, byte);
        if (right & 1)
            add_below(occupancy, --right, byte);
    }
    for (left_end >>= 1, right_end >>= 1; left_end != right_end; left_end >>= 1, right_end >>= 1) {
        renew(occupancy, left_end);
        renew(occupancy, right_end);
    }
    for (; left_end >= 1; left_end >>= 1)
        renew(occupancy, left_end);
}

/* Below a node whose leaves are low .. low + n - 1; what its ancestors add is already taken from `byte`. */
static int64_t last_above(const struct fused_occupancy *occupancy, uint32_t node, uint32_t low, uint32_t n,
                          uint32_t past, int64_t byte)
{
    if (low >= past || occupancy->most[node] <= byte)
        return -1;
    if (n == 1)
        return low;
    byte -= occupancy->added[node];
    int64_t found = last_above(occupancy, 2 * node + 1, low + n / 2, n / 2, past, byte);
    return found >= 0 ? found : last_above(occupancy, 2 * node, low, n / 2, past, byte);
}

static int64_t first_above(const struct fused_occupancy *occupancy, uint32_t node, uint32_t low, uint32_t n,
                           uint32_t first, int64_t byte)
{
    if (low + n <= first || occupancy->most[node] <= byte)
        return -1;
    if (n == 1)
        return low;
    byte -= occupancy->added[node];
    int64_t found = first_above(occupancy, 2 * node, low, n / 2, first, byte);
    return found >= 0 ? found : first_above(occupancy, 2 * node + 1, low + n / 2, n / 2, first, byte);
}

int64_t fused_occupancy_last_above(const struct fused_occupancy *occupancy, uint32_t past, int64_t byte)
{
    return last_above(occupancy, 1, 0, occupancy->n_leaf, past, byte);
}

int64_t fused_occupancy_first_above(const struct fused_occupancy *occupancy, uint32_t first, int64_t byte)
{
    return first_above(occupancy, 1, 0, occupancy->n_leaf, first, byte);
}
