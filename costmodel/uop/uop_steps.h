/* When the steps of a planned memory happen on the links of the mesh, or where messages take no time.
 * docs/klotski.md, "Weights from the DRAM". */
#ifndef COSTMODEL_UOP_UOP_STEPS_H
#define COSTMODEL_UOP_UOP_STEPS_H

#include "costmodel/uop/uop_memory.h"

/* When each step begins (a read: to be served by the DRAM) and when it is done; both (n_step), the
 * caller's. */
struct uop_step_times {
    uint64_t *start, *finish;
};

/* The DRAM serves one request at a time at machine->dram; whenever it is free, of those whose waits are over
 * the one with the smallest number; a write's when its words have come. What it has read sets out along each
 * row with cores that want it; what is written comes along its row. Messages between cores, and flit_bit
 * 0: uop_links.h. `link` (cores * UOP_SIDES) is filled. Memory from `scratch`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_steps_run(const struct uop_graph *graph, const struct kc_machine *machine,
                                             const struct uop_steps *steps, struct arena *scratch,
                                             const struct uop_step_times *out, struct uop_link *link,
                                             struct dse_error *err);

#endif
