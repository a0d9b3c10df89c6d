/* Local search from given mappings: greedy descent from each, then from the best local optima after random
 * moves, until nothing better comes. A wide one takes wide descents and begins three in eight of the later
 * ones at the best of some drawn mappings. Deterministic: a function of the starts, the prices and the random
 * stream. */
#ifndef ENGINES_COSA_POLISH_H
#define ENGINES_COSA_POLISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "engines/mapspace/mapspace.h"
#include "engines/mapspace/mapspace_descent.h"

enum { POLISH_START_MAX = 32 };

struct polish {
    const struct mapspace *space;
    descent_price price; /* must be a function of the mapping alone */
    void *self;
    struct random_stream stream;
    uint32_t patience; /* descents in a row without a better optimum that end the search */
    uint32_t n_start, next_start;
    struct priced_mapping start[POLISH_START_MAX]; /* (n_start) best first, of different cost */
    struct local_optima optima;
    struct priced_mapping now;
    struct descent descent;
    bool wide; /* false after polish_init */
    bool descending;
    uint32_t n_no_better, n_failed;
};

/* Empty, in place; nothing is owned. */
void polish_init(struct polish *polish, const struct mapspace *space, descent_price price, void *self,
                 struct random_stream stream, uint32_t patience);

/* Let the search begin at this mapping, too; of equal points the first stays, of too many the best. */
void polish_add(struct polish *polish, const struct mapping *mapping, double cost, double tie);

/* Look at one block of neighbours, or make the next start. False when the search is over. */
bool polish_step(struct polish *polish);

#endif
