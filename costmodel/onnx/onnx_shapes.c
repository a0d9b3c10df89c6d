/* Shapes of all results, in order: the rule of each operator, then what holds for all of them. Results that
 * follow from weights and shapes alone are constants; what the model says of a shape itself (value_info) has
 * to agree. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/onnx/onnx_operators.h"

static void shape_text(const struct onnx_tensor *tensor, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "a single number");
    for (int i = 0; i < tensor->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? " x " : "", tensor->dim[i]);
}

enum dse_status onnx_broadcast(const struct onnx_model *model, const struct onnx_node *node,
                               const struct onnx_tensor *a, struct onnx_tensor *out, struct dse_error *err)
{
    char one[160], other[160];
    struct onnx_tensor sum = *out;
    const int rank = a->rank > out->rank ? a->rank : out->rank;
    for (int i = 1; i <= rank; i++) {
        const int64_t x = i <= a->rank ? a->dim[a->rank - i] : 1;
        const int64_t y = i <= out->rank ? out->dim[out->rank - i] : 1;
        if (x != y && x != 1 && y != 1) {
            shape_text(a, one, sizeof one);
            shape_text(out, other, sizeof other);
            return onnx_fail(model, node, err, "its operands of %s and %s do not fit together", other, one);
        }
        sum.dim[rank - i] = x == 1 ? y : x;
    }
    onnx_set_shape(out, rank, sum.dim);
    return DSE_OK;
}

enum dse_status onnx_shape_same(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    struct onnx_tensor *out = onnx_out(model, node, 0);
    if (!in)
        return onnx_fail(model, node, err, "its operand is missing");
    for (uint32_t i = 0; i < node->n_output && i < 2; i++) /* a Dropout's mask as well */
        if (onnx_out(model, node, i))
            onnx_set_shape(onnx_out(model, node, i), in->rank, in->dim);
    if (out)
        onnx_compute(model, node, out);
    return DSE_OK;
}

/* Further results are statistics, which nobody uses at work: as large as their operand with 1 where it is
 * normalised. */
enum dse_status onnx_shape_same_norm(struct onnx_model *model, const struct onnx_node *node,
                                     struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    if (!in)
        return onnx_fail(model, node, err, "its operand is missing");
    for (uint32_t i = 0; i < node->n_output; i++) {
        struct onnx_tensor *out = onnx_out(model, node, i);
        if (!out)
            continue;
        onnx_set_shape(out, in->rank, in->dim);
        int axis;
        DSE_TRY(onnx_axis(model, node, onnx_int(node, "axis", -1), in->rank, &axis, err));
        for (int d = axis; i > 0 && d < in->rank; d++)
            out->dim[d] = 1;
    }
    return DSE_OK;
}

/* DynamicQuantizeLinear: the tensor, then its scale and zero point. */
enum dse_status onnx_shape_quantize(struct onnx_model *model, const struct onnx_node *node,
                                    struct dse_error *err)
{
    const struct onnx_tensor *in = onnx_in(model, node, 0);
    if (!in)
        return onnx_fail(model, node, err, "its operand is missing");
    for (uint32_t i = 0; i < node->n_output; i++)
        if (onnx_out(model, node, i))
            onnx_set_shape(onnx_out(model, node, i), i == 0 ? in->rank : 0, in->dim);
    return DSE_OK;
}

enum dse_status onnx_shape_pair(struct onnx_model *model, const struct onnx_node *node, struct dse_error *err)
{
    struct onnx_tensor *out = onnx_out(model, node, 0);
    if (!out || node->n_input == 0)
        return onnx_fail(model, node, err, "its operands are missing");
    onnx_set_shape(out, 0, out->dim);
    for (uint32_t i = 0; i < node->n_input; i++) {
        /* of quantised forms every third is a tensor: a, its scale, its zero point, b, ... */
        const struct onnx_tensor *in = onnx_in(model, node, i);
        if (in && (node->op->second == 0 || i == 0 || i == node->op->second))
            DSE_TRY(onnx_broadcast(model, node, in, out, err));
    }
    onnx_compute(model, node, out);
    return DSE_OK;
}

/* ---- all nodes ---- */

/* The shape that the model gives, as far as it is fixed; 0: free. */
static bool said_shape(const struct onnx_tensor *tensor, struct onnx_tensor *said)
{
    const Onnx__ValueInfoProto *info = tensor->info;
    if (!info || !info->type || info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ||
        !info->type->tensor_type || !info->type->tensor_type->shape ||
        info->type->tensor_type->shape->n_dim > ONNX_RANK_MAX)
        return false;
    const Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;
    said->rank = (int)shape->n_dim;
    for (size_t i = 0; i < shape->n_dim; i++) {
        const Onnx__TensorShapeProto__Dimension *dim = shape->dim[i];
        const bool fixed =
            dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE && dim->dim_value > 0;
        said->dim[i] = fixed ? dim->dim_value : 0;
    }
    return true;
}

static enum dse_status check_said(const struct onnx_model *model, const struct onnx_node *node,
                                  const struct onnx_tensor *tensor, struct dse_error *err)
{
    struct onnx_tensor said = {0};
    char name[96], ours[200], theirs[200];
    if (!said_shape(tensor, &said))
        return DSE_OK;
    bool same = said.rank == tensor->rank;
    for (int i = 0; same && i < said.rank; i++)
        same = said.dim[i] == 0 || said.dim[i] == tensor->dim[i];
    if (same)
        return DSE_OK;
    shape_text(tensor, ours, sizeof ours);
    shape_text(&said, theirs, sizeof theirs);
    return onnx_fail(model, node, err, "its result %s is %s, but the model says %s",
                     text_excerpt(tensor->name, name, sizeof name), ours, theirs);
}

static bool is_ignored(const struct onnx_model *model, const struct onnx_node *node)
{
    for (size_t i = 0; i < model->options->n_ignore; i++)
        if (strcmp(model->options->ignore[i], node->proto->op_type) == 0)
            return true;
    return false;
}

static enum dse_status take_said(struct onnx_model *model, const struct onnx_node *node,
                                 struct dse_error *err)
{
    char name[96];
    for (uint32_t i = 0; i < node->n_output; i++) {
        struct onnx_tensor *out = onnx_out(model, node, i), said = {0};
        if (!out)
            continue;
        bool known = said_shape(out, &said);
        for (int d = 0; known && d < said.rank; d++)
            known = said.dim[d] > 0;
        if (!known)
            return onnx_fail(model, node, err,
                             "it is to be ignored, but the model does not say the shape of its result %s "
                             "(value_info)",
                             text_excerpt(out->name, name, sizeof name));
        onnx_set_shape(out, said.rank, said.dim);
        out->is_ignored = true;
    }
    return DSE_OK;
}

/* That every operand has a shape, and no result is beyond what can be counted. */
static enum dse_status infer_node(struct onnx_model *model, const struct onnx_node *node,
                                  struct dse_error *err)
{
    char name[96];
    bool constant = true;
    for (uint32_t i = 0; i < node->n_input; i++) {
        const struct onnx_tensor *in = onnx_in(model, node, i);
        if (in && !in->has_shape)
            return onnx_fail(model, node, err, "its operand %s comes from nowhere",
                             text_excerpt(in->name, name, sizeof name));
        constant &= !in || in->is_constant;
    }
    const bool ignored = is_ignored(model, node);
    DSE_TRY(ignored ? take_said(model, node, err) : node->op->shape(model, node, err));
    for (uint32_t i = 0; i < node->n_output; i++) {
        struct onnx_tensor *out = onnx_out(model, node, i);
        if (!out)
            continue;
        if (!out->has_shape)
            return onnx_fail(model, node, err, "it has %u results, which its operator does not have",
                             node->n_output);
        for (int d = 0; d < out->rank; d++)
            if (out->dim[d] < 0 || out->dim[d] > ONNX_EXTENT_MAX)
                return onnx_fail(model, node, err, "dimension %d of its result %s is %" PRId64, d,
                                 text_excerpt(out->name, name, sizeof name), out->dim[d]);
        if (onnx_elements(out) > (int64_t)1 << 53)
            return onnx_fail(model, node, err, "its result %s has more than 2^53 elements",
                             text_excerpt(out->name, name, sizeof name));
        out->is_constant = constant || (!ignored && node->op->kind == ONNX_SIZE);
        if (!ignored)
            DSE_TRY(check_said(model, node, out, err));
    }
    return DSE_OK;
}

/* ---- operators that are not read ---- */

/* Unknown ones, and windows of more than two dimensions, as far as their filters are there. */
static void mark_refused(struct onnx_model *model)
{
    for (uint32_t i = 0; i < model->n_node; i++) {
        struct onnx_node *node = &model->node[i];
        const int kind = node->op ? node->op->kind : ONNX_REFUSED;
        const bool window = kind == ONNX_CONV || kind == ONNX_CONV_TRANSPOSE;
        const struct onnx_tensor *filter = window ? onnx_in(model, node, node->op->second) : NULL;
        node->is_refused = !is_ignored(model, node) &&
                           (kind == ONNX_REFUSED || (filter && filter->has_shape && filter->rank > 4));
    }
}

/* All of them in one message: operator, how many, the first node. */
static enum dse_status check_operators(const struct onnx_model *model, struct dse_error *err)
{
    char list[700] = "", shown[64], name[96];
    size_t used = 0;
    bool any = false;
    for (uint32_t i = 0; i < model->n_node; i++) {
        const struct onnx_node *node = &model->node[i];
        size_t n = 0;
        uint32_t k = 0;
        if (!node->is_refused || used >= sizeof list)
            continue;
        any = true;
        while (k < i && !(model->node[k].is_refused &&
                          strcmp(model->node[k].proto->op_type, node->proto->op_type) == 0))
            k++;
        if (k < i)
            continue; /* counted with the first */
        for (; k < model->n_node; k++)
            n +=
                model->node[k].is_refused && strcmp(model->node[k].proto->op_type, node->proto->op_type) == 0;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s%s (%zu, first %s)", used ? ", " : "",
                                 text_excerpt(node->proto->op_type, shown, sizeof shown),
                                 node->op && node->op->kind != ONNX_REFUSED ? " of three dimensions" : "", n,
                                 onnx_node_name(model, node, name, sizeof name));
    }
    return any ? dse_fail_at(err, DSE_BAD_INPUT, model->path, 0,
                             "operators that are not read: %s; `dse convert MODEL.onnx --ignore OPERATOR -o "
                             "MODEL.yaml` takes one as free, where the model says the shape of its result, "
                             "and writes the network to go on with",
                             list)
               : DSE_OK;
}

enum dse_status onnx_infer(struct onnx_model *model, struct dse_error *err)
{
    mark_refused(model);
    DSE_TRY(check_operators(model, err));
    for (uint32_t i = 0; i < model->n_node; i++) {
        DSE_TRY(infer_node(model, &model->node[i], err));
        DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    }
    return DSE_OK;
}
