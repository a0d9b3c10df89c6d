/* Layers as a native network file: names made legal and unique, parts of layers as layers of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/native/network_native.h"
#include "costmodel/onnx/onnx_layers.h"

enum { NAME_MAX_LENGTH = PROBLEM_NAME_MAX - 24 }; /* room for what makes it unique, and for parts */

struct writer {
    struct onnx_model *model;
    struct onnx_network *net;
    struct text_buffer *out;
    struct name_table taken;
    const char **input; /* (n_input) names */
};

/* Letters, digits, _ . / and -; others become _, slashes in front go. */
static void legal_name(const char *from, char *to, size_t size)
{
    size_t n = 0;
    for (; *from == '/' || *from == '.'; from++)
        ;
    for (; *from && n + 1 < size && n < NAME_MAX_LENGTH; from++) {
        const char c = *from;
        const bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '_' || c == '.' || c == '/' || c == '-';
        to[n++] = fine ? c : '_';
    }
    to[n] = '\0';
}

/* A name that no other has: "conv", "conv-2", "conv-3". */
static const char *unique_name(struct writer *w, const char *wanted)
{
    char name[PROBLEM_NAME_MAX];
    size_t last;
    snprintf(name, sizeof name, "%.*s", NAME_MAX_LENGTH + 12, wanted);
    /* how often it was wanted stands beside it, so that many of one name are quick */
    if (name_table_get(&w->taken, name, &last)) {
        size_t number = last, other;
        do
            snprintf(name, sizeof name, "%.*s-%zu", NAME_MAX_LENGTH + 12, wanted, ++number);
        while (name_table_get(&w->taken, name, &other));
        char plain[PROBLEM_NAME_MAX];
        snprintf(plain, sizeof plain, "%.*s", NAME_MAX_LENGTH + 12, wanted);
        const char *key = arena_copy_text(w->model->arena, plain, strlen(plain));
        if (!key || !name_table_put(&w->taken, key, number))
            w->model->arena->failed = true;
    }
    const char *kept = arena_copy_text(w->model->arena, name, strlen(name));
    if (!kept || !name_table_put(&w->taken, kept, 1))
        w->model->arena->failed = true;
    return kept ? kept : "";
}

static void name_layers(struct writer *w)
{
    for (uint32_t i = 0; i < w->net->n_layer; i++) {
        struct onnx_layer *layer = &w->net->layer[i];
        const struct onnx_node *node = layer->node;
        char name[PROBLEM_NAME_MAX], whole[PROBLEM_NAME_MAX];
        legal_name(node->proto->name ? node->proto->name : "", name, sizeof name);
        if (!*name)
            legal_name(node->proto->op_type, name, sizeof name);
        snprintf(whole, sizeof whole, "%s%s", name, layer->suffix ? layer->suffix : "");
        layer->name = unique_name(w, whole);
    }
}

/* ---- one layer ---- */

static void write_number(struct text_buffer *out, const char *key, int64_t value, int64_t missing)
{
    if (value != missing)
        text_append(out, ", %s: %" PRId64, key, value);
}

static void write_pair(struct text_buffer *out, const char *key, const int64_t *value, int64_t missing)
{
    if (value[0] == missing && value[1] == missing)
        return;
    if (value[0] == value[1])
        text_append(out, ", %s: %" PRId64, key, value[0]);
    else
        text_append(out, ", %s: [%" PRId64 ", %" PRId64 "]", key, value[0], value[1]);
}

static void write_pad(struct text_buffer *out, const int64_t *pad)
{
    if (pad[0] == pad[2] && pad[1] == pad[3])
        write_pair(out, "pad", pad, 0);
    else
        text_append(out, ", pad: [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]", pad[0], pad[1],
                    pad[2], pad[3]);
}

static void write_ref(struct writer *w, struct onnx_ref ref)
{
    if (ref.layer < 0)
        text_append(w->out, "%s", w->input[-1 - ref.layer]);
    else if (ref.part < 0)
        text_append(w->out, "\"%s\"", w->net->layer[ref.layer].name);
    else
        text_append(w->out, "\"%s.%" PRId32 "\"", w->net->layer[ref.layer].name, ref.part + 1);
}

static void write_from(struct writer *w, const struct onnx_layer *layer)
{
    text_append(w->out, ", from: %s", layer->n_from == 1 ? "" : "[");
    for (uint32_t i = 0; i < layer->n_from; i++) {
        text_append(w->out, "%s", i ? ", " : "");
        write_ref(w, layer->from[i]);
    }
    text_append(w->out, "%s", layer->n_from == 1 ? "" : "]");
    if (layer->type == LAYER_MATMUL) {
        text_append(w->out, ", weights_from: ");
        write_ref(w, layer->second);
    }
}

static void write_window(struct text_buffer *out, const struct onnx_layer *layer)
{
    write_number(out, "R", layer->r, 1);
    write_number(out, "S", layer->s, 1);
    write_number(out, "H", layer->h, 0);
    write_number(out, "W", layer->w, 0);
    write_pair(out, "stride", layer->stride, 1);
    write_pair(out, "dilation", layer->dilation, 1);
    write_pad(out, layer->pad);
}

static void write_layer(struct writer *w, const struct onnx_layer *layer, const char *name, int64_t k)
{
    struct text_buffer *out = w->out;
    const bool same_k = layer->type == LAYER_POOL || layer->type == LAYER_ADD || layer->type == LAYER_MUL ||
                        layer->type == LAYER_CONCAT || layer->type == LAYER_NORM ||
                        layer->type == LAYER_SOFTMAX || layer->type == LAYER_ACTIVATION ||
                        layer->type == LAYER_UPSAMPLE || layer->type == LAYER_CROP;
    text_append(out, "- {name: \"%s\", type: %s, C: %" PRId64, name, layer_type_text(layer->type), layer->c);
    if (!same_k)
        text_append(out, ", K: %" PRId64, k);
    write_number(out, "P", layer->p, 1);
    write_number(out, "Q", layer->q, 1);
    if (layer->type == LAYER_CONV && layer->r * layer->s == 1 && layer->h == 0)
        write_number(out, "R", layer->r, 0); /* a product of groups */
    else if (layer->type == LAYER_CONV || layer->type == LAYER_CONV_TRANSPOSE || layer->type == LAYER_POOL)
        write_window(out, layer);
    if (layer->type == LAYER_UPSAMPLE)
        text_append(out, ", factor: [%" PRId64 ", %" PRId64 "]", layer->stride[0], layer->stride[1]);
    if (layer->type == LAYER_CROP)
        text_append(out, ", offset: [%" PRId64 ", %" PRId64 "]", layer->pad[0], layer->pad[1]);
    if (layer->type == LAYER_TRANSPOSE)
        text_append(out, ", permute: %s", layer->permute);
    write_number(out, "groups", layer->groups, 1);
    if (w->net->is_graph)
        write_from(w, layer);
    else
        write_number(out, "count", layer->count, 1);
    text_append(out, "}\n");
}

/* The parts, and what of the layer nobody reads. */
static void write_parts(struct writer *w, const struct onnx_layer *layer)
{
    int64_t rest = layer->k;
    char name[PROBLEM_NAME_MAX];
    for (uint32_t i = 0; i < layer->n_part; i++) {
        const int64_t k = layer->k / layer->part[i].extent * (layer->part[i].to - layer->part[i].from);
        snprintf(name, sizeof name, "%.*s.%" PRIu32, PROBLEM_NAME_MAX - 12, layer->name, i + 1);
        write_layer(w, layer, name, k);
        rest -= k;
    }
    snprintf(name, sizeof name, "%.*s.rest", PROBLEM_NAME_MAX - 12, layer->name);
    if (rest > 0)
        write_layer(w, layer, name, rest);
}

/* ---- the file ---- */

static void write_inputs(struct writer *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->model->n_input; i++)
        n += w->net->input[i].is_used;
    text_append(w->out, n == 1 ? "input: " : "inputs:\n");
    for (uint32_t i = 0; i < w->model->n_input; i++) {
        char name[PROBLEM_NAME_MAX];
        const struct onnx_shape_in *input = &w->net->input[i];
        if (!input->is_used)
            continue;
        legal_name(w->model->tensor[w->model->input[i].tensor].name, name, sizeof name);
        const char *unique = unique_name(w, n == 1 ? "input" : *name ? name : "input");
        char quoted[PROBLEM_NAME_MAX + 2];
        snprintf(quoted, sizeof quoted, "\"%s\"", unique);
        w->input[i] = arena_copy_text(w->model->arena, quoted, strlen(quoted));
        if (n > 1)
            text_append(w->out, "  %s: ", quoted);
        text_append(w->out, "{C: %" PRId64 ", H: %" PRId64 ", W: %" PRId64 "}\n", input->c, input->h,
                    input->w);
    }
}

/* In double quotes; it is printable text. */
static void write_reason(struct text_buffer *out, const char *reason)
{
    text_append(out, "kind: layers\nnot_graph: \"");
    for (; *reason; reason++)
        text_append(out, *reason == '"' || *reason == '\\' ? "\\%c" : "%c", *reason);
    text_append(out, "\"\n");
}

static void write_head(struct writer *w)
{
    const struct onnx_model *model = w->model;
    char name[PROBLEM_NAME_MAX], legal[PROBLEM_NAME_MAX];
    legal_name(network_name_of(model->path, name), legal, sizeof legal);
    text_append(w->out, "network: \"%s\"\n", *legal ? legal : "onnx");
    legal_name(model->proto->producer_name ? model->proto->producer_name : "", legal, sizeof legal);
    text_append(w->out, "source: \"ONNX%s%s\"\n", *legal ? " by " : "", legal);
    if (model->batch > 1)
        text_append(w->out, "published_batch: %" PRId64 "\n", model->batch);
    if (!w->net->is_graph)
        write_reason(w->out, w->net->reason);
    if (model->n_free > 0 && !model->options->plain) {
        text_append(w->out, "parameters:\n");
        for (uint32_t i = 0; i < model->n_free; i++) /* the value is given, so it is never the default */
            text_append(w->out, "  %s: {default: %d, from: 1, to: %d}\n", model->free[i].name,
                        model->free[i].value == 1 ? 2 : 1, NETWORK_DIM_MAX);
    }
}

enum dse_status onnx_write(struct onnx_model *model, struct onnx_network *net, struct text_buffer *out,
                           struct dse_error *err)
{
    struct writer w = {.model = model,
                       .net = net,
                       .out = out,
                       .input = arena_alloc(model->arena, model->n_input + 1, sizeof(char *))};
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    name_table_init(&w.taken);
    write_head(&w);
    if (net->is_graph)
        write_inputs(&w);
    name_layers(&w);
    text_append(out, "layers:\n");
    for (uint32_t i = 0; i < net->n_layer; i++) {
        if (net->layer[i].n_part > 0)
            write_parts(&w, &net->layer[i]);
        else
            write_layer(&w, &net->layer[i], net->layer[i].name, net->layer[i].k);
    }
    name_table_free(&w.taken);
    DSE_TRY(arena_check(model->arena, "an ONNX model", err));
    return text_check(out, "an ONNX model", err);
}
