/* What the two halves of soma_parse share: tiles (parse_tiles.c), and the tensors that they read and write
 * (parse.c). */
#ifndef ENGINES_SOMA_NOTATION_PARSE_PRIVATE_H
#define ENGINES_SOMA_NOTATION_PARSE_PRIVATE_H

#include "engines/soma/notation/tile_plan.h"

/* 2^53: the bytes of one tensor stay exact in a double. */
#define SOMA_BYTE_MAX 9007199254740992.0

/* Of a tile, where something streams (struct core_cost). */
struct soma_stream {
    double times[TENSOR_ROLE_COUNT], share;
    uint32_t pieces;
};

struct soma_maker {
    const struct soma_plan *plan;
    struct fused_schedule *schedule;
    struct soma_fault_info *fault;
    uint32_t n_read;            /* places in schedule->read that are taken */
    struct soma_stream *stream; /* (n_tile) by position; NULL: nothing streams */
    uint64_t n_made;            /* tiles, once for each pass over them */
    uint32_t second; /* the tensor that the tile before, of the same layer, has as second operand */
};

static inline uint32_t soma_tile_position(const struct soma_layer_plan *layer, uint32_t tile)
{
    return layer->first + tile * layer->step;
}

/* Before n tiles are passed over: whether to go on. Else the fault is set. */
bool soma_maker_goes_on(struct soma_maker *maker, uint32_t n);

/* Of a tile or of what it loads. */
static inline bool soma_too_large(const struct soma_shape *shape)
{
    return (double)shape->b * shape->k * shape->h * shape->w > SOMA_BYTE_MAX;
}

static inline const struct soma_grid *soma_grid_of(const struct soma_plan *plan,
                                                   const struct soma_layer_plan *layer)
{
    return &plan->grid[layer->flc];
}

/* The tiles of layer l, with their cycles and energies, at their positions in maker->schedule. With
 * maker->fault SOMA_OVER not all of them. Not DSE_OK with maker->fault SOMA_COST: the core array's scheduler
 * has no mapping for one. DSE_LIMIT; other errors of the scheduler. */
DSE_MUST_CHECK enum dse_status soma_make_tiles(struct soma_maker *maker, uint32_t l, struct dse_error *err);

#endif
