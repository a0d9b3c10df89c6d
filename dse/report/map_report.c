/* One row per distinct layer and a total, as table, CSV and JSON; the mappings themselves as YAML, loop
 * nests or CUDA launches. */
#include "dse/report/map_report.h"

#include <jansson.h>
#include <math.h>

#include "costmodel/loopnest/gpu_schedule.h"
#include "dse/console/json_text.h"
#include "dse/console/table.h"

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
    table_cell(table, "%s", value == METRIC_U64_MISSING ? "-" : text_thousands(value, text, sizeof text));
}

/* What is measured: what a network has, too, stands among the metrics; the rest has a table of its own, or
 * lines get too long. Its places in the records are those of `all`. */
struct measured {
    size_t n;
    const struct metric *all[MEASURE_VALUE_MAX]; /* (n) */
};

static struct measured measured_of(const struct map_report *r)
{
    struct measured m;
    m.n = measure_columns(&r->settings->measure, false, m.all);
    return m;
}

static bool is_inline(const struct measured *m, size_t i)
{
    return m->all[i]->fold != METRIC_NONE;
}

/* One row: a layer, or the total. */
static void metric_cells(const struct map_report *r, struct table *table, const struct layer_record *row)
{
    const struct measured measured = measured_of(r);
    char text[48];
    table_cell(table, "%s", result_status_text(row->outcome));
    count_cell(table, row->latency_cycle);
    table_cell(table, "%s", text_si(row->latency_s, "s", text, sizeof text));
    table_cell(table, "%s", text_si(row->energy_j, "J", text, sizeof text));
    table_cell(table, "%s", text_si(row->edp_js, "J s", text, sizeof text));
    if (isfinite(row->utilization))
        table_cell(table, "%.1f %%", 100 * row->utilization);
    else
        table_cell(table, "-");
    table_cell(table, "%s", text_bytes(row->dram_byte, text, sizeof text));
    ratio_cell(table, row->bound_edp_ratio);
    for (size_t i = 0; i < measured.n; i++) {
        if (!is_inline(&measured, i))
            continue;
        if (measured.all[i]->type == METRIC_U64)
            count_cell(table, row->extra[i].u64);
        else
            ratio_cell(table, row->extra[i].f64);
    }
    count_cell(table, row->evaluations);
    table_cell(table, "%s", row->stop ? row->stop : "-");
}

/* The point's numbers in a layer row, for printing. */
static struct layer_record total_row(const struct map_report *r)
{
    struct layer_record row;
    const struct point_record *p = r->point;
    const struct measured measured = measured_of(r);
    layer_record_init(&row);
    row.layer = "total";
    row.outcome = p->outcome;
    row.metrics = p->metrics;
    for (size_t i = 0, at = 0; i < measured.n; i++)
        if (is_inline(&measured, i))
            row.extra[i] = p->extra[at++];
    row.evaluations = p->evaluations;
    row.stop = p->stop;
    return row;
}

static void print_terms(const struct map_report *r, struct text_buffer *out)
{
    const char *header[1 + MEASURE_VALUE_MAX] = {"layer"};
    const struct measured measured = measured_of(r);
    struct table table;
    size_t n = 1;
    for (size_t k = 0; k < measured.n; k++)
        if (!is_inline(&measured, k))
            header[n++] = measured.all[k]->name;
    if (n == 1)
        return;
    table_init(&table, header, n, 1);
    for (uint32_t i = 0; i < r->workload->n_layer; i++) {
        table_cell(&table, "%s", r->layer[i].layer);
        for (size_t k = 0; k < measured.n; k++)
            if (!is_inline(&measured, k))
                ratio_cell(&table, metric_number(measured.all[k], &r->layer[i].extra[k]));
    }
    text_append(out, "\n");
    table_print(&table, out);
    table_free(&table);
}

void map_report_table(const struct map_report *r, struct text_buffer *out)
{
    const char *header[16 + MEASURE_VALUE_MAX] = {"layer",  "count", "status",      "cycles", "latency",
                                                  "energy", "edp",   "utilization", "DRAM",   "edp/bound"};
    const struct measured measured = measured_of(r);
    size_t n_header = 10;
    struct table table;
    char objective[64];
    struct layer_record total = total_row(r);
    text_append(out, "%s on %s, batch %u, engine %s, objective %s, seed %llu\n\n", r->network->name,
                r->arch->name, r->workload->batch, r->settings->engine->name,
                objective_print(&r->settings->objective, objective, sizeof objective),
                (unsigned long long)r->settings->seed);
    for (size_t i = 0; i < measured.n; i++)
        if (is_inline(&measured, i))
            header[n_header++] = measured.all[i]->name;
    header[n_header++] = "evaluations";
    header[n_header++] = "stop";
    table_init(&table, header, n_header, 1u << 0 | 1u << 2 | 1u << (n_header - 1));
    for (uint32_t i = 0; i < r->workload->n_layer; i++) {
        table_cell(&table, "%s", r->layer[i].layer);
        count_cell(&table, r->layer[i].count);
        metric_cells(r, &table, &r->layer[i]);
    }
    table_cell(&table, "total");
    count_cell(&table, r->point->n_layer_mapped);
    metric_cells(r, &table, &total);
    table_print(&table, out);
    table_free(&table);
    for (uint32_t i = 0; i < r->workload->n_layer; i++)
        if (r->layer[i].reason)
            text_append(out, "%s: %s\n", r->layer[i].layer, r->layer[i].reason);
    for (uint32_t i = 0; i < r->workload->n_layer; i++)
        if (r->layer[i].padded && r->layer[i].padded[0])
            text_append(out, "%s: mapped with %s\n", r->layer[i].layer, r->layer[i].padded);
    print_terms(r, out);
    if (r->workload->n_skipped)
        text_append(out, "%u layer%s without multiply-accumulates %s not mapped.\n", r->workload->n_skipped,
                    text_plural(r->workload->n_skipped), r->workload->n_skipped == 1 ? "is" : "are");
}

void map_report_csv(const struct map_report *r, struct text_buffer *out)
{
    char number[40];
    const struct measured measured = measured_of(r);
    text_append(
        out,
        "layer,count,status,latency_cycle,latency_s,energy_j,edp_js,utilization,dram_byte,bound_edp_ratio,");
    for (size_t k = 0; k < measured.n; k++)
        text_append(out, "%s,", measured.all[k]->name);
    text_append(out, "evaluations,stop,padded\n");
    struct layer_record total = total_row(r);
    for (uint32_t i = 0; i <= r->workload->n_layer; i++) {
        const struct layer_record *row = i < r->workload->n_layer ? &r->layer[i] : &total;
        uint64_t count = i < r->workload->n_layer ? row->count : r->point->n_layer_mapped;
        const double value[] = {row->latency_s,   row->energy_j,  row->edp_js,
                                row->utilization, row->dram_byte, row->bound_edp_ratio};
        text_append(out, "%s,%llu,%s,", row->layer, (unsigned long long)count,
                    result_status_text(row->outcome));
        if (row->latency_cycle != METRIC_U64_MISSING)
            text_append(out, "%llu", (unsigned long long)row->latency_cycle);
        for (size_t k = 0; k < 6; k++)
            text_append(out, ",%s", isnan(value[k]) ? "" : text_double(value[k], number, sizeof number));
        for (size_t k = 0; k < measured.n; k++) {
            double one = metric_number(measured.all[k], &row->extra[k]);
            text_append(out, ",%s", isnan(one) ? "" : text_double(one, number, sizeof number));
        }
        text_append(out, ",");
        if (row->evaluations != METRIC_U64_MISSING)
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

static json_t *json_row(const struct map_report *r, const struct layer_record *row, uint64_t count)
{
    const struct measured measured = measured_of(r);
    json_t *object = json_pack(
        "{s:s, s:I, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "layer", row->layer, "count", (json_int_t)count,
        "status", result_status_text(row->outcome), "latency_cycle",
        row->latency_cycle == METRIC_U64_MISSING ? json_null() : json_integer((json_int_t)row->latency_cycle),
        "latency_s", number_or_null(row->latency_s), "energy_j", number_or_null(row->energy_j), "edp_js",
        number_or_null(row->edp_js), "utilization", number_or_null(row->utilization), "dram_byte",
        number_or_null(row->dram_byte), "bound_edp_ratio", number_or_null(row->bound_edp_ratio));
    for (size_t k = 0; object && k < measured.n; k++)
        json_object_set_new(object, measured.all[k]->name,
                            number_or_null(metric_number(measured.all[k], &row->extra[k])));
    if (object && row->reason)
        json_object_set_new(object, "reason", json_string(row->reason));
    if (object && row->mapping)
        json_object_set_new(object, "mapping", json_string(row->mapping));
    if (object && row->padded && row->padded[0])
        json_object_set_new(object, "padded", json_string(row->padded));
    return object;
}

enum dse_status map_report_json(const struct map_report *r, struct text_buffer *out, struct dse_error *err)
{
    struct layer_record total = total_row(r);
    json_t *rows = json_array();
    int good = 1;
    for (uint32_t i = 0; i < r->workload->n_layer; i++)
        good = json_array_append_new(rows, json_row(r, &r->layer[i], r->layer[i].count)) == 0 && good;
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:s, s:o, s:o}", "network", r->network->name, "architecture",
                  r->arch->name, "batch", (json_int_t)r->workload->batch, "engine", r->settings->engine->name,
                  "layers", rows, "total", json_row(r, &total, r->point->n_layer_mapped));
    return json_text_append(root, good, out, err);
}

/* The one mapping; for padded bounds with what `dse eval` needs to read it. */
void map_report_yaml(const struct map_report *r, struct text_buffer *out)
{
    const struct problem *problem = &r->workload->problem[0];
    const struct engine_result *found = &r->result[0].found;
    if (r->result[0].outcome != RESULT_OK)
        return;
    if (found->padded) {
        text_append(out, "# of a loop nest with padded bounds; dse eval takes it with");
        for (uint32_t d = 0; d < problem->n_dim; d++)
            if (found->padded_bound[d] != problem->bound[d])
                text_append(out, " --pad %s=%u", problem->dim_name[d], found->padded_bound[d]);
        text_append(out, "\n");
    }
    mapping_write_yaml(&found->mapping, problem, r->arch, out);
}

/* Every mapping with its heading, as a loop nest, as a launch, or both. */
void map_report_mappings(const struct map_report *r, bool nest, bool gpu, struct text_buffer *out)
{
    for (uint32_t p = 0; p < r->workload->n_problem; p++) {
        const struct problem *problem = &r->workload->problem[p];
        const struct mapping *mapping = &r->result[p].found.mapping;
        if (r->result[p].outcome != RESULT_OK)
            continue;
        text_append(out, "\n%s", problem->name);
        uint64_t count = workload_count(r->workload, p);
        if (count > 1)
            text_append(out, " (%llu times)", (unsigned long long)count);
        text_append(out, "\n");
        if (nest)
            mapping_write_nest(mapping, problem, r->arch, out);
        if (gpu)
            gpu_schedule_write(problem, r->arch, mapping, out);
    }
}

/* A row for every distinct layer that got a mapping. */
void map_report_gpu_csv(const struct map_report *r, struct text_buffer *out)
{
    text_append(out, "layer,count,");
    gpu_schedule_csv_header(out);
    text_append(out, "\n");
    for (uint32_t p = 0; p < r->workload->n_problem; p++) {
        if (r->result[p].outcome != RESULT_OK)
            continue;
        text_append(out, "%s,%llu,", r->workload->problem[p].name,
                    (unsigned long long)workload_count(r->workload, p));
        gpu_schedule_csv(&r->workload->problem[p], r->arch, &r->result[p].found.mapping, out);
        text_append(out, "\n");
    }
}
