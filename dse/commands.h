/* One constant per command; the table is in command_table.c. */
#ifndef DSE_COMMANDS_H
#define DSE_COMMANDS_H

#include "dse/cli.h"

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

#endif
