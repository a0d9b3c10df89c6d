/* Hops of one tensor on a mesh of children (docs/cost-model.md, "Energy of networks"), where its groups are
 * even: no two spatial loops move one rank of it. */
#ifndef COSTMODEL_LOOPNEST_MESH_HOPS_H
#define COSTMODEL_LOOPNEST_MESH_HOPS_H

#include <stdbool.h>
#include <stdint.h>

struct spatial_loop {
    uint32_t bound;
    bool between; /* its iterations are different groups (else members of one) */
};

/* Room for as many numbers as there are children, and columns. */
struct hop_scratch {
    uint32_t *base, *member, *down, *seen, *low;
};

/* The sum over all groups of the hops that reach a group's members; the loops (n) from the inside out, on a
 * mesh of `width` columns and `height` rows, both at least as large as the loops need. */
double mesh_hops(const struct spatial_loop *spatial, uint32_t n, uint64_t width, uint64_t height,
                 const struct hop_scratch *scratch);

#endif
