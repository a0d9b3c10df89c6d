/* A lower bound of the cycles of all DRAM orders and living durations of one LFA. */
#ifndef ENGINES_SOMA_SEARCH_DLSA_BOUND_H
#define ENGINES_SOMA_SEARCH_DLSA_BOUND_H

#include "costmodel/fused/fused_schedule.h"

/* Cycles that no valid DLSA of the schedule's tiles and tensors beats in a buffer of `buffer_byte`; at least
 * the sums of either engine. Only tiles and tensors of `schedule` count, not its order or the starts of loads
 * and ends of stores. Linear in both. Working memory from `scratch`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status dlsa_bound(const struct fused_schedule *schedule,
                                          const struct fused_machine *machine, uint64_t buffer_byte,
                                          struct arena *scratch, uint64_t *cycle, struct dse_error *err);

#endif
