/* From real-valued factors to a mapping: where a space has places for factors, and the mapping nearest to
 * wishes for them. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_PROJECT_H
#define ENGINES_MAPSPACE_MAPSPACE_PROJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/mapspace/mapspace.h"

enum { MAPSPACE_PLACE_MAX = 3 * ARCH_LEVEL_MAX };

/* A place for factors, by the number that moves have (engines/mapspace/mapspace_move.h): the temporal loops
 * of a level, or its spatial loops on one axis. */
struct mapspace_place {
    uint8_t level;
    bool spatial, on_y;
    uint32_t capacity;               /* the largest product of factors here; UINT32_MAX: no limit */
    uint32_t open;                   /* bit d: may take free factors of dimension d */
    uint32_t fixed[PROBLEM_DIM_MAX]; /* (n_dim) what constraints have put here already */
};

/* Fill `place` (MAPSPACE_PLACE_MAX), outermost first; returns how many there are. */
uint32_t mapspace_places(const struct mapspace *space, struct mapspace_place *place);

/* The tensors that a level keeps where all may be kept, and those of them that may be bypassed. */
uint32_t mapspace_keeps(const struct mapspace *space, uint32_t l);
uint32_t mapspace_optional(const struct mapspace *space, uint32_t l);

/* How many choices there are of what levels keep, 2^64 at most; and what they keep (n_level) by number
 * `choice`: bit by bit, a tensor is not kept where it need not be. False: a tensor is kept nowhere. */
double mapspace_keep_choices(const struct mapspace *space);
bool mapspace_keep_choice(const struct mapspace *space, uint32_t choice, uint8_t *keep);

/* The loops whose place in a level's temporal order is fixed, innermost first, with all others after them:
 * writes `order` (n_dim), returns how many are fixed. */
uint32_t mapspace_fixed_order(const struct mapspace *space, uint32_t l, uint8_t *order);

/* Set the factors of `mapping` near wishes: `log_wish` (n_place, n_dim; rows of PROBLEM_DIM_MAX) has natural
 * logarithms of whole factors. From all free primes as far out as they may be, steps are made that lower the
 * squared distance of the logarithms, as long as the mapping fits: a prime or a factor to another place, two
 * factors of a dimension trading places. Keeps and temporal orders are the caller's; spatial orders are set.
 * False when even the first mapping does not fit; then it is not valid. */
bool mapspace_project(const struct mapspace *space, double log_wish[][PROBLEM_DIM_MAX],
                      struct mapping *mapping);

#endif
