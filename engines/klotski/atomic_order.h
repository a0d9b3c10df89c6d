/* The order that Klotski's second baseline gives uops: list scheduling by rules instead of numbers.
 * Whenever accelerators are free, first come the remaining uops of layers in progress, then layers of the
 * least depth, then deeper ones, then the next sample; and the uops of a layer lie side by side in zig-zag
 * order. (After S. Zheng et al., "Atomic dataflow based graph-level workload orchestration for scalable DNN
 * accelerators", HPCA 2022: without its rounds as the Klotski paper has it, or with them; its search of
 * what goes into a round is not here.) */
#ifndef ENGINES_KLOTSKI_ATOMIC_ORDER_H
#define ENGINES_KLOTSKI_ATOMIC_ORDER_H

#include "engines/klotski/uop_plan.h"

/* When and where each uop starts (n_uop each, the caller's), messages take no time; the last end. In rounds
 * accelerators are free when all are. Memory from `scratch`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status atomic_order(const struct uop_graph *graph, const struct kc_machine *machine,
                                            bool in_rounds, struct arena *scratch, uint64_t *start,
                                            uint32_t *core, uint64_t *cycle, struct dse_error *err);

#endif
