/* Lays a drawn mapping out anew: the factors of one dimension after the other go from the outermost loops
 * to slots in random order, as many as fit. */
#include <string.h>

#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_private.h"

enum { POUR_MOVE_MAX = 2 * MAPSPACE_PRIME_MAX, OUTERMOST_SLOT = 0 };

/* The numbers below n in random order. */
static void draw_numbers(struct random_stream *stream, uint8_t *item, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        item[i] = (uint8_t)i;
    mapspace_shuffle(stream, item, n);
}

/* Move factors of dimension d from the outermost slot to `to`, as many as fit, large primes first. */
static void pour(const struct mapspace *space, struct mapping *mapping, uint32_t d, uint32_t to)
{
    struct factor_move move[POUR_MOVE_MAX];
    struct move_undo undo;
    bool moved = to != OUTERMOST_SLOT;
    while (moved) {
        uint32_t n = mapspace_moves_between(space, mapping, OUTERMOST_SLOT, to, move, POUR_MOVE_MAX);
        moved = false;
        while (n-- > 0 && !moved)
            moved = move[n].dim == d && mapspace_apply(space, mapping, &move[n], NULL, &undo);
    }
}

void mapspace_pour(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping)
{
    uint8_t slot[MAPSPACE_SLOT_MAX], dim[PROBLEM_DIM_MAX];
    uint32_t n_dim = mapping->n_dim;
    for (uint32_t d = 0; d < n_dim; d++)
        (void)mapspace_gather(space, mapping, d, OUTERMOST_SLOT);
    draw_numbers(stream, slot, space->n_slot);
    for (uint32_t i = 0; i < space->n_slot; i++) {
        if (space->slot[slot[i]].axis == SLOT_TEMPORAL)
            continue;
        draw_numbers(stream, dim, n_dim);
        for (uint32_t j = 0; j < n_dim; j++)
            pour(space, mapping, dim[j], slot[i]);
    }
    draw_numbers(stream, dim, n_dim);
    for (uint32_t j = 0; j < n_dim; j++)
        for (uint32_t n = 1 + random_below(stream, 2); n > 0; n--)
            pour(space, mapping, dim[j], random_below(stream, space->n_slot));
    for (uint32_t l = 0; l < space->arch->n_level; l++)
        memcpy(mapping->level[l].temporal_order,
               space->order[l].order[random_below(stream, space->order[l].n)], n_dim);
}
