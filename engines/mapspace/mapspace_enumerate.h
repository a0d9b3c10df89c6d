/* All factorisations of a map space (with its keep/bypass choices), one after the other: depth first over the
 * dimensions, cut where what is chosen already overfills a level (tiles only grow). Orders are walked by
 * mapspace_order.h. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_ENUMERATE_H
#define ENGINES_MAPSPACE_MAPSPACE_ENUMERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/mapspace/mapspace.h"

struct mapspace_enumerator;

enum enumerate_outcome {
    ENUMERATE_FOUND,  /* *mapping is the next one */
    ENUMERATE_PAUSED, /* the given number of steps was not enough to find one: call again */
    ENUMERATE_DONE
};

/* Prepare. DSE_LIMIT when one dimension alone can be factorised in more than a million ways; DSE_NO_MEMORY.
 * Memory from `arena`. */
DSE_MUST_CHECK enum dse_status mapspace_enumerator_new(const struct mapspace *space, struct arena *arena,
                                                       struct mapspace_enumerator **out,
                                                       struct dse_error *err);

/* The next valid factorisation, with orders as in the constraints, then ascending. `fit` (may be NULL) gets a
 * sample of what did not fit on the way, FITS when nothing was cut. */
enum enumerate_outcome mapspace_enumerator_next(struct mapspace_enumerator *enumerator, uint32_t n_step,
                                                struct mapping *mapping, struct misfit_info *fit);

#endif
