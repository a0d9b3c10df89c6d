/* What there is to say of a sweep before anything runs. */
#ifndef DSE_COMMAND_DRY_RUN_H
#define DSE_COMMAND_DRY_RUN_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "base/text.h"
#include "dse/run/runner.h"
#include "dse/spec/sweep.h"

/* Print what the sweep spans; with `options` (may be NULL) also what a run by them has left to do, and how
 * long that takes; and what dry_run_refused says. Errors of the estimate; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status dry_run_print(const struct sweep *sweep, const struct run_options *options,
                                             FILE *out, uint64_t *n_failing, struct dse_error *err);

/* Append the points that their engines do not take, *n_failing of them, by reason; nothing when there are
 * none. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status dry_run_refused(const struct sweep *sweep, struct text_buffer *out,
                                               uint64_t *n_failing, struct dse_error *err);

#endif
