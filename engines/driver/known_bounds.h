/* Values, lower bounds, mappings and lists that one search leaves to later ones of the same run: cells of a
 * sweep ask for many again. Which are there depends on what has run before, so a search uses them only to
 * leave out work that would have had the same outcome. Thread-safe. */
#ifndef ENGINES_DRIVER_KNOWN_BOUNDS_H
#define ENGINES_DRIVER_KNOWN_BOUNDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "costmodel/model/mapping.h"

struct known_bounds;

enum { KNOWN_BOUNDS_MAX = 1 << 19 }; /* of a run: 12 MB */

/* A place for `most` bounds, a power of two from 4096 on (24 bytes each, taken as they come), and to 512 of
 * these for a mapping (a kB or two) and a list (32 bytes for each bound, of all lists together); what comes
 * later takes the place of others. Keys are hashes of all that what is kept depends on. Release with
 * known_bounds_free (NULL is fine). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status known_bounds_new(uint32_t most, struct known_bounds **known,
                                                struct dse_error *err);
void known_bounds_free(struct known_bounds *known);

/* `bound` is 0 when nothing is known; `exact`: it is the value itself. */
struct known_bound {
    double bound;
    bool exact;
};
struct known_bound known_bounds_get(struct known_bounds *known, struct hash_128 key);

/* It is `bound` at least, which is above 0, or exactly that. */
void known_bounds_raise(struct known_bounds *known, struct hash_128 key, struct known_bound bound);

/* What a part of a search has come to. */
struct known_mapping {
    uint64_t n_evaluation, n_draw; /* that it took */
    double cost, tie;
    struct mapping mapping;
};

/* Is it known? Levels of `found` beyond the mapping's are left alone. Of a `known` of NULL nothing is. */
bool known_mappings_get(struct known_bounds *known, struct hash_128 key, struct known_mapping *found);

/* Keep a copy, if there is memory for it. */
void known_mappings_keep(struct known_bounds *known, struct hash_128 key, const struct known_mapping *found);

/* A list, as its bytes: a copy, which the caller frees, and how many there are. NULL: it is not known, or
 * there is no memory. */
void *known_lists_get(struct known_bounds *known, struct hash_128 key, size_t *byte);

/* Keep a copy, if there is room for it. */
void known_lists_keep(struct known_bounds *known, struct hash_128 key, const void *list, size_t byte);

#endif
