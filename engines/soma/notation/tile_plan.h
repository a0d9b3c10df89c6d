/* What soma_parse works out before it makes tiles and tensors: where every layer's tiles lie, and what they
 * are of. */
#ifndef ENGINES_SOMA_NOTATION_TILE_PLAN_H
#define ENGINES_SOMA_NOTATION_TILE_PLAN_H

#include <math.h>

#include "engines/soma/notation/notation.h"

/* Shape of an output tile or of the part of a source that a tile needs. */
struct soma_shape {
    uint32_t b, k, h, w;
};

/* Elements begin .. end-1 of a dimension; none when end <= begin. */
struct soma_range {
    uint32_t begin, end;
};

static inline uint32_t soma_length(struct soma_range range)
{
    return range.end > range.begin ? range.end - range.begin : 0;
}

/* A group cuts samples, rows and columns; its tiles count columns fastest, samples slowest. What SOMA_ONE
 * decides is the same in all tiles. */
enum soma_axis { SOMA_ONE, SOMA_SAMPLES, SOMA_ROWS, SOMA_COLUMNS, SOMA_N_AXIS };

struct soma_grid {
    uint32_t part[SOMA_N_AXIS]; /* pieces along each axis, SOMA_ONE: 1 */
};

/* Tile i lies at position first + i step. */
struct soma_layer_plan {
    uint32_t flc, layer_group;
    uint32_t first, step, n_tile;
    bool inside, outside;   /* a layer of its group reads it; one of another group does, or none at all */
    struct soma_shape tile; /* compat: of all tiles */
    /* Default rules: a tile is the box of one range per dimension; range[d] (part[axis[d]]) goes along the
     * axis. */
    uint8_t axis[SOMA_N_DIM];
    const struct soma_range *range[SOMA_N_DIM];
    struct soma_range whole[SOMA_N_DIM]; /* where range[d] may point for SOMA_ONE */
};

struct soma_plan {
    const struct soma_context *context;
    const struct soma_graph *graph;
    const struct soma_lfa *lfa;
    bool part;                     /* the LFA has some of the network's layers; the others lie outside */
    struct soma_layer_plan *layer; /* (n_layer) by layer number */
    uint32_t *group_end;           /* (n_flc) position behind the last tile of the layer group of an FLC */
    struct soma_grid *grid;        /* (n_flc) default rules */
    uint32_t n_tile;
};

/* Room for plans of parts of a network, one after the other, which is as good as new behind
 * soma_plan_leave_room: a part costs nothing for the layers outside. NULL: no memory. */
struct soma_layer_plan *soma_plan_room(uint32_t n_layer, struct arena *arena);
void soma_plan_leave_room(const struct soma_plan *plan);

/* Positions of all layers; a fault when order or groups are not valid. `plan->context`, `graph`, `lfa` and
 * `part` are set, `layer` is room or NULL. DSE_NO_MEMORY, DSE_LIMIT: more than SOMA_TILE_MAX tiles. */
DSE_MUST_CHECK enum dse_status soma_plan_positions(struct soma_plan *plan, struct arena *arena,
                                                   struct soma_fault_info *fault, struct dse_error *err);

/* Compat: tile shapes of all layers: outputs of each group are cut, the rest follows backwards. False and a
 * fault when an output cannot be cut. */
bool soma_plan_tiles(struct soma_plan *plan, struct soma_fault_info *fault);

/* Default rules: grids of all groups, ranges of all tiles. A fault when a group cannot be cut so.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_plan_ranges(struct soma_plan *plan, struct arena *arena,
                                                struct soma_fault_info *fault, struct dse_error *err);

/* Default rules: the smallest range of dimension `dim` of the source of `operand` with all that a tile needs
 * whose range of dimension operand->from[dim] (not SOMA_N_DIM) is `of`. Padding is not needed; empty when
 * nothing is. */
struct soma_range soma_need_range(const struct network *network, const struct soma_operand *operand,
                                  enum soma_dim dim, struct soma_range of);

/* The smallest ranges all[i] (n) with what they had and what soma_need_range says of of[i step]. */
void soma_unite_needs(const struct network *network, const struct soma_operand *operand, enum soma_dim dim,
                      const struct soma_range *of, uint32_t step, uint32_t n, struct soma_range *all);

/* Where a tile lies in its group's grid; at[SOMA_ONE] is 0. */
struct soma_place {
    uint32_t at[SOMA_N_AXIS];
};

/* The place of the next tile; behind the last one the first. */
static inline void soma_next_place(const struct soma_grid *grid, struct soma_place *place)
{
    for (int axis = SOMA_COLUMNS; axis > SOMA_ONE; axis--) {
        if (++place->at[axis] < grid->part[axis])
            return;
        place->at[axis] = 0;
    }
}

/* Default rules: output extents of a tile. */
static inline struct soma_shape soma_tile_shape(const struct soma_layer_plan *layer,
                                                const struct soma_place *place)
{
    return (struct soma_shape){
        soma_length(layer->range[SOMA_B][place->at[layer->axis[SOMA_B]]]),
        soma_length(layer->range[SOMA_K][place->at[layer->axis[SOMA_K]]]),
        soma_length(layer->range[SOMA_H][place->at[layer->axis[SOMA_H]]]),
        soma_length(layer->range[SOMA_W][place->at[layer->axis[SOMA_W]]]),
    };
}

/* The extents of what a tile loads of a source, by either rules; false: nothing. */
bool soma_tile_load(const struct soma_plan *plan, const struct soma_operand *operand,
                    const struct soma_place *place, struct soma_shape *need);

/* Default rules: extents whose product counts the elements of a tile that no earlier tile of its layer has.
 * Only for a layer that is read outside its group. */
struct soma_shape soma_tile_share(const struct soma_grid *grid, const struct soma_layer_plan *layer,
                                  const struct soma_place *place);

/* Compat: the part of the source of `operand` that a tile of its layer needs, counted from the source's first
 * element; not cut to the source's own extents except in rows and columns of a window. */
struct soma_shape soma_need(const struct network *network, const struct soma_operand *operand,
                            const struct soma_shape *tile);

/* What the core array is asked for a tile of a layer. */
static inline struct core_tile soma_core_tile(const struct layer *layer, const struct soma_shape *tile)
{
    return core_tile_of(layer, tile->b, tile->k, tile->h, tile->w);
}

/* What two tiles, one after the other, stream fits side by side (core_cost.stream_share of both). */
static inline bool soma_is_beside(double share, double next)
{
    return share + next <= 1;
}

/* Whether a tile finds the weights that it streams in their level, since the one right before it is of the
 * same layer and shape: the same mapping puts the same words in the same places, and all of them stay
 * (core_cost.stream_share of the tile). docs/fused-machines.md, "What stays". */
static inline bool soma_stays(const struct soma_layer_plan *layer, const struct soma_shape *before,
                              const struct soma_shape *tile, double share)
{
    return layer->step == 1 && share <= 1 && before->b == tile->b && before->k == tile->k &&
           before->h == tile->h && before->w == tile->w;
}

/* Whether the tile at `place`, not the first of its layer, has the samples of the one before it, and so its
 * second operand. */
static inline bool soma_same_samples(const struct soma_layer_plan *layer, const struct soma_place *place)
{
    for (int axis = layer->axis[SOMA_B] + 1; axis < SOMA_N_AXIS; axis++)
        if (place->at[axis] > 0)
            return true;
    return layer->axis[SOMA_B] == SOMA_ONE;
}

/* Bytes that cross the chip's border for so many of a tensor (core_cost.stream_times). */
static inline uint64_t soma_times(uint64_t byte, double times)
{
    return times > 1 ? (uint64_t)ceil((double)byte * times) : byte;
}

/* Rows and columns of the outputs of a group. */
struct soma_outputs {
    uint32_t h, w;             /* of the largest */
    uint32_t least_h, least_w; /* of any */
};

/* Cut samples, rows and columns of an output (batch, h, w) into `n_tile` equal tiles, the last ones filled
 * up. Samples first, by the greatest common divisor; then rows and columns so that tiles are about square, or
 * only what is allowed. False when it cannot be. */
bool soma_split(uint32_t batch, uint32_t h, uint32_t w, uint32_t n_tile, bool may_split_h, bool may_split_w,
                struct soma_shape *tile);

/* The same for a group with outputs of at least least_h x least_w, the largest of them h x w: when the choice
 * for that one does not suit all, the other divisor with the squarest tiles. */
bool soma_choose_grid(uint32_t batch, const struct soma_outputs *outputs, uint32_t n_tile, bool may_split_h,
                      bool may_split_w, struct soma_grid *grid);

/* Piece `i` of `n` of 0 .. extent-1: all pieces have as many, the first ones one more. */
static inline struct soma_range soma_piece(uint32_t extent, uint32_t n, uint32_t i)
{
    uint32_t less = extent / n, more = extent % n;
    uint32_t begin = i * less + (i < more ? i : more);
    return (struct soma_range){begin, begin + less + (i < more)};
}

#endif
