/* What uops in slices read from the DRAM and write there, and how long they take with it: what their slices
 * do as uops of their own, one after the other on an accelerator by itself. docs/klotski.md, "Slices". */
#ifndef COSTMODEL_UOP_UOP_STREAM_H
#define COSTMODEL_UOP_UOP_STREAM_H

#include <stdatomic.h>

#include "costmodel/uop/uop_needs.h"

/* Of one uop. */
struct uop_stream {
    uint64_t cycle;             /* from the first request to the last end, with the DRAM to itself */
    uint64_t busy_cycle;        /* of the DRAM */
    uint64_t n_read, n_written; /* requests */
    uint64_t read_word, written_word;
};

/* Fills needs->stream for the uops that needs->is_sliced says, if any: the plan (uop_memory_plan) and times
 * of their slices on one accelerator that is empty before and after, maps in the DRAM. Uops that are alike
 * are planned once. Memory from `arena`. DSE_LIMIT: the slices of a uop read more tiles than UOP_USE_MAX, or
 * those of a sample are more; DSE_INTERRUPTED soon after `cancel` (may be NULL) is set; errors of
 * uop_tile_cycle and uop_memory_plan. */
DSE_MUST_CHECK enum dse_status uop_streams_of(const struct uop_graph *graph, const struct kc_machine *machine,
                                              const atomic_int *cancel, struct arena *arena,
                                              struct uop_needs *needs, struct dse_error *err);

#endif
