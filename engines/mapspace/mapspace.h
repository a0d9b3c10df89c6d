/* The space of mappings: problem x architecture x constraints, compiled once. It hands out valid mappings:
 * drawn at random, next to a given one, from two parents, or one after the other.
 *
 * A dimension's bound is a product of primes; a mapping gives each prime to a slot: the temporal loops of a
 * level, or its spatial loops on X or on Y where there is a fan-out. No level spreads wider than its own
 * fan-out (Timeloop's mapper asks the same), which implies every cumulative mesh limit. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_H
#define ENGINES_MAPSPACE_MAPSPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/mapspace/mapspace_constraints.h"

struct mapspace;

/* How large a space is, as decimal logarithms; what the machine cannot hold is not taken off. */
struct mapspace_size {
    double log10_factors; /* ways to give the primes of all dimensions to the slots */
    double log10_orders;  /* loop orders of all levels, unit loops included */
    double log10_bypass;  /* keep/bypass choices */
    double log10_total;
};

/* Compile. `problem` and `arch` must outlive the space; `constraints` may be NULL. `search_bypass`: tensors
 * whose keeping is not constrained may also be bypassed at any level but the outermost. Memory from `arena`.
 * A space without a mapping is no error: see mapspace_is_empty. DSE_NO_MEMORY; DSE_BAD_USAGE when the
 * constraints were made for another problem. */
DSE_MUST_CHECK enum dse_status mapspace_new(const struct problem *problem, const struct architecture *arch,
                                            const struct mapspace_constraints *constraints,
                                            bool search_bypass, struct arena *arena,
                                            const struct mapspace **out, struct dse_error *err);

/* NULL, or one sentence why no mapping can be in the space ("Registers needs 3 B for ..., has 1 B"). */
const char *mapspace_is_empty(const struct mapspace *space);

struct mapspace_size mapspace_size(const struct mapspace *space);

/* Is the mapping in the space: factors, constraints, meshes, capacities? `fit` (may be NULL) says what is
 * wrong first; a broken constraint counts as MISFIT_ORDER (orders), MISFIT_BYPASS (keeps) or
 * MISFIT_FACTORS. */
bool mapspace_contains(const struct mapspace *space, const struct mapping *mapping, struct misfit_info *fit);

/* Draw a valid mapping. Every prime, in random order, goes to a random slot among those where all capacities
 * and meshes still hold; loop orders are shuffled. Every mapping of the space can come out, up to orders that
 * no cost depends on; the distribution is not uniform over mappings: it is that of this sequential rule. The
 * outermost level takes what fits nowhere else, so a draw fails only for reasons that show at the end
 * (minimum utilisation, constraints that close the outermost level): then it is tried again up to
 * MAPSPACE_DRAW_TRIES times. False when all failed; `*n_rejected` (may be NULL) is increased by the failed
 * tries, `fit` (may be NULL) has the last misfit. */
bool mapspace_draw(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                   uint64_t *n_rejected, struct misfit_info *fit);

enum { MAPSPACE_DRAW_TRIES = 64 };

/* Uniform draws of where the primes go, valid or not: the plain sampler that published comparisons use.
 * One draw: every prime factor goes to a slot that is uniform over those its dimension may use (the temporal
 * loops of every level, X and Y wherever there is a fan-out), whatever fits there; a dimension that already
 * lies on one axis of a level stays on it, as a mapping can say no other. With search_bypass each tensor that
 * may be bypassed is so with chance 1/2. A draw that fits gets uniform loop orders at every level. Fixed
 * factors, orders and keeps of the constraints are there from the start. False when it does not fit; then
 * `fit` (may be NULL) says why, and only the factors of `mapping` are set. The space must not be empty.
 * CoSA's random baseline (section V of the paper) draws like this and throws away what does not fit. */
bool mapspace_sample(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                     struct misfit_info *fit);

#endif
