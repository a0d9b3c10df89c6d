/* Uniform draws of where the primes go, valid or not: the plain sampler that published comparisons use. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_SAMPLE_H
#define ENGINES_MAPSPACE_MAPSPACE_SAMPLE_H

#include <stdbool.h>

#include "engines/mapspace/mapspace.h"

/* One draw: every prime factor goes to a slot that is uniform over those its dimension may use (the temporal
 * loops of every level, X and Y wherever there is a fan-out), whatever fits there; a dimension that already
 * lies on one axis of a level stays on it, as a mapping can say no other. With search_bypass each tensor that
 * may be bypassed is so with chance 1/2. A draw that fits gets uniform loop orders at every level. Fixed
 * factors, orders and keeps of the constraints are there from the start. False when it does not fit; then
 * `fit` (may be NULL) says why, and only the factors of `mapping` are set. The space must not be empty.
 * CoSA's random baseline (section V of the paper) draws like this and throws away what does not fit. */
bool mapspace_sample(const struct mapspace *space, struct random_stream *stream, struct mapping *mapping,
                     struct misfit_info *fit);

#endif
