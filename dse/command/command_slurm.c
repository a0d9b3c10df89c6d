/* dse slurm SPEC: print the sbatch script of a sweep. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dse/command/commands.h"
#include "dse/command/slurm.h"
#include "dse/inputs/resolve.h"
#include "dse/spec/sweep.h"
#include "results/record/schema.h"

enum { LOG_NAME_MAX = 64, RESTART_MAX = 20 };

/* What slurm_job borrows. */
struct paths {
    char dse[PATH_MAX], folder[PATH_MAX], spec[PATH_MAX], out[PATH_MAX + NAME_MAX];
};

struct request {
    struct slurm_job job;
    struct paths path;
    struct text_buffer command;
    const char *set[CLI_VALUE_MAX], *run[CLI_VALUE_MAX], *sbatch[CLI_VALUE_MAX];
};

/* A line feed would end a comment or an #SBATCH line: no text of the script may have one. */
static enum dse_status check_text(const char *what, const char *text, struct dse_error *err)
{
    char shown[96];
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < ' ' || *c == 127)
            return dse_fail(err, DSE_BAD_USAGE, "%s %s: control characters cannot stand in a job script",
                            what, text_excerpt(text, shown, sizeof shown));
    return DSE_OK;
}

/* An option whose value is one word of letters, digits and `more`. */
static enum dse_status read_word(const struct cli_args *args, const char *name, const char *more,
                                 const char **value, struct dse_error *err)
{
    char shown[96];
    *value = cli_value(args, name);
    if (!*value)
        return DSE_OK;
    for (const char *c = *value; *c || c == *value; c++)
        if (!(*c >= 'a' && *c <= 'z') && !(*c >= 'A' && *c <= 'Z') && !(*c >= '0' && *c <= '9') &&
            (*c == '\0' || !strchr(more, *c)))
            return dse_fail(err, DSE_BAD_USAGE, "--%s %s: letters, digits and %s are expected", name,
                            text_excerpt(*value, shown, sizeof shown), more);
    return DSE_OK;
}

/* "64G": digits, then K, M, G, T or nothing (MB), as sbatch takes it. */
static enum dse_status read_memory(const struct cli_args *args, const char **value, struct dse_error *err)
{
    char shown[96];
    *value = cli_value(args, "mem");
    if (!*value)
        return DSE_OK;
    size_t digits = strspn(*value, "0123456789");
    const char *unit = *value + digits;
    if (digits == 0 || digits > 9 || (unit[0] && (!strchr("KMGTkmgt", unit[0]) || unit[1])))
        return dse_fail(err, DSE_BAD_USAGE,
                        "--mem %s: a number with K, M, G or T is expected (64G), 0 for all memory of a node",
                        text_excerpt(*value, shown, sizeof shown));
    return DSE_OK;
}

/* --nodes, --tasks, --array-max, --cpus, --restarts. */
static enum dse_status read_numbers(const struct cli_args *args, struct slurm_job *job, struct dse_error *err)
{
    unsigned long long node = 0, task = 0, at_once = 0, cpu = 0, restart = RESTART_MAX;
    if (!cli_has(args, "nodes") && !cli_has(args, "tasks"))
        return dse_fail(err, DSE_BAD_USAGE, "dse slurm needs --nodes N: how many nodes work on the sweep");
    DSE_TRY(cli_number(args, "nodes", 1, 1000000, &node, err));
    task = node;
    DSE_TRY(cli_number(args, "tasks", 1, 1000000, &task, err));
    DSE_TRY(cli_number(args, "cpus", 1, 4096, &cpu, err));
    if (!cpu && node && node < task)
        at_once = node;
    DSE_TRY(cli_number(args, "array-max", 1, task, &at_once, err));
    DSE_TRY(cli_number(args, "restarts", 0, 1000, &restart, err));
    if (task > SLURM_TASK_MAX)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "%llu tasks: Slurm takes job arrays of at most %d (MaxArraySize), and one task computes "
            "many points, on all of its processors; take a task for each node",
            task, SLURM_TASK_MAX);
    job->n_task = (unsigned)task;
    job->n_cpu = (unsigned)cpu;
    job->n_at_once = (unsigned)at_once;
    job->max_restart = (unsigned)restart;
    job->merge = task > 1 && !cli_has(args, "no-merge");
    return DSE_OK;
}

/* Options of sbatch that the script depends on. */
static enum dse_status check_sbatch(const char *option, struct dse_error *err)
{
    static const struct {
        const char *option, *instead;
    } own[] = {{"--array", "--tasks and --array-max say how many tasks there are"},
               {"-a", "--tasks and --array-max say how many tasks there are"},
               {"--signal", "the script needs its own to end in time"},
               {"--no-requeue", "--restarts 0 does that"},
               {"--wrap", "the script is what runs"},
               {"--ntasks", "one dse runs in each task, with threads: --cpus"},
               {"-n", "one dse runs in each task, with threads: --cpus"},
               {"--nodes", "each task has one node"},
               {"-N", "each task has one node"}};
    char shown[96];
    DSE_TRY(check_text("--sbatch", option, err));
    if (option[0] != '-')
        return dse_fail(err, DSE_BAD_USAGE,
                        "--sbatch %s: an option of sbatch is expected, such as --constraint=avx2",
                        text_excerpt(option, shown, sizeof shown));
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        size_t length = strlen(own[i].option);
        bool is_letter = own[i].option[1] != '-';
        if (strncmp(option, own[i].option, length) == 0 &&
            (is_letter || option[length] == '\0' || option[length] == '=' || option[length] == ' '))
            return dse_fail(err, DSE_BAD_USAGE, "--sbatch %s: not here: %s",
                            text_excerpt(option, shown, sizeof shown), own[i].instead);
    }
    return DSE_OK;
}

/* Let the command line of `dse run` check the options that are passed on to it. */
static enum dse_status check_run(const struct request *request, char *spec, struct dse_error *err)
{
    static const char *const own[] = {"output", "shard", "set", "fresh", "dry-run"};
    const struct slurm_job *job = &request->job;
    char *argv[CLI_VALUE_MAX + 2], name[] = "run";
    struct cli_args args;
    for (size_t i = 0; i < job->n_run; i++)
        DSE_TRY(check_text("--run", job->run[i], err));
    argv[0] = name;
    memcpy(argv + 1, job->run, job->n_run * sizeof *argv); /* getopt reorders the pointers only */
    argv[job->n_run + 1] = spec;
    DSE_TRY(cli_parse(&command_run, (int)job->n_run + 2, argv, &args, err));
    if (args.help)
        return dse_fail(err, DSE_BAD_USAGE, "--run: --help is no option of a run");
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (cli_has(&args, own[i]))
            return dse_fail(err, DSE_BAD_USAGE, "--run --%s: the script %s", own[i],
                            strcmp(own[i], "fresh") == 0 || strcmp(own[i], "dry-run") == 0
                                ? "resumes after each restart, which this would undo"
                                : "sets this itself");
    return DSE_OK;
}

/* The program, the current folder, the specification and OUT.h5, as absolute paths. */
static enum dse_status find_paths(const struct cli_args *args, struct request *request, struct dse_error *err)
{
    struct paths *path = &request->path;
    char resolved[RESOLVE_PATH_MAX], shown[96];
    ssize_t length = readlink("/proc/self/exe", path->dse, sizeof path->dse - 1);
    if (length <= 0)
        return dse_fail(err, DSE_IO, "/proc/self/exe: %s", strerror(errno));
    path->dse[length] = '\0';
    if (access(path->dse, X_OK) != 0)
        return dse_fail(err, DSE_IO, "%s is not there any more; run dse slurm again", path->dse);
    if (!getcwd(path->folder, sizeof path->folder))
        return dse_fail(err, DSE_IO, "the current folder has no name: %s", strerror(errno));
    DSE_TRY(resolve_name(RESOLVE_EXPERIMENT, args->operand[0], NULL, resolved, sizeof resolved, err));
    if (!realpath(resolved, path->spec))
        return dse_fail(err, DSE_IO, "%s: %s", text_excerpt(resolved, shown, sizeof shown), strerror(errno));
    return DSE_OK;
}

/* The folder of OUT.h5 must be there: Slurm ends a job without a word when it cannot write its log. */
static enum dse_status find_out(const struct cli_args *args, const struct sweep_spec *spec,
                                struct paths *path, struct dse_error *err)
{
    char name[PATH_MAX], folder[PATH_MAX], shown[96];
    const char *given = cli_value(args, "output");
    if (given ? !given[0] || !result_path(name, sizeof name, given, ".h5")
              : !result_path(name, sizeof name, spec->name, ".h5"))
        return dse_fail(err, DSE_BAD_USAGE, "--output: the path is empty or too long");
    const char *slash = strrchr(name, '/'), *file = slash ? slash + 1 : name;
    if (strlen(file) > NAME_MAX - LOG_NAME_MAX || file[0] == '.')
        return dse_fail(err, DSE_BAD_USAGE, "--output %s: the name of the file is missing or too long",
                        text_excerpt(name, shown, sizeof shown));
    resolve_folder_of(name, folder, sizeof folder);
    if (!realpath(folder, path->out))
        return dse_fail(err, DSE_BAD_USAGE, "--output: folder %s: %s; make it first",
                        text_excerpt(folder, shown, sizeof shown), strerror(errno));
    if (access(path->out, W_OK) != 0)
        return dse_fail(err, DSE_BAD_USAGE, "--output: folder %s cannot be written: %s",
                        text_excerpt(folder, shown, sizeof shown), strerror(errno));
    size_t length = strlen(path->out);
    snprintf(path->out + length, sizeof path->out - length, "%s%s", length > 1 ? "/" : "", file);
    if (strchr(path->out, '\\'))
        return dse_fail(err, DSE_BAD_USAGE,
                        "--output: no backslash, please: Slurm reads it as a command in file names");
    return DSE_OK;
}

/* The line that was typed, so that it can be typed again. */
static void join_command(const struct cli_args *args, struct text_buffer *text)
{
    text_append(text, "dse");
    for (int i = 0; i < args->argc; i++) {
        text_append(text, " ");
        slurm_quote(text, args->argv[i]);
    }
}

static enum dse_status read_request(const struct cli_args *args, struct request *request,
                                    struct dse_error *err)
{
    struct slurm_job *job = &request->job;
    DSE_TRY(read_numbers(args, job, err));
    job->time = cli_value(args, "time");
    if (job->time)
        DSE_TRY(slurm_read_time(job->time, &job->time_s, err));
    DSE_TRY(read_memory(args, &job->memory, err));
    DSE_TRY(read_word(args, "partition", "_-.,", &job->partition, err));
    DSE_TRY(read_word(args, "account", "_-.", &job->account, err));
    DSE_TRY(read_word(args, "qos", "_-.", &job->qos, err));
    job->n_set = cli_values(args, "set", request->set);
    job->n_run = cli_values(args, "run", request->run);
    job->n_sbatch = cli_values(args, "sbatch", request->sbatch);
    job->set = request->set;
    job->run = request->run;
    job->sbatch = request->sbatch;
    for (size_t i = 0; i < job->n_sbatch; i++)
        DSE_TRY(check_sbatch(job->sbatch[i], err));
    for (size_t i = 0; i < job->n_set; i++)
        DSE_TRY(check_text("--set", job->set[i], err));
    DSE_TRY(find_paths(args, request, err));
    return check_run(request, request->path.spec, err);
}

/* Check the specification as `dse run` does, and take its name and size. */
static enum dse_status fill_job(const struct cli_args *args, const struct sweep_spec *spec,
                                const struct sweep *sweep, struct request *request, struct dse_error *err)
{
    struct slurm_job *job = &request->job;
    struct paths *path = &request->path;
    char points[48];
    DSE_TRY(find_out(args, spec, path, err));
    const char *const text[] = {path->dse, path->folder, path->spec, path->out};
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++)
        DSE_TRY(check_text("path", text[i], err));
    job->name = spec->name;
    job->dse = path->dse;
    job->folder = path->folder;
    job->spec = path->spec;
    job->out = path->out;
    job->n_point = sweep->n_point;
    if (job->n_task > sweep->n_point)
        return dse_fail(err, DSE_BAD_USAGE,
                        "%u tasks for %s point%s: a task without a point would have nothing to do",
                        job->n_task, text_thousands(sweep->n_point, points, sizeof points),
                        sweep->n_point == 1 ? "" : "s");
    return DSE_OK;
}

static enum dse_status print_script(const struct cli_args *args, struct request *request,
                                    const struct console *console, struct dse_error *err)
{
    struct sweep_spec spec;
    struct sweep sweep = {0};
    struct text_buffer text;
    DSE_TRY(read_request(args, request, err));
    text_init(&text);
    enum dse_status status = spec_read(&spec, request->path.spec, request->set, request->job.n_set, err);
    if (status == DSE_OK)
        status = sweep_init(&sweep, &spec, err);
    if (status == DSE_OK)
        status = fill_job(args, &spec, &sweep, request, err);
    if (status == DSE_OK)
        status = slurm_print(&request->job, &text, err);
    if (status == DSE_OK && (text.failed || request->command.failed))
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory");
    if (status == DSE_OK)
        fputs(text.data, console->out);
    sweep_free(&sweep);
    spec_free(&spec);
    text_free(&text);
    return status;
}

static int slurm_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct request request = {0};
    join_command(args, &request.command);
    enum dse_status status = DSE_OK;
    for (int i = 0; i < args->argc && status == DSE_OK; i++)
        status = check_text("dse slurm:", args->argv[i], &err);
    request.job.command = request.command.data;
    if (status == DSE_OK)
        status = print_script(args, &request, console, &err);
    text_free(&request.command);
    return cli_report(console, status, &err);
}

static const struct cli_option slurm_options[] = {
    {"output", 'o', "OUT.h5",
     "where results go (default ./NAME.h5): shards OUT.K-of-N.h5, logs, and OUT.h5 of all"},
    {"nodes", 'N', "N", "nodes that work on the sweep: N tasks, each with a node of its own"},
    {"tasks", 0, "N", "tasks of the array, which is the number of shards (default: --nodes; at most 1000)"},
    {"cpus", 'c', "N", "processors of a task, which then shares its node (default: the whole node)"},
    {"time", 't', "LIMIT", "time limit of a task, 08:00:00 or 2-0 (default: that of the partition)"},
    {"mem", 0, "SIZE", "memory of a task, 64G"},
    {"partition", 'p', "NAME", "partition"},
    {"account", 'A', "NAME", "account"},
    {"qos", 'q', "NAME", "quality of service"},
    {"array-max", 0, "N", "at most so many tasks at a time (default: --nodes when there are more tasks)"},
    {"restarts", 0, "N", "how often a task may be started again (default 20)"},
    {"no-merge", 0, NULL, "without the second job, which merges the shards"},
    {"sbatch", 0, "OPTION", "a further option of sbatch: --sbatch=--constraint=avx2; repeatable"},
    {"run", 0, "OPTION", "a further option of `dse run`; repeatable"},
    {"set", 0, "KEY=VALUE", "as for `dse run`; repeatable"},
};

const struct cli_command command_slurm = {
    .name = "slurm",
    .operands = "SPEC",
    .summary = "Print the Slurm script (sbatch) that runs a sweep on a cluster.",
    .help =
        "Checks the specification, then prints a job array to standard output: one shard for each task, many "
        "points in each.\n"
        "Shortly before the time limit, and when it is preempted, a task keeps what is finished, queues "
        "again "
        "and resumes.\n"
        "`bash FILE` submits the array and a job that merges the shards after it; `sbatch FILE` the array "
        "alone (docs/clusters.md).\n"
        "\n"
        "  dse slurm sweep.yaml -o /scratch/me/out.h5 --nodes 8 --time 08:00:00 > sweep.sbatch\n"
        "  bash sweep.sbatch\n"
        "  dse slurm sweep.yaml --tasks 64 --cpus 16 --mem 32G --array-max 32 --partition batch > "
        "sweep.sbatch\n",
    .option = slurm_options,
    .n_option = sizeof slurm_options / sizeof slurm_options[0],
    .min_operand = 1,
    .max_operand = 1,
    .run = slurm_main,
};
