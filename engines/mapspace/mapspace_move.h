/* Steps between mappings of one space: moves of factors, orders and keeps, and the child of two mappings. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_MOVE_H
#define ENGINES_MAPSPACE_MAPSPACE_MOVE_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/mapspace/mapspace.h"

/* Take a factor of a dimension from one slot to another. Slots are the space's own numbers, from the
 * outermost level's temporal loops inwards. */
struct factor_move {
    uint8_t dim, from, to;
    uint32_t factor;
};

/* What a move overwrote. */
struct move_undo {
    uint32_t n;
    uint8_t level[4];
    struct mapping_level saved[4];
};

/* The moves from slot a to slot b: of one prime, and of a whole factor where that is more; not yet held
 * against capacities. Returns how many (at most `max`). */
uint32_t mapspace_moves_between(const struct mapspace *space, const struct mapping *mapping, uint32_t a,
                                uint32_t b, struct factor_move *list, uint32_t max);

/* Make the move in place if the target slot may take it and the result fits; else false, and the mapping is
 * as before. With a `second` move (NULL: none) both are made at once and only the result must fit: two
 * factors trade places. */
bool mapspace_apply(const struct mapspace *space, struct mapping *mapping, const struct factor_move *first,
                    const struct factor_move *second, struct move_undo *undo);

/* Bring all free factors of dimension d together in slot `to`, as far as each may leave its place; else
 * false, and the mapping is as before. The caller keeps a copy if it wants to go back. False also when
 * nothing would move. */
bool mapspace_gather(const struct mapspace *space, struct mapping *mapping, uint32_t d, uint32_t to);

/* Move the factors of `slot`, whole or prime by prime, to random other slots as far as those can take them;
 * dimensions in the bit mask `stay` are left there. */
void mapspace_evict(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                    uint32_t slot, uint32_t stay);

/* Lay a valid mapping out anew: everything to the outermost level, then the spatial slots are filled as far
 * as dimensions fit, in random order, and the rest of each dimension flows to one or two random slots; orders
 * are random candidates. Where constraints do not allow a step it is left out. What comes out is valid, uses
 * many MACs and has few, large loops. */
void mapspace_pour(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping);

/* Take the last apply back. */
void mapspace_undo(struct mapping *mapping, const struct move_undo *undo);

/* A random neighbour: a factor moved, two factors traded, a loop order changed or, when the space searches
 * bypasses, a tensor kept or bypassed. False when no valid one was found in a few tries. */
bool mapspace_neighbour(const struct mapspace *space, struct random_stream *stream,
                        const struct mapping *from, struct mapping *to);

/* A child: each dimension's factors from one parent, each level's orders and keeps from one parent; what does
 * not fit is moved outwards. False when that does not help. */
bool mapspace_crossover(const struct mapspace *space, struct random_stream *stream, const struct mapping *a,
                        const struct mapping *b, struct mapping *child);

#endif
