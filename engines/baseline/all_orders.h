/* A walk over all loop orders of a mapping that differ in their non-unit loops, whether or not the cost can:
 * what a mapper without knowledge of reuse looks at. */
#ifndef ENGINES_BASELINE_ALL_ORDERS_H
#define ENGINES_BASELINE_ALL_ORDERS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/mapping.h"
#include "engines/mapspace/mapspace_constraints.h"

/* Per level, the part of its order that turns: `n` loops from place `first`. */
struct all_orders {
    uint8_t first[ARCH_LEVEL_MAX], n[ARCH_LEVEL_MAX];
};

/* Begin: every level of `mapping` gets its loops with a fixed place first (`constraints` may be NULL: none),
 * then its other non-unit loops and then the unit loops, each ascending. Returns how many orders there are
 * (saturating). */
uint64_t all_orders_start(struct all_orders *walk, const struct mapspace_constraints *constraints,
                          struct mapping *mapping);

/* The next one, as an odometer whose innermost level turns fastest, each level lexicographic; false when the
 * walk is over (the mapping then has the first again). */
bool all_orders_next(const struct all_orders *walk, struct mapping *mapping);

#endif
