/* dse optimise ARCH NETWORK...: the memory hierarchy of least energy. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/interstellar/dataflow.h"
#include "costmodel/interstellar/points.h"
#include "dse/command/commands.h"
#include "dse/console/report_print.h"
#include "dse/isolate/run_signals.h"
#include "dse/optimise/dataflow_schedule.h"
#include "dse/optimise/optimise.h"
#include "dse/run/threads.h"

/* Everything one call of the command holds. */
struct optimise_job {
    struct input_overrides overrides;
    struct size_axis axis[SIZE_AXIS_MAX];
    struct size_limits limits;
    struct hierarchies all;
    struct solve_settings settings;
    uint32_t n_network;
    struct network *network;        /* (n_network) */
    struct workload *workload;      /* (n_network) */
    const struct problem **problem; /* distinct ones of all networks */
    uint64_t *key;                  /* (problems) */
    uint32_t **place;               /* [w](problems of workload w) its number among all */
    double *weight;                 /* (n_network, problems) executions */
    struct optimise optimise;
    size_t format;
    bool every, front, each, mappings;
};

static const struct cell_column answer_column[] = {
    {"network", "network", LOOK_TEXT, 0, NULL, 0},
    {"hierarchy", "hierarchy", LOOK_TEXT, 0, NULL, 0},
    {"onchip_byte", "on chip", LOOK_BYTE, 0, NULL, 0},
    {"area_mm2", "mm2", LOOK_DIGITS, 4, NULL, 0},
    {"energy_j", "energy", LOOK_UNIT, 0, "J", 0},
    {"tops_per_w", "TOPs/W", LOOK_FIXED, 3, NULL, 0},
    {"utilization", "utilization", LOOK_PERCENT, 0, NULL, 0},
    {"latency_s", "latency", LOOK_UNIT, 0, "s", 0},
    {"hierarchies", NULL, LOOK_COUNT, 0, NULL, 0},
    {"hierarchies_priced", NULL, LOOK_COUNT, 0, NULL, 0},
};

static const struct cell_column mapping_column[] = {
    {"network", "network", LOOK_TEXT, 0, NULL, 0},  {"hierarchy", NULL, LOOK_TEXT, 0, NULL, 0},
    {"layer", "layer", LOOK_TEXT, 0, NULL, 0},      {"count", "count", LOOK_COUNT, 0, NULL, 0},
    {"energy_j", "energy", LOOK_UNIT, 0, "J", 0},   {"utilization", "utilization", LOOK_PERCENT, 0, NULL, 0},
    {"latency_s", "latency", LOOK_UNIT, 0, "s", 0}, {"dataflow", "dataflow", LOOK_TEXT, 0, NULL, 0},
    {"mapping", "mapping", LOOK_TEXT, 0, NULL, 0},
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

/* The distinct problems of all networks. */
static enum dse_status pool_problems(struct optimise_job *job, struct dse_error *err)
{
    struct optimise *o = &job->optimise;
    uint32_t most = 0;
    for (uint32_t w = 0; w < job->n_network; w++)
        most += job->workload[w].n_problem;
    job->problem = calloc(most, sizeof(*job->problem));
    job->key = calloc(most, sizeof *job->key);
    job->weight = calloc((size_t)most * job->n_network, sizeof *job->weight);
    if (!job->problem || !job->key || !job->weight)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", most);
    o->problem = job->problem;
    for (uint32_t w = 0; w < job->n_network; w++) {
        const struct workload *workload = &job->workload[w];
        job->place[w] = calloc(workload->n_problem, sizeof *job->place[w]);
        if (!job->place[w])
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", most);
        for (uint32_t p = 0; p < workload->n_problem; p++) {
            uint32_t k = 0;
            while (k < o->n_problem && job->key[k] != workload->problem_key[p])
                k++;
            job->problem[k] = &workload->problem[p];
            job->key[k] = workload->problem_key[p];
            o->n_problem += k == o->n_problem;
            job->place[w][p] = k;
            job->weight[(size_t)w * most + k] += (double)workload_count(workload, p);
        }
    }
    for (uint32_t w = 1; w < job->n_network; w++)
        memmove(job->weight + (size_t)w * o->n_problem, job->weight + (size_t)w * most,
                o->n_problem * sizeof *job->weight);
    return DSE_OK;
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

static enum dse_status read_networks(const struct cli_args *args, struct optimise_job *job,
                                     struct dse_error *err)
{
    const uint32_t n = (uint32_t)args->n_operand - 1;
    job->network = calloc(n, sizeof *job->network);
    job->workload = calloc(n, sizeof *job->workload);
    job->place = calloc(n, sizeof(*job->place));
    if (!job->network || !job->workload || !job->place)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u networks", n);
    for (uint32_t w = 0; w < n; w++) {
        DSE_TRY(input_network(args->operand[1 + w], &job->network[w], err));
        job->n_network++;
        uint32_t batch;
        DSE_TRY(batch_of(args, args->operand[1 + w], &batch, err));
        DSE_TRY(workload_init(&job->workload[w], &job->network[w], batch, NULL, 0, 0, err));
    }
    return pool_problems(job, err);
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
    job->mappings = report == 1;
    job->front = cli_has(args, "front");
    job->each = cli_has(args, "each");
    job->every = cli_has(args, "every");
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
    job->optimise.settings = &job->settings;
    job->optimise.n_thread = (int)threads;
    return optimise_begin(&job->optimise, err);
}

/* ---------------------------------------- the report */

/* Energy, operations per joule, use and time of network w on a hierarchy. */
static void fill_network(const struct optimise_job *job, uint32_t w, uint32_t h, double *total,
                         struct cells *cells)
{
    const struct optimise *o = &job->optimise;
    const struct architecture *arch = &job->all.list[h].arch;
    double energy_j = 0, cycles = 0, macs = 0;
    for (uint32_t p = 0; p < o->n_problem; p++) {
        const struct layer_price *price = &o->price[(size_t)h * o->n_problem + p];
        const double count = job->weight[(size_t)w * o->n_problem + p];
        if (count > 0) {
            energy_j += count * price->energy_j;
            cycles += count * (double)price->latency_cycle;
            macs += count * (double)problem_macs(o->problem[p]);
        }
    }
    total[0] += energy_j;
    total[1] += cycles;
    total[2] += macs;
    if (!cells)
        return;
    cells_real(cells, total[0]);
    cells_real(cells, 2 * total[2] / total[0] / 1e12);
    cells_real(cells, total[2] / (total[1] * (double)arch->mac.instances));
    cells_real(cells, total[1] / arch->clock_hz);
}

static void fill_row(const struct optimise_job *job, const char *name, int64_t only, uint32_t h,
                     uint32_t n_priced, struct cells *cells)
{
    const struct hierarchy *one = &job->all.list[h];
    struct text_buffer sizes;
    double total[3] = {0, 0, 0};
    text_init(&sizes);
    hierarchy_print(&job->all, h, &sizes);
    cells_text(cells, name);
    cells_text(cells, sizes.data);
    cells_real(cells, one->onchip_byte);
    cells_real(cells, architecture_area_mm2(&one->arch));
    if (only >= 0)
        fill_network(job, (uint32_t)only, h, total, cells);
    for (uint32_t w = 0; w < job->n_network && only < 0; w++)
        fill_network(job, w, h, total, w + 1 == job->n_network ? cells : NULL);
    cells_count(cells, job->all.n);
    cells_count(cells, n_priced);
    text_free(&sizes);
}

static enum dse_status fill_mapping(struct optimise_job *job, uint32_t w, uint32_t l, uint32_t h,
                                    struct cells *cells, struct dse_error *err)
{
    const struct workload *workload = &job->workload[w];
    const struct architecture *arch = &job->all.list[h].arch;
    const uint32_t p = job->place[w][workload->problem_of[l]];
    const struct problem *problem = job->optimise.problem[p];
    struct text_buffer sizes, dataflow, line;
    struct arena arena;
    struct solve_result *result = malloc(sizeof *result);
    if (!result)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a mapping");
    arena_init(&arena);
    text_init(&sizes);
    text_init(&dataflow);
    text_init(&line);
    enum dse_status status = optimise_map(&job->optimise, h, p, &arena, result, err);
    if (status == DSE_OK && result->found.feasible) {
        const struct layer *layer = &workload->network->layer[workload->layer[l]];
        const struct evaluation *found = &result->found.evaluation;
        hierarchy_print(&job->all, h, &sizes);
        dataflow_name(&result->found.mapping, problem, arch, &dataflow);
        points_write(&result->found.mapping, problem, arch, &line);
        cells_text(cells, workload->network->name);
        cells_text(cells, sizes.data);
        cells_text(cells, layer->name);
        cells_count(cells, layer->count);
        cells_real(cells, found->energy_j);
        cells_real(cells, found->utilization);
        cells_real(cells, found->latency_s);
        cells_text(cells, dataflow.data ? dataflow.data : "");
        cells_text(cells, line.data);
    }
    text_free(&sizes);
    text_free(&dataflow);
    text_free(&line);
    arena_free(&arena);
    free(result);
    return status;
}

/* Rows of one answer: of all networks together (only < 0) or of one. */
static enum dse_status fill_answer(struct optimise_job *job, int64_t only,
                                   const struct optimise_answer *answer, struct cells *cells,
                                   struct dse_error *err)
{
    const uint32_t first = only < 0 ? 0 : (uint32_t)only, n = only < 0 ? job->n_network : first + 1;
    const bool many = only < 0 && job->n_network > 1;
    if (answer->best < 0)
        return DSE_OK;
    for (uint32_t w = first; w < n && job->mappings; w++)
        for (uint32_t l = 0; l < job->workload[w].n_layer; l++)
            DSE_TRY(fill_mapping(job, w, l, (uint32_t)answer->best, cells, err));
    if (job->mappings)
        return DSE_OK;
    for (uint32_t h = 0; h < job->all.n && job->front; h++)
        if (answer->on_front[h])
            fill_row(job, many ? "all" : job->network[first].name, only, h, answer->n_priced, cells);
    for (uint32_t w = first; w < n && !job->front; w++)
        fill_row(job, job->network[w].name, w, (uint32_t)answer->best, answer->n_priced, cells);
    if (many && !job->front)
        fill_row(job, "all", -1, (uint32_t)answer->best, answer->n_priced, cells);
    return DSE_OK;
}

static void describe(const struct optimise_job *job, int64_t only, const struct optimise_answer *answer,
                     struct report *report)
{
    const struct optimise *o = &job->optimise;
    const char *whose = only < 0 ? "" : job->network[only].name;
    if (answer->best < 0) {
        text_append(&report->foot, "%s%sno hierarchy has a mapping for every layer\n", whose,
                    only < 0 ? "" : ": ");
        return;
    }
    text_append(&report->foot, "%s%s%u of %u hierarchies priced", whose, only < 0 ? "" : ": ",
                answer->n_priced, job->all.n);
    if (job->all.n_refused > 0)
        text_append(&report->foot, "; %u more break a limit", job->all.n_refused);
    text_append(&report->foot, ". %llu searches of layers so far, %llu of them on relaxed machines%s.\n",
                (unsigned long long)o->n_search, (unsigned long long)o->n_relaxed,
                o->unproved  ? "; some ended WITHOUT A PROOF, so others may be better"
                : job->every ? ""
                             : "; the rest is proved not to be better");
}

static enum dse_status find_one(struct optimise_job *job, int64_t only, bool *found, struct report *report,
                                struct dse_error *err)
{
    struct optimise *o = &job->optimise;
    double *weight = calloc(o->n_problem, sizeof *weight);
    const struct optimise_goal goal = {weight, job->every, job->front};
    struct optimise_answer answer;
    if (!weight)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %u layers", o->n_problem);
    for (uint32_t w = 0; w < job->n_network; w++)
        for (uint32_t p = 0; p < o->n_problem; p++)
            if (only < 0 || w == only)
                weight[p] += job->weight[(size_t)w * o->n_problem + p];
    enum dse_status status = optimise_find(o, &goal, &answer, err);
    if (status == DSE_OK)
        status = fill_answer(job, only, &answer, &report->rows, err);
    if (status == DSE_OK)
        describe(job, only, &answer, report);
    *found = *found && status == DSE_OK && answer.best >= 0;
    if (status == DSE_OK)
        free(answer.on_front);
    free(weight);
    return status;
}

static enum dse_status find_all(struct optimise_job *job, bool *found, struct report *report,
                                struct dse_error *err)
{
    *found = true;
    if (!job->each)
        return find_one(job, -1, found, report, err);
    for (uint32_t w = 0; w < job->n_network; w++)
        DSE_TRY(find_one(job, w, found, report, err));
    return DSE_OK;
}

static enum dse_status find_and_print(struct optimise_job *job, const struct console *console, bool *found,
                                      struct dse_error *err)
{
    struct watch watch;
    struct report report;
    struct text_buffer out;
    report_init(&report, "optimise");
    text_init(&out);
    if (job->mappings)
        cells_init(&report.rows, mapping_column, sizeof mapping_column / sizeof mapping_column[0]);
    else
        cells_init(&report.rows, answer_column, sizeof answer_column / sizeof answer_column[0]);
    watch_block(&watch);
    enum dse_status status = watch_start(&watch, NULL, err);
    if (status == DSE_OK) {
        job->optimise.cancel = &watch.cancel;
        status = find_all(job, found, &report, err);
        watch_stop(&watch);
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
    for (uint32_t w = 0; w < job->n_network; w++) {
        workload_free(&job->workload[w]);
        network_free(&job->network[w]);
        free(job->place[w]);
    }
    free(job->network);
    free(job->workload);
    free(job->place);
    free(job->weight);
    free(job->problem);
    free(job->key);
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
    {"front", 0, NULL, "all hierarchies that no other beats in energy and in storage on the chip"},
    {"every", 0, NULL, "price every hierarchy, as a sweep would"},
    {"accounting", 'a', "NAME", "interstellar (default) or interstellar-compat"},
    {"option", 'o', "NAME=VALUE", "an option of engine interstellar; repeatable"},
    {"batch", 'b', "[NETWORK=]N",
     "samples, of one network (default: what each network says, else 1); repeatable"},
    {"set", 0, "PATH=VALUE", "replace a quantity of the architecture: PE.mesh=32x32; repeatable"},
    {"ert", 0, "FILE",
     "energies of a Timeloop ARCH from a separate Energy Reference Table (as Accelergy writes it)"},
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
