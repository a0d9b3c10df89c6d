/* Schedules of any format, evaluated as a command asks for it. */
#ifndef DSE_REPORT_SCHEDULE_INPUT_H
#define DSE_REPORT_SCHEDULE_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "dse/console/cli.h"
#include "engines/driver/schedule_format.h"

/* What formats have on the command line (cli_command.more): all of it, and what is not about one report
 * alone. */
bool schedule_flag_at(size_t i, struct cli_option *option);
bool schedule_graph_flag_at(size_t i, struct cli_option *option);

/* The first of the options (n) or of the formats' flags that was given, by name; NULL: none was. */
const char *schedule_option_given(const struct cli_args *args, const char *const *option, size_t n);

/* Evaluate; request->option is set here, and request->accounting where it is asked for. `args` (NULL: none):
 * --accounting NAME and what is short for it, --option NAME=VALUE, and every flag of the format.
 * DSE_BAD_USAGE for a flag of another format, an accounting of mappings, or two of them; DSE_BAD_INPUT for
 * one that does not price the machine, or a wrong option; errors of the format. */
DSE_MUST_CHECK enum dse_status schedule_input(const struct cli_args *args,
                                              const struct schedule_format *format,
                                              struct schedule_request *request, struct arena *arena,
                                              void **schedule, struct dse_error *err);

#endif
