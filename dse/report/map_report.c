/* One row per distinct layer and a total, as table, CSV and JSON; the mappings themselves as YAML and other
 * texts. */
#include "dse/report/map_report.h"

#include <stdio.h>
#include <string.h>

#include "dse/solve/record.h"

enum {
    N_BEFORE = 10,
    N_BEHIND = 6,
    N_FRONT = 2,
    COLUMN_MAX = N_BEFORE + MEASURE_VALUE_MAX + N_BEHIND + MAPPING_COLUMN_MAX + N_FRONT
};

/* Before what is measured, and behind it. */
static const struct cell_column before[N_BEFORE] = {
    CELL_COLUMN("layer", "layer", LOOK_TEXT),
    CELL_COLUMN("count", "count", LOOK_COUNT),
    CELL_COLUMN("status", "status", LOOK_TEXT),
    CELL_COLUMN("latency_cycle", "cycles", LOOK_COUNT),
    {.name = "latency_s", .title = "latency", .look = LOOK_UNIT, .unit = "s"},
    CELL_ENERGY("energy_j", "energy"),
    {.name = "edp_js", .title = "edp", .look = LOOK_UNIT, .unit = "J s"},
    CELL_COLUMN("utilization", "utilization", LOOK_PERCENT),
    CELL_COLUMN("dram_byte", "DRAM", LOOK_BYTE),
    {.name = "bound_edp_ratio", .title = "edp/bound", .look = LOOK_FIXED, .digit = 3},
};
static const struct cell_column behind[N_BEHIND] = {
    CELL_COLUMN("evaluations", "evaluations", LOOK_COUNT),
    CELL_COLUMN("stop", "stop", LOOK_TEXT),
    CELL_COLUMN("bound_kind", NULL, LOOK_TEXT),
    CELL_COLUMN("padded", NULL, LOOK_TEXT),
    {.name = "reason", .json_only = 1},
    {.name = "mapping", .json_only = 1},
};

/* Of fronts: the number of the point, and of a network's which one each layer has. */
static const struct cell_column of_front[N_FRONT] = {
    CELL_COLUMN("front_point", NULL, LOOK_COUNT),
    CELL_COLUMN("front_choice", NULL, LOOK_TEXT),
};

/* What a network has, too, stands among the metrics; other measured values have a table of their own for
 * people, or lines get too long. */
static bool is_inline(const struct metric *metric)
{
    return metric->fold != METRIC_NONE;
}

static struct cell_column measured_column(const struct metric *metric, bool people)
{
    return (struct cell_column){.name = metric->name,
                                .title = people ? metric->name : NULL,
                                .look = metric->type == METRIC_U64 ? LOOK_COUNT : LOOK_FIXED,
                                .digit = 3};
}

static void measured_cell(struct cells *cells, const struct metric *metric, const union metric_value *value)
{
    if (metric->type == METRIC_U64)
        cells_count(cells, value->u64);
    else
        cells_real(cells, value->f64);
}

static void add_row(const struct layer_record *row, const struct metric *const *measured, size_t n_measured,
                    struct cells *cells)
{
    cells_text(cells, row->layer);
    cells_count(cells, row->count);
    cells_text(cells, result_status_text(row->outcome));
    cells_count(cells, row->latency_cycle);
    cells_real(cells, row->latency_s);
    cells_real(cells, row->energy_j);
    cells_real(cells, row->edp_js);
    cells_real(cells, row->utilization);
    cells_real(cells, row->dram_byte);
    cells_real(cells, row->bound_edp_ratio);
    for (size_t i = 0; i < n_measured; i++)
        measured_cell(cells, measured[i], &row->extra[i]);
    cells_count(cells, row->evaluations);
    cells_text(cells, row->stop);
    cells_text(cells, row->bound_kind);
    cells_text(cells, row->padded && row->padded[0] ? row->padded : NULL);
    cells_text(cells, row->reason);
    cells_text(cells, row->mapping);
}

/* What the engine says of layer i's mapping besides; nothing of a layer without one, or of the total (i = the
 * number of layers). */
static void add_own(const struct map_report *r, uint32_t i, struct cells *rows)
{
    const struct mapping_columns *own = r->settings->engine->columns;
    const struct workload *w = r->workload;
    const uint32_t p = i < w->n_layer ? w->problem_of[i] : 0;
    if (own && i < w->n_layer && r->result[p].outcome == RESULT_OK)
        own->add(&w->problem[p], r->arch, &r->result[p].found.mapping, &r->result[p].found.evaluation, rows);
    for (size_t k = 0; own && !(i < w->n_layer && r->result[p].outcome == RESULT_OK) && k < own->n; k++)
        cells_none(rows);
}

/* The point's numbers as a row of a layer. */
static struct layer_record total_row(const struct map_report *r, const struct metric *const *measured,
                                     size_t n_measured)
{
    struct layer_record row;
    const struct point_record *p = r->point;
    layer_record_init(&row);
    row.layer = "total";
    row.count = p->n_layer_mapped;
    row.outcome = p->outcome;
    row.metrics = p->metrics;
    for (size_t i = 0, at = 0; i < n_measured; i++)
        if (is_inline(measured[i]))
            row.extra[i] = p->extra[at++];
    row.bound_kind = p->bound_kind;
    row.evaluations = p->evaluations;
    row.stop = p->stop;
    return row;
}

/* Point k of the network's front as a row of a layer. */
static struct layer_record front_row(const struct network_front *front, size_t k)
{
    struct layer_record row;
    layer_record_init(&row);
    row.layer = RECORD_NETWORK_LAYER;
    row.count = 1;
    row.outcome = RESULT_OK;
    row.metrics = front->point[k].metrics;
    return row;
}

/* Which of its layer's points row i is, or, behind the layers, of the network's. */
static void add_front(const struct map_report *r, uint32_t i, struct text_buffer *choice, struct cells *rows)
{
    const struct workload *w = r->workload;
    uint32_t first = i;
    choice->length = 0;
    if (i >= w->n_layer) {
        network_front_choice_line(r->front, i - w->n_layer, choice);
        cells_count(rows, i - w->n_layer);
        cells_text(rows, choice->data);
        return;
    }
    while (first > 0 && w->layer[first - 1] == w->layer[i])
        first--;
    cells_count(rows, i - first);
    cells_none(rows);
}

/* The measured values that have a table of their own: `column` (1 + MEASURE_VALUE_MAX) is filled. */
static void add_parts(const struct map_report *r, const struct metric *const *measured, size_t n_measured,
                      struct cell_column *column, struct cells *parts)
{
    size_t n = 1;
    column[0] = before[0];
    for (size_t i = 0; i < n_measured; i++)
        if (!is_inline(measured[i]))
            column[n++] = measured_column(measured[i], true);
    if (n == 1)
        return;
    cells_init(parts, column, n);
    for (uint32_t l = 0; l < r->workload->n_layer; l++) {
        cells_text(parts, r->layer[l].layer);
        for (size_t i = 0; i < n_measured; i++)
            if (!is_inline(measured[i]))
                measured_cell(parts, measured[i], &r->layer[l].extra[i]);
    }
}

static void add_words(const struct map_report *r, struct report *report)
{
    char objective[64];
    const struct workload *w = r->workload;
    char batch[24] = "es of its file";
    if (w->batch)
        snprintf(batch, sizeof batch, " %u", w->batch);
    text_append(&report->head, "%s on %s, batch%s, engine %s, objective %s, seed %llu\n", r->network->name,
                r->arch->name, batch, r->settings->engine->name,
                solve_settings_objective_print(r->settings, objective, sizeof objective),
                (unsigned long long)r->settings->seed);
    for (uint32_t i = 0; i < w->n_layer; i++)
        if (r->layer[i].reason)
            text_append(&report->foot, "%s: %s\n", r->layer[i].layer, r->layer[i].reason);
    for (uint32_t i = 0; i < w->n_layer; i++)
        if (r->layer[i].padded && r->layer[i].padded[0])
            text_append(&report->foot, "%s: mapped with %s\n", r->layer[i].layer, r->layer[i].padded);
    if (w->n_skipped)
        text_append(&report->foot, "%u layer%s without multiply-accumulates %s not mapped.\n", w->n_skipped,
                    text_plural(w->n_skipped), w->n_skipped == 1 ? "is" : "are");
    cells_list_text(&report->about, "network", r->network->name);
    cells_list_text(&report->about, "architecture", r->arch->name);
    cells_list_count(&report->about, "batch", w->batch);
    cells_list_text(&report->about, "engine", r->settings->engine->name);
}

enum dse_status map_report_print(const struct map_report *r, enum report_format format,
                                 struct text_buffer *out, struct dse_error *err)
{
    const struct metric *measured[MEASURE_VALUE_MAX];
    struct cell_column column[COLUMN_MAX], part[1 + MEASURE_VALUE_MAX];
    size_t n_measured = measure_columns(&r->settings->measure, false, measured);
    struct text_buffer choice;
    struct report report;
    text_init(&choice);
    report_init(&report, "mappings");
    report.rows_name = "layers";
    report.has_total = !r->no_total;
    memcpy(column, before, sizeof before);
    for (size_t i = 0; i < n_measured; i++)
        column[N_BEFORE + i] = measured_column(measured[i], is_inline(measured[i]));
    size_t n = N_BEFORE + n_measured;
    memcpy(column + n, behind, sizeof behind);
    n += N_BEHIND;
    for (size_t i = 0; r->settings->engine->columns && i < r->settings->engine->columns->n; i++)
        column[n++] = r->settings->engine->columns->column[i];
    for (size_t i = 0; r->settings->front && i < N_FRONT; i++)
        column[n++] = of_front[i];
    cells_init(&report.rows, column, n);
    const uint32_t n_front = r->front ? (uint32_t)r->front->n : 0;
    for (uint32_t i = 0; i < r->workload->n_layer + n_front; i++) {
        const bool is_layer = i < r->workload->n_layer;
        const struct layer_record row =
            is_layer ? r->layer[i] : front_row(r->front, i - r->workload->n_layer);
        add_row(&row, measured, n_measured, &report.rows);
        add_own(r, i, &report.rows);
        if (r->settings->front)
            add_front(r, i, &choice, &report.rows);
    }
    text_free(&choice);
    const struct layer_record total = total_row(r, measured, n_measured);
    if (!r->no_total) {
        add_row(&total, measured, n_measured, &report.rows);
        add_own(r, r->workload->n_layer, &report.rows);
    }
    add_parts(r, measured, n_measured, part, &report.parts);
    add_words(r, &report);
    enum dse_status status = report_print(&report, format, out, err);
    report_free(&report);
    return status;
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

void map_report_mappings(const struct map_report *r, const struct mapping_texts *texts,
                         struct text_buffer *out)
{
    for (uint32_t p = 0; texts->n > 0 && p < r->workload->n_problem; p++) {
        const struct problem *problem = &r->workload->problem[p];
        if (r->result[p].outcome != RESULT_OK)
            continue;
        text_append(out, "\n%s", problem->name);
        uint64_t count = workload_count(r->workload, p);
        if (count > 1)
            text_append(out, " (%llu times)", (unsigned long long)count);
        text_append(out, "\n");
        mapping_texts_write(texts, &r->result[p].found.mapping, problem, r->arch, out);
    }
}

uint32_t map_report_vectors(const struct map_report *r, const struct vector_format *vectors,
                            struct text_buffer *out)
{
    uint32_t n_none = 0;
    for (uint32_t p = 0; p < r->workload->n_problem; p++) {
        const struct problem *problem = &r->workload->problem[p];
        const struct engine_result *found = &r->result[p].found;
        struct dse_error why = {.text = "its bounds were padded"};
        const size_t start = out->length;
        if (r->result[p].outcome != RESULT_OK)
            continue;
        if (found->padded || vectors->write(r->arch, problem, &found->mapping, out, &why) != DSE_OK) {
            out->length = start;
            text_append(out, "# %s: %s", problem->name, why.text);
            n_none++;
        }
        text_append(out, "\n");
    }
    return n_none;
}

void map_report_text_csv(const struct map_report *r, const struct mapping_text *text, struct text_buffer *out)
{
    text_append(out, "layer,count,");
    text->csv_header(out);
    text_append(out, "\n");
    for (uint32_t p = 0; p < r->workload->n_problem; p++) {
        if (r->result[p].outcome != RESULT_OK)
            continue;
        text_append(out, "%s,%llu,", r->workload->problem[p].name,
                    (unsigned long long)workload_count(r->workload, p));
        text->csv_row(&r->result[p].found.mapping, &r->workload->problem[p], r->arch, out);
        text_append(out, "\n");
    }
}
