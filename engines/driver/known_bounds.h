/* Values and lower bounds that one search leaves to later ones of the same run: cells of a sweep ask for many
 * again. Which are there depends on what has run before, so a search uses them only to leave out work that
 * would have had the same outcome. Thread-safe. */
#ifndef ENGINES_DRIVER_KNOWN_BOUNDS_H
#define ENGINES_DRIVER_KNOWN_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

struct known_bounds;

enum { KNOWN_BOUNDS_MAX = 1 << 19 }; /* of a run: 12 MB */

/* What is bounded: two hashes of all that the bound depends on, with different beginnings. */
struct known_key {
    uint64_t hash, check;
};

/* An empty table of `most` bounds, a power of two from 256 on (24 bytes each, taken as they come); what comes
 * later takes the place of others. Release with known_bounds_free (NULL is fine). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status known_bounds_new(uint32_t most, struct known_bounds **known,
                                                struct dse_error *err);
void known_bounds_free(struct known_bounds *known);

/* `bound` is 0 when nothing is known; `exact`: it is the value itself. */
struct known_bound {
    double bound;
    bool exact;
};
struct known_bound known_bounds_get(struct known_bounds *known, struct known_key key);

/* It is `bound` at least, which is above 0, or exactly that. */
void known_bounds_raise(struct known_bounds *known, struct known_key key, struct known_bound bound);

#endif
