/* Attributes and operands of a node. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/onnx/onnx_parts.h"

const char *onnx_node_name(const struct onnx_model *model, const struct onnx_node *node, char *buffer,
                           size_t size)
{
    const char *name = node->proto->name;
    if (name && *name)
        text_excerpt(name, buffer, size);
    else
        snprintf(buffer, size, "%.60s_%u", node->proto->op_type, (unsigned)(node - model->node));
    return buffer;
}

enum dse_status onnx_fail(const struct onnx_model *model, const struct onnx_node *node, struct dse_error *err,
                          const char *format, ...)
{
    char text[DSE_ERROR_TEXT_MAX], name[160], type[64];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "node %s (%s): %s",
                       onnx_node_name(model, node, name, sizeof name),
                       text_excerpt(node->proto->op_type, type, sizeof type), text);
}

const struct onnx_tensor *onnx_in(const struct onnx_model *model, const struct onnx_node *node, uint32_t i)
{
    return i < node->n_input && node->input[i] >= 0 ? &model->tensor[node->input[i]] : NULL;
}

struct onnx_tensor *onnx_out(struct onnx_model *model, const struct onnx_node *node, uint32_t i)
{
    return i < node->n_output && node->output[i] >= 0 ? &model->tensor[node->output[i]] : NULL;
}

const Onnx__AttributeProto *onnx_attribute(const struct onnx_node *node, const char *name)
{
    for (size_t i = 0; i < node->proto->n_attribute; i++)
        if (node->proto->attribute[i]->name && strcmp(node->proto->attribute[i]->name, name) == 0)
            return node->proto->attribute[i];
    return NULL;
}

int64_t onnx_int(const struct onnx_node *node, const char *name, int64_t missing)
{
    const Onnx__AttributeProto *attribute = onnx_attribute(node, name);
    return attribute && attribute->has_i ? attribute->i : missing;
}

const char *onnx_text(const struct onnx_model *model, const struct onnx_node *node, const char *name)
{
    const Onnx__AttributeProto *attribute = onnx_attribute(node, name);
    const char *text = attribute && attribute->has_s
                           ? arena_copy_text(model->arena, (const char *)attribute->s.data, attribute->s.len)
                           : "";
    return text ? text : "";
}

enum dse_status onnx_list_of(const struct onnx_model *model, const struct onnx_node *node, const char *name,
                             int operand, struct onnx_list *list, struct dse_error *err)
{
    const Onnx__AttributeProto *attribute = onnx_attribute(node, name);
    const struct onnx_tensor *tensor = operand >= 0 ? onnx_in(model, node, (uint32_t)operand) : NULL;
    list->n = SIZE_MAX;
    if (!attribute && !tensor)
        return DSE_OK;
    if (!attribute && (!tensor->has_shape || !tensor->value))
        return onnx_fail(model, node, err, "its operand %d (%s) is not known before it runs", operand + 1,
                         name);
    const size_t n = attribute ? attribute->n_ints : (size_t)onnx_elements(tensor);
    if (n > 2 * ONNX_RANK_MAX)
        return onnx_fail(model, node, err, "%s has %zu numbers; up to %d are supported", name, n,
                         2 * ONNX_RANK_MAX);
    for (size_t i = 0; i < n; i++) {
        const onnx_number number = attribute ? (onnx_number)attribute->ints[i] : tensor->value[i];
        if (!(fabsl(number) <= (onnx_number)INT64_MAX))
            return onnx_fail(model, node, err, "%s has a number beyond 64 bits", name);
        list->at[i] = (int64_t)number;
    }
    list->n = n;
    return DSE_OK;
}

enum dse_status onnx_axis(const struct onnx_model *model, const struct onnx_node *node, int64_t axis,
                          int rank, int *out, struct dse_error *err)
{
    if (axis < -rank || axis >= rank)
        return onnx_fail(model, node, err, "axis %lld of a tensor of %d dimensions", (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return DSE_OK;
}

int64_t onnx_elements(const struct onnx_tensor *tensor)
{
    int64_t n = 1;
    for (int i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(n, tensor->dim[i], &n))
            n = INT64_MAX;
    return n;
}

void onnx_set_shape(struct onnx_tensor *tensor, int rank, const int64_t *dim)
{
    tensor->has_shape = true;
    tensor->rank = rank;
    for (int i = 0; i < rank; i++)
        tensor->dim[i] = dim[i];
}

onnx_number *onnx_value_room(struct onnx_model *model, struct onnx_tensor *tensor)
{
    const int64_t n = onnx_elements(tensor);
    if (n > ONNX_VALUE_MAX || model->n_value + (size_t)n > ONNX_VALUE_TOTAL)
        return NULL;
    onnx_number *value = arena_alloc(model->arena, (size_t)n + 1, sizeof *value);
    model->n_value += (size_t)n;
    tensor->value = value;
    return value;
}

/* Little-endian, as raw_data is. */
static bool raw_number(const uint8_t *at, int32_t type, onnx_number *out)
{
    union {
        float real;
        double large;
        int32_t whole;
        int64_t long_whole;
        uint32_t bare;
        uint64_t long_bare;
    } u;
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
        memcpy(&u.real, at, 4);
        return *out = u.real, true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
        memcpy(&u.large, at, 8);
        return *out = u.large, true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
        memcpy(&u.whole, at, 4);
        return *out = u.whole, true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
        memcpy(&u.long_whole, at, 8);
        return *out = u.long_whole, true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
        memcpy(&u.bare, at, 4);
        return *out = u.bare, true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
        memcpy(&u.long_bare, at, 8);
        return *out = u.long_bare, true;
    case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
        return *out = *at != 0, true;
    default:
        return false;
    }
}

static size_t byte_of(int32_t type)
{
    switch (type) {
    case ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT32:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT32:
        return 4;
    case ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE:
    case ONNX__TENSOR_PROTO__DATA_TYPE__INT64:
    case ONNX__TENSOR_PROTO__DATA_TYPE__UINT64:
        return 8;
    case ONNX__TENSOR_PROTO__DATA_TYPE__BOOL:
        return 1;
    default:
        return 0;
    }
}

/* Number i of the fields that hold numbers of this type one by one. */
static bool listed_number(const Onnx__TensorProto *proto, size_t n, size_t i, onnx_number *out)
{
    const int32_t type = proto->data_type;
    if (type == ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT && proto->n_float_data == n)
        return *out = proto->float_data[i], true;
    if (type == ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE && proto->n_double_data == n)
        return *out = proto->double_data[i], true;
    if (type == ONNX__TENSOR_PROTO__DATA_TYPE__INT64 && proto->n_int64_data == n)
        return *out = proto->int64_data[i], true;
    if ((type == ONNX__TENSOR_PROTO__DATA_TYPE__INT32 || type == ONNX__TENSOR_PROTO__DATA_TYPE__BOOL) &&
        proto->n_int32_data == n)
        return *out = proto->int32_data[i], true;
    if ((type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT32 || type == ONNX__TENSOR_PROTO__DATA_TYPE__UINT64) &&
        proto->n_uint64_data == n)
        return *out = proto->uint64_data[i], true;
    return false;
}

void onnx_tensor_values(struct onnx_model *model, const Onnx__TensorProto *proto, struct onnx_tensor *out)
{
    const int64_t n = onnx_elements(out);
    const size_t size = byte_of(proto->data_type);
    onnx_number *value = size > 0 && n <= ONNX_VALUE_MAX ? onnx_value_room(model, out) : NULL;
    bool known = value != NULL;
    const bool raw = proto->has_raw_data && n >= 0 && proto->raw_data.len == (size_t)n * size;
    for (size_t i = 0; known && i < (size_t)n; i++)
        known = raw ? raw_number(proto->raw_data.data + i * size, proto->data_type, &value[i])
                    : listed_number(proto, (size_t)n, i, &value[i]);
    if (!known)
        out->value = NULL;
}
