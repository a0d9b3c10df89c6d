/* The double-buffer DRAM order of a schedule. */
#ifndef ENGINES_SOMA_NOTATION_DEFAULT_ORDER_H
#define ENGINES_SOMA_NOTATION_DEFAULT_ORDER_H

#include "costmodel/fused/fused_schedule.h"

/* Put all tensors that are not local into schedule->dram_order (room for n_tensor) by start, weights first,
 * end, loads before stores, number; sets n_dram. Linear in tiles and tensors when few start at one position.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_default_order(struct fused_schedule *schedule, struct arena *arena,
                                                  struct dse_error *err);

#endif
