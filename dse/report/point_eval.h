/* Mappings of one line each, in an accounting's own notation, priced and reported by that accounting. */
#ifndef DSE_REPORT_POINT_EVAL_H
#define DSE_REPORT_POINT_EVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/accounting/accounting.h"
#include "dse/console/report_print.h"
#include "dse/report/mapping_texts.h"

/* The notation of a file's text; NULL: it is none that an accounting has. */
const struct point_format *point_format_of(const char *text, size_t length);

struct point_request {
    const struct problem *problem;
    const struct architecture *arch;
    const struct point_format *points; /* point_format_of the text */
    const char *accounting;            /* by name; NULL: the first with the notation that takes the machine */
    const char *report;                /* by name; NULL: the notation's first */
    bool no_fit;                       /* price what does not fit, and say so */
    enum report_format format;
    struct mapping_texts texts; /* in place of the report, where there are any; they go with the format */
    const char *path, *text;
    size_t length;
};

/* Print the report of all lines, or their texts, to `out`; what did not fit goes to `err_out`. Empty lines
 * and comments (#) are skipped. DSE_BAD_USAGE for an accounting without the notation or an unknown report;
 * DSE_BAD_INPUT with path and line for a line that cannot be read, leaves iterations out, or does not fit;
 * nothing is printed then. */
DSE_MUST_CHECK enum dse_status point_eval(const struct point_request *request, struct text_buffer *out,
                                          struct text_buffer *err_out, struct dse_error *err);

#endif
