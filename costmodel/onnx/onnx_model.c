/* A model from its bytes: tensors by number, nodes in order, inputs and their free dimensions. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/onnx/onnx_operators.h"
#include "costmodel/onnx/onnx_parts.h"

/* What the library may take for a model: its structs are larger than the bytes they come from. */
enum { UNPACKED_MAX = 1 << 30 };

struct bounded {
    struct arena *arena;
    bool is_full;
};

static void *take(void *user, size_t size)
{
    struct bounded *bounded = user;
    bounded->is_full |= size > UNPACKED_MAX || bounded->arena->used_byte + size > UNPACKED_MAX;
    void *room = bounded->is_full ? NULL : arena_alloc_unset(bounded->arena, 1, size);
    return room;
}

/* With the arena. */
static void leave(void *user, void *room)
{
    (void)user;
    (void)room;
}

static enum dse_status unpack(struct onnx_model *model, const uint8_t *bytes, size_t n_byte,
                              struct dse_error *err)
{
    struct bounded bounded = {model->arena, false};
    ProtobufCAllocator allocator = {take, leave, &bounded};
    model->proto = onnx__model_proto__unpack(&allocator, n_byte, bytes);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    if (!model->proto && bounded.is_full)
        return dse_fail_at(err, DSE_LIMIT, model->path, 0,
                           "the model without its weights needs more than "
                           "1 GiB");
    if (!model->proto)
        return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "no ONNX model: its fields are damaged");
    model->graph = model->proto->graph;
    if (!model->graph)
        return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "the ONNX model has no graph");
    if (model->graph->n_node == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "the graph of the ONNX model has no nodes");
    if (model->graph->n_node > ONNX_NODE_MAX)
        return dse_fail_at(err, DSE_LIMIT, model->path, 0, "%zu nodes; up to %d are supported",
                           model->graph->n_node, ONNX_NODE_MAX);
    if (model->proto->n_opset_import > ONNX_SET_MAX)
        return dse_fail_at(err, DSE_LIMIT, model->path, 0, "%zu operator sets; up to %d are supported",
                           model->proto->n_opset_import, ONNX_SET_MAX);
    if (model->proto->n_opset_import == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0,
                           "the ONNX model does not say the version of its operators (opset_import)");
    return DSE_OK;
}

/* The number of a tensor, which is entered when it is new; -1 for "". */
static int32_t number_of(struct onnx_model *model, const char *name)
{
    size_t index;
    if (!name || !*name)
        return -1;
    if (name_table_get(&model->name, name, &index))
        return (int32_t)index;
    index = model->n_tensor++;
    model->tensor[index] = (struct onnx_tensor){.name = name, .producer = -1, .input = -1};
    if (!name_table_put(&model->name, name, index))
        model->arena->failed = true;
    return (int32_t)index;
}

static enum dse_status number_tensors(struct onnx_model *model, struct dse_error *err)
{
    const Onnx__GraphProto *graph = model->graph;
    size_t most = graph->n_input + graph->n_initializer + graph->n_sparse_initializer;
    for (size_t i = 0; i < graph->n_node; i++)
        most += graph->node[i]->n_input + graph->node[i]->n_output;
    model->tensor = arena_alloc(model->arena, most + 1, sizeof *model->tensor);
    model->node = arena_alloc(model->arena, graph->n_node, sizeof *model->node);
    return arena_check(model->arena, "an ONNX model", err);
}

static enum dse_status read_weights(struct onnx_model *model, const Onnx__TensorProto *proto,
                                    struct dse_error *err)
{
    char shown[96];
    const int32_t number = number_of(model, proto->name);
    if (number < 0)
        return DSE_OK; /* nobody can use it */
    struct onnx_tensor *tensor = &model->tensor[number];
    if (proto->n_dims > ONNX_RANK_MAX)
        return dse_fail_at(err, DSE_LIMIT, model->path, 0,
                           "tensor %s has %zu dimensions; up to %d are "
                           "supported",
                           text_excerpt(proto->name, shown, sizeof shown), proto->n_dims, ONNX_RANK_MAX);
    for (size_t i = 0; i < proto->n_dims; i++)
        if (proto->dims[i] < 0 || proto->dims[i] > ONNX_EXTENT_MAX)
            return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "tensor %s has a dimension of %" PRId64,
                               text_excerpt(proto->name, shown, sizeof shown), proto->dims[i]);
    onnx_set_shape(tensor, (int)proto->n_dims, proto->dims);
    tensor->is_constant = true;
    tensor->is_whole = onnx_type_is_whole(proto->data_type);
    onnx_tensor_values(model, proto, tensor);
    return DSE_OK;
}

static enum dse_status read_all_weights(struct onnx_model *model, struct dse_error *err)
{
    const Onnx__GraphProto *graph = model->graph;
    for (size_t i = 0; i < graph->n_initializer; i++)
        DSE_TRY(read_weights(model, graph->initializer[i], err));
    for (size_t i = 0; i < graph->n_sparse_initializer; i++) {
        const Onnx__SparseTensorProto *sparse = graph->sparse_initializer[i];
        if (!sparse->values)
            continue;
        Onnx__TensorProto whole = *sparse->values; /* as large as the dense one; its numbers are not kept */
        whole.n_dims = sparse->n_dims;
        whole.dims = sparse->dims;
        whole.has_raw_data = 0;
        whole.data_type = 0;
        DSE_TRY(read_weights(model, &whole, err));
    }
    return DSE_OK;
}

static int version_of(const struct onnx_model *model, const char *domain)
{
    for (size_t i = 0; i < model->proto->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *set = model->proto->opset_import[i];
        const char *of = set->domain ? set->domain : "";
        if (strcmp(strcmp(of, "ai.onnx") == 0 ? "" : of, domain) == 0)
            return set->version > INT32_MAX || set->version < 1 ? INT32_MAX : (int)set->version;
    }
    return 1;
}

static enum dse_status read_node(struct onnx_model *model, const Onnx__NodeProto *proto,
                                 struct onnx_node *node, struct dse_error *err)
{
    const char *domain = proto->domain && strcmp(proto->domain, "ai.onnx") != 0 ? proto->domain : "";
    char shown[96];
    if (!proto->op_type || !*proto->op_type)
        return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "a node without an operator");
    int32_t *input = arena_alloc(model->arena, proto->n_input + 1, sizeof *input);
    int32_t *output = arena_alloc(model->arena, proto->n_output + 1, sizeof *output);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    *node = (struct onnx_node){.proto = proto,
                               .op = onnx_operator_find(domain, proto->op_type),
                               .n_input = (uint32_t)proto->n_input,
                               .n_output = (uint32_t)proto->n_output,
                               .input = input,
                               .output = output,
                               .version = version_of(model, domain)};
    if (proto->n_output > ONNX_OUTPUT_MAX)
        return onnx_fail(model, node, err, "%zu outputs; up to %d are supported", proto->n_output,
                         ONNX_OUTPUT_MAX);
    for (size_t i = 0; i < proto->n_input; i++)
        input[i] = number_of(model, proto->input[i]);
    for (size_t i = 0; i < proto->n_output; i++) {
        output[i] = number_of(model, proto->output[i]);
        if (output[i] < 0)
            continue;
        struct onnx_tensor *tensor = &model->tensor[output[i]];
        if (tensor->producer >= 0 || tensor->is_constant)
            return onnx_fail(model, node, err, "tensor %s is made twice",
                             text_excerpt(tensor->name, shown, sizeof shown));
        tensor->producer = (int32_t)(node - model->node);
    }
    return DSE_OK;
}

/* ---- order ---- */

/* Producers first, else as in the file: nodes that wait are released by the last one that they wait for.
 * `first` and `next` are, of every node, the list of those that read it. */
static enum dse_status sort_nodes(struct onnx_model *model, struct dse_error *err)
{
    const uint32_t n = model->n_node;
    size_t n_edge = 0;
    for (uint32_t i = 0; i < n; i++)
        n_edge += model->node[i].n_input;
    uint32_t *waits = arena_alloc(model->arena, n, sizeof *waits);
    size_t *first = arena_alloc(model->arena, n, sizeof *first);
    size_t *next = arena_alloc(model->arena, n_edge + 1, sizeof *next);
    uint32_t *user = arena_alloc(model->arena, n_edge + 1, sizeof *user);
    uint32_t *order = arena_alloc(model->arena, n, sizeof *order);
    struct onnx_node *sorted = arena_alloc(model->arena, n, sizeof *sorted);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    size_t edge = 0;
    bool in_order = true;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < model->node[i].n_input; k++) {
            const int32_t tensor = model->node[i].input[k];
            const int32_t from = tensor < 0 ? -1 : model->tensor[tensor].producer;
            if (from < 0)
                continue;
            in_order &= from < (int32_t)i;
            user[++edge] = i; /* edge 0: end of a list */
            next[edge] = first[from];
            first[from] = edge;
            waits[i]++;
        }
    if (in_order)
        return DSE_OK;
    uint32_t n_done = 0;
    for (uint32_t i = 0; i < n; i++)
        if (waits[i] == 0)
            order[n_done++] = i;
    for (uint32_t at = 0; at < n_done; at++)
        for (size_t e = first[order[at]]; e; e = next[e])
            if (--waits[user[e]] == 0)
                order[n_done++] = user[e];
    for (uint32_t i = 0; n_done < n && i < n; i++)
        if (waits[i] > 0)
            return onnx_fail(model, &model->node[i], err, "it needs its own result: the graph has a cycle");
    for (uint32_t i = 0; i < n; i++) {
        sorted[i] = model->node[order[i]];
        for (uint32_t k = 0; k < sorted[i].n_output; k++)
            if (sorted[i].output[k] >= 0)
                model->tensor[sorted[i].output[k]].producer = (int32_t)i;
    }
    model->node = sorted;
    return DSE_OK;
}

/* ---- inputs ---- */

static const Onnx__TensorShapeProto *shape_of(const Onnx__ValueInfoProto *info)
{
    return info && info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
                   info->type->tensor_type
               ? info->type->tensor_type->shape
               : NULL;
}

static bool info_is_whole(const Onnx__ValueInfoProto *info)
{
    return info && info->type && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
           info->type->tensor_type && onnx_type_is_whole(info->type->tensor_type->elem_type);
}

static bool is_free(const Onnx__TensorShapeProto__Dimension *dim)
{
    return dim->value_case != ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE || dim->dim_value <= 0;
}

static bool has_free(const Onnx__TensorShapeProto *shape)
{
    for (size_t i = 0; shape && i < shape->n_dim; i++)
        if (is_free(shape->dim[i]))
            return true;
    return !shape;
}

/* An export without parameters has them as inputs: in a model without any weights of its own every input of
 * real numbers behind the first whose shape is fixed is one. */
static bool is_weight(const struct onnx_model *model, const Onnx__ValueInfoProto *info)
{
    const char *producer = model->proto->producer_name;
    return model->graph->n_initializer == 0 && model->n_input > 0 && producer &&
           strcmp(producer, "pytorch") == 0 && !info_is_whole(info) && !has_free(shape_of(info));
}

static enum dse_status read_inputs(struct onnx_model *model, struct dse_error *err)
{
    const Onnx__GraphProto *graph = model->graph;
    model->input = arena_alloc(model->arena, graph->n_input + 1, sizeof *model->input);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    for (size_t i = 0; i < graph->n_input; i++) {
        const int32_t number = number_of(model, graph->input[i]->name);
        if (number < 0)
            continue;
        struct onnx_tensor *tensor = &model->tensor[number];
        const Onnx__TensorShapeProto *shape = shape_of(graph->input[i]);
        char shown[96];
        tensor->info = graph->input[i];
        if (tensor->is_constant || tensor->input >= 0)
            continue;
        if (tensor->producer >= 0)
            return onnx_fail(model, &model->node[tensor->producer], err, "it makes an input of the graph");
        tensor->is_whole = info_is_whole(graph->input[i]);
        if (!shape || shape->n_dim > ONNX_RANK_MAX)
            return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0,
                               "input %s has no shape, or more than %d dimensions",
                               text_excerpt(tensor->name, shown, sizeof shown), ONNX_RANK_MAX);
        tensor->is_constant = is_weight(model, graph->input[i]);
        if (tensor->is_constant)
            for (size_t d = 0; d < shape->n_dim; d++)
                tensor->dim[d] =
                    shape->dim[d]->dim_value < ONNX_EXTENT_MAX ? shape->dim[d]->dim_value : ONNX_EXTENT_MAX;
        tensor->has_shape = tensor->is_constant;
        tensor->rank = (int)shape->n_dim;
        if (!tensor->is_constant) {
            tensor->input = (int32_t)model->n_input;
            model->input[model->n_input++].tensor = number;
        }
    }
    for (size_t i = 0; i < graph->n_value_info + graph->n_output; i++) {
        const Onnx__ValueInfoProto *info =
            i < graph->n_value_info ? graph->value_info[i] : graph->output[i - graph->n_value_info];
        size_t index;
        if (info->name && name_table_get(&model->name, info->name, &index) && !model->tensor[index].info)
            model->tensor[index].info = info;
    }
    return model->n_input > 0
               ? DSE_OK
               : dse_fail_at(err, DSE_BAD_INPUT, model->path, 0, "the graph of the ONNX model has no input");
}

enum dse_status onnx_model_read(struct onnx_model *model, const uint8_t *bytes, size_t n_byte,
                                struct dse_error *err)
{
    name_table_init(&model->name);
    DSE_TRY(unpack(model, bytes, n_byte, err));
    DSE_TRY(number_tensors(model, err));
    DSE_TRY(read_all_weights(model, err));
    for (size_t i = 0; i < model->graph->n_node; i++) {
        DSE_TRY(read_node(model, model->graph->node[i], &model->node[i], err));
        model->n_node++;
    }
    DSE_TRY(sort_nodes(model, err));
    DSE_TRY(read_inputs(model, err));
    return arena_check(model->arena, "an ONNX model", err);
}

void onnx_model_free(struct onnx_model *model)
{
    name_table_free(&model->name);
}

/* ---- free dimensions ---- */

/* Letters, digits and _, as parameters have. */
static const char *parameter_name(struct onnx_model *model, const char *symbol)
{
    char *name = arena_copy_text(model->arena, symbol, strnlen(symbol, 40));
    for (char *at = name; at && *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9')))
            *at = '_';
    if (name && *name >= '0' && *name <= '9')
        *name = '_';
    return name ? name : "";
}

static enum dse_status value_of(const struct onnx_model *model, const char *name, int64_t *value,
                                struct dse_error *err)
{
    const struct network_settings *settings = model->options->settings;
    for (size_t i = 0; settings && i < settings->n; i++) {
        const struct network_set *set = &settings->set[i];
        uint64_t number;
        char shown[64];
        if (strcmp(set->name, name) != 0)
            continue;
        if (!text_parse_u64(set->value, &number) || number < 1 || number > NETWORK_DIM_MAX)
            return dse_fail_at(err, DSE_BAD_INPUT, set->file ? set->file : "", set->line,
                               "network.%s: a whole number from 1 to %d is expected, not %s", name,
                               NETWORK_DIM_MAX, text_excerpt(set->value, shown, sizeof shown));
        *value = (int64_t)number;
    }
    return DSE_OK;
}

static enum dse_status free_dimension(struct onnx_model *model, const char *symbol, int64_t *value,
                                      struct dse_error *err)
{
    const char *name = parameter_name(model, symbol);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    for (uint32_t i = 0; i < model->n_free; i++)
        if (strcmp(model->free[i].symbol, symbol) == 0)
            return *value = model->free[i].value, DSE_OK;
    for (uint32_t i = 0; i < model->n_free; i++)
        if (strcmp(model->free[i].name, name) == 0)
            return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0,
                               "two free dimensions of different names would both be called %s", name);
    if (model->n_free == ONNX_FREE_MAX)
        return dse_fail_at(err, DSE_LIMIT, model->path, 0, "more than %d free dimensions", ONNX_FREE_MAX);
    struct onnx_free *dimension = &model->free[model->n_free++];
    *dimension = (struct onnx_free){name, symbol, 0};
    DSE_TRY(value_of(model, name, &dimension->value, err));
    *value = dimension->value;
    return DSE_OK;
}

/* Inputs that a recurrent layer reads with the steps in front. */
static void mark_steps(struct onnx_model *model)
{
    for (uint32_t i = 0; i < model->n_node; i++) {
        const struct onnx_node *node = &model->node[i];
        if (node->op && node->op->kind == ONNX_RECURRENT && onnx_in(model, node, 0) &&
            onnx_int(node, "layout", 0) == 0)
            model->tensor[node->input[0]].is_steps = true;
    }
}

/* Which dimension of an input is the batch: the first, or behind the steps; -1: it has one dimension only. */
static int batch_dimension(const struct onnx_tensor *tensor)
{
    return tensor->is_steps && tensor->rank == 3 ? 1 : tensor->rank > 1 ? 0 : -1;
}

/* Dimension d of an input whose batch is dimension `b`, which `batch` names in the first input. */
static enum dse_status input_dimension(struct onnx_model *model, const struct onnx_tensor *tensor, int d,
                                       int b, const char *batch, int64_t *value, struct dse_error *err)
{
    const Onnx__TensorShapeProto__Dimension *dim = shape_of(tensor->info)->dim[d];
    const bool named = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
                       dim->dim_param && *dim->dim_param;
    char symbol[128];
    if (!is_free(dim) && dim->dim_value > NETWORK_DIM_MAX)
        return dse_fail_at(err, DSE_LIMIT, model->path, 0,
                           "dimension %d of an input is %" PRId64 "; up to %d is supported", d,
                           dim->dim_value, NETWORK_DIM_MAX);
    if (!is_free(dim)) {
        *value = dim->dim_value;
        return DSE_OK;
    }
    *value = 1;
    if (d == b || (named && batch && strcmp(dim->dim_param, batch) == 0))
        return DSE_OK;
    snprintf(symbol, sizeof symbol, "%.80s_%d", tensor->name, d);
    const char *kept = named ? dim->dim_param : arena_copy_text(model->arena, symbol, strlen(symbol));
    return kept ? free_dimension(model, kept, value, err) : DSE_OK;
}

static enum dse_status check_free(const struct onnx_model *model, struct dse_error *err)
{
    char list[400] = "";
    size_t n = 0, used = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < model->n_free; i++)
        if (model->free[i].value == 0 && used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", n++ ? ", " : "",
                                     model->free[i].name);
            first = first ? first : model->free[i].name;
        }
    if (n == 0)
        return DSE_OK;
    return dse_fail_at(err, DSE_BAD_INPUT, model->path, 0,
                       "%zu free dimension%s without a value: %s; give %s by --set network.%s=128, or in a "
                       "sweep as axis network.%s",
                       n, text_plural(n), list, n == 1 ? "it" : "them", first, first);
}

/* The name of a free dimension, or NULL. */
static const char *name_of(const Onnx__TensorShapeProto *shape, int d)
{
    const bool named =
        d >= 0 && shape->dim[d]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    return named ? shape->dim[d]->dim_param : NULL;
}

enum dse_status onnx_model_inputs(struct onnx_model *model, struct dse_error *err)
{
    const char *batch = NULL;
    mark_steps(model);
    for (uint32_t i = 0; i < model->n_input; i++) {
        struct onnx_tensor *tensor = &model->tensor[model->input[i].tensor];
        const int b = batch_dimension(tensor);
        if (i == 0)
            batch = name_of(shape_of(tensor->info), b);
        for (int d = 0; d < tensor->rank; d++)
            DSE_TRY(input_dimension(model, tensor, d, b, batch, &tensor->dim[d], err));
        tensor->has_shape = true;
        if (i == 0)
            model->batch = b >= 0 ? tensor->dim[b] : 1;
        model->input[i].has_batch = b == 0 && tensor->dim[0] == model->batch;
    }
    return check_free(model, err);
}
