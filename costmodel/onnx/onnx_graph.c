/* A model as a graph of native layers. Nodes are taken in order; each either makes a layer, or says how its
 * result lies in the feature map of an earlier one. The first that can do neither makes the network a
 * list. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/onnx/onnx_builder.h"

bool onnx_stuck(struct onnx_builder *b, const struct onnx_node *node, const char *format, ...)
{
    char text[160], name[100], type[40];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (b->net->is_graph)
        snprintf(b->net->reason, sizeof b->net->reason, "node %s (%s): %s",
                 onnx_node_name(b->model, node, name, sizeof name),
                 text_excerpt(node->proto->op_type, type, sizeof type), text);
    b->net->is_graph = false;
    return false;
}

static struct onnx_view *new_view(struct onnx_builder *b)
{
    return arena_alloc(b->model->arena, 1, sizeof(struct onnx_view));
}

struct onnx_view *onnx_operand(struct onnx_builder *b, const struct onnx_node *node, uint32_t i)
{
    const int32_t tensor = i < node->n_input ? node->input[i] : -1;
    struct onnx_view *view = tensor >= 0 && b->view[tensor] ? new_view(b) : NULL;
    if (view) {
        *view = *b->view[tensor];
        onnx_view_settle(view);
    }
    return view;
}

void onnx_result(struct onnx_builder *b, const struct onnx_node *node, uint32_t i, struct onnx_view *view)
{
    if (i < node->n_output && node->output[i] >= 0)
        b->view[node->output[i]] = view;
}

struct onnx_layer *onnx_make(struct onnx_builder *b, const struct onnx_node *node, enum layer_type type,
                             const struct onnx_view *from)
{
    struct onnx_layer *layer = onnx_layer_new(b->model, b->net, node, type);
    struct onnx_ref *ref = arena_alloc(b->model->arena, 1, sizeof *ref);
    if (!layer || !ref)
        return NULL;
    b->model->node[node - b->model->node].is_read = true;
    if (from) {
        *ref = from->feature->ref;
        layer->from = ref;
        layer->n_from = 1;
        layer->c = layer->k = from->feature->size[AXIS_C];
        layer->p = from->feature->size[AXIS_H];
        layer->q = from->feature->size[AXIS_W];
    }
    return layer;
}

struct onnx_feature *onnx_feature_of(struct onnx_builder *b, const struct onnx_layer *layer)
{
    struct onnx_feature *feature = arena_alloc(b->model->arena, 1, sizeof *feature);
    if (feature)
        *feature = (struct onnx_feature){.ref = {(int32_t)(layer - b->net->layer), -1},
                                         .node = layer->node,
                                         .size = {1, layer->k, layer->p, layer->q},
                                         .input = -1};
    return feature;
}

struct onnx_feature *onnx_function_of(struct onnx_builder *b, const struct onnx_view *view,
                                      const struct onnx_node *node, enum feature_kind kind)
{
    struct onnx_feature *feature = arena_alloc(b->model->arena, 1, sizeof *feature);
    if (feature)
        *feature = (struct onnx_feature){
            .kind = kind, .base = onnx_root(view->feature), .node = node, .groups = 1, .input = -1};
    if (feature)
        memcpy(feature->size, feature->base->size, sizeof feature->size);
    return feature;
}

/* By rank: C, H, W behind the batch; else the last dimension. */
static bool open_input(struct onnx_builder *b, const struct onnx_node *node, struct onnx_feature *feature)
{
    const struct onnx_tensor *tensor = &b->model->tensor[b->model->input[feature->input].tensor];
    const struct onnx_view *whole = b->view[b->model->input[feature->input].tensor];
    struct onnx_view view = *whole;
    const int channel = tensor->rank >= 4 ? 1 : tensor->rank - 1;
    return onnx_view_open(&view, tensor->rank > 0 ? 1u << channel : 0, tensor) ||
           onnx_stuck(b, node, "it is not clear what of input %d are channels", feature->input + 1);
}

/* A layer for a function of a plain feature, which becomes plain. */
static bool emit(struct onnx_builder *b, const struct onnx_node *node, struct onnx_feature *feature)
{
    const struct onnx_view base = {.feature = (struct onnx_feature *)(uintptr_t)feature->base};
    const bool pool = feature->kind == FEATURE_REDUCED;
    if (pool && (feature->is_partly_reduced || feature->reduced & (1u << AXIS_C)))
        return onnx_stuck(b, node, "it reads what is reduced over channels or a part of the rows");
    struct onnx_layer *layer = onnx_make(b, feature->node,
                                         pool                            ? LAYER_POOL
                                         : feature->kind == FEATURE_NORM ? LAYER_NORM
                                                                         : LAYER_ACTIVATION,
                                         &base);
    if (!layer)
        return false;
    if (feature->kind == FEATURE_NORM)
        layer->groups = feature->groups;
    layer->h = layer->p;
    layer->w = layer->q;
    if (pool && feature->reduced & 1u << AXIS_H) {
        layer->r = layer->p;
        layer->p = 1;
    }
    if (pool && feature->reduced & 1u << AXIS_W) {
        layer->s = layer->q;
        layer->q = 1;
    }
    struct onnx_feature *made = onnx_feature_of(b, layer);
    if (!made)
        return false;
    *feature = *made;
    return true;
}

bool onnx_ready(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view,
                unsigned channels)
{
    struct onnx_feature *root = (struct onnx_feature *)(uintptr_t)onnx_root(view->feature);
    if (root->is_open && channels && view->feature == root) {
        const int32_t tensor = b->model->input[root->input].tensor;
        (void)onnx_view_open(view, channels, &b->model->tensor[tensor]); /* else by its rank */
    }
    if (root->is_open && !open_input(b, node, root))
        return false;
    onnx_view_settle(view);
    if (view->feature->kind != FEATURE_PLAIN && !emit(b, node, view->feature))
        return false;
    if (view->feature->input >= 0)
        b->net->input[view->feature->input].is_used = true;
    return true;
}

bool onnx_take_part(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view, int d,
                    int64_t from, int64_t to)
{
    const struct onnx_atom picked = view->atom[view_begin(view, d)];
    const struct onnx_ref ref = view->feature->ref;
    struct onnx_layer *layer = ref.layer >= 0 && ref.part < 0 ? &b->net->layer[ref.layer] : NULL;
    if (!layer || (layer->type != LAYER_LINEAR && layer->type != LAYER_CONV) || layer->groups != 1)
        return onnx_stuck(b, node,
                          "it takes some channels of what is neither one product nor one convolution");
    if (!layer->part)
        layer->part = arena_alloc(b->model->arena, ONNX_PART_MAX, sizeof *layer->part);
    struct onnx_feature *feature = arena_alloc(b->model->arena, 1, sizeof *feature);
    if (!layer->part || !feature)
        return false;
    const struct onnx_part part = {picked.stride, picked.extent, from, to};
    uint32_t i = 0;
    while (i < layer->n_part && memcmp(&layer->part[i], &part, sizeof part) != 0)
        i++;
    if (i == ONNX_PART_MAX)
        return onnx_stuck(b, node, "one product in more than %d parts", ONNX_PART_MAX);
    layer->part[i] = part;
    layer->n_part += i == layer->n_part;
    *feature = *view->feature;
    feature->ref.part = (int32_t)i;
    feature->size[AXIS_C] = layer->k / picked.extent * (to - from);
    for (int a = 0; a < view->n; a++) { /* what runs outside of it has shorter strides now */
        struct onnx_atom *atom = &view->atom[a];
        if (atom->axis == AXIS_C && atom->stride > picked.stride)
            atom->stride = atom->stride / picked.extent * (to - from);
        else if (atom->axis == AXIS_C && atom->stride == picked.stride)
            atom->extent = to - from;
    }
    view->feature = feature;
    onnx_view_settle(view);
    return true;
}

bool onnx_spread(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view,
                 const int64_t *size)
{
    if (view->feature->size[AXIS_H] != 1 || view->feature->size[AXIS_W] != 1 ||
        view->feature->size[AXIS_C] != size[AXIS_C] || size[AXIS_H] > 65535 || size[AXIS_W] > 65535)
        return onnx_stuck(
            b, node,
            "an operand is repeated along channels (as over heads, where positions are rotated), or along "
            "some rows or columns");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_UPSAMPLE, view);
    if (!layer)
        return false;
    layer->suffix = ".spread";
    layer->p = layer->stride[0] = size[AXIS_H];
    layer->q = layer->stride[1] = size[AXIS_W];
    view->feature = onnx_feature_of(b, layer);
    return view->feature != NULL;
}

/* ---- all nodes ---- */

static onnx_say *rule_of(const struct onnx_node *node)
{
    static onnx_say *const rule[] = {
        [ONNX_EACH] = onnx_say_each,
        [ONNX_PAIR] = onnx_say_pair,
        [ONNX_ACTIVATION] = onnx_say_activation,
        [ONNX_NORM] = onnx_say_norm,
        [ONNX_SOFTMAX] = onnx_say_softmax,
        [ONNX_POOL] = onnx_say_window,
        [ONNX_REDUCE] = onnx_say_reduce,
        [ONNX_RESIZE] = onnx_say_resize,
        [ONNX_CONCAT] = onnx_say_concat,
        [ONNX_RESHAPE] = onnx_say_reshape,
        [ONNX_TRANSPOSE] = onnx_say_transpose,
        [ONNX_SLICE] = onnx_say_slice,
        [ONNX_SPLIT] = onnx_say_split,
        [ONNX_GATHER] = onnx_say_gather,
        [ONNX_EXPAND] = onnx_say_expand,
        [ONNX_PAD] = onnx_say_pad,
        [ONNX_CONV] = onnx_say_window,
        [ONNX_CONV_TRANSPOSE] = onnx_say_window,
        [ONNX_PRODUCT] = onnx_say_product,
        [ONNX_REFUSED] = NULL,
    };
    return node->op->kind == ONNX_POOL && node->op->shape == onnx_shape_global_pool ? onnx_say_global_pool
                                                                                    : rule[node->op->kind];
}

static bool say(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *out = onnx_out(b->model, node, 0);
    bool constant = true;
    for (uint32_t i = 0; i < node->n_output; i++)
        constant &= !onnx_out(b->model, node, i) || onnx_out(b->model, node, i)->is_constant;
    if (constant)
        return true;
    if (out && out->is_ignored) {
        struct onnx_view *view = onnx_operand(b, node, 0);
        if (!view || onnx_elements(out) != onnx_elements(onnx_in(b->model, node, 0)) ||
            !onnx_view_reshape(view, out))
            return onnx_stuck(b, node, "it is ignored, but its result is not as large as its operand");
        onnx_result(b, node, 0, view);
        return true;
    }
    onnx_say *rule = rule_of(node);
    return rule ? rule(b, node) : onnx_stuck(b, node, "no layer says what it does");
}

/* Every dimension of an input is an atom of its own. */
static bool add_input(struct onnx_builder *b, uint32_t i)
{
    const struct onnx_input *input = &b->model->input[i];
    const struct onnx_tensor *tensor = &b->model->tensor[input->tensor];
    struct onnx_view *view = new_view(b);
    struct onnx_feature *feature = arena_alloc(b->model->arena, 1, sizeof *feature);
    if (!view || !feature)
        return false;
    *feature = (struct onnx_feature){.ref = {-1 - (int32_t)i, -1},
                                     .size = {1, 1, 1, 1},
                                     .groups = 1,
                                     .input = (int32_t)i,
                                     .is_open = true};
    view->feature = feature;
    view->rank = tensor->rank;
    for (int d = 0; d < tensor->rank; d++) {
        const bool batch = d == 0 && input->has_batch;
        feature->map[d].axis = batch ? AXIS_N : AXIS_H; /* the batch is settled */
        feature->map[d].stride = 1;
        if (tensor->dim[d] > 1)
            view->atom[view->n++] =
                (struct onnx_atom){batch ? AXIS_N : (uint8_t)(AXIS_INPUT + d), tensor->dim[d], 1};
        view->end[d] = view->n;
    }
    b->view[input->tensor] = view;
    return true;
}

static bool build(struct onnx_builder *b)
{
    struct onnx_model *model = b->model;
    for (uint32_t i = 0; i < model->n_input; i++)
        if (!add_input(b, i))
            return false;
    for (uint32_t i = 0; i < model->n_node; i++)
        if (!say(b, &model->node[i]))
            return false;
    for (size_t i = 0; i < model->graph->n_output; i++) { /* what is left to do at the end */
        size_t tensor;
        const char *name = model->graph->output[i]->name;
        struct onnx_view *view = name && name_table_get(&model->name, name, &tensor) ? b->view[tensor] : NULL;
        const bool lost = view && view->feature->kind == FEATURE_REDUCED &&
                          (view->feature->is_partly_reduced || view->feature->reduced & 1u << AXIS_C);
        if (view && view->feature->kind != FEATURE_PLAIN && !lost &&
            !onnx_ready(b, view->feature->node, view, 0))
            return false;
        if (view && view->feature->ref.layer >= 0 && view->feature->ref.part < 0)
            b->net->layer[view->feature->ref.layer].is_read_whole = true;
    }
    return true;
}

static int by_place(const struct onnx_part *a, const struct onnx_part *b)
{
    return (a->from > b->from) - (a->from < b->from);
}

/* What reads some channels of a layer: either all readers do, by one cut of it. */
static bool check_parts(struct onnx_builder *b)
{
    struct onnx_network *net = b->net;
    for (uint32_t i = 0; i < net->n_layer; i++) {
        for (uint32_t k = 0; k < net->layer[i].n_from; k++) {
            const struct onnx_ref ref = net->layer[i].from[k];
            if (ref.layer >= 0 && ref.part < 0)
                net->layer[ref.layer].is_read_whole = true;
        }
        const struct onnx_ref ref = net->layer[i].second;
        if (ref.layer >= 0 && ref.part < 0)
            net->layer[ref.layer].is_read_whole = true;
    }
    for (uint32_t i = 0; i < net->n_layer; i++) {
        const struct onnx_layer *layer = &net->layer[i];
        bool fine = layer->n_part == 0 || !layer->is_read_whole;
        for (uint32_t p = 0; fine && p < layer->n_part; p++)
            for (uint32_t o = 0; fine && o < layer->n_part; o++) {
                const struct onnx_part *one = &layer->part[p], *other = &layer->part[o];
                fine =
                    one->stride == other->stride && one->extent == other->extent &&
                    (p == o || (by_place(one, other) < 0 ? one->to <= other->from : other->to <= one->from));
            }
        if (!fine)
            return onnx_stuck(b, layer->node,
                              "its channels are read in parts that overlap, or whole as well");
    }
    return true;
}

enum dse_status onnx_graph_layers(struct onnx_model *model, struct onnx_network *net, struct dse_error *err)
{
    struct onnx_builder b = {model, net,
                             arena_alloc(model->arena, model->n_tensor + 1, sizeof(struct onnx_view *))};
    net->input = arena_alloc(model->arena, model->n_input + 1, sizeof *net->input);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    net->is_graph = true;
    const bool done = build(&b) && check_parts(&b);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    if (!done)
        net->is_graph = false;
    for (uint32_t i = 0; i < model->n_input && done; i++) {
        const struct onnx_feature *feature = b.view[model->input[i].tensor]->feature;
        net->input[i].c = feature->size[AXIS_C];
        net->input[i].h = feature->size[AXIS_H];
        net->input[i].w = feature->size[AXIS_W];
    }
    return DSE_OK;
}
