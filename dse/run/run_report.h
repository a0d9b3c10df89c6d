/* What is said at the end of `dse run`: counts, failures by reason, the slowest points. Constant memory. */
#ifndef DSE_RUN_RUN_REPORT_H
#define DSE_RUN_RUN_REPORT_H

#include "base/status.h"
#include "base/text.h"
#include "dse/run/runner.h"

struct run_report; /* counts rows of this run and of earlier ones */

/* The schema is borrowed. Release with run_report_free. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status run_report_new(const struct result_schema *schema, struct run_report **report,
                                              struct dse_error *err);
void run_report_free(struct run_report *report); /* NULL is fine */

struct run_observer run_report_observer(struct run_report *report);

/* Points with this status, those of earlier runs included. */
uint64_t run_report_count(const struct run_report *report, enum result_status status);

/* What was computed, in what time, and how busy the threads were; `out` is the result file. Returns how many
 * points were written. */
size_t run_summary_print(const struct run_summary *summary, const char *out, FILE *err);

/* How many of the points have another's schedule; nothing when none has. */
void run_exchange_print(const struct exchange_summary *exchange, uint64_t n_point, FILE *err);

/* Append the lines; none when all points are ok and the run was short. */
void run_report_print(struct run_report *report, const struct run_summary *summary, struct text_buffer *out);

#endif
