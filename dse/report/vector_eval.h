/* Files of mappings as vectors, one a line, evaluated row by row (engines/driver/vector_format.h). */
#ifndef DSE_REPORT_VECTOR_EVAL_H
#define DSE_REPORT_VECTOR_EVAL_H

#include <stddef.h>

#include "costmodel/model/architecture.h"
#include "dse/console/report_print.h"
#include "engines/driver/vector_format.h"

extern const char *const vector_orders_name[VECTOR_ORDERS_COUNT]; /* "places", "dims" */

struct vector_request {
    const struct architecture *arch;
    const struct vector_format *vectors; /* it accepts the machine */
    const char *mode;                    /* by name; NULL: what a column `mode` says, else the first */
    const char *orders;                  /* by name; NULL: what the header says, else places */
    enum vector_projection projection;
    enum report_format format;
    const char *path, *text;
    size_t length;
};

/* The mode of that name. DSE_BAD_USAGE with those there are. */
DSE_MUST_CHECK enum dse_status vector_mode_named(const struct vector_format *vectors, const char *name,
                                                 size_t *mode, struct dse_error *err);

/* Print a row for each vector to `out`. Empty lines and comments (#) are skipped, and so is a first line that
 * does not begin with a number: a header. Where a column of it is called "62 mapping values ...", the vectors
 * stand there, between other columns; "dimension indices" in that name means orders as dims, and a column
 * `mode` before it says the mode of each line. DSE_BAD_USAGE: a mode or orders that do not exist;
 * DSE_BAD_INPUT with path and line: a line that is no vector of the machine. */
DSE_MUST_CHECK enum dse_status vector_eval(const struct vector_request *request, struct text_buffer *out,
                                           struct dse_error *err);

#endif
