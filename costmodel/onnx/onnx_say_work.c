/* What nodes that become layers say: convolutions and pools, products, softmax, Resize, Pad, Concat. */
#include <string.h>

#include "costmodel/onnx/onnx_builder.h"

/* The view as the result of a layer in its place. */
static bool finish(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view,
                   const struct onnx_layer *layer)
{
    view->feature = onnx_feature_of(b, layer);
    if (view->feature)
        onnx_view_settle(view);
    onnx_result(b, node, 0, view);
    return view->feature != NULL;
}

/* ---- (batch, channels, height, width) ---- */

/* Channels in dimension 1 in any order, rows in 2 and columns in 3 in their own. */
static bool is_image(struct onnx_builder *b, const struct onnx_node *node, const struct onnx_view *view)
{
    if (view->rank < 3 || view->rank > 4 || onnx_view_extent(view, 0, AXIS_N) == 0 ||
        onnx_view_extent(view, 1, AXIS_C) != view->feature->size[AXIS_C] ||
        onnx_view_has(view, 1u << 1, AXIS_N) || !onnx_view_is_whole(view, 2, AXIS_H) ||
        !(view->rank == 4 ? onnx_view_is_whole(view, 3, AXIS_W) : view->feature->size[AXIS_W] == 1))
        return onnx_stuck(b, node, "its operand does not lie as channels, rows and columns");
    return true;
}

static struct onnx_view *image_of(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    if (!view) {
        onnx_stuck(b, node, "its operand is a constant");
        return NULL;
    }
    return onnx_ready(b, node, view, 1u << 1) && is_image(b, node, view) ? view : NULL;
}

/* Dimensions 1 to 3 are those of the layer. */
static bool set_image(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view,
                      const struct onnx_layer *layer, bool keep_channels)
{
    bool fine = keep_channels || onnx_view_set(view, 1, AXIS_C, layer->k, 1);
    fine = fine && onnx_view_set(view, 2, AXIS_H, layer->p, 1);
    if (view->rank == 4)
        fine = fine && onnx_view_set(view, 3, AXIS_W, layer->q, 1);
    return fine ? finish(b, node, view, layer) : onnx_stuck(b, node, "too many dimensions");
}

bool onnx_say_window(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = image_of(b, node);
    struct onnx_window window;
    struct dse_error unused;
    if (!view || onnx_window_of(b->model, node, &window, &unused) != DSE_OK)
        return view && onnx_stuck(b, node, "its window is none");
    const bool pool = node->op->kind == ONNX_POOL, turned = node->op->kind == ONNX_CONV_TRANSPOSE;
    const bool depthwise = window.groups == window.channels && window.outputs == window.channels && !turned;
    const bool each = pool || depthwise; /* channel by channel: their order does not matter, and stays */
    if (!pool && !onnx_in(b->model, node, node->op->second)->is_constant)
        return onnx_stuck(b, node, "its filter is computed");
    if (!each && window.groups > 1 && !onnx_view_is_whole(view, 1, AXIS_C))
        return onnx_stuck(b, node, "its channels are shuffled between groups");
    struct onnx_layer *layer = onnx_make(b, node,
                                         pool     ? LAYER_POOL
                                         : turned ? LAYER_CONV_TRANSPOSE
                                                  : LAYER_CONV,
                                         view);
    if (!layer)
        return false;
    onnx_layer_window(layer, &window);
    return set_image(b, node, view, layer, each);
}

bool onnx_say_global_pool(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = image_of(b, node);
    struct onnx_layer *layer = view ? onnx_make(b, node, LAYER_POOL, view) : NULL;
    if (!layer)
        return false;
    layer->r = layer->h = layer->p;
    layer->s = layer->w = layer->q;
    layer->p = layer->q = 1;
    return set_image(b, node, view, layer, true);
}

bool onnx_say_resize(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *in = onnx_in(b->model, node, 0), *out = onnx_out(b->model, node, 0);
    struct onnx_view *view = image_of(b, node);
    if (!view)
        return false;
    for (int d = 0; d < in->rank; d++)
        if (out->dim[d] % in->dim[d] != 0 || (d < 2 && out->dim[d] != in->dim[d]) ||
            out->dim[d] / in->dim[d] > 65535)
            return onnx_stuck(b, node, "it does not make every row and column several whole ones");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_UPSAMPLE, view);
    if (!layer)
        return false;
    for (int d = 2; d < in->rank; d++)
        layer->stride[d - 2] = out->dim[d] / in->dim[d];
    layer->p *= layer->stride[0];
    layer->q *= layer->stride[1];
    return set_image(b, node, view, layer, true);
}

/* A pool of one element with padding. */
bool onnx_say_pad(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *in = onnx_in(b->model, node, 0);
    int64_t pad[2 * ONNX_RANK_MAX];
    struct dse_error unused;
    struct onnx_view *view = onnx_operand(b, node, 0);
    int64_t of[4][2] = {{0}};
    bool any = false;
    if (!view || !onnx_ready(b, node, view, in->rank == 4 ? 2u : 0) ||
        onnx_pads_of(b->model, node, pad, &unused) != DSE_OK)
        return onnx_stuck(b, node, "its operand is a constant");
    for (int d = 0; d < in->rank; d++) {
        const int64_t front = pad[d], back = pad[in->rank + d];
        if (front == 0 && back == 0)
            continue;
        const int begin = view_begin(view, d);
        const uint8_t axis = view->end[d] > begin ? view->atom[begin].axis : AXIS_N;
        if ((axis != AXIS_H && axis != AXIS_W) || !onnx_view_is_whole(view, d, axis) || front < 0 ||
            back < 0 || front > 65535 || back > 65535)
            return onnx_stuck(b, node, "it pads other than rows and columns, or cuts some off");
        of[axis][0] = front;
        of[axis][1] = back;
        any = true;
        if (!onnx_view_set(view, d, axis, in->dim[d] + front + back, 1))
            return false;
    }
    if (!any) {
        onnx_result(b, node, 0, view);
        return true;
    }
    struct onnx_layer *layer = onnx_make(b, node, LAYER_POOL, view);
    if (!layer)
        return false;
    layer->h = layer->p;
    layer->w = layer->q;
    for (int i = 0; i < 2; i++) {
        layer->pad[i] = of[AXIS_H + i][0];
        layer->pad[2 + i] = of[AXIS_H + i][1];
    }
    layer->p += layer->pad[0] + layer->pad[2];
    layer->q += layer->pad[1] + layer->pad[3];
    return finish(b, node, view, layer);
}

/* ---- softmax, concat ---- */

bool onnx_say_softmax(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    const int64_t given = onnx_int(node, "axis", node->version < 13 ? 1 : -1);
    if (!view || !onnx_ready(b, node, view, 0))
        return onnx_stuck(b, node, "its operand is a constant");
    if (given < -view->rank || given >= view->rank)
        return onnx_stuck(b, node, "it has no such axis");
    const int axis = (int)(given < 0 ? given + view->rank : given);
    int64_t inside = 1;
    for (int d = axis; d < view->rank; d++) {
        if (d > axis && node->version >= 13)
            break;
        inside *= onnx_view_extent(view, d, AXIS_C);
    }
    if (inside == 0 || view->feature->size[AXIS_C] % inside != 0)
        return onnx_stuck(b, node, "it is not over channels");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_SOFTMAX, view);
    if (!layer)
        return false;
    layer->groups = layer->c / inside;
    return finish(b, node, view, layer);
}

/* Whether layer `l` is the only one that reads `ref`. */
static bool is_only_reader(const struct onnx_network *net, int32_t ref, uint32_t l)
{
    bool only = true;
    for (uint32_t i = 0; i < net->n_layer; i++)
        for (uint32_t k = 0; k < net->layer[i].n_from; k++)
            only &= i == l || net->layer[i].from[k].layer != ref;
    return only;
}

/* The patches of a picture as rows one behind the other: a convolution of a network input whose filter meets
 * every element once does not mind how the patches lie. The dimension is [rows][columns] of its result. */
static bool stack_patches(struct onnx_builder *b, struct onnx_view *view, int d)
{
    struct onnx_feature *feature = view->feature;
    const struct onnx_atom *atom = &view->atom[view_begin(view, d)];
    struct onnx_layer *layer = feature->ref.layer >= 0 ? &b->net->layer[feature->ref.layer] : NULL;
    if (!layer || layer->type != LAYER_CONV || view->end[d] - view_begin(view, d) != 2 ||
        atom[0].axis != AXIS_H || atom[1].axis != AXIS_W || atom[0].extent != layer->p ||
        atom[1].extent != layer->q || layer->part || layer->from[0].layer >= 0)
        return false;
    for (int i = 0; i < 4; i++)
        if (layer->pad[i] != 0 || layer->dilation[i & 1] != 1)
            return false;
    if (layer->r != layer->stride[0] || layer->s != layer->stride[1] || layer->h != layer->p * layer->r ||
        layer->w != layer->q * layer->s || layer->h * layer->q > NETWORK_DIM_MAX ||
        !is_only_reader(b->net, layer->from[0].layer, (uint32_t)feature->ref.layer) ||
        !is_only_reader(b->net, feature->ref.layer, UINT32_MAX))
        return false;
    struct onnx_feature *input = b->view[b->model->input[-1 - layer->from[0].layer].tensor]->feature;
    input->size[AXIS_H] = layer->h *= layer->q;
    input->size[AXIS_W] = layer->w = layer->s;
    feature->size[AXIS_H] = layer->p *= layer->q;
    feature->size[AXIS_W] = layer->q = 1;
    return onnx_view_set(view, d, AXIS_H, layer->p, 1);
}

/* Constant rows in front of and behind those of the only operand that is none, as a class token is: a pool of
 * one element with padding. */
static bool say_constant_rows(struct onnx_builder *b, const struct onnx_node *node, int axis)
{
    struct onnx_view *view = NULL;
    int64_t rows[2] = {0};
    for (uint32_t i = 0; i < node->n_input; i++) {
        struct onnx_view *operand = onnx_operand(b, node, i);
        if (operand && view)
            return onnx_stuck(b, node, "an operand is a constant, several are none");
        if (operand)
            view = operand;
        else if (onnx_in(b->model, node, i))
            rows[view != NULL] += onnx_in(b->model, node, i)->dim[axis];
    }
    if (!view || !onnx_ready(b, node, view, 0))
        return onnx_stuck(b, node, "its operands are constants");
    if (rows[0] > 65535 || rows[1] > 65535 || onnx_view_has(view, 1u << axis, AXIS_C) ||
        !(onnx_view_is_whole(view, axis, AXIS_H) || stack_patches(b, view, axis)))
        return onnx_stuck(b, node, "an operand is a constant, and does not lie in front of or behind rows");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_POOL, view);
    if (!layer)
        return false;
    layer->h = layer->p;
    layer->w = layer->q;
    layer->pad[0] = rows[0];
    layer->pad[2] = rows[1];
    layer->p += rows[0] + rows[1];
    return onnx_view_set(view, axis, AXIS_H, layer->p, 1) && finish(b, node, view, layer);
}

bool onnx_say_concat(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *out = onnx_out(b->model, node, 0);
    const int64_t given = onnx_int(node, "axis", 1);
    const int axis = (int)(given < 0 ? given + out->rank : given);
    struct onnx_ref *from = arena_alloc(b->model->arena, node->n_input + 1, sizeof *from);
    struct onnx_view *whole = NULL;
    int64_t channels = 0;
    for (uint32_t i = 0; from && i < node->n_input; i++) {
        struct onnx_view *view = onnx_operand(b, node, i);
        if (!view)
            return say_constant_rows(b, node, axis);
        if (!onnx_ready(b, node, view, 1u << axis))
            return false;
        if (!onnx_view_is_whole(view, axis, AXIS_C))
            return onnx_stuck(
                b, node,
                onnx_view_is_whole(view, axis, AXIS_H)
                    ? "it puts rows behind rows, as a cache of keys and values does"
                : onnx_view_has(view, 1u << axis, AXIS_C)
                    ? "it puts channels of each group behind one another, as rotated positions do"
                    : "it does not put channels behind channels");
        from[i] = view->feature->ref;
        channels += view->feature->size[AXIS_C];
        (void)onnx_view_set(view, axis, AXIS_C, 1, 1); /* the rest has to agree */
        if (whole &&
            (!onnx_view_same(whole, view) || whole->feature->size[AXIS_H] != view->feature->size[AXIS_H] ||
             whole->feature->size[AXIS_W] != view->feature->size[AXIS_W]))
            return onnx_stuck(b, node, "its operands lie in different orders");
        whole = whole ? whole : view;
    }
    struct onnx_layer *layer = whole ? onnx_make(b, node, LAYER_CONCAT, whole) : NULL;
    if (!layer)
        return false;
    layer->from = from;
    layer->n_from = node->n_input;
    layer->c = layer->k = channels;
    return onnx_view_set(whole, axis, AXIS_C, channels, 1) ? finish(b, node, whole, layer)
                                                           : onnx_stuck(b, node, "too many dimensions");
}

/* ---- products ---- */

/* One operand of a product: its view and the dimensions that do what. */
struct side {
    struct onnx_view *view;
    const int8_t *inner, *batch, *own, *own_out; /* own: its rows, or its columns */
    uint8_t n_own;
};

static unsigned bits_of(const int8_t *dim, uint8_t n)
{
    unsigned bits = 0;
    for (uint8_t i = 0; i < n; i++)
        bits |= 1u << dim[i];
    return bits;
}

static int64_t extent_over(const struct onnx_view *view, const int8_t *dim, uint8_t n, uint8_t axis)
{
    int64_t extent = 1;
    for (uint8_t i = 0; i < n; i++)
        extent *= onnx_view_extent(view, dim[i], axis);
    return extent;
}

static int64_t size_over(const struct onnx_tensor *tensor, const int8_t *dim, uint8_t n)
{
    int64_t size = 1;
    for (uint8_t i = 0; i < n; i++)
        size *= tensor->dim[dim[i]];
    return size;
}

/* Channels of the result: `dim` (n) of `tensor` are dimensions `to` of it. */
static bool set_columns(struct onnx_view *out, const struct onnx_tensor *tensor, const int8_t *dim,
                        const int8_t *to, uint8_t n)
{
    int64_t stride = size_over(tensor, dim, n);
    bool fine = true;
    for (uint8_t i = 0; i < n; i++) {
        stride /= tensor->dim[dim[i]];
        fine &= onnx_view_set(out, to[i], AXIS_C, tensor->dim[dim[i]], stride);
    }
    return fine;
}

static struct onnx_view *empty_view(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *out = arena_alloc(b->model->arena, 1, sizeof *out);
    if (out)
        out->rank = onnx_out(b->model, node, 0)->rank;
    return out;
}

static bool take_rows(struct onnx_view *out, const struct side *side)
{
    bool fine = true;
    for (uint8_t i = 0; i < side->n_own; i++)
        fine &= onnx_view_take(out, side->own_out[i], side->view, side->own[i]);
    return fine;
}

/* Rows or columns as channels: the data are transposed. */
static bool turn(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view, uint8_t axis)
{
    struct onnx_layer *layer = onnx_make(b, node, LAYER_TRANSPOSE, view);
    if (!layer)
        return false;
    const int64_t *size = view->feature->size;
    layer->suffix = ".transpose";
    memcpy(layer->permute, axis == AXIS_H ? "HCW" : "WHC", 4);
    layer->k = size[axis];
    layer->p = axis == AXIS_H ? size[AXIS_C] : size[AXIS_H];
    layer->q = axis == AXIS_W ? size[AXIS_C] : size[AXIS_W];
    for (int i = 0; i < view->n; i++)
        if (view->atom[i].axis == axis || view->atom[i].axis == AXIS_C)
            view->atom[i].axis = view->atom[i].axis == axis ? AXIS_C : axis;
    view->feature = onnx_feature_of(b, layer);
    return view->feature != NULL;
}

/* With weights: every row of the operand by itself. `weight` has the columns `dim` (n), which are dimensions
 * `to` of the result. */
static bool say_linear(struct onnx_builder *b, const struct onnx_node *node, struct side *x, uint8_t n_inner,
                       const struct onnx_tensor *weight, const int8_t *dim, const int8_t *to, uint8_t n)
{
    struct onnx_view *view = x->view;
    const unsigned inner = bits_of(x->inner, n_inner), others = ~inner;
    if (!onnx_ready(b, node, view, inner))
        return false;
    const int64_t *size = view->feature->size;
    for (uint8_t axis = AXIS_H; axis <= AXIS_W; axis++)
        if (size[axis] > 1 && extent_over(view, x->inner, n_inner, axis) == size[axis] &&
            !onnx_view_has(view, others, axis) && !onnx_view_has(view, inner, AXIS_C)) {
            if (!turn(b, node, view, axis))
                return false;
            break;
        }
    size = view->feature->size;
    const bool rows = onnx_view_has(view, others, AXIS_H) || onnx_view_has(view, others, AXIS_W);
    const bool by_row = extent_over(view, x->inner, n_inner, AXIS_C) == size[AXIS_C];
    int64_t all = 1;
    for (int d = 0; d < view->rank; d++)
        for (int i = view_begin(view, d); inner >> d & 1 && i < view->end[d]; i++)
            all *= view->atom[i].axis == AXIS_N ? 0 : view->atom[i].extent;
    const bool flat = !rows && all == size[AXIS_C] * size[AXIS_H] * size[AXIS_W];
    if (onnx_view_has(view, others, AXIS_C) || (!by_row && !flat))
        return onnx_stuck(b, node, "what it adds up over is not the channels of its operand");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_LINEAR, view);
    struct onnx_view *out = empty_view(b, node);
    if (!layer || !out)
        return false;
    if (!by_row) {
        layer->c = all;
        layer->p = layer->q = 1;
    }
    layer->k = size_over(weight, dim, n);
    if (!take_rows(out, x) || !set_columns(out, weight, dim, to, n))
        return onnx_stuck(b, node, "too many dimensions");
    return finish(b, node, out, layer);
}

/* Whether batch and inner dimensions are the channels of x in their own order, without samples. */
static bool is_grouped(const struct side *x, uint8_t n_batch, uint8_t n_inner)
{
    int64_t stride = x->view->feature->size[AXIS_C];
    for (int k = 0; k < n_batch + n_inner; k++) {
        const int d = k < n_batch ? x->batch[k] : x->inner[k - n_batch];
        for (int i = view_begin(x->view, d); i < x->view->end[d]; i++) {
            const struct onnx_atom *atom = &x->view->atom[i];
            if (atom->axis == AXIS_N && k < n_batch)
                continue;
            if (atom->axis != AXIS_C || atom->stride * atom->extent != stride)
                return false;
            stride = atom->stride;
        }
    }
    return stride == 1;
}

/* Two activations: x's rows times y's columns, groups by groups. The second operand is read as it lies. */
static bool say_matmul(struct onnx_builder *b, const struct onnx_node *node, const struct onnx_product *p,
                       struct side *x, struct side *y, const struct onnx_tensor *y_tensor, const int8_t *to)
{
    const struct onnx_feature *first = x->view->feature, *second = y->view->feature;
    if (!is_grouped(x, p->n_batch, p->n_inner))
        return false;
    const int64_t inner = extent_over(x->view, x->inner, p->n_inner, AXIS_C);
    const int64_t groups = first->size[AXIS_C] / inner, columns = size_over(y_tensor, y->own, y->n_own);
    if (onnx_view_has(y->view, bits_of(y->own, y->n_own), AXIS_N) ||
        second->size[AXIS_C] * second->size[AXIS_H] * second->size[AXIS_W] != groups * inner * columns)
        return false;
    struct onnx_layer *layer = onnx_make(b, node, LAYER_MATMUL, x->view);
    struct onnx_view *out = empty_view(b, node);
    if (!layer || !out)
        return false;
    layer->groups = groups;
    layer->k = groups * columns;
    layer->second = second->ref;
    bool fine = take_rows(out, x) && set_columns(out, y_tensor, y->own, y->own_out, y->n_own);
    for (uint8_t i = 0; fine && i < p->n_batch; i++)
        fine = onnx_view_take(out, to[i], x->view, x->batch[i]);
    for (uint8_t i = 0; fine && i < p->n_batch; i++)
        for (int a = view_begin(out, to[i]); a < out->end[to[i]]; a++)
            if (out->atom[a].axis == AXIS_C)
                out->atom[a].stride = out->atom[a].stride / inner * columns;
    return fine ? finish(b, node, out, layer) : onnx_stuck(b, node, "too many dimensions");
}

bool onnx_say_product(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_product p;
    struct dse_error unused;
    if (onnx_product_of(b->model, node, &p, &unused) != DSE_OK)
        return onnx_stuck(b, node, "it is no product of two operands");
    for (uint32_t i = 0; i < node->n_input; i++)
        if (node->op->shape == onnx_shape_gemm && i == 2 && onnx_in(b->model, node, i) &&
            !onnx_in(b->model, node, i)->is_constant)
            return onnx_stuck(b, node, "its third operand is computed");
    struct side x = {onnx_operand(b, node, 0), p.inner[0], p.batch[0], p.row[0], p.row[1], p.n_row};
    struct side y = {onnx_operand(b, node, node->op->second),
                     p.inner[1],
                     p.batch[1],
                     p.column[0],
                     p.column[1],
                     p.n_column};
    if ((!x.view || !y.view) && p.n_batch > 0)
        return onnx_stuck(b, node, "it has weights of their own for some rows");
    if (!y.view)
        return x.view && say_linear(b, node, &x, p.n_inner, p.b, p.column[0], p.column[1], p.n_column);
    if (!x.view)
        return say_linear(b, node, &y, p.n_inner, p.a, p.row[0], p.row[1], p.n_row);
    if (!onnx_ready(b, node, x.view, bits_of(p.inner[0], p.n_inner) | bits_of(p.batch[0], p.n_batch)) ||
        !onnx_ready(b, node, y.view, bits_of(p.inner[1], p.n_inner) | bits_of(p.batch[1], p.n_batch)))
        return false;
    return say_matmul(b, node, &p, &x, &y, p.b, p.batch[2]) ||
           (b->net->is_graph && say_matmul(b, node, &p, &y, &x, p.a, p.batch[2])) ||
           onnx_stuck(b, node, "its products are not groups of channels of an operand");
}
