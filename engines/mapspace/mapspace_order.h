/* Loop orders worth trying. What an order costs is decided by reuse: a tensor's tile stays where it is
 * while the innermost loops do not index it (docs/cost-model.md, "Temporal reuse": stationarity costs
 * nothing, the first relevant loop and everything outside it costs a full refill), and a window slides
 * only under the innermost non-unit loop. So per level it matters which loops lie inside the first loop
 * that indexes each tensor, and which one is innermost. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_ORDER_H
#define ENGINES_MAPSPACE_MAPSPACE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/mapspace/mapspace.h"

/* True when, for any factors, one of the candidates of every level is as good as any other order (no sliding
 * windows, no link transfers, no costs of spatial order): what a proof needs. */
bool mapspace_orders_complete(const struct mapspace *space);

/* A walk over the orders of one mapping, as an odometer over its levels. */
struct order_walk {
    const struct mapspace *space;
    bool full;                 /* all orders of non-unit loops, spatial ones too, instead of the candidates */
    uint8_t n[ARCH_LEVEL_MAX]; /* (n_level) candidates that differ under these factors */
    uint8_t at[ARCH_LEVEL_MAX];       /* (n_level) the current one */
    uint8_t pick[ARCH_LEVEL_MAX][64]; /* (n_level, n) their numbers in the level's list */
    uint8_t loops[ARCH_LEVEL_MAX],
        fixed[ARCH_LEVEL_MAX]; /* full: non-unit loops, of them with a fixed place */
};

/* Begin: `mapping` gets the first combination. `full`: where the candidates are not complete, every order of
 * the non-unit loops is walked. Returns the number of combinations (saturating). */
uint64_t order_walk_start(struct order_walk *walk, const struct mapspace *space, struct mapping *mapping,
                          bool full);

/* Set the orders of `mapping` to the next combination; false when the walk is over (the mapping then has the
 * first again). */
bool order_walk_next(struct order_walk *walk, struct mapping *mapping);

/* The next permutation of n different items in lexicographic order; false, and the first one again, after the
 * last. */
bool order_next(uint8_t *item, uint32_t n);

/* Set combination number `index` (below the count; not for `full`). */
void order_walk_set(struct order_walk *walk, struct mapping *mapping, uint64_t index);

#endif
