/* Greedy descent in a map space, in small blocks: the neighbourhood is cut into blocks (the factors of two
 * slots, the orders of one level, the keeps), which are visited in random order until a whole round brought
 * nothing better. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_DESCENT_H
#define ENGINES_MAPSPACE_MAPSPACE_DESCENT_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/mapspace/mapspace.h"

enum { DESCENT_BLOCK_MAX = 1600 };

struct descent {
    const struct mapspace *space;
    struct mapping *mapping; /* improved in place */
    double cost, tie; /* of the mapping; of equal costs the lower tie is better: it leads across plateaus */
    struct random_stream *stream;
    uint32_t n_block, at, n_idle;      /* blocks, the next one, blocks since the last improvement */
    uint16_t block[DESCENT_BLOCK_MAX]; /* (n_block) in the order of the present round */
};

/* Prices a mapping; false when it cannot (it does not fit, or the budget is used up). */
typedef bool (*descent_price)(void *self, const struct mapping *mapping, double *cost, double *tie);

/* Begin at `mapping`, which costs `cost` and `tie`. All pointers are borrowed. */
void descent_start(struct descent *descent, const struct mapspace *space, struct mapping *mapping,
                   double cost, double tie, struct random_stream *stream);

/* Look at the next block; false when the mapping is a local optimum. */
bool descent_block(struct descent *descent, descent_price price, void *self);

#endif
