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
extern const struct cli_command command_merge;
extern const struct cli_command command_status;
extern const struct cli_command command_check;
extern const struct cli_command command_rerun;
extern const struct cli_command command_calibrate;
extern const struct cli_command command_slurm;
extern const struct cli_command command_watch;

/* A command by its name; NULL when unknown. */
const struct cli_command *cli_command_find(const char *name);

/* The whole program: `dse argv[1] ...`; returns the exit code. */
int cli_main(int argc, char **argv, const struct console *console);

#endif
