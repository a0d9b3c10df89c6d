/* What soma_parse works out before it makes tiles and tensors: where every layer's tiles lie and their shape. */
#ifndef ENGINES_SOMA_PLAN_H
#define ENGINES_SOMA_PLAN_H

#include "engines/soma/notation.h"

/* Shape of an output tile or of the part of a source that a tile needs. */
struct soma_shape {
    uint32_t b, k, h, w;
};

/* All tiles of a layer have one shape; tile i lies at position first + i step. */
struct soma_layer_plan {
    uint32_t flc, layer_group;
    uint32_t first, step, n_tile;
    struct soma_shape tile;
};

struct soma_plan {
    const struct soma_context *context;
    const struct soma_graph *graph;
    const struct soma_lfa *lfa;
    struct soma_layer_plan *layer; /* (n_layer) by layer number */
    uint32_t *group_end;           /* (n_flc) position behind the last tile of the layer group of an FLC */
    uint32_t n_tile;
};

/* Positions of all layers; a fault when order or groups are not valid. `plan->context`, `graph` and `lfa` are set. DSE_NO_MEMORY,
 * DSE_LIMIT: more than SOMA_TILE_MAX tiles. */
DSE_MUST_CHECK enum dse_status soma_plan_positions(struct soma_plan *plan, struct arena *arena,
                                                   struct soma_fault_info *fault, struct dse_error *err);

/* Tile shapes of all layers: outputs of each group are cut, the rest follows backwards. False and a fault when an output cannot
 * be cut. */
bool soma_plan_tiles(struct soma_plan *plan, struct soma_fault_info *fault);

/* The part of the source of `operand` that a tile of its layer needs, counted from the source's first element; not cut to the
 * source's own extents except in rows and columns of a window. */
struct soma_shape soma_need(const struct network *network, const struct soma_operand *operand,
                            const struct soma_shape *tile);

/* What the core array is asked for a tile of a layer. */
struct core_tile soma_core_tile(const struct layer *layer, const struct soma_shape *tile);

/* Cut samples, rows and columns of an output (batch, h, w) into `n_tile` equal tiles, the last ones filled up. Samples first,
 * by the greatest common divisor; then rows and columns so that tiles are about square, or only what is allowed. False when
 * it cannot be. */
bool soma_split(uint32_t batch, uint32_t h, uint32_t w, uint32_t n_tile, bool may_split_h, bool may_split_w,
                struct soma_shape *tile);

#endif
