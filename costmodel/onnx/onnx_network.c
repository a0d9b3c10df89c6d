/* From the text of a model to that of a native network file, with an account of what became of its nodes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/onnx/onnx_layers.h"

static bool is_constant(const struct onnx_model *model, const struct onnx_node *node)
{
    for (uint32_t i = 0; i < node->n_output; i++)
        if (node->output[i] >= 0 && !model->tensor[node->output[i]].is_constant)
            return false;
    return true;
}

/* Where a node is counted. In a list what makes no multiply-accumulates is left out, but for functions of one
 * tensor and moves. */
static uint32_t *place_of(const struct onnx_model *model, const struct onnx_network *net,
                          const struct onnx_node *node, struct onnx_count *count)
{
    const int kind = node->op ? node->op->kind : ONNX_REFUSED;
    const bool ignored =
        node->n_output > 0 && node->output[0] >= 0 && model->tensor[node->output[0]].is_ignored;
    if (node->is_refused)
        return &count->refused;
    if (is_constant(model, node) || ignored || kind == ONNX_SIZE || kind == ONNX_EACH)
        return &count->folded;
    if (net->is_graph || !*net->reason) /* or it was not looked at: others are refused */
        return node->is_read ? &count->read : node->is_move ? &count->moves : &count->folded;
    if (node->macs > 0)
        return &count->read;
    return (kind >= ONNX_RESHAPE && kind <= ONNX_PAD) || kind == ONNX_MOVES || kind == ONNX_CONCAT
               ? &count->moves
               : &count->left_out;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct onnx_count *)a)->name, ((const struct onnx_count *)b)->name);
}

static enum dse_status report(const struct onnx_model *model, const struct onnx_network *net,
                              struct onnx_report *report, struct dse_error *err)
{
    struct onnx_count *count = arena_alloc(&report->arena, model->n_node + 1, sizeof *count);
    struct name_table table;
    DSE_TRY(arena_check(&report->arena, "the report of an ONNX model", err));
    name_table_init(&table);
    size_t n_count = 0;
    bool fine = true;
    for (uint32_t i = 0; i < model->n_node; i++) {
        const struct onnx_node *node = &model->node[i];
        size_t at;
        if (!name_table_get(&table, node->proto->op_type, &at)) {
            at = n_count++;
            count[at].name =
                arena_copy_text(&report->arena, node->proto->op_type, strlen(node->proto->op_type));
            fine &= name_table_put(&table, node->proto->op_type, at) != 0;
        }
        count[at].n++;
        count[at].macs += node->macs;
        ++*place_of(model, net, node, &count[at]);
    }
    name_table_free(&table);
    report->arena.failed |= !fine;
    DSE_TRY(arena_check(&report->arena, "the report of an ONNX model", err));
    qsort(count, n_count, sizeof *count, by_name);
    report->is_graph = net->is_graph;
    report->reason = arena_copy_text(&report->arena, net->reason, strlen(net->reason));
    DSE_TRY(arena_check(&report->arena, "the report of an ONNX model", err));
    report->count = count;
    report->n_count = n_count;
    return DSE_OK;
}

static uint64_t times(uint64_t a, int64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, (uint64_t)b, &product) ? UINT64_MAX : product;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* As layer_macs has it. */
static uint64_t graph_macs(const struct onnx_network *net)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < net->n_layer; i++) {
        const struct onnx_layer *layer = &net->layer[i];
        const bool turned = layer->type == LAYER_CONV_TRANSPOSE;
        if (!turned && layer->type != LAYER_CONV && layer->type != LAYER_LINEAR &&
            layer->type != LAYER_MATMUL)
            continue;
        const uint64_t weights =
            times(times((uint64_t)layer->k, layer->c / layer->groups), layer->r * layer->s);
        sum = plus(sum, times(times(weights, turned ? layer->h : layer->p), turned ? layer->w : layer->q));
    }
    return sum;
}

/* Nodes and layers are counted by different ways. Where they differ, as when samples are not rows of their
 * own, the layers are not to be trusted. */
static void check_macs(const struct onnx_model *model, struct onnx_network *net)
{
    const uint64_t by_layer = graph_macs(net);
    uint64_t by_node = 0;
    for (uint32_t i = 0; i < model->n_node; i++)
        by_node = plus(by_node, model->node[i].macs);
    if (by_layer == by_node)
        return;
    net->is_graph = false;
    snprintf(net->reason, sizeof net->reason,
             "its nodes have %" PRIu64 " multiply-accumulates per sample, as layers %" PRIu64, by_node,
             by_layer);
}

static enum dse_status read_layers(struct onnx_model *model, struct onnx_network *net, struct dse_error *err)
{
    struct onnx_network list = {0};
    DSE_TRY(onnx_model_inputs(model, err));
    DSE_TRY(onnx_infer(model, err));
    DSE_TRY(onnx_list_layers(model, &list, err));
    DSE_TRY(onnx_graph_layers(model, net, err));
    if (net->is_graph)
        check_macs(model, net);
    if (!net->is_graph) {
        net->layer = list.layer;
        net->n_layer = list.n_layer;
    }
    if (net->n_layer == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0,
                           "the ONNX model has no layers with multiply-accumulates");
    return DSE_OK;
}

static enum dse_status convert(struct onnx_model *model, const uint8_t *bytes, size_t n_byte,
                               struct text_buffer *out, struct dse_error *err)
{
    struct onnx_network net = {0};
    DSE_TRY(onnx_model_read(model, bytes, n_byte, err));
    const enum dse_status status = read_layers(model, &net, err);
    if (model->options->report) {
        struct dse_error second;
        DSE_TRY(report(model, &net, model->options->report, status == DSE_OK ? err : &second));
    }
    return status == DSE_OK ? onnx_write(model, &net, out, err) : status;
}

enum dse_status onnx_network_text(const char *name, const char *text, size_t length,
                                  const struct onnx_options *options, struct text_buffer *out,
                                  struct dse_error *err)
{
    struct arena arena;
    struct onnx_model model = {.path = name, .arena = &arena, .options = options, .batch = 1};
    uint8_t *bytes;
    size_t n_byte;
    arena_init(&arena);
    if (options->report)
        arena_init(&options->report->arena);
    enum dse_status status = onnx_unpack(name, text, length, &arena, &bytes, &n_byte, err);
    if (status == DSE_OK)
        status = convert(&model, bytes, n_byte, out, err);
    onnx_model_free(&model);
    arena_free(&arena);
    return dse_while_reading(name, status, err);
}

void onnx_report_free(struct onnx_report *report)
{
    arena_free(&report->arena);
}
