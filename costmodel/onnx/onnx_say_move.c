/* What nodes without multiply-accumulates say: moves are views, functions of one feature map wait until a
 * layer reads them, of several are add and mul. */
#include <math.h>
#include <string.h>

#include "costmodel/onnx/onnx_builder.h"

static const struct onnx_tensor *result_of(struct onnx_builder *b, const struct onnx_node *node)
{
    return onnx_out(b->model, node, 0);
}

static void mark_move(struct onnx_builder *b, const struct onnx_node *node)
{
    b->model->node[node - b->model->node].is_move = true;
}

bool onnx_say_reshape(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    if (!view)
        return onnx_stuck(b, node, "its operand is a constant");
    mark_move(b, node);
    if (!onnx_view_reshape(view, result_of(b, node)))
        return onnx_stuck(b, node, "it cuts channels, rows or columns unevenly");
    onnx_result(b, node, 0, view);
    return true;
}

bool onnx_say_transpose(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    struct onnx_list order;
    struct dse_error unused;
    int axis[ONNX_RANK_MAX];
    if (!view || onnx_list_of(b->model, node, "perm", -1, &order, &unused) != DSE_OK)
        return onnx_stuck(b, node, "its operand is a constant");
    for (int d = 0; d < view->rank; d++)
        axis[d] = onnx_has(&order) ? (int)(order.at[d] < 0 ? order.at[d] + view->rank : order.at[d])
                                   : view->rank - 1 - d;
    mark_move(b, node);
    onnx_view_transpose(view, axis);
    onnx_result(b, node, 0, view);
    return true;
}

bool onnx_say_each(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    if (!view)
        return onnx_stuck(b, node, "its parameters are computed");
    for (uint32_t i = 0; i < node->n_output && i < 2; i++)
        onnx_result(b, node, i, view);
    return true;
}

bool onnx_say_activation(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    if (!view || !onnx_ready(b, node, view, 0))
        return onnx_stuck(b, node, "its operand is a constant");
    view->feature = onnx_function_of(b, view, node, FEATURE_ACTIVATION);
    onnx_result(b, node, 0, view);
    return view->feature != NULL;
}

/* ---- several operands ---- */

/* As many dimensions as the result, with 1 in front. */
static void widen(struct onnx_view *view, int rank)
{
    const int more = rank - view->rank;
    if (more <= 0)
        return;
    for (int d = rank - 1; d >= 0; d--)
        view->end[d] = d >= more ? view->end[d - more] : 0;
    view->rank = rank;
}

enum { MASK_MAX = 64 }; /* operands among which masks are looked for */

struct operands {
    uint32_t n;
    struct onnx_view **view;
    int64_t *elements;
};

static bool operands_of(struct onnx_builder *b, const struct onnx_node *node, struct operands *all)
{
    all->n = 0;
    all->view = arena_alloc(b->model->arena, node->n_input + 1, sizeof(struct onnx_view *));
    all->elements = arena_alloc(b->model->arena, node->n_input + 1, sizeof *all->elements);
    for (uint32_t i = 0; all->view && all->elements && i < node->n_input; i++) {
        struct onnx_view *view = onnx_operand(b, node, i);
        if (!view)
            continue;
        widen(view, result_of(b, node)->rank);
        all->elements[all->n] = onnx_elements(onnx_in(b->model, node, i));
        all->view[all->n++] = view;
    }
    return all->view && all->elements;
}

/* Smaller operands that come from a network input without any layer, such as masks, are folded as biases
 * are. */
static void fold_masks(struct operands *all, int64_t whole)
{
    uint32_t n = 0, n_whole = 0;
    for (uint32_t i = 0; i < all->n; i++)
        n_whole += all->elements[i] == whole;
    for (uint32_t i = 0; n_whole > 0 && all->n <= MASK_MAX && i < all->n; i++) {
        const struct onnx_feature *root = onnx_root(all->view[i]->feature);
        const bool mask = all->elements[i] < whole && root->input >= 0;
        bool own = true; /* no function of what another operand is, too */
        for (uint32_t k = 0; k < all->n; k++)
            own &= k == i || onnx_root(all->view[k]->feature) != root;
        if (mask && own)
            continue;
        all->view[n] = all->view[i];
        all->elements[n++] = all->elements[i];
    }
    if (n > 0)
        all->n = n;
}

/* All operands are functions of one feature map, and so is the result. */
static bool say_function(struct onnx_builder *b, const struct onnx_node *node, const struct operands *all,
                         int64_t whole)
{
    struct onnx_view *full = NULL;
    bool some_reduced = false, all_reduced = true, norm = false, same = true;
    for (uint32_t i = 0; i < all->n; i++) {
        const enum feature_kind kind = all->view[i]->feature->kind;
        some_reduced |= kind == FEATURE_REDUCED;
        all_reduced &= kind == FEATURE_REDUCED;
        norm |= kind == FEATURE_NORM;
        if (all->elements[i] != whole)
            continue;
        same &= !full || onnx_view_same(full, all->view[i]);
        full = full ? full : all->view[i];
    }
    if (!full || !same)
        return onnx_stuck(b, node, "it combines a tensor with the same one in another order");
    if (all_reduced) {
        onnx_result(b, node, 0, full);
        return true;
    }
    struct onnx_view *out = arena_alloc(b->model->arena, 1, sizeof *out);
    if (!out)
        return false;
    *out = *full;
    out->feature = onnx_function_of(b, full, node, some_reduced || norm ? FEATURE_NORM : FEATURE_ACTIVATION);
    for (uint32_t i = 0; out->feature && i < all->n; i++) {
        out->feature->reduced |= all->view[i]->feature->reduced;
        if (all->view[i]->feature->groups > out->feature->groups)
            out->feature->groups = all->view[i]->feature->groups;
    }
    onnx_result(b, node, 0, out);
    return out->feature != NULL;
}

/* Bits of the dimensions in which a view has channels. */
static unsigned channel_dims(const struct onnx_view *view)
{
    unsigned dims = 0;
    for (int d = 0; d < view->rank; d++)
        dims |= (unsigned)onnx_view_has(view, 1u << d, AXIS_C) << d;
    return dims;
}

static bool say_sum(struct onnx_builder *b, const struct onnx_node *node, struct operands *all, int64_t whole)
{
    static const char *const products[] = {"Mul", "Div", "And", "QLinearMul", "Where", "Pow", "Mod"};
    struct onnx_view *full = NULL;
    unsigned channels = 0;
    bool product = false;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        product |= strcmp(node->proto->op_type, products[i]) == 0;
    for (uint32_t i = 0; i < all->n; i++)
        if (!onnx_root(all->view[i]->feature)->is_open && !channels)
            channels = channel_dims(all->view[i]);
    for (uint32_t i = 0; i < all->n; i++) {
        if (!onnx_ready(b, node, all->view[i], channels))
            return false;
        if (!full && all->elements[i] == whole)
            full = all->view[i];
    }
    if (!full)
        return onnx_stuck(b, node, "its operands are repeated in several directions");
    struct onnx_ref *from = arena_alloc(b->model->arena, all->n, sizeof *from);
    for (uint32_t i = 0; from && i < all->n; i++) {
        if (all->elements[i] != whole) {
            for (int d = 0; d < full->rank; d++) /* channels where the other has them */
                if (onnx_view_has(all->view[i], 1u << d, AXIS_C) &&
                    (onnx_view_extent(all->view[i], d, AXIS_C) != onnx_view_extent(full, d, AXIS_C)))
                    return onnx_stuck(b, node, "an operand is repeated along channels");
            if (!onnx_spread(b, node, all->view[i], full->feature->size))
                return false;
        } else if (!onnx_view_same(full, all->view[i])) {
            return onnx_stuck(b, node, "its operands lie in different orders");
        }
        from[i] = all->view[i]->feature->ref;
    }
    struct onnx_layer *layer = from ? onnx_make(b, node, product ? LAYER_MUL : LAYER_ADD, full) : NULL;
    struct onnx_view *out = layer ? arena_alloc(b->model->arena, 1, sizeof *out) : NULL;
    if (!out)
        return false;
    layer->from = from;
    layer->n_from = all->n;
    *out = *full;
    out->feature = onnx_feature_of(b, layer);
    onnx_result(b, node, 0, out);
    return out->feature != NULL;
}

bool onnx_say_pair(struct onnx_builder *b, const struct onnx_node *node)
{
    struct operands all;
    const int64_t whole = onnx_elements(result_of(b, node));
    if (!operands_of(b, node, &all))
        return false;
    fold_masks(&all, whole);
    bool one_root = true;
    for (uint32_t i = 1; i < all.n; i++)
        one_root &= onnx_root(all.view[i]->feature) == onnx_root(all.view[0]->feature);
    if (all.n == 1) { /* with constants: a bias, a scale */
        if (all.elements[0] != whole)
            return onnx_stuck(b, node, "a constant makes its operand larger");
        onnx_result(b, node, 0, all.view[0]);
        return true;
    }
    return all.n == 0 ? onnx_stuck(b, node, "its operands are constants")
           : one_root ? say_function(b, node, &all, whole)
                      : say_sum(b, node, &all, whole);
}

/* ---- reductions and normalisations ---- */

/* Which letters are gone with the dimensions `dims`: whole ones, or only some atoms of one. */
static void reduce_letters(const struct onnx_view *view, unsigned dims, struct onnx_feature *feature)
{
    int64_t gone[4] = {1, 1, 1, 1};
    for (int d = 0; d < view->rank; d++)
        for (int i = view_begin(view, d); dims >> d & 1 && i < view->end[d]; i++)
            gone[view->atom[i].axis & 3] *= view->atom[i].extent;
    for (int axis = AXIS_N; axis <= AXIS_W; axis++)
        if (gone[axis] > 1) {
            feature->reduced |= 1u << axis;
            feature->is_partly_reduced |= gone[axis] != feature->size[axis];
        }
}

/* Groups of channels that are normalised by themselves: those outside of what is reduced. */
static int64_t groups_outside(const struct onnx_view *view, unsigned dims)
{
    int64_t groups = 1;
    for (int d = 0; d < view->rank; d++)
        for (int i = view_begin(view, d); !(dims >> d & 1) && i < view->end[d]; i++)
            if (view->atom[i].axis == AXIS_C)
                groups *= view->atom[i].extent;
    return groups;
}

/* The statistics of a view over the dimensions `dims`. Those of one that is being normalised by statistics
 * over the same letters, as a variance is, are part of that normalisation; else it is a layer of its own
 * first. */
static struct onnx_feature *statistics_of(struct onnx_builder *b, const struct onnx_node *node,
                                          struct onnx_view *view, unsigned dims)
{
    struct onnx_feature *feature = onnx_function_of(b, view, node, FEATURE_REDUCED);
    if (!feature)
        return NULL;
    reduce_letters(view, dims, feature);
    if (view->feature->kind == FEATURE_NORM && feature->reduced == view->feature->reduced)
        return feature;
    if (!onnx_ready(b, node, view, 0))
        return NULL;
    feature = onnx_function_of(b, view, node, FEATURE_REDUCED);
    if (feature)
        reduce_letters(view, dims, feature);
    return feature;
}

bool onnx_say_reduce(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    const struct onnx_tensor *in = onnx_in(b->model, node, 0), *out = result_of(b, node);
    struct onnx_list axes;
    struct dse_error unused;
    if (!view || onnx_list_of(b->model, node, "axes", 1, &axes, &unused) != DSE_OK)
        return onnx_stuck(b, node, "its operand is a constant");
    if (onnx_root(view->feature)->is_open && !onnx_ready(b, node, view, 0))
        return false;
    unsigned dims = !onnx_has(&axes) || axes.n == 0 ? ~0u : 0;
    for (size_t i = 0; onnx_has(&axes) && i < axes.n; i++)
        dims |= 1u << (axes.at[i] < 0 ? axes.at[i] + in->rank : axes.at[i]);
    if (onnx_view_has(view, dims, AXIS_N))
        return onnx_stuck(b, node, "it reduces over samples");
    struct onnx_feature *feature = statistics_of(b, node, view, dims);
    if (!feature)
        return false;
    feature->groups = feature->reduced & 1u << AXIS_C ? groups_outside(view, dims) : 1;
    for (int d = 0; d < view->rank; d++)
        if (dims >> d & 1)
            (void)onnx_view_set(view, d, AXIS_N, 1, 1); /* fewer atoms always fit */
    view->feature = feature;
    if (!onnx_view_reshape(view, out))
        return onnx_stuck(b, node, "its result has another order");
    onnx_result(b, node, 0, view);
    return true;
}

bool onnx_say_norm(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    const char *op = node->proto->op_type;
    int64_t axis = onnx_int(node, "axis", -1);
    /* SkipLayerNormalization and its like have a second operand that is added */
    if (!view || !onnx_ready(b, node, view, strcmp(op, "LRN") == 0 ? 2u : 0))
        return onnx_stuck(b, node, "its operand is a constant");
    struct onnx_feature *feature = onnx_function_of(b, view, node, FEATURE_NORM);
    if (!feature)
        return false;
    axis = axis < 0 ? axis + view->rank : axis;
    if (strcmp(op, "GroupNormalization") == 0)
        feature->groups = onnx_int(node, "num_groups", 1);
    else if (strcmp(op, "InstanceNormalization") == 0)
        feature->groups = feature->size[AXIS_C];
    else if (strstr(op, "LayerNorm") || strstr(op, "RMSNorm"))
        feature->groups = groups_outside(view, ~0u << (axis > 0 ? axis : 0));
    if (feature->groups < 1 || feature->size[AXIS_C] % feature->groups != 0)
        return onnx_stuck(b, node, "its groups do not divide its channels");
    view->feature = feature;
    onnx_result(b, node, 0, view);
    return true;
}

/* ---- parts ---- */

/* Elements from .. from + n - 1 of dimension d, which stays; result number `i` of the node. */
static bool take(struct onnx_builder *b, const struct onnx_node *node, struct onnx_view *view, int d,
                 int64_t from, int64_t n, int64_t of)
{
    if (n == of)
        return true;
    if (!onnx_ready(b, node, view, 0))
        return false;
    const int begin = view_begin(view, d);
    if (begin == view->end[d] || view->atom[begin].axis == AXIS_N)
        return onnx_stuck(b, node, "it takes some samples");
    const struct onnx_atom first = view->atom[begin];
    const int64_t inside = of / first.extent; /* of the atoms behind the first */
    if (first.axis == AXIS_C && from % inside == 0 && n % inside == 0)
        return onnx_take_part(b, node, view, d, from / inside, (from + n) / inside);
    if (!onnx_view_is_whole(view, d, first.axis) || first.axis == AXIS_C)
        return onnx_stuck(b, node, "it takes a part that is no run of channels, rows or columns");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_CROP, view);
    if (!layer)
        return false;
    layer->h = layer->p;
    layer->w = layer->q;
    *(first.axis == AXIS_H ? &layer->p : &layer->q) = n;
    layer->pad[first.axis == AXIS_H ? 0 : 1] = from;
    view->feature = onnx_feature_of(b, layer);
    return view->feature && onnx_view_set(view, d, first.axis, n, 1);
}

bool onnx_say_slice(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    const struct onnx_tensor *in = onnx_in(b->model, node, 0);
    struct onnx_slice slice;
    struct dse_error unused;
    if (!view || onnx_slice_of(b->model, node, &slice, &unused) != DSE_OK)
        return onnx_stuck(b, node, "its operand is a constant");
    for (int d = 0; d < in->rank; d++) {
        if (slice.n[d] < 1 || (slice.step[d] != 1 && slice.n[d] != 1))
            return onnx_stuck(b, node, "it takes nothing, or leaves gaps");
        if (!take(b, node, view, d, slice.start[d], slice.n[d], in->dim[d]))
            return false;
    }
    mark_move(b, node);
    onnx_result(b, node, 0, view);
    return true;
}

bool onnx_say_split(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *in = onnx_in(b->model, node, 0);
    const int64_t given = onnx_int(node, "axis", 0);
    const int axis = (int)(given < 0 ? given + in->rank : given);
    int64_t from = 0;
    for (uint32_t i = 0; i < node->n_output; i++) {
        const struct onnx_tensor *out = onnx_out(b->model, node, i);
        if (!out)
            return onnx_stuck(b, node, "one of its results is left out");
        struct onnx_view *view = onnx_operand(b, node, 0);
        if (!view || out->dim[axis] < 1)
            return onnx_stuck(b, node, "its operand is a constant, or a result empty");
        if (!take(b, node, view, axis, from, out->dim[axis], in->dim[axis]))
            return false;
        onnx_result(b, node, i, view);
        from += out->dim[axis];
    }
    mark_move(b, node);
    return true;
}

/* Rows of a table by indices that come from outside. */
static bool say_embedding(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *table = onnx_in(b->model, node, 0), *out = result_of(b, node);
    struct onnx_view *index = onnx_operand(b, node, 1);
    const int64_t axis = onnx_int(node, "axis", 0);
    struct onnx_feature *feature = index ? index->feature : NULL;
    if (feature && feature->is_open) { /* indices have no channels */
        struct onnx_view bare = *index;
        bare.n = 0;
        memset(bare.end, 0, sizeof bare.end);
        (void)onnx_view_open(&bare, 0, &b->model->tensor[b->model->input[feature->input].tensor]);
    }
    if (!index || !onnx_ready(b, node, index, 0))
        return onnx_stuck(b, node, "what it takes is not known before it runs");
    if ((axis != 0 && axis != -table->rank) || table->rank < 1 || index->feature->size[AXIS_C] != 1 ||
        out->rank != index->rank + table->rank - 1)
        return onnx_stuck(b, node, "it looks up what is no row of a table");
    struct onnx_layer *layer = onnx_make(b, node, LAYER_EMBEDDING, index);
    if (!layer)
        return false;
    layer->c = table->dim[0];
    layer->k = table->dim[0] > 0 ? onnx_elements(table) / table->dim[0] : 0;
    const int first = index->rank;
    int64_t stride = layer->k;
    index->rank = out->rank;
    for (int d = first; d < out->rank; d++)
        index->end[d] = index->n;
    for (int d = first; d < out->rank; d++) {
        stride /= out->dim[d] > 0 ? out->dim[d] : 1;
        if (!onnx_view_set(index, d, AXIS_C, out->dim[d], stride))
            return onnx_stuck(b, node, "too many dimensions");
    }
    index->feature = onnx_feature_of(b, layer);
    onnx_view_settle(index);
    onnx_result(b, node, 0, index);
    return index->feature != NULL;
}

bool onnx_say_gather(struct onnx_builder *b, const struct onnx_node *node)
{
    const struct onnx_tensor *in = onnx_in(b->model, node, 0), *index = onnx_in(b->model, node, 1);
    struct onnx_view *view = onnx_operand(b, node, 0);
    if (in->is_constant)
        return say_embedding(b, node);
    const int64_t given = onnx_int(node, "axis", 0);
    const int axis = (int)(given < 0 ? given + in->rank : given);
    const int64_t n = onnx_elements(index);
    if (!view || !index->value || n < 1)
        return onnx_stuck(b, node, "what it takes is not known before it runs");
    for (int64_t i = 0; i < n; i++)
        if (!(fabsl(index->value[i]) <= (onnx_number)in->dim[axis]))
            return onnx_stuck(b, node, "it takes what its operand does not have");
    const int64_t first = (int64_t)index->value[0] + (index->value[0] < 0 ? in->dim[axis] : 0);
    for (int64_t i = 0; i < n; i++)
        if ((int64_t)index->value[i] + (index->value[i] < 0 ? in->dim[axis] : 0) != first + i)
            return onnx_stuck(b, node, "it takes what does not lie side by side");
    if (first < 0 || first + n > in->dim[axis])
        return onnx_stuck(b, node, "it takes what its operand does not have");
    if (!take(b, node, view, axis, first, n, in->dim[axis]))
        return false;
    mark_move(b, node);
    if (!onnx_view_reshape(view, result_of(b, node)))
        return onnx_stuck(b, node, "it cuts channels, rows or columns unevenly");
    onnx_result(b, node, 0, view);
    return true;
}

bool onnx_say_expand(struct onnx_builder *b, const struct onnx_node *node)
{
    struct onnx_view *view = onnx_operand(b, node, 0);
    const struct onnx_tensor *out = result_of(b, node);
    if (!view)
        return onnx_stuck(b, node, "its operand is a constant");
    if (onnx_elements(out) != onnx_elements(onnx_in(b->model, node, 0)))
        return onnx_stuck(b, node, "it repeats elements");
    widen(view, out->rank);
    mark_move(b, node);
    onnx_result(b, node, 0, view);
    return true;
}
