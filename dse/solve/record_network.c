/* From the result of a scheduler's task to the rows of its point. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/yaml.h"
#include "dse/solve/record.h"

static void flow_scalar(const struct ynode *node, struct text_buffer *out)
{
    double number;
    if (!node->quoted && (text_is_name(node->text) || text_parse_double(node->text, &number))) {
        text_append(out, "%s", node->text);
        return;
    }
    text_append(out, "\"");
    for (const char *at = node->text; *at; at++) {
        if ((unsigned char)*at < ' ')
            text_append(out, "\\x%02x", (unsigned)*at);
        else
            text_append(out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
    }
    text_append(out, "\"");
}

/* Depth is limited by the reader. */
static void flow(const struct ynode *node, struct text_buffer *out)
{
    if (node->kind == YNODE_SCALAR) {
        flow_scalar(node, out);
        return;
    }
    bool mapping = node->kind == YNODE_MAPPING;
    text_append(out, mapping ? "{" : "[");
    for (size_t i = 0; i < node->n_item; i++) {
        text_append(out, "%s%s%s", i ? ", " : "", mapping ? node->key[i] : "", mapping ? ": " : "");
        flow(node->item[i], out);
    }
    text_append(out, mapping ? "}" : "]");
}

enum dse_status record_schedule_line(const char *text, size_t length, struct arena *arena, char **line,
                                     struct dse_error *err)
{
    struct yaml_doc doc;
    struct text_buffer out;
    DSE_TRY(yaml_parse(&doc, "schedule", text, length, err));
    text_init(&out);
    flow(doc.root, &out);
    *line = text_keep(&out, arena);
    yaml_doc_free(&doc);
    return *line ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the text of a schedule");
}

/* Where a metric stands among the further columns of points; in a table of its own order without a list. */
static void put_extra(const struct record_source *source, const struct metric *metric,
                      union metric_value value, struct point_record *point, size_t *n)
{
    size_t at = *n;
    for (size_t i = 0; i < source->n_extra; i++)
        if (source->extra[i] == metric)
            at = i;
    if (at < RESULT_EXTRA_MAX)
        point->extra[at] = value;
    (*n)++;
}

static void fill_schedule(const struct record_source *source, const struct engine_result *found,
                          struct point_record *point)
{
    const struct metric_group *group = source->group;
    size_t n = 0;
    point->metrics = found->schedule.metrics;
    point->metrics.area_mm2 = architecture_area_mm2(source->arch);
    point->accounting = found->schedule.accounting;
    for (size_t i = 0; group && i < group->n; i++)
        put_extra(source, &group->metric[i], found->schedule.own[i], point, &n);
    if (found->bound > 0)
        put_extra(source, &schedule_group.metric[0], (union metric_value){.f64 = found->cost / found->bound},
                  point, &n);
}

/* The row of the network in the layer table. */
static void fill_row(const struct point_record *point, struct layer_record *row)
{
    layer_record_init(row);
    row->layer = RECORD_NETWORK_LAYER;
    row->count = 1;
    row->outcome = point->outcome;
    row->reason = point->reason;
    row->metrics = point->metrics;
    row->evaluations = point->evaluations;
    row->draws = point->draws;
    row->seconds = point->seconds;
    row->stop = point->stop;
}

enum dse_status record_make_network(const struct record_source *source, struct arena *arena,
                                    struct point_record *point, struct layer_record *layer,
                                    struct dse_error *err)
{
    const struct solve_result *result = source->result[0];
    const uint32_t *index = point->index;
    uint64_t key = point->key;
    point_record_init(point);
    point->index = index;
    point->key = key;
    point->outcome = result->outcome;
    point->n_layer = 1;
    point->n_layer_mapped = 0;
    if (result->outcome != RESULT_OK)
        point->reason = result->reason;
    if (result->outcome != RESULT_FAILED) {
        point->evaluations = result->found.n_evaluation;
        point->draws = result->found.n_draw;
        point->seconds = result->found.seconds;
        point->stop = engine_stop_text(result->found.stop);
    }
    if (result->outcome == RESULT_OK) {
        fill_schedule(source, &result->found, point);
        point->n_layer_mapped = source->workload->network->n_layer;
    }
    fill_row(point, layer);
    if (result->outcome != RESULT_OK || !source->texts)
        return DSE_OK;
    char *line;
    DSE_TRY(record_schedule_line(result->found.schedule.text, result->found.schedule.text_length, arena,
                                 &line, err));
    layer->mapping = line;
    layer->trace = record_trace_line(&result->found, arena);
    layer->trace_seconds = record_trace_seconds(&result->found, arena);
    return layer->trace && layer->trace_seconds
               ? DSE_OK
               : dse_fail(err, DSE_NO_MEMORY, "out of memory for the rows of a point");
}
