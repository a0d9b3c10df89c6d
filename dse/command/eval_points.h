/* dse eval ARCH PROBLEM with mappings of one line each. */
#ifndef DSE_COMMAND_EVAL_POINTS_H
#define DSE_COMMAND_EVAL_POINTS_H

#include "dse/console/cli.h"
#include "dse/report/point_eval.h"

/* Price the lines of operand 2 for the layer that is operand 1, in the way the options ask for, and print the
 * report. `request` has machine, notation and text; the rest is set here. DSE_BAD_USAGE for an option that
 * belongs to other mappings; errors of point_eval. */
DSE_MUST_CHECK enum dse_status eval_points(const struct cli_args *args, const struct console *console,
                                           struct point_request *request, uint32_t batch,
                                           struct dse_error *err);

#endif
