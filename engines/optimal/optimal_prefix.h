/* What all spreads cost at least that have the same factors at the outer levels: what their quick bounds
 * (optimal_quick_price) cannot be below, whatever is spread further in. Cheap, for there are many. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_PREFIX_H
#define ENGINES_OPTIMAL_OPTIMAL_PREFIX_H

#include <stdint.h>

#include "engines/optimal/optimal_model.h"
#include "engines/optimal/optimal_spreads.h"

struct optimal_prefixes {
    const struct optimal_model *model;
    double most[ARCH_LEVEL_MAX]; /* (n_level) children that a vector of the level's list has at most */
    double children[ARCH_LEVEL_MAX + 1]; /* (n_level + 1) the product of `most` of the levels inside */
    int next[ARCH_LEVEL_MAX + 1];        /* (n_level + 1) the outermost level inside with children, or -1 */
    double ports[ARCH_LEVEL_MAX];        /* (n_level) clusters */
    double share[ARCH_LEVEL_MAX];        /* (n_level) of an instance's accesses, what is charged at least */
    double overlap;                      /* the most by which tiles of the window overlap */
    uint32_t alone;                      /* tensors that one dimension leaves alone, at most */
};

void optimal_prefixes_init(const struct optimal_model *model, const struct optimal_spreads *spreads,
                           struct optimal_prefixes *out);

/* Joules at least of the events that begin at the levels from `bottom` up to `top`, `top` not included.
 * All levels outside `next` are chosen, and nothing is spread from there on inwards; `left` (n_dim) are
 * the bounds over all factors chosen. None is chosen inside `top`. */
double optimal_prefix_events(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                             const double *left, int next, int bottom, int top);

/* Joules at least of the MACs and of what is delivered to them. */
double optimal_prefix_fixed(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                            const double *left, int next);

/* Compute cycles at least. */
double optimal_prefix_cycles(const struct optimal_prefixes *prefixes, const struct optimal_spread *spread,
                             int next);

#endif
