/* Follows each layer's inputs back through what is fused, in the network's order, so that every layer has its
 * sources ready when a reader asks. */
#include "costmodel/uop/uop_network.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum { SOURCE_MAX = 1 << 24 };

/* Of every layer of the network what its output is made of: for a layer with MACs itself. */
struct builder {
    const struct network *network;
    enum uop_vector vector;
    uint32_t n_mac_all;        /* layers with MACs that there will be */
    uint32_t n_mac, n_vector;  /* layers so far */
    struct uop_layer *layer;   /* (n_layer of the network) those with MACs, then the others */
    uint32_t *order;           /* (n_layer of the network) */
    struct uop_source *source; /* (n_source) grown; by layer of the network */
    struct uop_pool *pool;     /* (n_pool) grown */
    size_t n_source, source_capacity, n_pool, pool_capacity;
    size_t *first; /* (n_layer) into source: what the layer's output is made of */
    size_t *count; /* (n_layer) */
};

struct uop_range uop_slide_range(const struct uop_slide *slide, struct uop_range out)
{
    const int64_t first = (int64_t)out.first * slide->step - slide->pad;
    const int64_t end = ((int64_t)out.end - 1) * slide->step - slide->pad + slide->extent;
    struct uop_range in = {first > 0 ? (uint32_t)first : 0,
                           end < (int64_t)slide->size ? (uint32_t)(end > 0 ? end : 0) : slide->size};
    if (out.first >= out.end || in.first > in.end)
        in = (struct uop_range){0, 0};
    return in;
}

const char *const uop_vector_name[2] = {"fused", "uops"};

/* Pools, sums and products of maps. */
static bool is_vector(enum layer_type type)
{
    return type == LAYER_POOL || type == LAYER_ADD || type == LAYER_MUL;
}

static bool is_fused(enum layer_type type)
{
    return is_vector(type) || type == LAYER_CONCAT || type == LAYER_NORM || type == LAYER_ACTIVATION;
}

static enum dse_status check_layer(const struct layer *layer, struct dse_error *err)
{
    static const char *const can = "; uops are convolutions and fully connected layers";
    const bool has_macs = layer->type == LAYER_CONV || layer->type == LAYER_LINEAR;
    if (!has_macs && !is_fused(layer->type))
        return dse_fail(err, DSE_BAD_USAGE, "layer %s, %s, can be no uops%s", layer->name,
                        layer_type_text(layer->type), can);
    if (has_macs && layer->groups > 1)
        return dse_fail(err, DSE_BAD_USAGE, "layer %s has %u groups of channels and can be no uops%s",
                        layer->name, layer->groups, can);
    if (layer->type == LAYER_POOL && (uint64_t)layer->r * layer->s > UINT32_MAX)
        return dse_fail(err, DSE_LIMIT, "layer %s has a window of more than 2^32 values", layer->name);
    return DSE_OK;
}

static enum dse_status add_source(struct builder *b, struct uop_source source, size_t first,
                                  struct dse_error *err)
{
    for (size_t i = first; i < b->n_source; i++)
        if (memcmp(&b->source[i], &source, sizeof source) == 0)
            return DSE_OK;
    if (b->n_source == SOURCE_MAX)
        return dse_fail(err, DSE_LIMIT, "network %s: its layers read more than 2^24 maps", b->network->name);
    struct uop_source *grown = array_grow(b->source, b->n_source + 1, &b->source_capacity, sizeof *b->source);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for what layers read");
    b->source = grown;
    b->source[b->n_source++] = source;
    return DSE_OK;
}

static void pool_window(const struct layer *layer, struct uop_slide *v, struct uop_slide *h)
{
    *v = (struct uop_slide){layer->h, layer->stride[0], layer->pad[0], layer->r};
    *h = (struct uop_slide){layer->w, layer->stride[1], layer->pad[1], layer->s};
}

static enum dse_status add_pool(struct builder *b, const struct layer *layer, int32_t next, int32_t *place,
                                struct dse_error *err)
{
    struct uop_pool pool = {.next = next};
    pool_window(layer, &pool.v, &pool.h);
    struct uop_pool *grown = array_grow(b->pool, b->n_pool + 1, &b->pool_capacity, sizeof *b->pool);
    if (!grown)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for pools between layers");
    b->pool = grown;
    *place = (int32_t)b->n_pool;
    b->pool[b->n_pool++] = pool;
    return DSE_OK;
}

static uint32_t channels_of(const struct network *network, int32_t producer)
{
    return producer < 0 ? network->input[-1 - producer].c : network->layer[producer].k;
}

/* What one producer brings, from `channel` of the input on. */
static enum dse_status add_producer(struct builder *b, int32_t producer, uint32_t channel, size_t first,
                                    struct dse_error *err)
{
    if (producer < 0)
        return add_source(b, (struct uop_source){producer, channel, -1}, first, err);
    for (size_t i = 0; i < b->count[producer]; i++) {
        struct uop_source source = b->source[b->first[producer] + i];
        source.channel += channel;
        DSE_TRY(add_source(b, source, first, err));
    }
    return DSE_OK;
}

/* The input of a layer: its producers side by side until they fill it, then the next operand. */
static enum dse_status add_input(struct builder *b, const struct layer *layer, uint32_t channels,
                                 struct dse_error *err)
{
    const size_t first = b->n_source;
    uint32_t channel = 0;
    for (uint32_t i = 0; i < layer->n_producer; i++) {
        DSE_TRY(add_producer(b, layer->producer[i], channel, first, err));
        channel += channels_of(b->network, layer->producer[i]);
        if (channel >= channels)
            channel = 0;
    }
    return DSE_OK;
}

/* The same map behind a pool. */
static enum dse_status pool_input(struct builder *b, const struct layer *layer, size_t first,
                                  struct dse_error *err)
{
    for (size_t i = first; i < b->n_source; i++) {
        const int32_t below = b->source[i].pool;
        int32_t place = -1;
        for (size_t k = first; k < i; k++) /* chains that are equal stay equal */
            if (b->pool[b->source[k].pool].next == below)
                place = b->source[k].pool;
        if (place < 0)
            DSE_TRY(add_pool(b, layer, below, &place, err));
        b->source[i].pool = place;
    }
    return DSE_OK;
}

/* A fully connected layer behind a map of several pixels has it as its window. */
static void flatten(const struct network *network, const struct layer *layer, struct kc_tile *whole,
                    struct uop_slide *v, struct uop_slide *h)
{
    const int32_t producer = layer->n_producer ? layer->producer[0] : -1;
    const uint32_t rows = producer < 0 ? network->input[-1 - producer].h : network->layer[producer].p;
    const uint32_t columns = producer < 0 ? network->input[-1 - producer].w : network->layer[producer].q;
    if (layer->type != LAYER_LINEAR || (rows == layer->p && columns == layer->q) ||
        layer->c % (rows * columns))
        return;
    whole->r = rows;
    whole->s = columns;
    whole->c = layer->c / (rows * columns);
    *v = (struct uop_slide){rows, 1, 0, rows};
    *h = (struct uop_slide){columns, 1, 0, columns};
}

static struct uop_layer layer_of(const struct network *network, uint32_t l)
{
    const struct layer *layer = &network->layer[l];
    const bool is_conv = layer->type == LAYER_CONV;
    struct uop_layer made = {
        .of = l,
        .whole = {.r = is_conv ? layer->r : 1,
                  .s = is_conv ? layer->s : 1,
                  .stride_v = is_conv ? layer->stride[0] : 1,
                  .stride_h = is_conv ? layer->stride[1] : 1,
                  .p = layer->p,
                  .q = layer->q,
                  .c = layer->c,
                  .k = layer->k},
        .v = {layer->p, 1, 0, 1},
        .h = {layer->q, 1, 0, 1},
    };
    if (is_conv) {
        made.v = (struct uop_slide){layer->h, layer->stride[0], layer->pad[0],
                                    (layer->r - 1) * layer->dilation[0] + 1};
        made.h = (struct uop_slide){layer->w, layer->stride[1], layer->pad[1],
                                    (layer->s - 1) * layer->dilation[1] + 1};
    }
    flatten(network, layer, &made.whole, &made.v, &made.h);
    return made;
}

/* A pool or sum as a layer. */
static struct uop_layer vector_of(const struct network *network, uint32_t l)
{
    const struct layer *layer = &network->layer[l];
    const bool is_pool = layer->type == LAYER_POOL;
    struct uop_layer made = {
        .of = l,
        .whole = {.r = is_pool ? layer->r : 1,
                  .s = is_pool ? layer->s : 1,
                  .stride_v = is_pool ? layer->stride[0] : 1,
                  .stride_h = is_pool ? layer->stride[1] : 1,
                  .p = layer->p,
                  .q = layer->q,
                  .c = 1,
                  .k = layer->k},
        .v = {layer->p, 1, 0, 1},
        .h = {layer->q, 1, 0, 1},
        .n_operation = is_pool ? layer->r * layer->s : layer->n_operand - 1,
        .n_read = is_pool ? layer->r * layer->s : layer->n_operand,
    };
    if (is_pool)
        pool_window(layer, &made.v, &made.h);
    return made;
}

/* What the layer's output is made of, and the layer itself if uops run it. */
static enum dse_status follow(struct builder *b, uint32_t l, struct dse_error *err)
{
    const struct layer *layer = &b->network->layer[l];
    const size_t first = b->n_source;
    const bool by_uops = b->vector == UOP_VECTOR && is_vector(layer->type);
    DSE_TRY(check_layer(layer, err));
    b->first[l] = first;
    if (is_fused(layer->type) && !by_uops) {
        DSE_TRY(add_input(b, layer, layer->c, err));
        if (layer->type == LAYER_POOL)
            DSE_TRY(pool_input(b, layer, first, err));
        b->count[l] = b->n_source - first;
        return DSE_OK;
    }
    const uint32_t number = by_uops ? b->n_mac_all + b->n_vector++ : b->n_mac++;
    struct uop_layer *mine = &b->layer[number];
    *mine = by_uops ? vector_of(b->network, l) : layer_of(b->network, l);
    b->order[b->n_mac + b->n_vector - 1] = number;
    DSE_TRY(add_input(b, layer, by_uops ? layer->c : mine->whole.c, err));
    mine->first_source = (uint32_t)first;
    mine->n_source = (uint32_t)(b->n_source - first);
    b->first[l] = b->n_source;
    DSE_TRY(add_source(b, (struct uop_source){(int32_t)number, 0, -1}, b->n_source, err));
    b->count[l] = 1;
    return DSE_OK;
}

static enum dse_status build(struct builder *b, struct arena *arena, struct uop_network *out,
                             struct dse_error *err)
{
    const struct network *network = b->network;
    b->layer = arena_alloc(arena, network->n_layer, sizeof *b->layer);
    b->order = arena_alloc(arena, network->n_layer, sizeof *b->order);
    b->first = arena_alloc(arena, network->n_layer, sizeof *b->first);
    b->count = arena_alloc(arena, network->n_layer, sizeof *b->count);
    DSE_TRY(arena_check(arena, "the layers of a network", err));
    for (uint32_t i = 0; i < network->n_layer; i++)
        b->n_mac_all += !is_fused(network->layer[i].type);
    for (uint32_t i = 0; i < network->n_layer; i++)
        DSE_TRY(follow(b, network->order[i], err));
    if (!b->n_mac)
        return dse_fail(err, DSE_BAD_USAGE, "network %s has no layer with MACs", network->name);
    struct uop_source *source = arena_alloc_unset(arena, b->n_source, sizeof *source);
    struct uop_pool *pool = arena_alloc_unset(arena, b->n_pool + 1, sizeof *pool);
    DSE_TRY(arena_check(arena, "what layers read", err));
    memcpy(source, b->source, b->n_source * sizeof *source);
    if (b->n_pool)
        memcpy(pool, b->pool, b->n_pool * sizeof *pool);
    out->n_layer = b->n_mac;
    out->n_all = b->n_mac + b->n_vector;
    out->layer = b->layer;
    out->order = b->order;
    out->source = source;
    out->pool = pool;
    return DSE_OK;
}

enum dse_status uop_network_of(const struct network *network, enum uop_vector vector, struct arena *arena,
                               struct uop_network *out, struct dse_error *err)
{
    struct builder b = {.network = network, .vector = vector};
    *out = (struct uop_network){.network = network, .vector = vector};
    if (!network->is_graph)
        return dse_fail(err, DSE_BAD_USAGE,
                        "network %s is a list of layers; uops need to know which layer reads which (from:)",
                        network->name);
    enum dse_status status = build(&b, arena, out, err);
    free(b.source);
    free(b.pool);
    return status;
}
