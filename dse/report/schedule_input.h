/* Schedules of any format, evaluated as a command asks for it. */
#ifndef DSE_REPORT_SCHEDULE_INPUT_H
#define DSE_REPORT_SCHEDULE_INPUT_H

#include "dse/console/cli.h"
#include "engines/driver/schedule_format.h"

/* Evaluate; request->option is set here. `args` (NULL: none): --option NAME=VALUE, and every option of the
 * command that the format has by the same name (--core). DSE_BAD_INPUT for a wrong one; errors of the
 * format. */
DSE_MUST_CHECK enum dse_status schedule_input(const struct cli_args *args,
                                              const struct schedule_format *format,
                                              struct schedule_request *request, struct arena *arena,
                                              void **schedule, struct dse_error *err);

#endif
