/* From a scheme of the SoMa family to the driver: totals, text form, and the check that it reads back. */
#ifndef ENGINES_SOMA_OFFER_H
#define ENGINES_SOMA_OFFER_H

#include "engines/driver/driver.h"
#include "engines/soma/task.h"

/* What the first stage had reached, for who compares the two. */
struct soma_stage1 {
    uint64_t cycle;
    double energy_j; /* without leakage */
    double buffer_average_byte, buffer_average_compute_byte;
};

/* Evaluate `fused` (of `lfa`, with its DRAM order and living durations) and offer it with its text form,
 * which leaves out DRAM order and living durations where they are the double-buffer ones. `stage1` may be
 * NULL. What is no better than the best is not written out. `scratch` is the caller's to reset. DSE_INTERNAL:
 * it has a fault; errors of engine_context_offer and of the core scheduler. */
DSE_MUST_CHECK enum dse_status soma_offer(struct engine_context *context, const struct soma_task *task,
                                          const struct soma_lfa *lfa, const struct fused_schedule *fused,
                                          const struct soma_stage1 *stage1, struct arena *scratch,
                                          struct dse_error *err);

/* The same for an LFA alone, which is parsed for it; it is valid. Resets `scratch`. */
DSE_MUST_CHECK enum dse_status soma_offer_lfa(struct engine_context *context, const struct soma_task *task,
                                              const struct soma_lfa *lfa, struct arena *scratch,
                                              struct dse_error *err);

/* The hook `verify` of the family: text form, parser, the accounting. */
DSE_MUST_CHECK enum dse_status soma_verify(const struct engine_task *task,
                                           const struct accounting *accounting,
                                           const struct engine_schedule *found, struct arena *arena,
                                           struct engine_schedule *again, struct dse_error *err);

#endif
