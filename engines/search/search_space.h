/* The narrow waist between a search algorithm and what it searches. Algorithms (genetic, ...) see only
 * this; a system's folder fills it in from the cost model. A point is `point_byte` plain bytes that may
 * be copied with memcpy. */
#ifndef ENGINES_SEARCH_SEARCH_SPACE_H
#define ENGINES_SEARCH_SEARCH_SPACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/random.h"

enum search_outcome {
    SEARCH_PRICED,     /* *cost is set */
    SEARCH_INFEASIBLE, /* the point does not count */
    SEARCH_OVER        /* the budget is used up, or nothing better can exist: stop asking */
};

struct search_space {
    void *self; /* handed to every hook */
    size_t point_byte;
    /* REQUIRED. A random point; false when none was found (a try counts against nothing). */
    bool (*draw)(void *self, struct random_stream *stream, void *point);
    /* REQUIRED. The cost of a point, > 0; lower is better. */
    enum search_outcome (*evaluate)(void *self, const void *point, double *cost);
    /* REQUIRED by genetic. A random point next to `from`; false when none was found. */
    bool (*neighbour)(void *self, struct random_stream *stream, const void *from, void *to);
    /* For genetic, in place of single neighbours where it is set: each part of a point is drawn anew with
     * this chance; false when none was or none was found. */
    bool (*mutate)(void *self, struct random_stream *stream, double chance, const void *from, void *to);
    /* REQUIRED by genetic. A point that takes after both; false when none was found. */
    bool (*crossover)(void *self, struct random_stream *stream, const void *a, const void *b, void *child);
};

#endif
