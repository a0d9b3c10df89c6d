/* The execution graph of an evaluated fused schedule (docs/execution-graph.md). */
#ifndef DSE_REPORT_SCHEDULE_TIMELINE_H
#define DSE_REPORT_SCHEDULE_TIMELINE_H

#include "base/arena.h"
#include "base/status.h"
#include "dse/console/cli.h"
#include "dse/report/schedule_evaluate.h"
#include "results/timeline/timeline.h"

/* Rows of a schedule that has no fault. Memory from `arena`, names copied; `title` for people. DSE_NO_MEMORY;
 * DSE_LIMIT when it takes 2^60 cycles or more. */
DSE_MUST_CHECK enum dse_status timeline_of(const struct schedule *schedule, const char *title,
                                           struct arena *arena, struct timeline *timeline,
                                           struct dse_error *err);

/* "resnet50_fused" of "schedules/resnet50_fused.yaml"; from `arena`, or `path` itself when out of memory. */
const char *timeline_title(const char *path, struct arena *arena);

/* dse eval --timeline FILE, when it is given. */
DSE_MUST_CHECK enum dse_status timeline_save(const struct cli_args *args, const struct schedule *schedule,
                                             struct dse_error *err);

/* Whether the first operand of `dse plot` is a timeline file or a fused schedule. */
bool timeline_is_operand(const char *path);

/* DSE_BAD_USAGE when `dse plot` got more operands or options than belong to the one result file of a
 * sweep. */
DSE_MUST_CHECK enum dse_status timeline_plot_not(const struct cli_args *args, struct dse_error *err);

/* dse plot of timeline files and schedules, one panel each. */
DSE_MUST_CHECK enum dse_status timeline_plot(const struct cli_args *args, const struct console *console,
                                             struct dse_error *err);

#endif
