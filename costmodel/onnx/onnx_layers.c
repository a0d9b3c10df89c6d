/* Layers with multiply-accumulates from shapes alone. The model's samples are divided out: of rows, or where
 * each sample has products of its own of these. */
#include "costmodel/onnx/onnx_layers.h"

#include <string.h>

struct onnx_layer *onnx_layer_new(struct onnx_model *model, struct onnx_network *net,
                                  const struct onnx_node *node, enum layer_type type)
{
    if (net->n_layer == net->capacity) {
        const uint32_t capacity = net->capacity ? 2 * net->capacity : 256;
        struct onnx_layer *more = arena_alloc(model->arena, capacity, sizeof *more);
        if (!more)
            return NULL;
        if (net->n_layer)
            memcpy(more, net->layer, net->n_layer * sizeof *more);
        net->layer = more;
        net->capacity = capacity;
    }
    struct onnx_layer *layer = &net->layer[net->n_layer++];
    *layer = (struct onnx_layer){.node = node,
                                 .type = type,
                                 .c = 1,
                                 .k = 1,
                                 .p = 1,
                                 .q = 1,
                                 .r = 1,
                                 .s = 1,
                                 .groups = 1,
                                 .count = 1,
                                 .stride = {1, 1},
                                 .dilation = {1, 1},
                                 .second = {LAYER_NO_PRODUCER, -1}};
    return layer;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static uint64_t times_u(uint64_t a, int64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, (uint64_t)b, &product) ? UINT64_MAX : product;
}

static int64_t product_over(const struct onnx_tensor *tensor, const int8_t *dim, uint8_t n)
{
    int64_t product = 1;
    for (uint8_t i = 0; i < n; i++)
        product = times(product, tensor->dim[dim[i]]);
    return product;
}

/* How many times what is how large a product is, per sample. */
struct product_size {
    int64_t groups, rows, columns, inner;
    bool a_is_weight, b_is_weight;
};

static enum dse_status size_of_product(const struct onnx_model *model, const struct onnx_node *node,
                                       const struct onnx_product *p, struct product_size *size,
                                       struct dse_error *err)
{
    *size = (struct product_size){product_over(p->a, p->batch[0], p->n_batch),
                                  product_over(p->a, p->row[0], p->n_row),
                                  product_over(p->b, p->column[0], p->n_column),
                                  product_over(p->a, p->inner[0], p->n_inner),
                                  p->a->is_constant,
                                  p->b->is_constant};
    /* of an activation as the second operand with weights in front the rows are its columns */
    int64_t *rows = size->a_is_weight ? &size->columns : &size->rows;
    const bool both = !size->a_is_weight && !size->b_is_weight;
    if (both && size->groups % model->batch == 0)
        size->groups /= model->batch;
    else if (*rows % model->batch == 0)
        *rows /= model->batch;
    if (size->groups < 1 || size->rows < 1 || size->columns < 1 || size->inner < 1)
        return onnx_fail(model, node, err, "a product of nothing: an operand is empty");
    return DSE_OK;
}

void onnx_layer_window(struct onnx_layer *layer, const struct onnx_window *window)
{
    layer->c = window->channels;
    layer->k = window->outputs;
    layer->groups = window->groups;
    layer->h = window->in[0];
    layer->w = window->in[1];
    layer->p = window->out[0];
    layer->q = window->out[1];
    layer->r = window->filter[0];
    layer->s = window->filter[1];
    memcpy(layer->stride, window->stride, sizeof layer->stride);
    memcpy(layer->dilation, window->dilation, sizeof layer->dilation);
    memcpy(layer->pad, window->pad, sizeof layer->pad);
}

static enum dse_status no_room(const struct onnx_model *model, struct dse_error *err)
{
    return dse_fail_at(err, DSE_NO_MEMORY, model->path, 0, "out of memory for the layers of an ONNX model");
}

static enum dse_status list_window(struct onnx_model *model, struct onnx_network *net, struct onnx_node *node,
                                   struct dse_error *err)
{
    struct onnx_window window;
    const bool turned = node->op->kind == ONNX_CONV_TRANSPOSE;
    const int64_t samples = onnx_in(model, node, 0)->dim[0];
    DSE_TRY(onnx_window_of(model, node, &window, err));
    struct onnx_layer *layer = onnx_layer_new(model, net, node, turned ? LAYER_CONV_TRANSPOSE : LAYER_CONV);
    if (!layer)
        return no_room(model, err);
    onnx_layer_window(layer, &window);
    layer->count = samples % model->batch == 0 ? samples / model->batch : samples;
    const int64_t *places = turned ? window.in : window.out;
    node->macs = times_u(times_u(times_u((uint64_t)window.outputs, window.channels / window.groups),
                                 times(window.filter[0], window.filter[1])),
                         times(times(places[0], places[1]), layer->count));
    return DSE_OK;
}

static enum dse_status list_product(struct onnx_model *model, struct onnx_network *net,
                                    struct onnx_node *node, struct dse_error *err)
{
    struct onnx_product product;
    struct product_size size;
    DSE_TRY(onnx_product_of(model, node, &product, err));
    DSE_TRY(size_of_product(model, node, &product, &size, err));
    const bool both = !size.a_is_weight && !size.b_is_weight;
    struct onnx_layer *layer = onnx_layer_new(model, net, node,
                                              both              ? LAYER_MATMUL
                                              : size.groups > 1 ? LAYER_CONV
                                                                : LAYER_LINEAR);
    if (!layer)
        return no_room(model, err);
    layer->c = times(size.groups, size.inner);
    layer->k = times(size.groups, size.a_is_weight ? size.rows : size.columns);
    layer->p = size.a_is_weight ? size.columns : size.rows;
    layer->groups = size.groups;
    node->macs = times_u(times_u(times_u((uint64_t)size.groups, size.rows), size.columns), size.inner);
    return DSE_OK;
}

/* Of each direction the matrix of the inputs, for all steps at once, and that of the state, step by step. */
static enum dse_status list_recurrent(struct onnx_model *model, struct onnx_network *net,
                                      struct onnx_node *node, struct dse_error *err)
{
    const struct onnx_tensor *x = onnx_in(model, node, 0), *w = onnx_in(model, node, 1),
                             *r = onnx_in(model, node, 2);
    const int64_t steps = x->dim[onnx_int(node, "layout", 0) != 0];
    for (int64_t d = 0; d < w->dim[0] && d < 2; d++) {
        struct onnx_layer *in = onnx_layer_new(model, net, node, LAYER_LINEAR);
        struct onnx_layer *state = in ? onnx_layer_new(model, net, node, LAYER_LINEAR) : NULL;
        if (!state)
            return no_room(model, err);
        in = &net->layer[net->n_layer - 2];
        in->c = w->dim[2];
        in->k = state->k = w->dim[1];
        in->p = steps;
        state->c = r->dim[2];
        state->count = steps;
        in->suffix = d ? ".W.reverse" : ".W";
        state->suffix = d ? ".R.reverse" : ".R";
        node->macs += times_u(times_u((uint64_t)steps, w->dim[1]), w->dim[2] + r->dim[2]);
    }
    return DSE_OK;
}

enum dse_status onnx_list_layers(struct onnx_model *model, struct onnx_network *net, struct dse_error *err)
{
    for (uint32_t i = 0; i < model->n_node; i++) {
        struct onnx_node *node = &model->node[i];
        const struct onnx_tensor *out = onnx_out(model, node, 0);
        const int kind = !node->op || (out && out->is_ignored) ? ONNX_SIZE : node->op->kind;
        if (node->n_output > 0 && out && out->is_constant)
            continue;
        if (kind == ONNX_CONV || kind == ONNX_CONV_TRANSPOSE)
            DSE_TRY(list_window(model, net, node, err));
        else if (kind == ONNX_PRODUCT)
            DSE_TRY(list_product(model, net, node, err));
        else if (kind == ONNX_RECURRENT)
            DSE_TRY(list_recurrent(model, net, node, err));
    }
    return DSE_OK;
}
