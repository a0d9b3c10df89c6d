/* dse map ARCH NETWORK --engine E */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/gpu_schedule.h"
#include "dse/commands.h"
#include "dse/inputs.h"
#include "dse/record.h"
#include "dse/solve.h"
#include "dse/table.h"
#include "dse/threads.h"
#include "dse/workload.h"

enum { FORMAT_TABLE, FORMAT_YAML, FORMAT_CSV, FORMAT_JSON };

/* Everything one call of the command holds. */
struct map_job {
    struct architecture arch;
    struct network network;
    struct workload workload;
    struct yaml_doc constraints;
    struct solve_settings settings;
    struct solve_result *result;      /* (n_problem) */
    const struct solve_result **view; /* (n_problem) */
    struct point_record point;
    struct layer_record *layer; /* (n_layer) */
    struct arena arena;
    size_t format;
    int n_thread;
};

static enum dse_status read_options(const struct cli_args *args, struct solve_settings *settings,
                                    struct dse_error *err)
{
    unsigned long long seed = 0, max_evaluations = 0, max_seconds = 0;
    char name[INPUT_SET_TEXT_MAX];
    const char *value;
    DSE_TRY(solve_settings_init(settings, cli_value(args, "engine") ? cli_value(args, "engine") : "descent",
                                err));
    if (cli_value(args, "objective"))
        DSE_TRY(objective_parse(cli_value(args, "objective"), &settings->objective, err));
    DSE_TRY(cli_number(args, "seed", 0, UINT64_MAX, &seed, err));
    DSE_TRY(cli_number(args, "max-evaluations", 0, UINT64_MAX, &max_evaluations, err));
    DSE_TRY(cli_number(args, "max-seconds", 0, 1000000000, &max_seconds, err));
    settings->seed = seed;
    settings->max_evaluations = max_evaluations;
    settings->max_seconds = (double)max_seconds;
    for (size_t i = 0; i < args->n_value; i++) {
        if (strcmp(args->value[i].option->name, "option") != 0)
            continue;
        DSE_TRY(input_split_set("option", args->value[i].text, name, sizeof name, &value, err));
        DSE_TRY(engine_option_set(settings->engine, name, value, settings->option, err));
    }
    return DSE_OK;
}

/* A sweep's --set takes engine options too, so that is what people try here. */
static enum dse_status refuse_options(const struct input_overrides *overrides, struct dse_error *err)
{
    for (size_t i = 0; i < overrides->n; i++)
        if (strncmp(overrides->path[i], "option.", 7) == 0)
            return dse_fail(err, DSE_BAD_USAGE,
                            "--set %.80s: --set is for the architecture; write --option %.80s=%.80s",
                            overrides->path[i], overrides->path[i] + 7, overrides->value[i]);
    return DSE_OK;
}

/* The constraints of a file, tried on every layer. */
static enum dse_status read_constraints(const char *path, struct map_job *job, struct dse_error *err)
{
    struct mapspace_constraints tried;
    DSE_TRY(input_constraints(path, &job->constraints, &job->settings.constraints, err));
    job->settings.doc = &job->constraints;
    for (uint32_t p = 0; p < job->workload.n_problem; p++)
        DSE_TRY(solve_constraints(&job->settings, &job->workload.problem[p], &job->arch, &tried, err));
    return DSE_OK;
}

static enum dse_status prepare(const struct cli_args *args, struct map_job *job, struct dse_error *err)
{
    static const char *const formats[] = {"table", "yaml", "csv", "json"};
    struct input_overrides overrides;
    const char *names[CLI_VALUE_MAX];
    size_t n_name = 0;
    unsigned long long batch = 1, threads = 0;
    DSE_TRY(cli_choice(args, "format", formats, 4, FORMAT_TABLE, &job->format, err));
    DSE_TRY(cli_number(args, "batch", 1, UINT32_MAX, &batch, err));
    DSE_TRY(cli_number(args, "jobs", 1, 4096, &threads, err));
    DSE_TRY(read_options(args, &job->settings, err));
    if (cli_value(args, "measure"))
        DSE_TRY(measure_add_list(&job->settings.measure, cli_value(args, "measure"), err));
    DSE_TRY(input_overrides_read(args, &overrides, err));
    DSE_TRY(refuse_options(&overrides, err));
    DSE_TRY(input_architecture(args->operand[0], &overrides, &job->arch, err));
    DSE_TRY(measure_check(&job->settings.measure, &job->arch, err));
    DSE_TRY(input_network(args->operand[1], &job->network, err));
    for (size_t i = 0; i < args->n_value; i++)
        if (strcmp(args->value[i].option->name, "layer") == 0)
            names[n_name++] = args->value[i].text;
    DSE_TRY(workload_init(&job->workload, &job->network, (uint32_t)batch, names, n_name, 0, err));
    if (cli_value(args, "constraints"))
        DSE_TRY(read_constraints(cli_value(args, "constraints"), job, err));
    if (job->format == FORMAT_YAML && job->workload.n_problem != 1)
        return dse_fail(err, DSE_BAD_USAGE, "--format yaml writes one mapping; choose a layer with --layer");
    if (cli_has(args, "gpu") && !job->arch.gpu.present)
        return dse_fail(err, DSE_BAD_USAGE,
                        "--gpu: %s is no GPU; its file has no part gpu that names the threads of a block",
                        job->arch.name);
    if (cli_has(args, "gpu") && job->format != FORMAT_TABLE && job->format != FORMAT_CSV)
        return dse_fail(err, DSE_BAD_USAGE, "--gpu prints a table or csv, not %s", formats[job->format]);
    job->n_thread = threads ? (int)threads : threads_available();
    job->result = calloc(job->workload.n_problem, sizeof *job->result);
    job->view = calloc(job->workload.n_problem, sizeof *job->view);
    job->layer = calloc(job->workload.n_layer, sizeof *job->layer);
    if (!job->result || !job->view || !job->layer)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the results");
    return DSE_OK;
}

static enum dse_status solve_all(struct map_job *job, struct dse_error *err)
{
    const char *level[ARCH_LEVEL_MAX];
    int n_problem = (int)job->workload.n_problem;
#pragma omp parallel for schedule(dynamic, 1) num_threads(job->n_thread)
    for (int p = 0; p < n_problem; p++) {
        struct arena arena;
        arena_init(&arena);
        job->view[p] = &job->result[p];
        enum dse_status status =
            solve_task(&job->settings, &job->workload.problem[p], &job->arch, NULL, &arena, &job->result[p]);
        (void)status; /* interrupted is not possible without a cancel flag */
        arena_free(&arena);
    }
    for (uint32_t l = 0; l < job->arch.n_level; l++)
        level[l] = job->arch.level[l].name;
    struct record_source source = {&job->workload, &job->arch, job->view, job->arch.n_level, level, true};
    job->point = (struct point_record){.index = NULL};
    DSE_TRY(record_make(&source, &job->arena, &job->point, job->layer, err));
    return DSE_OK;
}

static void ratio_cell(struct table *table, double value)
{
    if (isfinite(value))
        table_cell(table, "%.3f", value);
    else
        table_cell(table, "-");
}

static void count_cell(struct table *table, uint64_t value)
{
    char text[48];
    table_cell(table, "%s", value == RESULT_U64_MISSING ? "-" : text_thousands(value, text, sizeof text));
}

/* What is measured with one number stands among the metrics; CoSA's terms have a table of their own, or lines get too long. */
static size_t inline_fields(const struct map_job *job, const struct result_field *field[MEASURE_FIELD_MAX])
{
    struct measure_settings shown = job->settings.measure;
    shown.what &= ~(unsigned)RESULT_MEASURE_COSA;
    return measure_fields(&shown, field);
}

/* One row: a layer, or the total. */
static void metric_cells(const struct map_job *job, struct table *table, const struct layer_record *row)
{
    const struct result_field *field[MEASURE_FIELD_MAX];
    char text[48];
    table_cell(table, "%s", result_status_text(row->outcome));
    count_cell(table, row->latency_cycle);
    table_cell(table, "%s", table_si(row->latency_s, "s", text, sizeof text));
    table_cell(table, "%s", table_si(row->energy_j, "J", text, sizeof text));
    table_cell(table, "%s", table_si(row->edp_js, "J s", text, sizeof text));
    if (isfinite(row->utilization))
        table_cell(table, "%.1f %%", 100 * row->utilization);
    else
        table_cell(table, "-");
    table_cell(table, "%s", table_bytes(row->dram_byte, text, sizeof text));
    ratio_cell(table, row->bound_edp_ratio);
    for (size_t i = 0, n = inline_fields(job, field); i < n; i++) {
        double value = measure_number(field[i], row);
        if (field[i]->type == FIELD_U64 && isfinite(value))
            count_cell(table, (uint64_t)value);
        else
            ratio_cell(table, value);
    }
    count_cell(table, row->evaluations);
    table_cell(table, "%s", row->stop ? row->stop : "-");
}

/* The point's numbers in a layer row, for printing. */
static struct layer_record total_row(const struct map_job *job)
{
    struct layer_record row;
    const struct point_record *p = &job->point;
    layer_record_init(&row);
    row.layer = "total";
    row.outcome = p->outcome;
    row.latency_s = p->latency_s;
    row.latency_cycle = p->latency_cycle;
    row.energy_j = p->energy_j;
    row.edp_js = p->edp_js;
    row.utilization = p->utilization;
    row.dram_byte = p->dram_byte;
    row.bound_edp_ratio = p->bound_edp_ratio;
    row.noc_latency_cycle = p->noc_latency_cycle;
    row.evaluations = p->evaluations;
    row.stop = p->stop;
    return row;
}

static void print_terms(const struct map_job *job, struct text_buffer *out)
{
    const char *header[1 + MEASURE_FIELD_MAX] = {"layer"};
    const struct result_field *field[MEASURE_FIELD_MAX];
    struct measure_settings shown = job->settings.measure;
    struct table table;
    shown.what &= RESULT_MEASURE_COSA;
    size_t n_field = measure_fields(&shown, field);
    if (n_field == 0)
        return;
    for (size_t k = 0; k < n_field; k++)
        header[1 + k] = field[k]->name;
    table_init(&table, header, 1 + n_field, 1);
    for (uint32_t i = 0; i < job->workload.n_layer; i++) {
        table_cell(&table, "%s", job->layer[i].layer);
        for (size_t k = 0; k < n_field; k++)
            ratio_cell(&table, measure_number(field[k], &job->layer[i]));
    }
    text_append(out, "\n");
    table_print(&table, out);
    table_free(&table);
}

static void print_table(const struct map_job *job, struct text_buffer *out)
{
    const char *header[16 + MEASURE_FIELD_MAX] = {"layer",  "count", "status",      "cycles", "latency",
                                                  "energy", "edp",   "utilization", "DRAM",   "edp/bound"};
    const struct result_field *field[MEASURE_FIELD_MAX];
    size_t n_header = 10, n_field = inline_fields(job, field);
    struct table table;
    char objective[64];
    struct layer_record total = total_row(job);
    text_append(out, "%s on %s, batch %u, engine %s, objective %s, seed %llu\n\n", job->network.name,
                job->arch.name, job->workload.batch, job->settings.engine->name,
                objective_print(&job->settings.objective, objective, sizeof objective),
                (unsigned long long)job->settings.seed);
    for (size_t i = 0; i < n_field; i++)
        header[n_header++] = field[i]->name;
    header[n_header++] = "evaluations";
    header[n_header++] = "stop";
    table_init(&table, header, n_header, 1u << 0 | 1u << 2 | 1u << (n_header - 1));
    for (uint32_t i = 0; i < job->workload.n_layer; i++) {
        table_cell(&table, "%s", job->layer[i].layer);
        count_cell(&table, job->layer[i].count);
        metric_cells(job, &table, &job->layer[i]);
    }
    table_cell(&table, "total");
    count_cell(&table, job->point.n_layer_mapped);
    metric_cells(job, &table, &total);
    table_print(&table, out);
    table_free(&table);
    for (uint32_t i = 0; i < job->workload.n_layer; i++)
        if (job->layer[i].reason)
            text_append(out, "%s: %s\n", job->layer[i].layer, job->layer[i].reason);
    for (uint32_t i = 0; i < job->workload.n_layer; i++)
        if (job->layer[i].padded && job->layer[i].padded[0])
            text_append(out, "%s: mapped with %s\n", job->layer[i].layer, job->layer[i].padded);
    print_terms(job, out);
    if (job->workload.n_skipped)
        text_append(out, "%u layer%s without multiply-accumulates %s not mapped.\n", job->workload.n_skipped,
                    table_plural(job->workload.n_skipped), job->workload.n_skipped == 1 ? "is" : "are");
}

static void print_csv(const struct map_job *job, struct text_buffer *out)
{
    char number[40];
    const struct result_field *field[MEASURE_FIELD_MAX];
    size_t n_field = measure_fields(&job->settings.measure, field);
    text_append(
        out,
        "layer,count,status,latency_cycle,latency_s,energy_j,edp_js,utilization,dram_byte,bound_edp_ratio,");
    for (size_t k = 0; k < n_field; k++)
        text_append(out, "%s,", field[k]->name);
    text_append(out, "evaluations,stop,padded\n");
    struct layer_record total = total_row(job);
    for (uint32_t i = 0; i <= job->workload.n_layer; i++) {
        const struct layer_record *row = i < job->workload.n_layer ? &job->layer[i] : &total;
        uint64_t count = i < job->workload.n_layer ? row->count : job->point.n_layer_mapped;
        const double value[] = {row->latency_s,   row->energy_j,  row->edp_js,
                                row->utilization, row->dram_byte, row->bound_edp_ratio};
        text_append(out, "%s,%llu,%s,", row->layer, (unsigned long long)count,
                    result_status_text(row->outcome));
        if (row->latency_cycle != RESULT_U64_MISSING)
            text_append(out, "%llu", (unsigned long long)row->latency_cycle);
        for (size_t k = 0; k < 6; k++)
            text_append(out, ",%s", isnan(value[k]) ? "" : text_double(value[k], number, sizeof number));
        for (size_t k = 0; k < n_field; k++) {
            double measured = measure_number(field[k], row);
            text_append(out, ",%s", isnan(measured) ? "" : text_double(measured, number, sizeof number));
        }
        text_append(out, ",");
        if (row->evaluations != RESULT_U64_MISSING)
            text_append(out, "%llu", (unsigned long long)row->evaluations);
        text_append(out, ",%s,", row->stop ? row->stop : "");
        if (row->padded && row->padded[0])
            text_append(out, "\"%s\"", row->padded); /* "P 53->54, Q 53->54" holds commas */
        text_append(out, "\n");
    }
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *json_row(const struct map_job *job, const struct layer_record *row, uint64_t count)
{
    const struct result_field *field[MEASURE_FIELD_MAX];
    size_t n_field = measure_fields(&job->settings.measure, field);
    json_t *object =
        json_pack("{s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "layer", row->layer, "count",
                  (json_int_t)count, "status", result_status_text(row->outcome), "latency_s",
                  number_or_null(row->latency_s), "energy_j", number_or_null(row->energy_j), "edp_js",
                  number_or_null(row->edp_js), "utilization", number_or_null(row->utilization), "dram_byte",
                  number_or_null(row->dram_byte), "bound_edp_ratio", number_or_null(row->bound_edp_ratio));
    for (size_t k = 0; object && k < n_field; k++)
        json_object_set_new(object, field[k]->name, number_or_null(measure_number(field[k], row)));
    if (object && row->reason)
        json_object_set_new(object, "reason", json_string(row->reason));
    if (object && row->mapping)
        json_object_set_new(object, "mapping", json_string(row->mapping));
    if (object && row->padded && row->padded[0])
        json_object_set_new(object, "padded", json_string(row->padded));
    return object;
}

static enum dse_status print_json(const struct map_job *job, struct text_buffer *out, struct dse_error *err)
{
    struct layer_record total = total_row(job);
    json_t *rows = json_array();
    int good = 1;
    for (uint32_t i = 0; i < job->workload.n_layer; i++)
        good = json_array_append_new(rows, json_row(job, &job->layer[i], job->layer[i].count)) == 0 && good;
    json_t *root = json_pack("{s:s, s:s, s:I, s:s, s:o, s:o}", "network", job->network.name, "architecture",
                             job->arch.name, "batch", (json_int_t)job->workload.batch, "engine",
                             job->settings.engine->name, "layers", rows, "total",
                             json_row(job, &total, job->point.n_layer_mapped));
    char *text = good && root ? json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
    json_decref(root);
    if (!text)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the JSON output");
    text_append(out, "%s\n", text);
    free(text);
    return DSE_OK;
}

/* The one mapping; for padded bounds with what `dse eval` needs to read it. */
static void print_yaml(const struct map_job *job, struct text_buffer *out)
{
    const struct problem *problem = &job->workload.problem[0];
    const struct engine_result *found = &job->result[0].found;
    if (job->result[0].outcome != RESULT_OK)
        return;
    if (found->padded) {
        text_append(out, "# of a loop nest with padded bounds; dse eval takes it with");
        for (uint32_t d = 0; d < problem->n_dim; d++)
            if (found->padded_bound[d] != problem->bound[d])
                text_append(out, " --pad %s=%u", problem->dim_name[d], found->padded_bound[d]);
        text_append(out, "\n");
    }
    mapping_write_yaml(&found->mapping, problem, &job->arch, out);
}

/* Every mapping with its heading, as a loop nest, as a launch, or both. */
static void print_mappings(const struct map_job *job, bool nest, bool gpu, struct text_buffer *out)
{
    for (uint32_t p = 0; p < job->workload.n_problem; p++) {
        const struct problem *problem = &job->workload.problem[p];
        const struct mapping *mapping = &job->result[p].found.mapping;
        if (job->result[p].outcome != RESULT_OK)
            continue;
        text_append(out, "\n%s", problem->name);
        uint64_t count = workload_count(&job->workload, p);
        if (count > 1)
            text_append(out, " (%llu times)", (unsigned long long)count);
        text_append(out, "\n");
        if (nest)
            mapping_write_nest(mapping, problem, &job->arch, out);
        if (gpu)
            gpu_schedule_write(problem, &job->arch, mapping, out);
    }
}

/* A row for every distinct layer that got a mapping. */
static void print_gpu_csv(const struct map_job *job, struct text_buffer *out)
{
    text_append(out, "layer,count,");
    gpu_schedule_csv_header(out);
    text_append(out, "\n");
    for (uint32_t p = 0; p < job->workload.n_problem; p++) {
        if (job->result[p].outcome != RESULT_OK)
            continue;
        text_append(out, "%s,%llu,", job->workload.problem[p].name,
                    (unsigned long long)workload_count(&job->workload, p));
        gpu_schedule_csv(&job->workload.problem[p], &job->arch, &job->result[p].found.mapping, out);
        text_append(out, "\n");
    }
}

static enum dse_status print_all(const struct cli_args *args, const struct map_job *job,
                                 const struct console *console, struct dse_error *err)
{
    struct text_buffer out;
    enum dse_status status = DSE_OK;
    text_init(&out);
    switch (job->format) {
    case FORMAT_YAML:
        print_yaml(job, &out);
        break;
    case FORMAT_CSV:
        if (cli_has(args, "gpu"))
            print_gpu_csv(job, &out);
        else
            print_csv(job, &out);
        break;
    case FORMAT_JSON:
        status = print_json(job, &out, err);
        break;
    default:
        print_table(job, &out);
        if (cli_has(args, "nest") || cli_has(args, "gpu"))
            print_mappings(job, cli_has(args, "nest"), cli_has(args, "gpu"), &out);
        break;
    }
    if (status == DSE_OK && out.failed)
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the output");
    if (status == DSE_OK && out.data)
        fputs(out.data, console->out);
    text_free(&out);
    return status;
}

static int command(const struct cli_args *args, const struct console *console)
{
    struct dse_error err = {0};
    int code;
    struct map_job *job = calloc(1, sizeof *job);
    if (!job)
        return cli_report(console, DSE_NO_MEMORY, &(struct dse_error){.text = "out of memory"});
    arena_init(&job->arena);
    enum dse_status status = prepare(args, job, &err);
    if (status == DSE_OK)
        status = solve_all(job, &err);
    if (status == DSE_OK)
        status = print_all(args, job, console, &err);
    code = cli_report(console, status, &err);
    if (status == DSE_OK && job->point.outcome != RESULT_OK) {
        fprintf(console->err, "dse: %s: %s\n", result_status_text(job->point.outcome), job->point.reason);
        code = EXIT_SOME_FAILED;
    }
    arena_free(&job->arena);
    yaml_doc_free(&job->constraints);
    workload_free(&job->workload);
    network_free(&job->network);
    free(job->result);
    free(job->view);
    free(job->layer);
    free(job);
    return code;
}

static const struct cli_option options[] = {
    {"engine", 'e', "NAME", "how to search: a mapper of `dse list engines` (default descent)"},
    {"objective", 'O', "WHAT", "what to minimise: latency, energy, edp (default), ed2p or energy^n*delay^m"},
    {"layer", 'l', "NAME", "only this layer; repeatable"},
    {"batch", 'b', "N", "samples (default 1)"},
    {"seed", 's', "N", "of the random streams (default 0)"},
    {"max-evaluations", 'n', "N", "cost-model calls per layer (default: the engine's own rule)"},
    {"max-seconds", 't', "N", "time per layer; results then depend on the machine"},
    {"option", 'o', "NAME=VALUE", "an option of the engine (`dse list engine NAME`); repeatable"},
    {"constraints", 'c', "FILE", "constraints of the map space: a list, or a specification that has one"},
    {"measure", 'm', "WHAT",
     "also show noc (latency on the simulated network-on-chip), cosa (terms of CoSA's objective), or "
     "noc,cosa"},
    {"set", 0, "PATH=VALUE", "replace a quantity of the architecture: DRAM.bandwidth='8 GB/s'; repeatable"},
    {"format", 'f', "HOW", "table (default), yaml (one mapping, for `dse eval`), csv, json"},
    {"nest", 0, NULL, "after the table print every mapping as a loop nest"},
    {"gpu", 0, NULL, "for a GPU: print every mapping as a CUDA launch (table: after it; csv: instead)"},
    {"jobs", 'j', "N", "threads (default: the processors this process may use)"},
};

const struct cli_command command_map = {
    .name = "map",
    .operands = "ARCH NETWORK",
    .summary = "Find and print a mapping for each layer of a network.",
    .help =
        "Equal layers are mapped once. Layers without multiply-accumulates (pooling, additions, ...) are "
        "not mapped.\n"
        "A layer that gets no mapping gives exit code 1, also an infeasible one: there is nothing to hand "
        "on. (For `dse run`\n"
        "an infeasible point is a result like any other.) The reason is printed.\n"
        "\n"
        "  dse map simba resnet50 --engine random --max-evaluations 10000\n"
        "  dse map simba resnet50 --layer conv1 --format yaml > conv1.yaml\n"
        "  dse eval simba resnet50:conv1 conv1.yaml\n",
    .option = options,
    .n_option = sizeof options / sizeof options[0],
    .min_operand = 2,
    .max_operand = 2,
    .run = command,
};
