/* A point computed again beside what the result file says of it, column by column, bit for bit. */
#ifndef DSE_RERUN_RERUN_COMPARE_H
#define DSE_RERUN_RERUN_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "results/cube/stored_rows.h"
#include "results/record/schema.h"

/* Lines about one point at most; a last one counts the rest. */
enum { COMPARE_LINE_MAX = 20 };

/* The two sides and what has come of it. */
struct comparison {
    const struct stored_rows *rows;     /* which columns the file has */
    const struct result_schema *stored; /* of the file */
    const struct result_schema *now;    /* of the program; layers and levels are matched by name */
    /* what differs: "COLUMN: file VALUE, now VALUE", ended by line breaks; may be NULL */
    struct text_buffer *lines;
    bool keys; /* compare keys of points, too, which say nothing where the specification is another one */
    size_t n_compared, n_different; /* values that are on at least one side */
};

/* Compare all columns but times of a point and of its layers (n_layer). */
void compare_point(struct comparison *comparison, const struct stored_point *was,
                   const struct point_record *point, const struct layer_record *layer, size_t n_layer);

/* Compare names and values of the axes of the two schemas, likewise. Returns false when their lengths differ,
 * so that no cell can be found. */
bool compare_axes(struct comparison *comparison);

/* Whether a search of the point, or of one of its layers (n), was ended by the clock: then the row depends on
 * the computer. `status` NULL: all layers count, else those whose word is not "". */
bool compare_is_timed(const struct point_record *point, const struct layer_record *layer,
                      const char *const *status, size_t n);

#endif
