/* Shapes and values of what computes sizes, and of what reduces a tensor. */
#include <math.h>
#include <string.h>

#include "costmodel/onnx/onnx_operators.h"

static enum dse_status need(const struct onnx_model *model, const struct onnx_node *node, uint32_t i,
                            const struct onnx_tensor **in, struct dse_error *err)
{
    *in = onnx_in(model, node, i);
    return *in && onnx_out((struct onnx_model *)(uintptr_t)model, node, 0)
               ? DSE_OK
               : onnx_fail(model, node, err, "its operand or its result is missing");
}

enum dse_status onnx_shape_shape(struct onnx_model *model, const struct onnx_node *node,
                                 struct dse_error *err)
{
    const struct onnx_tensor *in;
    DSE_TRY(need(model, node, 0, &in, err));
    struct onnx_tensor *out = onnx_out(model, node, 0);
    int64_t start = onnx_int(node, "start", 0), end = onnx_int(node, "end", in->rank);
    start = start < 0 ? start + in->rank : start;
    end = end < 0 ? end + in->rank : end;
    start = start < 0 ? 0 : start > in->rank ? in->rank : start;
    end = end < start ? start : end > in->rank ? in->rank : end;
    const int64_t n = end - start;
    onnx_set_shape(out, 1, &n);
    out->is_whole = true;
    onnx_number *value = onnx_value_room(model, out);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = in->dim[start + i];
    return DSE_OK;
}

enum dse_status onnx_shape_size(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    const struct onnx_tensor *in;
    DSE_TRY(need(model, node, 0, &in, err));
    struct onnx_tensor *out = onnx_out(model, node, 0);
    onnx_set_shape(out, 0, out->dim);
    out->is_whole = true;
    onnx_number *value = onnx_value_room(model, out);
    if (value)
        value[0] = onnx_elements(in);
    return DSE_OK;
}

static enum dse_status from_proto(struct onnx_model *model, const struct onnx_node *node,
                                  const Onnx__TensorProto *proto, struct onnx_tensor *out,
                                  struct dse_error *err)
{
    if (proto->n_dims > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "%zu dimensions; up to %d are supported", proto->n_dims,
                         ONNX_RANK_MAX);
    for (size_t i = 0; i < proto->n_dims; i++)
        if (proto->dims[i] < 0 || proto->dims[i] > ONNX_EXTENT_MAX)
            return onnx_fail(model, node, err, "a dimension below 0, or too large");
    onnx_set_shape(out, (int)proto->n_dims, proto->dims);
    out->is_whole = onnx_type_is_whole(proto->data_type);
    onnx_tensor_values(model, proto, out);
    return DSE_OK;
}

enum dse_status onnx_shape_constant(struct onnx_model *model, const struct onnx_node *node,
                                    struct dse_error *err)
{
    struct onnx_tensor *out = onnx_out(model, node, 0);
    const Onnx__AttributeProto *value = onnx_attribute(node, "value"), *list = NULL;
    if (!out)
        return onnx_fail(model, node, err, "its result is missing");
    if (value && value->t)
        return from_proto(model, node, value->t, out, err);
    static const char *const key[] = {"value_int", "value_ints", "value_float", "value_floats"};
    int found = 0;
    for (; found < 4 && !list; found += !list)
        list = onnx_attribute(node, key[found]);
    if (!list)
        return onnx_fail(model, node, err, "it has no value that is read");
    const size_t n = found == 1 ? list->n_ints : found == 3 ? list->n_floats : 1;
    const int64_t dim = (int64_t)n;
    onnx_set_shape(out, found & 1, &dim);
    out->is_whole = found < 2;
    onnx_number *room = onnx_value_room(model, out);
    for (size_t i = 0; room && i < n; i++)
        room[i] = found == 0   ? (onnx_number)list->i
                  : found == 1 ? (onnx_number)list->ints[i]
                  : found == 2 ? (onnx_number)list->f
                               : (onnx_number)list->floats[i];
    return DSE_OK;
}

enum dse_status onnx_shape_constant_of_shape(struct onnx_model *model, const struct onnx_node *node,
                                             struct dse_error *err)
{
    const struct onnx_tensor *in;
    struct onnx_list shape;
    struct onnx_tensor one = {0};
    DSE_TRY(need(model, node, 0, &in, err));
    DSE_TRY(onnx_list_of(model, node, "shape", 0, &shape, err));
    if (shape.n > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "more than %d dimensions", ONNX_RANK_MAX);
    struct onnx_tensor *out = onnx_out(model, node, 0);
    const Onnx__AttributeProto *value = onnx_attribute(node, "value");
    for (size_t i = 0; i < shape.n; i++)
        if (shape.at[i] < 0 || shape.at[i] > ONNX_EXTENT_MAX)
            return onnx_fail(model, node, err, "a dimension below 0, or too large");
    onnx_set_shape(out, (int)shape.n, shape.at);
    if (value && value->t)
        DSE_TRY(from_proto(model, node, value->t, &one, err));
    out->is_whole = one.is_whole;
    if (value && value->t && (!one.value || onnx_elements(&one) != 1))
        return DSE_OK;
    onnx_number *room = onnx_value_room(model, out);
    for (int64_t i = 0, n = room ? onnx_elements(out) : 0; i < n; i++)
        room[i] = one.value ? one.value[0] : 0;
    return DSE_OK;
}

enum dse_status onnx_shape_range(struct onnx_model *model, const struct onnx_node *node,
                                 struct dse_error *err)
{
    const struct onnx_tensor *in[3];
    for (uint32_t i = 0; i < 3; i++) {
        DSE_TRY(need(model, node, i, &in[i], err));
        if (!in[i]->value || onnx_elements(in[i]) != 1)
            return onnx_fail(model, node, err, "how long its result is is not known before it runs");
    }
    struct onnx_tensor *out = onnx_out(model, node, 0);
    const onnx_number start = in[0]->value[0], step = in[2]->value[0];
    const onnx_number n = step == 0 ? (onnx_number)-1 : ceill((in[1]->value[0] - start) / step);
    if (step == 0 || !(n < (onnx_number)((int64_t)1 << 40)))
        return onnx_fail(model, node, err, "a range without end");
    const int64_t length = n < 0 ? 0 : (int64_t)n;
    onnx_set_shape(out, 1, &length);
    out->is_whole = in[0]->is_whole;
    onnx_number *value = onnx_value_room(model, out);
    for (int64_t i = 0; value && i < length; i++)
        value[i] = start + (onnx_number)i * step;
    return DSE_OK;
}

/* Products, sums, least and largest of known numbers, over all of them. */
static void reduce_values(struct onnx_model *model, const struct onnx_node *node,
                          const struct onnx_tensor *in, struct onnx_tensor *out)
{
    const char *op = node->proto->op_type;
    const bool product = strcmp(op, "ReduceProd") == 0, sum = strcmp(op, "ReduceSum") == 0;
    const bool least = strcmp(op, "ReduceMin") == 0, most = strcmp(op, "ReduceMax") == 0;
    const int64_t n = onnx_elements(in);
    if (!in->value || onnx_elements(out) != 1 || n == 0 || !(product || sum || least || most))
        return;
    onnx_number total = in->value[0];
    for (int64_t i = 1; i < n; i++)
        total = product ? total * in->value[i]
                : sum   ? total + in->value[i]
                : least ? fminl(total, in->value[i])
                        : fmaxl(total, in->value[i]);
    onnx_number *value = fabsl(total) < (onnx_number)INT64_MAX ? onnx_value_room(model, out) : NULL;
    if (value)
        value[0] = total;
}

enum dse_status onnx_shape_reduce(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    const struct onnx_tensor *in;
    struct onnx_list axes;
    bool gone[ONNX_RANK_MAX] = {false};
    DSE_TRY(need(model, node, 0, &in, err));
    DSE_TRY(onnx_list_of(model, node, "axes", 1, &axes, err));
    struct onnx_tensor *out = onnx_out(model, node, 0);
    const bool keep = onnx_int(node, "keepdims", 1) != 0;
    const bool all = !onnx_has(&axes) || axes.n == 0;
    const bool none = all && onnx_int(node, "noop_with_empty_axes", 0) != 0;
    for (size_t i = 0; !all && i < axes.n; i++) {
        int axis;
        DSE_TRY(onnx_axis(model, node, axes.at[i], in->rank, &axis, err));
        gone[axis] = true;
    }
    int rank = 0;
    for (int d = 0; d < in->rank; d++) {
        const bool reduced = !none && (all || gone[d]);
        if (!reduced || keep)
            out->dim[rank++] = reduced ? 1 : in->dim[d];
    }
    onnx_set_shape(out, rank, out->dim);
    out->is_whole = in->is_whole;
    reduce_values(model, node, in, out);
    return DSE_OK;
}

/* ArgMax, ArgMin. */
enum dse_status onnx_shape_arg(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    const struct onnx_tensor *in;
    int axis;
    DSE_TRY(need(model, node, 0, &in, err));
    DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", 0), in->rank, &axis, err));
    struct onnx_tensor *out = onnx_out(model, node, 0);
    int rank = 0;
    for (int d = 0; d < in->rank; d++)
        if (d != axis || onnx_int(node, "keepdims", 1) != 0)
            out->dim[rank++] = d == axis ? 1 : in->dim[d];
    onnx_set_shape(out, rank, out->dim);
    out->is_whole = true;
    return DSE_OK;
}

enum dse_status onnx_shape_top_k(struct onnx_model *model, const struct onnx_node *node,
                                 struct dse_error *err)
{
    const struct onnx_tensor *in;
    struct onnx_list k;
    int axis;
    DSE_TRY(need(model, node, 0, &in, err));
    DSE_TRY(onnx_list_of(model, node, "k", node->version < 10 ? -1 : 1, &k, err));
    DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", -1), in->rank, &axis, err));
    const int64_t n = onnx_has(&k) && k.n == 1 ? k.at[0] : onnx_int(node, "k", 0);
    if (n < 0 || n > in->dim[axis])
        return onnx_fail(model, node, err, "%lld of %lld", (long long)n, (long long)in->dim[axis]);
    for (uint32_t i = 0; i < node->n_output; i++) {
        struct onnx_tensor *out = onnx_out(model, node, i);
        if (!out)
            continue;
        onnx_set_shape(out, in->rank, in->dim);
        out->dim[axis] = n;
        out->is_whole = i == 1;
    }
    return DSE_OK;
}

enum dse_status onnx_shape_one_hot(struct onnx_model *model, const struct onnx_node *node,
                                   struct dse_error *err)
{
    const struct onnx_tensor *in;
    struct onnx_list depth;
    int axis;
    DSE_TRY(need(model, node, 0, &in, err));
    DSE_TRY(onnx_list_of(model, node, "depth", 1, &depth, err));
    DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", -1), in->rank + 1, &axis, err));
    if (!onnx_has(&depth) || depth.n != 1 || depth.at[0] < 1 || in->rank == ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "its depth is no number");
    struct onnx_tensor *out = onnx_out(model, node, 0);
    for (int d = 0; d <= in->rank; d++)
        out->dim[d] = d == axis ? depth.at[0] : in->dim[d < axis ? d : d - 1];
    onnx_set_shape(out, in->rank + 1, out->dim);
    return DSE_OK;
}

/* Numbers of a small list with some replaced. */
enum dse_status onnx_shape_scatter_nd(struct onnx_model *model, const struct onnx_node *node,
                                      struct dse_error *err)
{
    const struct onnx_tensor *in;
    DSE_TRY(need(model, node, 0, &in, err));
    const struct onnx_tensor *index = onnx_in(model, node, 1), *update = onnx_in(model, node, 2);
    struct onnx_tensor *out = onnx_out(model, node, 0);
    onnx_set_shape(out, in->rank, in->dim);
    out->is_whole = in->is_whole;
    if (strcmp(node->proto->op_type, "ScatterND") != 0 || !in->value || !index || !index->value || !update ||
        !update->value || in->rank != 1 || index->rank < 1 || index->dim[index->rank - 1] != 1 ||
        onnx_elements(index) != onnx_elements(update))
        return DSE_OK;
    onnx_number *value = onnx_value_room(model, out);
    const int64_t n = in->dim[0];
    for (int64_t i = 0; value && i < n; i++)
        value[i] = in->value[i];
    for (int64_t i = 0, m = value ? onnx_elements(index) : 0; i < m; i++) {
        const onnx_number at = index->value[i] + (index->value[i] < 0 ? (onnx_number)n : 0);
        if (!(at >= 0 && at < (onnx_number)n))
            return onnx_fail(model, node, err, "an index beyond its operand");
        value[(int64_t)at] = update->value[i];
    }
    return DSE_OK;
}
