/* dse run SPEC and dse check SPEC */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "dse/command/commands.h"
#include "dse/command/dry_run.h"
#include "dse/console/table.h"
#include "dse/inputs/input_check.h"
#include "dse/inputs/inputs.h"
#include "dse/inputs/resolve.h"
#include "dse/isolate/supervisor.h"
#include "dse/run/event_log.h"
#include "dse/run/run_report.h"
#include "dse/run/runner.h"
#include "dse/run/threads.h"

enum { OUT_PATH_MAX = 4096, COMMAND_MAX = 1024 };

/* SPEC with everything looked up. */
struct loaded {
    struct sweep_spec spec;
    struct sweep sweep;
};

/* With `faults` all that is wrong is noted there. */
static enum dse_status load(const struct cli_args *args, struct loaded *loaded, struct dse_faults *faults,
                            struct dse_error *err)
{
    const char *set[CLI_VALUE_MAX];
    char path[RESOLVE_PATH_MAX];
    memset(loaded, 0, sizeof *loaded);
    DSE_TRY(resolve_name(RESOLVE_EXPERIMENT, args->operand[0], NULL, path, sizeof path, err));
    DSE_TRY(spec_read_all(&loaded->spec, path, set, cli_values(args, "set", set), faults, err));
    return sweep_init(&loaded->sweep, &loaded->spec, err);
}

static void unload(struct loaded *loaded)
{
    sweep_free(&loaded->sweep);
    spec_free(&loaded->spec);
}

/* "K/N" with 1 <= K <= N. */
static enum dse_status read_shard(const struct cli_args *args, struct run_options *options,
                                  struct dse_error *err)
{
    const char *text = cli_value(args, "shard");
    char part[24], shown[64];
    uint64_t k = 0, n = 0;
    options->shard = options->n_shard = 1;
    if (!text)
        return DSE_OK;
    const char *slash = strchr(text, '/');
    if (slash && (size_t)(slash - text) < sizeof part) {
        memcpy(part, text, (size_t)(slash - text));
        part[slash - text] = '\0';
        if (text_parse_u64(part, &k) && text_parse_u64(slash + 1, &n) && k >= 1 && k <= n && n <= 1000000) {
            options->shard = (uint32_t)k;
            options->n_shard = (uint32_t)n;
            return DSE_OK;
        }
    }
    return dse_fail(err, DSE_BAD_USAGE, "--shard %s: write K/N with 1 <= K <= N, for instance 1/4",
                    text_excerpt(text, shown, sizeof shown));
}

/* OUT.h5, or OUT.K-of-N.h5 for a shard. */
static enum dse_status read_out(const struct cli_args *args, const struct sweep_spec *spec,
                                const struct run_options *options, char *out, size_t size,
                                struct dse_error *err)
{
    char ending[64] = ".h5", name[SPEC_NAME_MAX + 8], shown[128];
    snprintf(name, sizeof name, "./%s.h5", spec->name);
    const char *given = cli_value(args, "output") ? cli_value(args, "output") : name;
    if (options->n_shard > 1)
        snprintf(ending, sizeof ending, ".%u-of-%u.h5", options->shard, options->n_shard);
    if (!given[0] || !result_path(out, size, given, ending))
        return dse_fail(err, DSE_BAD_USAGE, "--output: the path is empty or too long");
    const char *slash = strrchr(given, '/'), *base = slash ? slash + 1 : given;
    if (strcmp(base, "") == 0 || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--output %s: is a folder; a file in it is expected, such as %.*s%s.h5",
                        text_excerpt(given, shown, sizeof shown), slash ? (int)(slash + 1 - given) : 0, given,
                        spec->name);
    return DSE_OK;
}

/* Which layers cost nothing in this sweep, as information, in one line. */
static void note_unmapped(const struct sweep *sweep, FILE *err)
{
    size_t n_said = 0;
    for (size_t i = 0; i < sweep->n_network; i++) {
        uint32_t n = sweep->workload[i * sweep->n_batch].n_skipped;
        if (n && (i == 0 || strcmp(sweep->network[i].name, sweep->network[i - 1].name) != 0))
            fprintf(err, "%s%u layer%s of %s", n_said++ ? ", " : "dse: note: not mapped: ", n, text_plural(n),
                    sweep->network[i].name);
    }
    if (n_said)
        fputs(" (no multiply-accumulates)\n", err);
}

/* Of machines whose ERT has leakage that is not counted. */
static enum dse_status note_leaks(const struct sweep *sweep, FILE *err_out, struct dse_error *err)
{
    char text[INPUT_NOTE_MAX];
    for (size_t i = 0; i < sweep->n_arch; i++) {
        struct architecture arch;
        DSE_TRY(architecture_template_build(sweep->template[i], NULL, 0, &arch, err));
        if (input_leak_note(&arch, NULL, sweep->arch[i].path, text))
            fprintf(err_out, "dse: note: %s\n", text);
    }
    return DSE_OK;
}

/* Which points cannot be had, before the others take their time. */
static enum dse_status note_refused(const struct sweep *sweep, FILE *err_out, struct dse_error *err)
{
    struct text_buffer text;
    uint64_t n;
    text_init(&text);
    enum dse_status status = dry_run_refused(sweep, &text, &n, err);
    if (status == DSE_OK && text.length > 0)
        fprintf(err_out, "dse: note: %s", text.data);
    text_free(&text);
    return status;
}

/* Who is told what happens. */
struct audience {
    struct run_report *report;
    struct event_log *log; /* NULL: there is none */
    struct run_observer of_report, of_log;
};

static enum dse_status audience_open(struct audience *audience, const struct sweep *sweep,
                                     const struct run_options *options, const char *log_path,
                                     struct dse_error *err)
{
    memset(audience, 0, sizeof *audience);
    DSE_TRY(run_report_new(&sweep->schema, &audience->report, err));
    audience->of_report = run_report_observer(audience->report);
    if (!log_path)
        return DSE_OK;
    struct event_log_options log = {
        .path = log_path,
        .out = options->out,
        .command = options->command,
        .shard = options->shard,
        .n_shard = options->n_shard,
        .n_restart = options->board ? board_restarts(options->board) : 0,
        .err = options->err,
    };
    DSE_TRY(event_log_open(&sweep->schema, &log, &audience->log, err));
    audience->of_log = event_log_observer(audience->log);
    audience->of_report.next = &audience->of_log;
    return DSE_OK;
}

static void audience_close(struct audience *audience)
{
    event_log_close(audience->log);
    run_report_free(audience->report);
}

static void print_report(struct run_report *report, const struct run_summary *summary, FILE *err)
{
    struct text_buffer text;
    text_init(&text);
    run_report_print(report, summary, &text);
    if (text.length > 0)
        fputs(text.data, err);
    text_free(&text);
}

/* Failed and timed-out points count when the sweep is through, also those of earlier runs. */
static int exit_code_of(const struct run_summary *summary, const struct run_report *report)
{
    uint64_t n_bad = run_report_count(report, RESULT_FAILED) + run_report_count(report, RESULT_TIMEOUT);
    return summary->interrupted ? EXIT_INTERRUPTED : n_bad > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
}

static enum dse_status run_sweep(const struct sweep *sweep, const struct run_options *options,
                                 const struct console *console, struct audience *audience, int *code,
                                 struct dse_error *err)
{
    struct run_summary summary;
    enum dse_status status = DSE_OK;
    if (options->fresh || access(options->out, F_OK) != 0) { /* a resumed run has said it before */
        note_unmapped(sweep, console->err);
        status = note_leaks(sweep, console->err, err);
        if (status == DSE_OK)
            status = note_refused(sweep, console->err, err);
    }
    if (status == DSE_OK)
        status = runner_run(sweep, options, &summary, err);
    if (status == DSE_OK)
        *code = exit_code_of(&summary, audience->report);
    if (audience->log)
        event_log_end(audience->log, &summary, status, err,
                      status == DSE_OK            ? *code
                      : status == DSE_INTERRUPTED ? EXIT_INTERRUPTED
                                                  : EXIT_BAD_USE);
    DSE_TRY(status);
    size_t n_written = run_summary_print(&summary, options->out, console->err);
    print_report(audience->report, &summary, console->err);
    if (*code == EXIT_SOME_FAILED && !options->retry)
        fputs("dse: --retry computes failed and timed-out points again\n", console->err);
    if (summary.interrupted && summary.n_reused + n_written == summary.n_point)
        fputs("dse: interrupted while points exchanged schedules; the same command goes on\n", console->err);
    else if (summary.interrupted)
        fprintf(console->err, "dse: interrupted with %zu of %zu points to go; the same command resumes%s\n",
                summary.n_point - summary.n_reused - n_written, summary.n_point,
                summary.cube_is_old ? ", and builds the cube, which is older than the table" : "");
    return DSE_OK;
}

/* The command line as one text, for provenance. */
static void join_command(const struct cli_args *args, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "dse");
    for (int i = 0; i < args->argc && used < size; i++) {
        int n = snprintf(text + used, size - used, strpbrk(args->argv[i], " '\"") ? " '%s'" : " %s",
                         args->argv[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

static enum dse_status read_isolation(const struct cli_args *args, const struct loaded *loaded,
                                      struct run_options *options, struct dse_error *err)
{
    size_t choice;
    DSE_TRY(cli_choice(args, "isolation", isolation_word, ISOLATION_COUNT, (size_t)options->isolation,
                       &choice, err));
    options->isolation = (enum isolation)choice;
    if (options->isolation == ISOLATION_THREAD && loaded->sweep.max_memory_byte > 0)
        return dse_fail(err, DSE_BAD_USAGE,
                        "limits.max_memory needs worker processes; --isolation thread forbids them");
    return DSE_OK;
}

static enum dse_status prepare_run(const struct cli_args *args, const struct loaded *loaded, char *out,
                                   struct run_options *options, struct dse_error *err)
{
    unsigned long long threads = 0;
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    DSE_TRY(read_shard(args, options, err));
    DSE_TRY(read_out(args, &loaded->spec, options, out, OUT_PATH_MAX, err));
    options->out = out;
    options->n_thread = threads ? (int)threads : threads_available();
    options->fresh = cli_has(args, "fresh");
    options->update = cli_has(args, "update");
    options->repair = cli_has(args, "repair");
    options->retry = cli_has(args, "retry");
    if (options->fresh && (options->update || options->repair || options->retry))
        return dse_fail(
            err, DSE_BAD_USAGE,
            "--fresh throws away what --update, --repair and --retry would keep: leave it out, or them");
    options->isolation = loaded->sweep.isolation;
    return read_isolation(args, loaded, options, err);
}

/* What a supervised run is given. */
struct supervised {
    const struct sweep *sweep;
    struct run_options options;
    const struct console *console;
    const char *log_path; /* NULL: no event log */
};

static int run_supervised(void *user, struct crash_board *board)
{
    struct supervised *run = user;
    struct dse_error err = {0};
    int code = EXIT_DONE;
    struct audience audience;
    run->options.board = board;
    enum dse_status status = audience_open(&audience, run->sweep, &run->options, run->log_path, &err);
    run->options.observer = &audience.of_report;
    if (status == DSE_OK)
        status = run_sweep(run->sweep, &run->options, run->console, &audience, &code, &err);
    audience_close(&audience);
    return status == DSE_OK ? code : cli_report(run->console, status, &err);
}

static int run_or_estimate(const struct cli_args *args, const struct sweep *sweep,
                           const struct run_options *options, const struct console *console)
{
    struct dse_error err = {0};
    struct supervised run = {sweep, *options, console, cli_value(args, "log-json")};
    uint64_t n_failing;
    if (cli_has(args, "dry-run"))
        return cli_report(console, dry_run_print(sweep, options, console->out, &n_failing, &err), &err);
    signal(SIGPIPE, SIG_IGN); /* nobody reads what is said any more: no reason to end a sweep */
    /* a stream in memory would stay in the child */
    if (options->isolation == ISOLATION_AUTO && console->of_process)
        return supervise(run_supervised, &run, console);
    return run_supervised(&run, NULL);
}

static int command_run_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct run_options options = {.err = console->err, .err_terminal = console->err_terminal};
    char out[OUT_PATH_MAX], line[COMMAND_MAX];
    struct loaded loaded;
    join_command(args, line, sizeof line);
    options.command = line;
    enum dse_status status = load(args, &loaded, NULL, &err);
    if (status == DSE_OK)
        status = prepare_run(args, &loaded, out, &options, &err);
    int code = status == DSE_OK ? run_or_estimate(args, &loaded.sweep, &options, console)
                                : cli_report(console, status, &err);
    unload(&loaded);
    return code;
}

/* What is noted, and what ended the reading, if anything did. */
static void print_faults(struct dse_faults *faults, const char *path, enum dse_status status,
                         struct dse_error *err, const struct console *console)
{
    struct text_buffer text;
    status = dse_note(faults, status, err);
    text_init(&text);
    spec_faults_print(faults, path, &text);
    fputs(text.data ? text.data : "", console->err);
    text_free(&text);
    if (status != DSE_OK)
        cli_report(console, status, err);
}

/* FILE is an architecture or a network: `*code` is what becomes of it. False: it is none. */
static bool check_input(const char *file, struct dse_faults *faults, const struct console *console, int *code)
{
    struct dse_error err = {0};
    struct text_buffer said;
    bool is_input;
    text_init(&said);
    enum dse_status status = input_check(file, faults, &is_input, &said, &err);
    *code = cli_report(console, status, &err);
    if (faults->n > 0) {
        print_faults(faults, file, DSE_OK, &err, console);
        *code = EXIT_BAD_USE;
    }
    fputs(said.data ? said.data : "", console->out);
    text_free(&said);
    return is_input;
}

static int command_check_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct loaded loaded;
    uint64_t n_failing = 0;
    struct dse_faults *faults = calloc(1, sizeof *faults);
    if (!faults)
        return cli_report(console, DSE_NO_MEMORY, &(struct dse_error){.text = "out of memory"});
    int code;
    if (check_input(args->operand[0], faults, console, &code)) {
        free(faults);
        return code;
    }
    enum dse_status status = load(args, &loaded, faults, &err);
    size_t n_fault = faults->n;
    if (n_fault > 0)
        print_faults(faults, loaded.spec.path, status, &err, console);
    else if (status == DSE_OK)
        status = dry_run_print(&loaded.sweep, NULL, console->out, &n_failing, &err);
    unload(&loaded);
    free(faults);
    if (n_fault > 0)
        return EXIT_BAD_USE;
    return status == DSE_OK && n_failing > 0 ? EXIT_SOME_FAILED : cli_report(console, status, &err);
}

static const struct cli_option run_options[] = {
    {"output", 'o', "OUT.h5", "where results go (default ./NAME.h5); OUT.csv and OUT.layers.csv beside it"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use, SLURM_CPUS_PER_TASK)"},
    {"shard", 0, "K/N", "only the K-th of N parts of the points; into OUT.K-of-N.h5, for `dse merge`"},
    {"fresh", 0, NULL, "throw away what is there instead of resuming"},
    {"update", 0, NULL,
     "the specification has changed: keep the points it still has, move the others to OUT.dropped.csv"},
    {"retry", 0, NULL, "compute failed and timed-out points again"},
    {"repair", 0, NULL, "mend the tables: points that OUT.h5 has come from there, others are computed again"},
    {"isolation", 0, "HOW",
     "auto (threads; what crashes or hangs goes on in a process of its own), thread, or process"},
    {"log-json", 0, "FILE", "append what happens to FILE, one JSON object per line (docs/observing.md)"},
    {"dry-run", 'n', NULL, "say what would be done, how long it takes and how much it writes; write nothing"},
    {"set", 0, "KEY=VALUE",
     "replace a setting that is not swept: batch=4, limits.max_evaluations=1000, "
     "option.patience=9, network.sequence=128, DRAM.bandwidth='8 GB/s'; repeatable"},
};

const struct cli_command command_run = {
    .name = "run",
    .operands = "SPEC",
    .summary = "Run or resume a sweep.",
    .help = "SPEC is a YAML file, or a name of `dse list experiments`.\n"
            "Points that are in OUT.csv already are not computed again, whatever order the specification now "
            "has them in.\n"
            "Ctrl-C (SIGINT), SIGTERM, SIGUSR1 and a closed terminal (SIGHUP, unless under nohup) end a run "
            "within seconds; the same command resumes it. Results do not depend\n"
            "on the number of threads, on interruptions or on shards. Infeasible points are results; failed "
            "and timed-out ones\n"
            "are listed and give exit code 1. Limits in the specification hold per layer search "
            "(max_evaluations, max_seconds)\n"
            "or per point (point_max_evaluations, point_max_seconds).\n"
            "\n"
            "  dse run quickstart -o output/quickstart.h5\n"
            "  dse run sweep.yaml --dry-run\n"
            "  dse run sweep.yaml --shard $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT -o out.h5\n",
    .option = run_options,
    .n_option = sizeof run_options / sizeof run_options[0],
    .min_operand = 1,
    .max_operand = 1,
    .run = command_run_main,
};

static const struct cli_option check_options[] = {
    {"set", 0, "KEY=VALUE", "as for `dse run`; repeatable"},
};

const struct cli_command command_check = {
    .name = "check",
    .operands = "SPEC",
    .summary = "Check a specification and say what it spans, or an architecture or network file.",
    .help =
        "SPEC is a YAML file, or a name of `dse list experiments`; the file of an architecture or a network "
        "is "
        "checked on its own.\n"
        "Everything that can be wrong is checked: keys, units, names, and every value of every axis on "
        "its own, and all that is wrong is told (20 lines at most).\n"
        "Points whose engine does not take their machine or network (`dse list engines --matrix`) are told "
        "as their rows would be,\n"
        "with exit code 1.\n",
    .option = check_options,
    .n_option = sizeof check_options / sizeof check_options[0],
    .min_operand = 1,
    .max_operand = 1,
    .run = command_check_main,
};
