/* Lists of layers as graphs: occurrences one after the other, operands from outside, batches that differ. */
#include "costmodel/model/network_graph.h"

#include <stdio.h>
#include <string.h>

#include "base/name_table.h"
#include "costmodel/model/divisor.h"

/* Counts are kept in doubles in places (problem.h). */
#define EXACT_COUNT_MAX 9007199254740992.0 /* 2^53 */

/* What the graph is made from. */
struct maker {
    const struct network *list;
    struct arena *arena; /* of the graph */
    struct network *graph;
    struct layer *shape; /* (list->n_layer) for one sample, without name and producers */
    uint32_t *samples;   /* (list->n_layer) */
    struct layer *layer; /* those of the graph, as inputs and order */
    struct network_input *input;
    uint32_t *order;
    struct name_table name; /* of layers */
};

static enum dse_status fail(const struct maker *m, enum dse_status status, const struct layer *layer,
                            struct dse_error *err, const char *why)
{
    return dse_fail_at(err, status, m->list->path, layer->line, "network %s: %s", m->list->name, why);
}

/* ---- one layer for so many samples ---- */

static enum dse_status find_shape(const struct maker *m, uint32_t l, uint32_t batch, struct dse_error *err)
{
    const struct layer *from = &m->list->layer[l];
    struct layer *to = &m->shape[l];
    *to = *from;
    to->count = 1;
    to->batch = 0;
    m->samples[l] = batch ? batch : from->batch ? from->batch : 1;
    if (from->type != LAYER_EINSUM)
        return DSE_OK;
    struct problem problem;
    struct dse_error why = {0};
    enum dse_status status = layer_problem(from, batch, &problem, &why);
    if (status == DSE_OK)
        status = layer_of_einsum(&problem, to, &m->samples[l], &why);
    return status == DSE_OK ? DSE_OK : fail(m, status, from, err, why.text);
}

static bool multiply(uint32_t *product, uint32_t by)
{
    if ((uint64_t)*product * by > NETWORK_DIM_MAX)
        return false;
    *product *= by;
    return true;
}

static bool is_pointwise(const struct layer *layer)
{
    bool plain = layer->r == 1 && layer->s == 1 && layer->stride[0] == 1 && layer->stride[1] == 1;
    for (int i = 0; i < 4; i++)
        plain = plain && layer->pad[i] == 0;
    return plain;
}

/* Whether rows of the layer do not know of each other. */
static bool has_free_rows(const struct layer *layer)
{
    switch (layer->type) {
    case LAYER_CONV:
    case LAYER_POOL:
        return is_pointwise(layer);
    case LAYER_LINEAR:
    case LAYER_ADD:
    case LAYER_MUL:
    case LAYER_CONCAT:
    case LAYER_NORM:
    case LAYER_SOFTMAX:
    case LAYER_ACTIVATION:
    case LAYER_EMBEDDING:
    case LAYER_UPSAMPLE:
        return true;
    default:
        return false;
    }
}

/* `n` samples of it as one. */
static enum dse_status fold(const struct maker *m, struct layer *layer, uint32_t n, struct dse_error *err)
{
    bool fits;
    if (n == 1)
        return DSE_OK;
    if (layer->type == LAYER_MATMUL) /* each sample has a second operand of its own, as each group */
        fits = multiply(&layer->groups, n) && multiply(&layer->c, n) && multiply(&layer->k, n);
    else if (has_free_rows(layer))
        fits = multiply(&layer->p, n) && multiply(&layer->h, n);
    else
        return dse_fail_at(err, DSE_BAD_INPUT, m->list->path, layer->line,
                           "network %s: its layers have batches that differ, and %u samples of layer %s (%s) "
                           "are not one larger layer; give one batch for all (-b, batch)",
                           m->list->name, n, layer->name, layer_type_text(layer->type));
    if (!fits)
        return dse_fail_at(err, DSE_LIMIT, m->list->path, layer->line,
                           "network %s: %u samples of layer %s as one have a dimension above %d",
                           m->list->name, n, layer->name, NETWORK_DIM_MAX);
    return DSE_OK;
}

static enum dse_status find_shapes(struct maker *m, uint32_t batch, uint32_t *graph_batch,
                                   struct dse_error *err)
{
    *graph_batch = 0;
    for (uint32_t l = 0; l < m->list->n_layer; l++) {
        DSE_TRY(find_shape(m, l, batch, err));
        *graph_batch = (uint32_t)greatest_common_divisor(m->samples[l], *graph_batch);
    }
    for (uint32_t l = 0; l < m->list->n_layer; l++)
        DSE_TRY(fold(m, &m->shape[l], m->samples[l] / *graph_batch, err));
    if (*graph_batch == 0)
        *graph_batch = 1;
    return DSE_OK;
}

/* ---- the graph ---- */

static uint32_t n_operand(const struct layer *layer)
{
    const bool sums = layer->type == LAYER_ADD || layer->type == LAYER_MUL;
    return !sums ? 1 : layer->n_operand > 2 ? layer->n_operand : 2;
}

static enum dse_status count(const struct maker *m, uint32_t *n_layer, size_t *n_input, struct dse_error *err)
{
    uint64_t n = 0;
    *n_input = 0;
    for (uint32_t l = 0; l < m->list->n_layer; l++) {
        n += m->list->layer[l].count;
        if (n > NETWORK_LAYER_MAX)
            return dse_fail_at(err, DSE_LIMIT, m->list->path, m->list->layer[l].line,
                               "network %s: with all occurrences (count) up to layer %s it has %llu layers, "
                               "and a graph at most %d; give smaller counts",
                               m->list->name, m->list->layer[l].name, (unsigned long long)n,
                               NETWORK_LAYER_MAX);
        *n_input +=
            (size_t)m->list->layer[l].count * (n_operand(&m->shape[l]) + (m->shape[l].type == LAYER_MATMUL));
    }
    *n_layer = (uint32_t)n;
    return DSE_OK;
}

/* Of occurrence `i`, from 0; `tail` is that of an input. */
static enum dse_status make_name(const struct maker *m, const struct layer *of, const char *name, uint32_t i,
                                 const char *tail, const char **out, struct dse_error *err)
{
    char text[PROBLEM_NAME_MAX];
    const int n = i ? snprintf(text, sizeof text, "%s-%u%s", name, i + 1, tail)
                    : snprintf(text, sizeof text, "%s%s", name, tail);
    if (n < 0 || (size_t)n >= sizeof text)
        return dse_fail_at(err, DSE_LIMIT, m->list->path, of->line,
                           "network %s: layer %s as part of a graph needs a name of up to %d characters",
                           m->list->name, of->name, PROBLEM_NAME_MAX - 1);
    *out = arena_copy_text(m->arena, text, (size_t)n);
    return *out ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory for network %s", m->list->name);
}

/* The i-th occurrence of a layer; a name that another layer has goes on to the next number. */
static enum dse_status name_layer(struct maker *m, const struct layer *of, uint32_t *number, bool first,
                                  const char **name, struct dse_error *err)
{
    size_t other;
    for (;; (*number)++) {
        DSE_TRY(make_name(m, of, of->name, *number, "", name, err));
        if (first || !name_table_get(&m->name, *name, &other))
            break;
    }
    return DSE_OK;
}

/* Number `number` of a layer's inputs, from 0. */
static enum dse_status add_input(struct maker *m, const struct layer *layer, const char *tail,
                                 uint32_t number, const struct network_input *shape, int32_t *producer,
                                 struct dse_error *err)
{
    struct network_input *input = &m->input[m->graph->n_input];
    char text[16];
    (void)(number ? snprintf(text, sizeof text, "%s%u", tail, number + 1)
                  : snprintf(text, sizeof text, "%s", tail));
    *input = *shape;
    DSE_TRY(make_name(m, layer, layer->name, 0, text, &input->name, err));
    *producer = -1 - (int32_t)m->graph->n_input++;
    return DSE_OK;
}

static enum dse_status add_inputs(struct maker *m, struct layer *layer, struct dse_error *err)
{
    const struct network_input shape = {
        .c = layer->type == LAYER_EMBEDDING ? 1 : layer->c, .h = layer->h, .w = layer->w};
    const struct network_input second = {
        .c = layer->k / (layer->share ? layer->share : 1), .h = layer->c / layer->groups, .w = 1};
    const uint32_t n = n_operand(layer);
    int32_t *producer = arena_alloc(m->arena, n, sizeof *producer);
    DSE_TRY(arena_check(m->arena, "a network", err));
    for (uint32_t i = 0; i < n; i++)
        DSE_TRY(add_input(m, layer, ".in", i, &shape, &producer[i], err));
    layer->n_producer = layer->n_operand = n;
    layer->producer = producer;
    layer->weight_producer = LAYER_NO_PRODUCER;
    return layer->type == LAYER_MATMUL
               ? add_input(m, layer, ".second", 0, &second, &layer->weight_producer, err)
               : DSE_OK;
}

/* What the folding of samples may have made too large. */
static enum dse_status check_size(const struct maker *m, const struct layer *layer, struct dse_error *err)
{
    const double in = (double)layer->c * layer->h * layer->w * layer->n_operand;
    const double out = (double)layer->k * layer->p * layer->q;
    if (in >= EXACT_COUNT_MAX || out >= EXACT_COUNT_MAX)
        return dse_fail_at(err, DSE_LIMIT, m->list->path, layer->line,
                           "layer %s: 2^53 words of input or output and more", layer->name);
    if (!layer_has_macs(layer))
        return DSE_OK;
    struct problem problem;
    struct dse_error why = {0};
    enum dse_status status = layer_problem(layer, 1, &problem, &why);
    return status == DSE_OK ? DSE_OK : fail(m, status, layer, err, why.text);
}

static enum dse_status add_layers(struct maker *m, struct dse_error *err)
{
    uint32_t n = 0;
    for (uint32_t l = 0; l < m->list->n_layer; l++)
        if (!name_table_put(&m->name, m->list->layer[l].name, l))
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for network %s", m->list->name);
    for (uint32_t l = 0; l < m->list->n_layer; l++) {
        const struct layer *of = &m->list->layer[l];
        for (uint32_t i = 0, number = 0; i < of->count; i++, number++, n++) {
            struct layer *layer = &m->layer[n];
            *layer = m->shape[l];
            m->order[n] = n;
            DSE_TRY(name_layer(m, of, &number, i == 0, &layer->name, err));
            DSE_TRY(add_inputs(m, layer, err));
            if (i == 0)
                DSE_TRY(check_size(m, layer, err));
        }
    }
    return DSE_OK;
}

/* Where the layers of joined lists are now. */
static enum dse_status add_parts(const struct maker *m, struct dse_error *err)
{
    const struct network *list = m->list;
    struct network *graph = m->graph;
    struct network_part *part = arena_alloc(m->arena, list->n_part, sizeof *part);
    for (uint32_t i = 0, at = 0, l = 0; part && i < list->n_part; i++) {
        part[i] = list->part[i];
        part[i].name = arena_copy_text(m->arena, part[i].name, strlen(part[i].name));
        part[i].first_layer = at;
        for (; l < list->part[i].first_layer + list->part[i].n_layer; l++)
            at += list->layer[l].count;
        part[i].n_layer = at - part[i].first_layer;
    }
    graph->n_part = list->n_part;
    graph->part = part;
    return arena_check(m->arena, "a network", err);
}

static enum dse_status make_graph(struct maker *m, struct dse_error *err)
{
    const struct network *list = m->list;
    struct network *graph = m->graph;
    struct arena *arena = m->arena;
    size_t n_input;
    DSE_TRY(count(m, &graph->n_layer, &n_input, err));
    graph->is_graph = true;
    graph->published_batch = list->published_batch;
    graph->name = arena_copy_text(arena, list->name, strlen(list->name));
    graph->title = arena_copy_text(arena, list->title, strlen(list->title));
    graph->source = arena_copy_text(arena, list->source, strlen(list->source));
    graph->path = arena_copy_text(arena, list->path, strlen(list->path));
    graph->layer = m->layer = arena_alloc(arena, graph->n_layer, sizeof *m->layer);
    graph->input = m->input = arena_alloc(arena, n_input, sizeof *m->input);
    graph->order = m->order = arena_alloc(arena, graph->n_layer, sizeof *m->order);
    DSE_TRY(arena_check(arena, "a network", err));
    DSE_TRY(add_layers(m, err));
    return add_parts(m, err);
}

enum dse_status network_as_graph(const struct network *list, uint32_t batch, struct arena *arena,
                                 struct network *graph, uint32_t *graph_batch, struct dse_error *err)
{
    *graph = (struct network){.name = ""};
    if (list->is_graph)
        return dse_fail(err, DSE_BAD_USAGE, "network %s is a graph", list->name);
    if (list->not_graph && *list->not_graph)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s is a list of layers, which mappers take and fused schedulers do not: %s",
                        list->name, list->not_graph);
    struct arena scratch;
    arena_init(&scratch);
    struct maker m = {.list = list, .arena = arena, .graph = graph};
    name_table_init(&m.name);
    m.shape = arena_alloc(&scratch, list->n_layer, sizeof *m.shape);
    m.samples = arena_alloc(&scratch, list->n_layer, sizeof *m.samples);
    enum dse_status status = arena_check(&scratch, "a network", err);
    if (status == DSE_OK)
        status = find_shapes(&m, batch, graph_batch, err);
    if (status == DSE_OK)
        status = make_graph(&m, err);
    name_table_free(&m.name);
    arena_free(&scratch);
    return status;
}
