/* Bytes alive at each position of a schedule, for list scheduling: what is added to a range, and how far back
 * from a position there is room, cost the number of positions divided by some thirty. */
#ifndef ENGINES_SOMA_SEARCH_LIVING_H
#define ENGINES_SOMA_SEARCH_LIVING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum { SOMA_LIVING_BLOCK = 16 };

struct soma_living {
    uint32_t n;      /* positions */
    uint64_t *byte;  /* (n) what was added to whole blocks left out; may have wrapped */
    uint64_t *added; /* (blocks) to all positions of a block */
    uint64_t *most;  /* (blocks) of its positions, with that */
};

/* Nothing alive; the caller looks whether `arena` had the memory. */
void soma_living_new(uint32_t n, struct arena *arena, struct soma_living *living);

/* `to` is as large. */
void soma_living_copy(const struct soma_living *from, struct soma_living *to);

/* Add `byte` at first .. past-1, or take it away (0 - byte: unsigned wrap cancels out). */
void soma_living_add(struct soma_living *living, uint32_t first, uint32_t past, uint64_t byte);

static inline uint64_t soma_living_at(const struct soma_living *living, uint32_t at)
{
    return living->byte[at] + living->added[at / SOMA_LIVING_BLOCK];
}

/* The first of the positions from which none up to past-1 has more than `byte`, and not before `first`
 * (<= past). */
uint32_t soma_living_back(const struct soma_living *living, uint32_t first, uint32_t past, uint64_t byte);

/* Look at positions from *at up to past-1 (*at <= past), until one has more than `byte`: whether none has.
 * *at is then behind what was looked at, *most the most there or what it was before. */
bool soma_living_below(const struct soma_living *living, uint32_t *at, uint32_t past, uint64_t byte,
                       uint64_t *most);

#endif
