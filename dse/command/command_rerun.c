/* dse rerun OUT.h5 */
#include <stdio.h>
#include <string.h>

#include "dse/command/commands.h"
#include "dse/rerun/rerun.h"
#include "dse/run/threads.h"

static enum dse_status read_options(const struct cli_args *args, const char **point,
                                    struct rerun_options *options, struct dse_error *err)
{
    unsigned long long threads = 0, n_random = 0, seed = 1;
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    DSE_TRY(cli_number(args, "random", 1, 1ULL << 40, &n_random, err));
    DSE_TRY(cli_number(args, "seed", 0, 1ULL << 53, &seed, err));
    options->n_point = cli_values(args, "point", point);
    options->h5 = args->operand[0];
    options->point = point;
    options->all = cli_has(args, "all");
    options->n_random = n_random;
    options->seed = seed;
    options->n_thread = threads ? (int)threads : threads_available();
    if (options->all + (options->n_point > 0) + (n_random > 0) > 1)
        return dse_fail(err, DSE_BAD_USAGE, "--point, --random and --all: take one of them");
    return DSE_OK;
}

static int command_rerun_main(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct rerun_options options = {.h5 = NULL};
    struct rerun_summary summary;
    const char *point[CLI_VALUE_MAX];
    enum dse_status status = read_options(args, point, &options, &err);
    if (status == DSE_OK)
        status = rerun(&options, console->out, &summary, &err);
    if (status != DSE_OK)
        return cli_report(console, status, &err);
    return summary.n_different || summary.n_specification ? EXIT_SOME_FAILED : EXIT_DONE;
}

static const struct cli_option rerun_option_table[] = {
    {"point", 'p', "K|AXIS=VALUE,...",
     "this point (counted from 1 over the points of the specification, the last axis fastest), or all points "
     "with these values; repeatable"},
    {"random", 0, "N", "N points at random"},
    {"seed", 0, "S", "of --random (default 1)"},
    {"all", 0, NULL, "all points that are in the file"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use, SLURM_CPUS_PER_TASK)"},
};

const struct cli_command command_rerun = {
    .name = "rerun",
    .operands = "OUT.h5",
    .summary = "Compute points of a result file again, from the file alone, and compare.",
    .help =
        "The file carries its specification, --set and the content of every architecture and network file; "
        "nothing else is\n"
        "read, so it may have been moved and the files may have changed or be gone. Every column of a point "
        "and of its layers but\n"
        "wall times is compared bit for bit. Without --point, --random or --all: ten points spread over the "
        "file.\n"
        "Points that max_seconds ended need not repeat and do not count as different; when version, "
        "compiler, flags or libraries\n"
        "are others than the file's, that is said.\n"
        "Exit codes: 0 all equal; 1 something differs; 2 it cannot be computed again.\n"
        "\n"
        "  dse rerun output/quickstart.h5\n"
        "  dse rerun out.h5 --point 17 --point PE.mesh=4x4,DRAM.bandwidth='8 GB/s'\n"
        "  dse rerun out.h5 --random 100 --seed 7\n",
    .option = rerun_option_table,
    .n_option = sizeof rerun_option_table / sizeof rerun_option_table[0],
    .min_operand = 1,
    .max_operand = 1,
    .run = command_rerun_main,
};
