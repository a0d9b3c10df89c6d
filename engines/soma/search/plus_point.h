/* The layer-fusion attributes as soma-plus changes them: by place in the computing order, so that every move
 * is local. */
#ifndef ENGINES_SOMA_SEARCH_PLUS_POINT_H
#define ENGINES_SOMA_SEARCH_PLUS_POINT_H

#include "base/random.h"
#include "engines/soma/search/search.h"

enum plus_border { PLUS_NONE, PLUS_GROUP, PLUS_CUT };

struct plus_point {
    uint32_t n_layer;
    uint32_t *order;  /* (n_layer) computing order */
    uint32_t *tiling; /* (n_layer) of the group that the layer at this place is in; equal within a group */
    uint8_t *border;  /* (n_layer) what stands before the layer at this place; PLUS_CUT at 0 */
    int32_t *lead;    /* (n_layer) by layer: its weights are loaded so many tiles earlier than by need */
};

/* The caller looks whether `arena` had the room. */
void plus_point_new(uint32_t n_layer, struct arena *arena, struct plus_point *point);
void plus_point_copy(const struct plus_point *from, struct plus_point *to);

/* To and from the notation; `lfa` from soma_lfa_new. */
void plus_point_lfa(const struct plus_point *point, struct soma_lfa *lfa);
void plus_point_of(const struct soma_lfa *lfa, struct plus_point *point);

/* Change the point by a random move: a tiling number, a border added, removed, shifted or turned into another
 * kind, a layer's place, with or without its group, readers of a layer put behind it. It keeps the order
 * valid; whether the rest is, soma_parse says. False: nothing was changed. `where` (n_layer) is working
 * memory. */
bool plus_move(const struct soma_context *context, struct random_stream *stream, uint32_t *where,
               struct plus_point *point);

/* Twice as many tiles for the group of a layer. False: its layers have 65,536 in all already. */
bool plus_refine(struct plus_point *point, uint32_t layer);

/* Take over a stretch of a few groups from another point: borders, tiling numbers, leads. False: nothing was
 * changed, for instance since the two have different orders there. */
bool plus_graft(struct random_stream *stream, const struct plus_point *donor, struct plus_point *point);

#endif
