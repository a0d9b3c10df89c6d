/* Greedy descent in a map space, in small blocks: the neighbourhood is cut into blocks (the factors of two
 * slots, the orders of one level, the keeps), which are visited in random order until a whole round brought
 * nothing better. A wide descent also tries to fill what a capacity leaves, and to move the loops of a whole
 * level. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_DESCENT_H
#define ENGINES_MAPSPACE_MAPSPACE_DESCENT_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/mapspace/mapspace.h"

enum { DESCENT_BLOCK_MAX = 1600, OPTIMA_MAX = 8 };

/* A mapping with its cost, and what decides between equal costs: the lower tie leads across plateaus. */
struct priced_mapping {
    struct mapping mapping;
    double cost, tie;
};

/* The best local optima of a search from many starts, of different cost, best first. */
struct local_optima {
    uint32_t n;
    struct priced_mapping point[OPTIMA_MAX]; /* (n) */
};

struct descent {
    const struct mapspace *space;
    struct mapping *mapping; /* improved in place */
    double cost, tie;        /* of the mapping */
    struct random_stream *stream;
    bool wide;
    uint32_t n_block, at, n_idle;      /* blocks, the next one, blocks since the last improvement */
    uint16_t block[DESCENT_BLOCK_MAX]; /* (n_block) in the order of the present round */
};

/* Prices a mapping; false when it cannot (it does not fit, or the budget is used up). */
typedef bool (*descent_price)(void *self, const struct mapping *mapping, double *cost, double *tie);

/* Begin at `mapping`, which costs `cost` and `tie`. All pointers are borrowed. */
void descent_start(struct descent *descent, const struct mapspace *space, struct mapping *mapping,
                   double cost, double tie, struct random_stream *stream);

/* The same with the wider neighbourhood: fewer local optima for more steps each. */
void descent_start_wide(struct descent *descent, const struct mapspace *space, struct mapping *mapping,
                        double cost, double tie, struct random_stream *stream);

/* Look at the next block; false when the mapping is a local optimum. */
bool descent_block(struct descent *descent, descent_price price, void *self);

/* Insert a point into a list of at most `max` points, best first, in which costs differ by more than
 * rounding. Returns its place, or `max` when it is not taken. */
uint32_t priced_insert(struct priced_mapping *list, uint32_t *n, uint32_t max,
                       const struct priced_mapping *point);

/* Whether a descent stands at one of the optima, or where it costs exactly the same: looking around it once
 * more is vain. */
bool optima_have(const struct local_optima *optima, const struct descent *descent);

/* One of the optima (there is one) after up to `most` random moves, or the child of two. */
struct mapping optima_kick(const struct local_optima *optima, const struct mapspace *space, uint32_t most,
                           struct random_stream *stream);

/* Draw a mapping where a descent may begin: three in four are laid out anew, of the others a slot is taken
 * over by some dimensions. As mapspace_draw otherwise. */
bool mapspace_draw_start(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                         uint64_t *n_rejected, struct misfit_info *fit);

/* Let one or two random dimensions take over a random slot: a long step that no descent finds. */
void mapspace_take_over(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping);

#endif
