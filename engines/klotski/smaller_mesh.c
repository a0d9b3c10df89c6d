/* Numbers of cores by trying all rows; bounds by the longest path and the work. */
#include "engines/klotski/smaller_mesh.h"

uint32_t smaller_mesh(const struct core_mesh *mesh, uint32_t n_core)
{
    uint32_t most = 0;
    for (uint32_t r = 1; r <= mesh->rows && n_core > 0; r++) {
        const uint32_t fit = (n_core - 1) / r, columns = fit < mesh->columns ? fit : mesh->columns;
        most = r * columns > most ? r * columns : most;
    }
    return most;
}

struct partition_load partition_load_of(const struct uop_graph *graph, uint64_t *scratch)
{
    struct partition_load load = {0, 0};
    list_b_level(graph, 0, graph->n_uop, scratch);
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        load.path_cycle = scratch[u] > load.path_cycle ? scratch[u] : load.path_cycle;
        load.work_cycle += graph->uop[u].cycle;
    }
    return load;
}

uint64_t partition_loads_bound(const struct partition_load *load, uint32_t n, uint32_t batch, uint32_t n_core)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t work = load[i].work_cycle * batch;
        const uint64_t share = work / n_core + (work % n_core != 0);
        const uint64_t bound = load[i].path_cycle > share ? load[i].path_cycle : share;
        least = bound < least ? bound : least;
    }
    return least;
}
