/* Traffic of one tensor, fast: the same numbers as costmodel/loopnest/traffic.h without allocation.
 * Private. */
#ifndef COSTMODEL_LOOPNEST_FAST_TRAFFIC_H
#define COSTMODEL_LOOPNEST_FAST_TRAFFIC_H

#include <stdint.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/fast_mesh.h"
#include "costmodel/loopnest/fast_nest.h"
#include "costmodel/model/mapping.h"

/* One level's counts, per instance. */
struct fast_counts {
    uint64_t reads, fills, updates;
    double network_j; /* of the network below, all instances */
};

/* Counts of tensor t at every level (n_level); zero where bypassed. */
void fast_traffic(const struct compiled *evaluator, const struct mapping *mapping,
                  const struct fast_nest *nest, uint32_t t, struct fast_mesh *mesh,
                  struct fast_counts *counts);

#endif
