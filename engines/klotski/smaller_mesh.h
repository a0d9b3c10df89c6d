/* Which smaller meshes an answer for a mesh of accelerators is tried from: a schedule for n of them is one
 * for more. Without a network only their number matters. docs/klotski.md, "More accelerators". */
#ifndef ENGINES_KLOTSKI_SMALLER_MESH_H
#define ENGINES_KLOTSKI_SMALLER_MESH_H

#include "engines/klotski/order/core_traffic.h"
#include "engines/klotski/order/list_schedule.h"

/* The largest number of cores below `n_core` of a mesh with no more columns and rows; 0: there is none. */
uint32_t smaller_mesh(const struct core_mesh *mesh, uint32_t n_core);

/* What partitions take at least, whatever the number of cores. */
struct partition_load {
    uint64_t path_cycle; /* the longest path */
    uint64_t work_cycle; /* of all uops */
};

/* `scratch` (n_uop) */
struct partition_load partition_load_of(const struct uop_graph *graph, uint64_t *scratch);

/* Cycles that the best of `n` partitions is not below on so many cores, for `batch` times the uops of
 * each. */
uint64_t partition_loads_bound(const struct partition_load *load, uint32_t n, uint32_t batch,
                               uint32_t n_core);

#endif
