/* Lists of problems in a CSV file, each priced by itself: struct list_format of accounting.h. */
#ifndef DSE_REPORT_LIST_EVAL_H
#define DSE_REPORT_LIST_EVAL_H

#include <stddef.h>

#include "costmodel/accounting/accounting.h"
#include "dse/console/report_print.h"

struct list_request {
    const struct architecture *arch;
    const struct list_format *list;
    enum report_format format;
    const char *path, *text;
    size_t length;
};

/* The accounting of that name (NULL: the first one with lists that prices the machine). DSE_BAD_INPUT: there
 * is no such accounting, it prices no lists, or not this machine. */
DSE_MUST_CHECK enum dse_status list_accounting(const char *name, const struct architecture *arch,
                                               const struct accounting **out, struct dse_error *err);

/* Print a row for each line to `out`. The first line that is not empty and no comment (#) is the header: the
 * format's columns in any order, others are passed over. DSE_BAD_INPUT with path and line: no header, a
 * column that is missing or there twice, a line of another length, a number that is none or out of range,
 * what the format refuses. */
DSE_MUST_CHECK enum dse_status list_eval(const struct list_request *request, struct text_buffer *out,
                                         struct dse_error *err);

#endif
