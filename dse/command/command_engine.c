/* dse NAME ARCH: what a family of engines can do with a machine besides searching. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/files.h"
#include "dse/command/commands.h"
#include "dse/console/report_print.h"
#include "dse/inputs/inputs.h"
#include "dse/isolate/run_signals.h"
#include "dse/run/threads.h"
#include "engines/driver/engine_command.h"

/* The foot goes into the file (may be NULL) too. */
static enum dse_status print(const struct console *console, const struct report *report,
                             enum report_format format, FILE *file, struct dse_error *err)
{
    struct text_buffer out;
    text_init(&out);
    enum dse_status status = report_print(report, format, &out, err);
    if (status == DSE_OK && file)
        fputs(report->foot.data + strspn(report->foot.data, "\n"), file);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

/* ---- how far it is, on stderr ---- */

struct teller {
    const struct console *console;
    double last_s; /* of a line that was shown */
};

/* Lines that stay always, others five times a second on a terminal, else once a minute. */
static void tell(void *user, bool lasting, const char *line)
{
    struct teller *teller = user;
    FILE *terminal = teller->console->err_terminal;
    double now_s = clock_wall_s();
    if (!lasting && now_s - teller->last_s < (terminal ? 0.2 : 60.0))
        return;
    teller->last_s = now_s;
    if (terminal)
        fprintf(terminal, "\r%s\033[K%s", line, lasting ? "\n" : "");
    else
        fprintf(teller->console->err, "%s\n", line);
    fflush(terminal ? terminal : teller->console->err);
}

static const char *value_of(const void *args, const char *name)
{
    return cli_value(args, name);
}

/* A signal sets a flag, and the work ends after what is in flight. */
static enum dse_status run_watched(const struct engine_command *command, struct engine_command_task *task,
                                   struct watch *watch, struct report *report, struct dse_error *err)
{
    DSE_TRY(watch_start(watch, NULL, err));
    task->cancel = &watch->cancel;
    enum dse_status status = command->run(task, report, err);
    watch_stop(watch);
    return status;
}

/* All that must not end halfway: there would be half a file. */
static enum dse_status run_to_file(const struct cli_args *args, const struct console *console,
                                   struct engine_command_task *task, struct dse_error *err)
{
    const struct engine_command *command = engine_command_find(args->command->name);
    static const char *const format_name[] = {"table", "csv", "json"};
    const char *path = command->writes ? NULL : cli_value(args, "output");
    struct new_file file;
    struct watch watch;
    struct report report;
    size_t format; /* of commands that have the option */
    DSE_TRY(cli_choice(args, "format", format_name, 3, REPORT_TABLE, &format, err));
    report_init(&report, command->name);
    watch_block(&watch);
    enum dse_status status = new_file_open(path, NULL, &file, err);
    if (status == DSE_OK) {
        status = run_watched(command, task, &watch, &report, err);
        if (status == DSE_OK)
            status = print(console, &report, (enum report_format)format, file.stream, err);
        status = new_file_close(&file, status, err);
    }
    watch_unblock(&watch);
    report_free(&report);
    return status;
}

/* By name, as it stands. */
static enum dse_status plain_network(const char *name, struct network *network, struct dse_error *err)
{
    return input_network(name, NULL, network, err);
}

static enum dse_status read_and_run(const struct cli_args *args, const struct console *console,
                                    struct dse_error *err)
{
    struct architecture arch;
    struct input_overrides overrides;
    unsigned long long threads = (unsigned long long)threads_available();
    const char *word = cli_value(args, "objective");
    struct teller teller = {.console = console, .last_s = clock_wall_s()};
    struct engine_command_task task = {.architecture = &arch,
                                       .value = value_of,
                                       .args = args,
                                       .network = plain_network,
                                       .say = tell,
                                       .user = &teller};
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    DSE_TRY(objective_parse(word ? word : "latency", &task.objective, err));
    DSE_TRY(input_no_network_set(args, "this command", err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &arch, err));
    task.n_thread = (int)threads;
    return run_to_file(args, console, &task, err);
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    return cli_report(console, read_and_run(args, console, &err), &err);
}

struct cli_command command_of_engine(const struct engine_command *of)
{
    return (struct cli_command){
        .name = of->name,
        .operands = "ARCH",
        .summary = of->summary,
        .help = of->help,
        .option = of->option,
        .n_option = of->n_option,
        .min_operand = 1,
        .max_operand = 1,
        .run = command,
    };
}
