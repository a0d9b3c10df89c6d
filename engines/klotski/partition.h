/* Partitions that one tile size for all layers makes: Klotski's grid, clipped to each layer, of which those
 * are kept that fit the memories and make few enough uops. docs/klotski.md, "How they are scheduled". */
#ifndef ENGINES_KLOTSKI_PARTITION_H
#define ENGINES_KLOTSKI_PARTITION_H

#include "engines/klotski/uop_plan.h"

enum { PARTITION_DIM = 4 };

struct partition_grid {
    uint32_t n;
    struct uop_cut *cut; /* (n) */
    double *at;          /* (n, PARTITION_DIM) where each lies between the least and the largest of each size,
                          * 0 to 1 by their logarithms */
    uint32_t n_all, n_sram; /* sizes of the grid, and how many of these fit the memories */
};

/* Sizes of the grid: output rows and columns 7 to 112, input channels in multiples of the c lanes, output
 * channels in multiples of the k lanes. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status partition_grid_of(const struct uop_network *network,
                                                 const struct kc_machine *machine, enum uop_sums sums,
                                                 enum uop_sram sram, uint32_t batch, uint32_t max_uops,
                                                 struct arena *arena, struct partition_grid *out,
                                                 struct dse_error *err);

/* The entropy of uops' latencies as shares of their sum, in nats. */
double partition_entropy(const struct uop_graph *graph);

#endif
