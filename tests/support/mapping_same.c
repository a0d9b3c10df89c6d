/* Compares two mappings level by level, leaving out where unit loops stand. */
#include "tests/support/mapping_same.h"

#include <string.h>

/* The dimensions of an order whose factor is not 1, in order; returns how many. */
static uint32_t non_unit(const uint8_t *order, const uint32_t *factor, uint32_t n_dim, uint8_t *out)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < n_dim; k++)
        if (factor[order[k]] != 1)
            out[n++] = order[k];
    return n;
}

static bool same_level(const struct mapping_level *a, const struct mapping_level *b, uint32_t n_dim)
{
    if (a->keep != b->keep || a->no_temporal_reuse != b->no_temporal_reuse ||
        a->no_link_transfer != b->no_link_transfer || a->no_multicast != b->no_multicast)
        return false;
    if (memcmp(a->temporal, b->temporal, n_dim * sizeof a->temporal[0]) != 0 ||
        memcmp(a->spatial, b->spatial, n_dim * sizeof a->spatial[0]) != 0)
        return false;
    uint8_t x[PROBLEM_DIM_MAX], y[PROBLEM_DIM_MAX];
    uint32_t nx = non_unit(a->temporal_order, a->temporal, n_dim, x);
    uint32_t ny = non_unit(b->temporal_order, b->temporal, n_dim, y);
    if (nx != ny || memcmp(x, y, nx) != 0)
        return false;
    uint32_t ax = non_unit(a->spatial_order, a->spatial, a->split, x);
    uint32_t bx = non_unit(b->spatial_order, b->spatial, b->split, y);
    if (ax != bx)
        return false;
    nx = non_unit(a->spatial_order, a->spatial, n_dim, x);
    ny = non_unit(b->spatial_order, b->spatial, n_dim, y);
    return nx == ny && memcmp(x, y, nx) == 0;
}

bool mapping_same(const struct mapping *a, const struct mapping *b)
{
    if (a->n_level != b->n_level || a->n_dim != b->n_dim)
        return false;
    for (uint32_t l = 0; l < a->n_level; l++)
        if (!same_level(&a->level[l], &b->level[l], a->n_dim))
            return false;
    return true;
}
