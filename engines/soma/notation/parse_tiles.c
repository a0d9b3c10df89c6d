/* Shapes of the tiles of an LFA, and what the core array takes for them. */
#include "engines/soma/notation/parse_private.h"

#include <string.h>

static inline void make_tile(struct soma_maker *maker, uint32_t l, uint32_t i, const struct soma_shape *shape,
                             const struct core_cost *cost)
{
    const struct soma_layer_plan *layer = &maker->plan->layer[l];
    if (maker->stream) {
        struct soma_stream *stream = &maker->stream[soma_tile_position(layer, i)];
        memcpy(stream->times, cost->stream_times, sizeof stream->times);
        stream->share = cost->stream_share;
        stream->pieces = (uint32_t)cost->stream_pieces;
    }
    maker->schedule->tile[soma_tile_position(layer, i)] = (struct fused_tile){
        .layer = l,
        .index = i,
        .layer_group = layer->layer_group,
        .flc = layer->flc,
        .b = shape->b,
        .k = shape->k,
        .h = shape->h,
        .w = shape->w,
        .cycle = cost->cycle,
        .energy_j = cost->energy_j,
    };
}

static enum dse_status ask_cost(const struct soma_maker *maker, uint32_t l, const struct soma_shape *shape,
                                struct core_cost *cost, struct dse_error *err)
{
    const struct core_scheduler *scheduler = &maker->plan->context->core;
    const struct layer *layer = &maker->plan->graph->network->layer[l];
    if (soma_too_large(shape))
        return dse_fail(err, DSE_LIMIT, "layer %s: a tile of more than 2^53 bytes; use a smaller batch",
                        layer->name);
    struct core_tile core = soma_core_tile(layer, shape);
    enum dse_status status = scheduler->cost(scheduler->self, &core, cost, err);
    if (status == DSE_BAD_INPUT)
        *maker->fault = (struct soma_fault_info){SOMA_COST, l};
    return status;
}

/* Compat: all tiles are alike. */
static enum dse_status make_like_tiles(struct soma_maker *maker, uint32_t l, struct dse_error *err)
{
    const struct soma_layer_plan *layer = &maker->plan->layer[l];
    struct core_cost cost;
    DSE_TRY(ask_cost(maker, l, &layer->tile, &cost, err));
    for (uint32_t i = 0; i < layer->n_tile; i++)
        make_tile(maker, l, i, &layer->tile, &cost);
    return DSE_OK;
}

static bool is_like(const struct soma_shape *a, const struct soma_shape *b)
{
    return a->b == b->b && a->k == b->k && a->h == b->h && a->w == b->w;
}

/* The tile above tile i or in the samples before, if it has this shape; else NULL. */
static const struct fused_tile *find_like(const struct soma_maker *maker, const struct soma_layer_plan *layer,
                                          uint32_t i, const struct soma_shape *shape)
{
    const uint32_t *part = soma_grid_of(maker->plan, layer)->part;
    const uint32_t back[] = {part[SOMA_COLUMNS], part[SOMA_ROWS] * part[SOMA_COLUMNS]};
    for (size_t n = 0; n < sizeof(back) / sizeof(back[0]) && i >= back[n]; n++) {
        const struct fused_tile *tile = &maker->schedule->tile[soma_tile_position(layer, i - back[n])];
        if (is_like(shape, &(struct soma_shape){tile->b, tile->k, tile->h, tile->w}))
            return tile;
    }
    return NULL;
}

/* What was asked for a tile, as far as tiles need it. */
static void take_cost(const struct soma_maker *maker, const struct fused_tile *tile, struct core_cost *cost)
{
    cost->cycle = tile->cycle;
    cost->energy_j = tile->energy_j;
    if (!maker->stream)
        return;
    const struct soma_stream *stream = &maker->stream[tile - maker->schedule->tile];
    memcpy(cost->stream_times, stream->times, sizeof cost->stream_times);
    cost->stream_share = stream->share;
    cost->stream_pieces = stream->pieces;
}

enum dse_status soma_make_tiles(struct soma_maker *maker, uint32_t l, struct dse_error *err)
{
    const struct soma_plan *plan = maker->plan;
    const struct soma_layer_plan *layer = &plan->layer[l];
    struct soma_place place = {{0}};
    struct soma_shape before = {0};
    struct core_cost cost; /* of a tile of shape `before` */
    if (!soma_maker_goes_on(maker, layer->n_tile))
        return DSE_OK;
    if (plan->context->compat)
        return make_like_tiles(maker, l, err);
    const struct soma_grid *grid = soma_grid_of(plan, layer);
    for (uint32_t i = 0; i < layer->n_tile; i++, soma_next_place(grid, &place)) {
        struct soma_shape shape = soma_tile_shape(layer, &place);
        if (!is_like(&shape, &before)) {
            const struct fused_tile *like = find_like(maker, layer, i, &shape);
            if (like != NULL)
                take_cost(maker, like, &cost);
            else
                DSE_TRY(ask_cost(maker, l, &shape, &cost, err));
            before = shape;
        }
        make_tile(maker, l, i, &shape, &cost);
    }
    return DSE_OK;
}
