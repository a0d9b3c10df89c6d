/* Shapes and values of what moves data: reshapes, transposes, slices, gathers, concatenations. */
#include <string.h>

#include "costmodel/onnx/onnx_operators.h"

/* The first operand and the first result. */
struct ends {
    const struct onnx_tensor *in;
    struct onnx_tensor *out;
};

static enum dse_status ends_of(struct onnx_model *model, const struct onnx_node *node, struct ends *ends,
                               struct dse_error *err)
{
    *ends = (struct ends){onnx_in(model, node, 0), onnx_out(model, node, 0)};
    if (!ends->in || !ends->out)
        return onnx_fail(model, node, err, "its operand or its result is missing");
    ends->out->is_whole = ends->in->is_whole;
    return DSE_OK;
}

/* The same numbers in the same order. */
static void keep_values(const struct ends *ends)
{
    if (ends->in->value && onnx_elements(ends->in) == onnx_elements(ends->out))
        ends->out->value = ends->in->value;
}

/* A result whose element `i` is element from(i) of the operand, by a step of each of its dimensions. */
static void pick_values(struct onnx_model *model, const struct ends *ends, int64_t begin, const int64_t *step)
{
    const struct onnx_tensor *out = ends->out;
    onnx_number *value = ends->in->value ? onnx_value_room(model, ends->out) : NULL;
    const int64_t n = value ? onnx_elements(out) : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = begin, rest = i;
        for (int d = out->rank - 1; d >= 0; rest /= out->dim[d], d--)
            at += rest % out->dim[d] * step[d];
        value[i] = ends->in->value[at];
    }
}

/* 0 throughout for an empty one, whose other dimensions may have any product. */
static void steps_of(const struct onnx_tensor *tensor, int64_t *step)
{
    int64_t n = onnx_elements(tensor) > 0;
    for (int d = tensor->rank - 1; d >= 0; n *= n ? tensor->dim[d] : 1, d--)
        step[d] = n;
}

enum dse_status onnx_shape_reshape(struct onnx_model *model, const struct onnx_node *node,
                                   struct dse_error *err)
{
    struct ends ends;
    struct onnx_list shape;
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "shape", 1, &shape, err));
    if (!onnx_has(&shape) || shape.n > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "it has no shape, or one of more than %d dimensions",
                         ONNX_RANK_MAX);
    int64_t known = 1;
    int open = -1;
    for (size_t i = 0; i < shape.n; i++) {
        int64_t *dim = &shape.at[i];
        if (*dim == 0 && onnx_int(node, "allowzero", 0) == 0 && (int)i < ends.in->rank)
            *dim = ends.in->dim[i];
        if (*dim == -1 && open < 0)
            open = (int)i;
        else if (*dim < 0 || __builtin_mul_overflow(known, *dim, &known))
            return onnx_fail(model, node, err, "its shape is no shape");
    }
    const int64_t n = onnx_elements(ends.in);
    if (open >= 0)
        shape.at[open] = known > 0 && n % known == 0 ? n / known : 0;
    onnx_set_shape(ends.out, (int)shape.n, shape.at);
    if (onnx_elements(ends.out) != n)
        return onnx_fail(model, node, err, "%lld elements do not fill its shape", (long long)n);
    keep_values(&ends);
    return DSE_OK;
}

enum dse_status onnx_shape_flatten(struct onnx_model *model, const struct onnx_node *node,
                                   struct dse_error *err)
{
    struct ends ends;
    DSE_TRY(ends_of(model, node, &ends, err));
    const int64_t given = onnx_int(node, "axis", 1), axis = given < 0 ? given + ends.in->rank : given;
    struct onnx_tensor front = *ends.in;
    if (axis < 0 || axis > ends.in->rank)
        return onnx_fail(model, node, err, "axis %lld of a tensor of %d dimensions", (long long)given,
                         ends.in->rank);
    front.rank = (int)axis;
    int64_t dim[2] = {onnx_elements(&front), 1};
    for (int d = (int)axis; d < ends.in->rank; d++)
        if (__builtin_mul_overflow(dim[1], ends.in->dim[d], &dim[1]))
            return onnx_fail(model, node, err, "its result is too large");
    onnx_set_shape(ends.out, 2, dim);
    keep_values(&ends);
    return DSE_OK;
}

enum dse_status onnx_shape_transpose(struct onnx_model *model, const struct onnx_node *node,
                                     struct dse_error *err)
{
    struct ends ends;
    struct onnx_list order;
    int64_t from[ONNX_RANK_MAX], step[ONNX_RANK_MAX];
    unsigned seen = 0;
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "perm", -1, &order, err));
    const int rank = ends.in->rank;
    if (onnx_has(&order) && order.n != (size_t)rank)
        return onnx_fail(model, node, err, "perm has %zu numbers for %d dimensions", order.n, rank);
    steps_of(ends.in, from);
    for (int d = 0; d < rank; d++) {
        int axis;
        DSE_TRY(onnx_axis(model, node, onnx_has(&order) ? order.at[d] : rank - 1 - d, rank, &axis, err));
        seen |= 1u << axis;
        ends.out->dim[d] = ends.in->dim[axis];
        step[d] = from[axis];
    }
    if (seen != (1u << rank) - 1)
        return onnx_fail(model, node, err, "perm is no order of %d dimensions", rank);
    onnx_set_shape(ends.out, rank, ends.out->dim);
    pick_values(model, &ends, 0, step);
    return DSE_OK;
}

enum dse_status onnx_shape_squeeze(struct onnx_model *model, const struct onnx_node *node,
                                   struct dse_error *err)
{
    struct ends ends;
    struct onnx_list axes;
    bool gone[ONNX_RANK_MAX] = {false};
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "axes", 1, &axes, err));
    for (size_t i = 0; onnx_has(&axes) && i < axes.n; i++) {
        int axis;
        DSE_TRY(onnx_axis(model, node, axes.at[i], ends.in->rank, &axis, err));
        if (ends.in->dim[axis] != 1)
            return onnx_fail(model, node, err, "dimension %d is %lld, not 1", axis,
                             (long long)ends.in->dim[axis]);
        gone[axis] = true;
    }
    int rank = 0;
    for (int d = 0; d < ends.in->rank; d++)
        if (!(onnx_has(&axes) ? gone[d] : ends.in->dim[d] == 1))
            ends.out->dim[rank++] = ends.in->dim[d];
    onnx_set_shape(ends.out, rank, ends.out->dim);
    keep_values(&ends);
    return DSE_OK;
}

enum dse_status onnx_shape_unsqueeze(struct onnx_model *model, const struct onnx_node *node,
                                     struct dse_error *err)
{
    struct ends ends;
    struct onnx_list axes;
    bool is_new[ONNX_RANK_MAX] = {false};
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "axes", 1, &axes, err));
    const int rank = ends.in->rank + (onnx_has(&axes) ? (int)axes.n : 0);
    if (!onnx_has(&axes) || rank > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "it has no axes, or makes more than %d dimensions", ONNX_RANK_MAX);
    for (size_t i = 0; i < axes.n; i++) {
        int axis;
        DSE_TRY(onnx_axis(model, node, axes.at[i], rank, &axis, err));
        if (is_new[axis])
            return onnx_fail(model, node, err, "axis %d is given twice", axis);
        is_new[axis] = true;
    }
    for (int d = 0, from = 0; d < rank; d++)
        ends.out->dim[d] = is_new[d] ? 1 : ends.in->dim[from++];
    onnx_set_shape(ends.out, rank, ends.out->dim);
    keep_values(&ends);
    return DSE_OK;
}

/* Numbers side by side along the first dimension, which is what lists of sizes are. */
static void concat_values(struct onnx_model *model, const struct onnx_node *node, struct onnx_tensor *out)
{
    for (uint32_t i = 0; i < node->n_input; i++)
        if (onnx_in(model, node, i) && !onnx_in(model, node, i)->value)
            return;
    onnx_number *value = onnx_value_room(model, out);
    for (uint32_t i = 0; value && i < node->n_input; i++) {
        const struct onnx_tensor *in = onnx_in(model, node, i);
        const size_t n = in ? (size_t)onnx_elements(in) : 0;
        for (size_t k = 0; k < n; k++)
            *value++ = in->value[k];
    }
}

enum dse_status onnx_shape_concat(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    struct ends ends;
    int axis;
    int64_t sum = 0;
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", 1), ends.in->rank, &axis, err));
    for (uint32_t i = 0; i < node->n_input; i++) {
        const struct onnx_tensor *in = onnx_in(model, node, i);
        bool fits = in && in->rank == ends.in->rank;
        for (int d = 0; fits && d < in->rank; d++)
            fits = d == axis || in->dim[d] == ends.in->dim[d];
        if (!fits || __builtin_add_overflow(sum, in->dim[axis], &sum))
            return onnx_fail(model, node, err, "its operands do not fit side by side");
    }
    onnx_set_shape(ends.out, ends.in->rank, ends.in->dim);
    ends.out->dim[axis] = sum;
    bool in_front = true; /* what is before the axis is 1: one operand is behind the other */
    for (int d = 0; d < axis; d++)
        in_front &= ends.in->dim[d] == 1;
    if (in_front)
        concat_values(model, node, ends.out);
    return DSE_OK;
}

enum dse_status onnx_shape_split(struct onnx_model *model, const struct onnx_node *node,
                                 struct dse_error *err)
{
    struct ends ends;
    struct onnx_list sizes;
    int axis;
    int64_t begin = 0, step[ONNX_RANK_MAX];
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", 0), ends.in->rank, &axis, err));
    DSE_TRY(onnx_list_of(model, node, "split", 1, &sizes, err));
    const int64_t n = ends.in->dim[axis], each = (n + node->n_output - 1) / (int64_t)node->n_output;
    if (onnx_has(&sizes) && sizes.n != node->n_output)
        return onnx_fail(model, node, err, "%zu sizes for %u results", sizes.n, node->n_output);
    steps_of(ends.in, step);
    for (uint32_t i = 0; i < node->n_output; i++) {
        const int64_t left = n - begin, size = onnx_has(&sizes) ? sizes.at[i] : each < left ? each : left;
        struct onnx_tensor *out = onnx_out(model, node, i);
        if (size < 0 || size > left)
            return onnx_fail(model, node, err, "its sizes do not add up to %lld", (long long)n);
        if (out) {
            const struct ends part = {ends.in, out};
            onnx_set_shape(out, ends.in->rank, ends.in->dim);
            out->dim[axis] = size;
            out->is_whole = ends.in->is_whole;
            pick_values(model, &part, begin * step[axis], step);
        }
        begin += size;
    }
    return begin == n ? DSE_OK : onnx_fail(model, node, err, "its sizes do not add up to %lld", (long long)n);
}

/* starts, ends, axes, steps: attributes in old versions, operands since. */
enum dse_status onnx_slice_of(const struct onnx_model *model, const struct onnx_node *node,
                              struct onnx_slice *slice, struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    struct onnx_list starts, ends, axes, steps;
    DSE_TRY(onnx_list_of(model, node, "starts", 1, &starts, err));
    DSE_TRY(onnx_list_of(model, node, "ends", 2, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "axes", 3, &axes, err));
    DSE_TRY(onnx_list_of(model, node, "steps", 4, &steps, err));
    for (int d = 0; d < in->rank; d++) {
        slice->start[d] = 0;
        slice->step[d] = 1;
        slice->n[d] = in->dim[d];
    }
    if (!onnx_has(&starts) || starts.n != ends.n || starts.n > (size_t)in->rank ||
        (onnx_has(&axes) && axes.n != starts.n) || (onnx_has(&steps) && steps.n != starts.n))
        return onnx_fail(model, node, err, "its starts, ends, axes and steps do not fit together");
    for (size_t i = 0; i < starts.n; i++) {
        int axis;
        int64_t step = onnx_has(&steps) ? steps.at[i] : 1, start = starts.at[i], end = ends.at[i];
        DSE_TRY(onnx_axis(model, node, onnx_has(&axes) ? axes.at[i] : (int64_t)i, in->rank, &axis, err));
        const int64_t n = in->dim[axis], low = step > 0 ? 0 : -1, high = step > 0 ? n : n - 1;
        if (step == 0)
            return onnx_fail(model, node, err, "a step of 0");
        step = step < -n - 1 ? -n - 1 : step > n + 1 ? n + 1 : step; /* one step leaves it */
        start = start < 0 ? start + n : start;
        end = end < 0 ? (end < -n ? -1 : end + n) : end;
        start = start < (step > 0 ? 0 : -1) ? low : start > high ? high : start;
        end = end < low ? low : end > high ? high : end;
        const int64_t span = step > 0 ? end - start : start - end, size = step > 0 ? step : -step;
        slice->start[axis] = start;
        slice->step[axis] = step;
        slice->n[axis] = span <= 0 ? 0 : (span - 1) / size + 1;
    }
    return DSE_OK;
}

enum dse_status onnx_shape_slice(struct onnx_model *model, const struct onnx_node *node,
                                 struct dse_error *err)
{
    struct ends ends;
    struct onnx_slice slice;
    int64_t step[ONNX_RANK_MAX], begin = 0;
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_slice_of(model, node, &slice, err));
    onnx_set_shape(ends.out, ends.in->rank, slice.n);
    steps_of(ends.in, step);
    for (int d = 0; d < ends.in->rank; d++) {
        begin += slice.start[d] * step[d];
        step[d] *= slice.step[d];
    }
    pick_values(model, &ends, begin, step);
    return DSE_OK;
}

enum dse_status onnx_shape_gather(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    struct ends ends;
    int axis;
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", 0), ends.in->rank, &axis, err));
    const struct onnx_tensor *in = ends.in, *index = onnx_in(model, node, 1);
    const int rank = index ? in->rank - 1 + index->rank : 0;
    if (!index || rank > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "it has no indices, or makes more than %d dimensions",
                         ONNX_RANK_MAX);
    int n = 0;
    for (int d = 0; d < axis; d++)
        ends.out->dim[n++] = in->dim[d];
    for (int d = 0; d < index->rank; d++)
        ends.out->dim[n++] = index->dim[d];
    for (int d = axis + 1; d < in->rank; d++)
        ends.out->dim[n++] = in->dim[d];
    onnx_set_shape(ends.out, rank, ends.out->dim);
    if (in->rank != 1 || !in->value || !index->value)
        return DSE_OK;
    onnx_number *value = onnx_value_room(model, ends.out);
    for (int64_t i = 0, m = value ? onnx_elements(index) : 0; i < m; i++) {
        const onnx_number at = index->value[i] + (index->value[i] < 0 ? (onnx_number)in->dim[0] : 0);
        if (!(at >= 0 && at < (onnx_number)in->dim[0]))
            return onnx_fail(model, node, err, "an index beyond its %lld elements", (long long)in->dim[0]);
        value[i] = in->value[(int64_t)at];
    }
    return DSE_OK;
}

/* As large as the indices. */
enum dse_status onnx_shape_gather_elements(struct onnx_model *model, const struct onnx_node *node,
                                           struct dse_error *err)
{
    struct ends ends;
    DSE_TRY(ends_of(model, node, &ends, err));
    const struct onnx_tensor *index = onnx_in(model, node, 1);
    if (!index)
        return onnx_fail(model, node, err, "it has no indices");
    onnx_set_shape(ends.out, index->rank, index->dim);
    return DSE_OK;
}

enum dse_status onnx_shape_gather_nd(struct onnx_model *model, const struct onnx_node *node,
                                     struct dse_error *err)
{
    struct ends ends;
    DSE_TRY(ends_of(model, node, &ends, err));
    const struct onnx_tensor *index = onnx_in(model, node, 1);
    const int64_t shared = onnx_int(node, "batch_dims", 0);
    const int64_t last = index && index->rank > 0 ? index->dim[index->rank - 1] : 0;
    if (last < 1 || shared < 0 || shared >= index->rank || last + shared > ends.in->rank ||
        index->rank - 1 + ends.in->rank - shared - last > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "its indices do not fit its operand");
    int n = 0;
    for (int d = 0; d < index->rank - 1; d++)
        ends.out->dim[n++] = index->dim[d];
    for (int d = (int)(shared + last); d < ends.in->rank; d++)
        ends.out->dim[n++] = ends.in->dim[d];
    onnx_set_shape(ends.out, n, ends.out->dim);
    return DSE_OK;
}

enum dse_status onnx_shape_expand(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    struct ends ends;
    struct onnx_list shape;
    struct onnx_tensor wanted = {0};
    int64_t from[ONNX_RANK_MAX], step[ONNX_RANK_MAX] = {0};
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "shape", 1, &shape, err));
    if (!onnx_has(&shape) || shape.n > ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "it has no shape, or one of more than %d dimensions",
                         ONNX_RANK_MAX);
    onnx_set_shape(&wanted, (int)shape.n, shape.at);
    onnx_set_shape(ends.out, ends.in->rank, ends.in->dim);
    DSE_TRY(onnx_broadcast(model, node, &wanted, ends.out, err));
    steps_of(ends.in, from);
    for (int d = 1; d <= ends.in->rank; d++)
        step[ends.out->rank - d] = ends.in->dim[ends.in->rank - d] > 1 ? from[ends.in->rank - d] : 0;
    if (onnx_elements(ends.out) <= ONNX_VALUE_MAX && onnx_elements(ends.in) > 0)
        pick_values(model, &ends, 0, step);
    return DSE_OK;
}

enum dse_status onnx_shape_tile(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    struct ends ends;
    struct onnx_list times;
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_list_of(model, node, "repeats", 1, &times, err));
    if (times.n != (size_t)ends.in->rank)
        return onnx_fail(model, node, err, "its repeats do not fit its operand");
    onnx_set_shape(ends.out, ends.in->rank, ends.in->dim);
    for (int d = 0; d < ends.in->rank; d++)
        if (times.at[d] < 0 || __builtin_mul_overflow(ends.out->dim[d], times.at[d], &ends.out->dim[d]))
            return onnx_fail(model, node, err, "its result is too large");
    const bool one = ends.in->rank == 1 && ends.in->value;
    onnx_number *value = one && ends.in->dim[0] > 0 ? onnx_value_room(model, ends.out) : NULL;
    for (int64_t i = 0; value && i < ends.out->dim[0]; i++)
        value[i] = ends.in->value[i % ends.in->dim[0]];
    return DSE_OK;
}

/* pads: all in front, then all behind; since version 18 perhaps of some axes only. */
enum dse_status onnx_pads_of(const struct onnx_model *model, const struct onnx_node *node, int64_t *pad,
                             struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    struct onnx_list pads, axes;
    DSE_TRY(onnx_list_of(model, node, onnx_attribute(node, "paddings") ? "paddings" : "pads", 1, &pads, err));
    DSE_TRY(onnx_list_of(model, node, "axes", 3, &axes, err));
    const size_t n = onnx_has(&axes) ? axes.n : (size_t)in->rank;
    memset(pad, 0, 2 * ONNX_RANK_MAX * sizeof *pad);
    if (!onnx_has(&pads) || pads.n != 2 * n || n > (size_t)in->rank)
        return onnx_fail(model, node, err, "its pads do not fit its operand");
    for (size_t i = 0; i < n; i++) {
        int axis = (int)i;
        if (onnx_has(&axes))
            DSE_TRY(onnx_axis(model, node, axes.at[i], in->rank, &axis, err));
        pad[axis] = pads.at[i];
        pad[in->rank + axis] = pads.at[n + i];
    }
    return DSE_OK;
}

enum dse_status onnx_shape_pad(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    struct ends ends;
    int64_t pad[2 * ONNX_RANK_MAX];
    DSE_TRY(ends_of(model, node, &ends, err));
    DSE_TRY(onnx_pads_of(model, node, pad, err));
    onnx_set_shape(ends.out, ends.in->rank, ends.in->dim);
    for (int d = 0; d < ends.in->rank; d++)
        if (__builtin_add_overflow(ends.out->dim[d], pad[d], &ends.out->dim[d]) ||
            __builtin_add_overflow(ends.out->dim[d], pad[ends.in->rank + d], &ends.out->dim[d]))
            return onnx_fail(model, node, err, "its result is too large");
    return DSE_OK;
}

static enum dse_status blocks(struct onnx_model *model, const struct onnx_node *node, bool to_space,
                              struct dse_error *err)
{
    struct ends ends;
    DSE_TRY(ends_of(model, node, &ends, err));
    const int64_t b = onnx_int(node, "blocksize", 0);
    if (b < 1 || b > 256 || ends.in->rank != 4)
        return onnx_fail(model, node, err, "a blocksize and an operand of four dimensions are expected");
    const int64_t *in = ends.in->dim;
    if (to_space ? in[1] % (b * b) != 0 : in[2] % b != 0 || in[3] % b != 0)
        return onnx_fail(model, node, err, "its operand is no multiple of blocksize %lld", (long long)b);
    const int64_t dim[4] = {in[0], to_space ? in[1] / (b * b) : in[1] * b * b,
                            to_space ? in[2] * b : in[2] / b, to_space ? in[3] * b : in[3] / b};
    onnx_set_shape(ends.out, 4, dim);
    return DSE_OK;
}

enum dse_status onnx_shape_depth_to_space(struct onnx_model *model, const struct onnx_node *node,
                                          struct dse_error *err)
{
    return blocks(model, node, true, err);
}

enum dse_status onnx_shape_space_to_depth(struct onnx_model *model, const struct onnx_node *node,
                                          struct dse_error *err)
{
    return blocks(model, node, false, err);
}
