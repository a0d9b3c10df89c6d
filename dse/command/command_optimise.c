/* dse optimise ARCH NETWORK...: the memory hierarchy of least energy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dse/command/commands.h"
#include "dse/console/report_print.h"
#include "dse/isolate/run_signals.h"
#include "dse/optimise/dataflow_schedule.h"
#include "dse/optimise/optimise_report.h"
#include "dse/run/threads.h"
#include "results/plot/plot.h"

/* Everything one call of the command holds. */
struct optimise_job {
    struct input_overrides overrides;
    struct size_axis axis[SIZE_AXIS_MAX];
    struct size_limits limits;
    struct hierarchies all;
    struct solve_settings settings;
    struct network_pool pool;
    struct optimise optimise;
    struct optimise_report report;
    int front[FRONT_AXES];
    size_t format;
    bool each, every;
};

/* ---------------------------------------- what is asked for */

/* "4:16" */
static enum dse_status read_ratio(const struct cli_args *args, struct size_limits *limits,
                                  struct dse_error *err)
{
    const char *text = cli_value(args, "ratio");
    char shown[60], *end = NULL;
    limits->least_ratio = limits->most_ratio = 0;
    if (!text)
        return DSE_OK;
    limits->least_ratio = strtod(text, &end);
    if (end != text && *end == ':')
        limits->most_ratio = strtod(end + 1, &end);
    if (*end == '\0' && limits->least_ratio > 0 && limits->most_ratio >= limits->least_ratio &&
        isfinite(limits->most_ratio))
        return DSE_OK;
    return dse_fail(err, DSE_BAD_USAGE, "--ratio %s: write the least and the most, such as 4:16",
                    text_excerpt(text, shown, sizeof shown));
}

static enum dse_status read_limits(const struct cli_args *args, struct size_limits *limits,
                                   struct dse_error *err)
{
    const char *most = cli_value(args, "max-storage");
    limits->most_byte = INFINITY;
    if (most)
        DSE_TRY(quantity_parse(most, UNIT_BYTE, "--max-storage", &limits->most_byte, err));
    return read_ratio(args, limits, err);
}

static enum dse_status read_settings(const struct cli_args *args, struct solve_settings *settings,
                                     struct dse_error *err)
{
    const char *accounting = cli_value(args, "accounting");
    char name[INPUT_SET_TEXT_MAX];
    const char *value;
    DSE_TRY(solve_settings_init(settings, "interstellar", err));
    DSE_TRY(objective_parse("energy", &settings->objective, err));
    if (accounting)
        DSE_TRY(accounting_named(accounting, &settings->accounting, err));
    for (size_t i = 0; i < args->n_value; i++) {
        if (strcmp(args->value[i].option->name, "option") != 0)
            continue;
        DSE_TRY(input_split_set("option", args->value[i].text, name, sizeof name, &value, err));
        DSE_TRY(solve_settings_option(settings, name, value, err));
    }
    return solve_settings_settle(settings, err);
}

static enum dse_status read_sizes(const struct cli_args *args, struct optimise_job *job,
                                  struct dse_error *err)
{
    const char *size[CLI_VALUE_MAX];
    const size_t n = cli_values(args, "size", size);
    if (n == 0 || n > SIZE_AXIS_MAX)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "say which sizes to choose from, of at most %d storage levels: --size 'RF=16 B..512 B' "
            "--size 'SRAM=64 KiB,128 KiB'",
            SIZE_AXIS_MAX);
    for (size_t i = 0; i < n; i++) {
        DSE_TRY(size_axis_parse(size[i], &job->axis[i], err));
        for (size_t k = 0; k < i; k++)
            if (strcmp(job->axis[k].level, job->axis[i].level) == 0)
                return dse_fail(err, DSE_BAD_USAGE, "--size %s is given twice", job->axis[i].level);
    }
    return hierarchies_list(args->operand[0], &job->overrides, job->axis, (uint32_t)n, &job->limits,
                            &job->all, err);
}

/* The batch of the network named: of the last --batch N or --batch NETWORK=N, 0 without. */
static enum dse_status batch_of(const struct cli_args *args, const char *network, uint32_t *batch,
                                struct dse_error *err)
{
    const char *all[CLI_VALUE_MAX];
    const size_t n = cli_values(args, "batch", all), length = strlen(network);
    uint64_t number;
    char shown[60];
    *batch = 0;
    for (size_t i = 0; i < n; i++) {
        const char *last = strrchr(all[i], '=');
        if (!text_parse_u64(last ? last + 1 : all[i], &number) || number < 1 || number > UINT32_MAX)
            return dse_fail(err, DSE_BAD_USAGE,
                            "--batch %s: write a number of samples, or NETWORK=N for one network",
                            text_excerpt(all[i], shown, sizeof shown));
        if (!last || ((size_t)(last - all[i]) == length && memcmp(all[i], network, length) == 0))
            *batch = (uint32_t)number;
    }
    return DSE_OK;
}

static enum dse_status check_batches(const struct cli_args *args, struct dse_error *err)
{
    const char *all[CLI_VALUE_MAX];
    const size_t n = cli_values(args, "batch", all);
    char shown[60], name[60];
    for (size_t i = 0; i < n; i++) {
        const char *last = strrchr(all[i], '=');
        bool found = !last;
        for (size_t w = 1; w < args->n_operand && !found; w++)
            found = strncmp(all[i], args->operand[w], (size_t)(last - all[i])) == 0 &&
                    args->operand[w][last - all[i]] == '\0';
        if (found)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(last - all[i]), all[i]);
        const char *near = text_nearest(name, (const char *const *)(args->operand + 1), args->n_operand - 1);
        return dse_fail(err, DSE_BAD_USAGE, "--batch %s: no network on this line is called so%s%s%s",
                        text_excerpt(all[i], shown, sizeof shown), near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
    }
    return DSE_OK;
}

static enum dse_status read_networks(const struct cli_args *args, struct optimise_job *job,
                                     struct dse_error *err)
{
    const uint32_t n = (uint32_t)args->n_operand - 1;
    uint32_t batch[CLI_VALUE_MAX];
    DSE_TRY(check_batches(args, err));
    for (uint32_t w = 0; w < n; w++)
        DSE_TRY(batch_of(args, args->operand[1 + w], &batch[w], err));
    return network_pool_read(&job->pool, args->operand + 1, batch, n, args, err);
}

/* "energy_j,onchip_byte"; without a list all. */
static enum dse_status read_front(const struct cli_args *args, int *front, struct dse_error *err)
{
    static const char *const name[FRONT_AXES] = {
        [FRONT_ENERGY] = "energy_j",
        [FRONT_LATENCY] = "latency_s",
        [FRONT_ONCHIP] = "onchip_byte",
        [FRONT_AREA] = "area_mm2",
    };
    const char *list = cli_value(args, "front"), *near;
    char word[64], shown[60];
    for (int a = 0; a < FRONT_AXES; a++)
        front[a] = cli_has(args, "front") && !list ? -1 : 0;
    for (size_t i = 0; list && plot_metric_word(list, i, word, sizeof word); i++) {
        int a = 0;
        while (a < FRONT_AXES && strcmp(name[a], word) != 0)
            a++;
        near = text_nearest(word, name, FRONT_AXES);
        if (a == FRONT_AXES)
            return dse_fail(err, DSE_BAD_USAGE,
                            "--front %s: accepted are energy_j, latency_s, onchip_byte, area_mm2%s%s%s",
                            text_excerpt(word, shown, sizeof shown), near ? "; did you mean " : "",
                            near ? near : "", near ? "?" : "");
        front[a] = -1;
    }
    return DSE_OK;
}

static enum dse_status prepare(const struct cli_args *args, struct optimise_job *job, struct dse_error *err)
{
    static const char *const formats[] = {"table", "csv", "json"};
    static const char *const reports[] = {"hierarchy", "mappings"};
    const char *dataflow = cli_value(args, "dataflow");
    unsigned long long threads = (unsigned long long)threads_available();
    size_t report;
    DSE_TRY(cli_choice(args, "format", formats, 3, REPORT_TABLE, &job->format, err));
    DSE_TRY(cli_choice(args, "report", reports, 2, 0, &report, err));
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    if (report == 1 && cli_has(args, "front"))
        return dse_fail(err, DSE_BAD_USAGE, "--report mappings is of the best hierarchy, not of a --front");
    DSE_TRY(read_front(args, job->front, err));
    job->each = cli_has(args, "each");
    job->every = cli_has(args, "every");
    job->report = (struct optimise_report){
        .optimise = &job->optimise,
        .pool = &job->pool,
        .mappings = report == 1,
        .front = cli_has(args, "front"),
    };
    dataflow = dataflow ? dataflow : "C|K";
    if (strcmp(dataflow, "any") != 0) {
        DSE_TRY(dataflow_check(dataflow, err));
        job->optimise.dataflow = dataflow;
    }
    DSE_TRY(read_settings(args, &job->settings, err));
    DSE_TRY(read_limits(args, &job->limits, err));
    DSE_TRY(input_overrides_read(args, &job->overrides, err));
    DSE_TRY(read_sizes(args, job, err));
    DSE_TRY(solve_accepts(&job->settings, &job->all.list[0].arch, err));
    DSE_TRY(read_networks(args, job, err));
    job->optimise.all = &job->all;
    job->optimise.n_problem = job->pool.n_problem;
    job->optimise.problem = job->pool.problem;
    job->optimise.settings = &job->settings;
    job->optimise.n_thread = (int)threads;
    return optimise_begin(&job->optimise, err);
}

/* ---------------------------------------- the search */

static enum dse_status find_one(struct optimise_job *job, int64_t only, bool *found, struct report *report,
                                struct dse_error *err)
{
    struct optimise *o = &job->optimise;
    double *weight = calloc(o->n_problem, sizeof *weight);
    struct optimise_goal goal = {.weight = weight, .every = job->every};
    struct optimise_answer answer;
    if (!weight)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", o->n_problem);
    memcpy(goal.front, job->front, sizeof goal.front);
    for (uint32_t w = 0; w < job->pool.n_network; w++)
        for (uint32_t p = 0; p < o->n_problem; p++)
            if (only < 0 || w == only)
                weight[p] += job->pool.weight[(size_t)w * o->n_problem + p];
    enum dse_status status = optimise_find(o, &goal, &answer, err);
    if (status == DSE_OK)
        status = optimise_report_add(&job->report, only, &answer, report, err);
    *found = *found && status == DSE_OK && answer.best >= 0;
    free(answer.front);
    free(weight);
    return status;
}

static enum dse_status find_all(struct optimise_job *job, bool *found, struct report *report,
                                struct dse_error *err)
{
    *found = true;
    if (!job->each)
        return find_one(job, -1, found, report, err);
    for (uint32_t w = 0; w < job->pool.n_network; w++)
        DSE_TRY(find_one(job, w, found, report, err));
    return DSE_OK;
}

/* Layers of all hierarchies, of each network or of all together. */
static size_t count_tasks(const struct optimise_job *job)
{
    size_t n = 0;
    for (size_t i = 0; i < (size_t)job->pool.n_network * job->pool.n_problem; i++)
        n += job->pool.weight[i] > 0;
    return job->all.n * (job->each ? n : job->pool.n_problem);
}

static enum dse_status find_and_print(struct optimise_job *job, const struct console *console, bool *found,
                                      struct dse_error *err)
{
    struct watch watch;
    struct progress progress;
    struct report report;
    struct text_buffer out;
    optimise_report_init(&job->report, &report);
    text_init(&out);
    watch_block(&watch);
    progress_init(&progress, console->err, console->err_terminal,
                  (size_t)job->all.n * (job->each ? job->pool.n_network : 1), count_tasks(job));
    enum dse_status status = watch_start(&watch, &progress, err);
    if (status == DSE_OK) {
        job->optimise.progress = &progress;
        job->optimise.cancel = &watch.cancel;
        status = find_all(job, found, &report, err);
        watch_stop(&watch);
        progress_clear(&progress);
    }
    if (status == DSE_OK)
        status = report_print(&report, (enum report_format)job->format, &out, err);
    if (status == DSE_OK)
        fputs(out.data, console->out);
    watch_unblock(&watch);
    text_free(&out);
    report_free(&report);
    return status;
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    struct optimise_job *job = calloc(1, sizeof *job);
    bool found = false;
    if (!job)
        return cli_report(console, dse_fail(&err, DSE_NO_MEMORY, "out of memory"), &err);
    enum dse_status status = prepare(args, job, &err);
    if (status == DSE_OK)
        status = find_and_print(job, console, &found, &err);
    optimise_free(&job->optimise);
    network_pool_free(&job->pool);
    hierarchies_free(&job->all);
    free(job);
    return status == DSE_OK && !found ? EXIT_SOME_FAILED : cli_report(console, status, &err);
}

static const struct cli_option options[] = {
    {"size", 0, "LEVEL=SIZES",
     "sizes of a storage level: '16 B,64 B', '16 B..512 B' (doubling), none (the machine without it); "
     "repeatable"},
    {"max-storage", 0, "SIZE", "at most so much storage on the chip, all instances"},
    {"ratio", 0, "LEAST:MOST", "of the sizes of adjacent levels, all instances; the paper's rule is 4:16"},
    {"dataflow", 0, "U|V", "which loops the array unrolls (default C|K); any: whatever is best"},
    {"each", 0, NULL, "a hierarchy for each network, not one for all"},
    {"front", 0, "[=METRIC,...]",
     "all hierarchies that no other beats in energy_j, latency_s, onchip_byte, area_mm2, or in those named"},
    {"every", 0, NULL, "price every hierarchy, as a sweep would"},
    {"accounting", 'a', "NAME", "interstellar (default) or interstellar-compat"},
    {"option", 'o', "NAME=VALUE", "an option of engine interstellar; repeatable"},
    {"batch", 'b', "[NETWORK=]N",
     "samples, of one network (default: what each network says, else 1); repeatable"},
    {"set", 0, "PATH=VALUE",
     "replace a quantity of the architecture, PE.mesh=32x32, or a parameter of the network, "
     "network.sequence=128; "
     "repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
    {"art", 0, "FILE", "its areas from a separate Area Reference Table"},
    {"report", 'r', "WHAT", "hierarchy (default), or mappings: those of all layers on it"},
    {"format", 'f', "HOW", "table (default), csv, json"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct cli_command command_optimise = {
    .name = "optimise",
    .operands = "ARCH NETWORK...",
    .summary = "Find the memory hierarchy of least energy for some networks, and prove it.",
    .help = "Hierarchies are all combinations of the sizes, less those over a limit. Each layer has its "
            "proved optimum "
            "on each\n"
            "(engine interstellar). Few hierarchies are priced: the optima of one bound those of others. "
            "Energies must "
            "follow\n"
            "sizes (energy_rule), and a larger memory's accesses must not be cheaper than a smaller one's "
            "for the "
            "search to be\n"
            "short; the answer is right in any case. C and K of a layer are unrolled by their largest "
            "divisors that "
            "the array\n"
            "holds, other loops beside them where half of it would idle; a layer that has no such mapping "
            "takes any "
            "dataflow.\n"
            "Exit code 1: no hierarchy has a mapping for every layer.\n"
            "\n"
            "  dse optimise rf2_sram.yaml alexnet.csv --size 'RF1=8 B..32 B' --size 'RF2=none,64 B..512 "
            "B' \\\n"
            "      --size 'SRAM=64 KiB..512 KiB' --ratio 4:16\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 2,
    .max_operand = CLI_VALUE_MAX,
    .run = command,
};
