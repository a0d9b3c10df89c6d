/* Commands as tables: options, operands and help of every command come from the same rows. */
#ifndef DSE_CONSOLE_CLI_H
#define DSE_CONSOLE_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/cli_option.h"
#include "base/status.h"

/* Exit codes (DESIGN.md, section 6). */
enum { EXIT_DONE = 0, EXIT_SOME_FAILED = 1, EXIT_BAD_USE = 2, EXIT_INTERRUPTED = 130 };

/* Where a command writes: tables to `out`, everything else to `err`; in the program both let no control
 * character through. What moves the cursor (a progress line, `dse watch`) goes to the terminals. */
struct console {
    FILE *out;
    FILE *err;
    FILE *out_terminal, *err_terminal; /* the same places, as they are; NULL: no terminal */
    bool of_process;                   /* these are the streams of the process, not of a test */
};

enum { CLI_VALUE_MAX = 128, CLI_OPTION_MAX = 48 };

struct cli_args;

struct cli_command {
    const char *name;
    const char *operands;            /* "SPEC", "ARCH PROBLEM MAPPING", for the usage line */
    const char *summary;             /* one sentence */
    const char *help;                /* paragraphs and examples after the options */
    const struct cli_option *option; /* (n_option) */
    size_t n_option;
    bool (*more)(size_t i, struct cli_option *option); /* those behind them, of its tables elsewhere: number
                                                          i, false behind the last; NULL: none */
    size_t min_operand, max_operand;
    const char *choice_option; /* the option whose words help lists, for people and completion; or NULL */
    const char *(*choice)(size_t i, const char **sentence); /* its word i, NULL behind the last */
    int (*run)(const struct cli_args *args, const struct console *console); /* returns the exit code */
};

/* What the user wrote. Texts are borrowed from argv. */
struct cli_args {
    const struct cli_command *command;
    size_t n_operand;
    char *const *operand; /* (n_operand) */
    size_t n_value;
    struct {
        const struct cli_option *option;
        const char *text;   /* NULL: a switch, or no value */
    } value[CLI_VALUE_MAX]; /* (n_value) in the order given */
    bool help;
    int argc; /* the whole line, for provenance */
    char *const *argv;
};

/* The command with all its options in a table, `option` (CLI_OPTION_MAX); of one name the first counts. */
struct cli_command cli_command_whole(const struct cli_command *command, struct cli_option *option);

/* Parse argv[1 ...] of a command (argv[0] is the command's name). DSE_BAD_USAGE: unknown option (with the
 * nearest one), missing or surplus operands. Not reentrant (getopt_long). */
DSE_MUST_CHECK enum dse_status cli_parse(const struct cli_command *command, int argc, char **argv,
                                         struct cli_args *args, struct dse_error *err);

/* The last value given for an option, or NULL. */
const char *cli_value(const struct cli_args *args, const char *name);
bool cli_has(const struct cli_args *args, const char *name);

/* All values of an option in `value` (CLI_VALUE_MAX), in the order given; returns how many. */
size_t cli_values(const struct cli_args *args, const char *name, const char **value);

/* One of `choice` (n): the index of the option's value, `standard` when it is not given. DSE_BAD_USAGE with
 * the nearest. */
DSE_MUST_CHECK enum dse_status cli_choice(const struct cli_args *args, const char *name,
                                          const char *const *choice, size_t n, size_t standard, size_t *index,
                                          struct dse_error *err);

/* An unsigned number in lowest .. highest; `*value` stays when the option is not given. */
DSE_MUST_CHECK enum dse_status cli_number(const struct cli_args *args, const char *name,
                                          unsigned long long lowest, unsigned long long highest,
                                          unsigned long long *value, struct dse_error *err);

void cli_print_help(const struct cli_command *command, FILE *out);

/* Print "dse: file:line: text" and return the exit code of the status. */
int cli_report(const struct console *console, enum dse_status status, const struct dse_error *err);

/* Write each line of `text` to the console as a warning. */
void cli_warn(const struct console *console, const char *text);

#endif
