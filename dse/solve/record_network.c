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
    *line = out.failed ? NULL : arena_copy_text(arena, out.data, out.length);
    text_free(&out);
    yaml_doc_free(&doc);
    return *line ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the text of a schedule");
}

static void fill_schedule(const struct engine_result *found, struct point_record *point)
{
    const struct engine_schedule *s = &found->schedule;
    point->latency_s = s->latency_s;
    point->latency_cycle = s->cycle;
    point->energy_j = s->energy_j;
    point->energy_mac_j = s->energy_mac_j;
    point->energy_buffer_j = s->energy_buffer_j;
    point->energy_noc_j = s->energy_noc_j;
    point->energy_dram_j = s->energy_dram_j;
    point->edp_js = s->energy_j * s->latency_s;
    point->utilization = s->utilization;
    point->dram_byte = s->dram_byte;
    point->n_mac = s->n_mac;
    point->compute_cycle = s->compute_cycle;
    point->dram_cycle = s->dram_cycle;
    point->stall_cycle = s->stall_cycle;
    point->buffer_max_byte = s->buffer_max_byte;
    point->buffer_average_byte = s->buffer_average_byte;
    point->n_layer_group = s->n_layer_group;
    point->n_fine_group = s->n_fine_group;
    point->n_tile = s->n_tile;
    point->n_dram_tensor = s->n_dram_tensor;
    if (s->stage1_cycle > 0) {
        point->stage1_latency_cycle = s->stage1_cycle;
        point->stage1_energy_j = s->stage1_energy_j;
        point->stage1_buffer_average_byte = s->stage1_buffer_average_byte;
    }
    if (found->bound > 0)
        point->bound_cost_ratio = found->cost / found->bound;
    point->accounting = s->accounting;
}

/* The row of the network in the layer table. */
static void fill_row(const struct point_record *point, struct layer_record *row)
{
    layer_record_init(row);
    row->layer = RECORD_NETWORK_LAYER;
    row->count = 1;
    row->outcome = point->outcome;
    row->reason = point->reason;
    row->latency_s = point->latency_s;
    row->latency_cycle = point->latency_cycle;
    row->energy_j = point->energy_j;
    row->energy_mac_j = point->energy_mac_j;
    row->energy_buffer_j = point->energy_buffer_j;
    row->energy_noc_j = point->energy_noc_j;
    row->energy_dram_j = point->energy_dram_j;
    row->edp_js = point->edp_js;
    row->utilization = point->utilization;
    row->dram_byte = point->dram_byte;
    row->n_mac = point->n_mac;
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
        fill_schedule(&result->found, point);
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
    return layer->trace ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for the rows of a point");
}
