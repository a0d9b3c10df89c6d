/* dse plot of timeline files and of schedules that have an execution graph (docs/execution-graph.md). */
#ifndef DSE_REPORT_TIMELINE_PLOT_H
#define DSE_REPORT_TIMELINE_PLOT_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/console/cli.h"
#include "engines/driver/schedule_format.h"

/* "resnet50_fused" of "schedules/resnet50_fused.yaml"; from `arena`, or `path` itself when out of memory. */
const char *timeline_title(const char *path, struct arena *arena);

/* Make the timeline of an evaluated schedule whose text is in `path`. DSE_BAD_USAGE when its format has
 * none. */
DSE_MUST_CHECK enum dse_status timeline_of(const struct schedule_format *format, const void *schedule,
                                           const char *path, struct arena *arena, struct timeline *timeline,
                                           struct dse_error *err);

/* Whether the first operand of `dse plot` is a timeline file or a schedule. */
bool timeline_is_operand(const char *path);

/* DSE_BAD_USAGE when `dse plot` got schedules besides result files, or options that belong to them. */
DSE_MUST_CHECK enum dse_status timeline_plot_not(const struct cli_args *args, struct dse_error *err);

/* dse plot of timeline files and schedules, one panel each. */
DSE_MUST_CHECK enum dse_status timeline_plot(const struct cli_args *args, const struct console *console,
                                             struct dse_error *err);

#endif
