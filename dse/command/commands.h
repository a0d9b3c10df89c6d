/* One constant per command; the table is in command_table.c. */
#ifndef DSE_COMMAND_COMMANDS_H
#define DSE_COMMAND_COMMANDS_H

#include "dse/console/cli.h"

extern const struct cli_command command_run;
extern const struct cli_command command_eval;
extern const struct cli_command command_map;
extern const struct cli_command command_sample;
extern const struct cli_command command_list;
extern const struct cli_command command_plot;
extern const struct cli_command command_pareto;
extern const struct cli_command command_report;
extern const struct cli_command command_merge;
extern const struct cli_command command_status;
extern const struct cli_command command_check;
extern const struct cli_command command_convert;
extern const struct cli_command command_rerun;
extern const struct cli_command command_optimise;
extern const struct cli_command command_slurm;
extern const struct cli_command command_watch;

struct engine_command; /* engines/driver/engine_command.h */

/* The command that an engine's work on a machine becomes. */
struct cli_command command_of_engine(const struct engine_command *of);

/* The whole program: `dse argv[1] ...`; returns the exit code. */
int cli_main(int argc, char **argv, const struct console *console);

#endif
