/* A row of a table that is followed, in the words that people use: metrics by name, values of axes with
 * units. */
#ifndef DSE_STATUS_FOLLOWED_ROW_H
#define DSE_STATUS_FOLLOWED_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/metric.h"
#include "base/status.h"
#include "results/record/csv_line.h"
#include "results/record/schema.h"

enum { FOLLOWED_LABEL_MAX = 256 };

/* Where a row comes from. */
struct followed_row {
    const struct csv_row *header;
    size_t n_axis;                      /* columns of axes */
    const struct result_schema *schema; /* NULL: not known, then values are shown as they are written */
};

/* The metric of that name, of whatever sweep, that has a best. DSE_BAD_USAGE: no such; the sentence names
 * --`option`. */
DSE_MUST_CHECK enum dse_status followed_metric(const char *option, const char *name,
                                               const struct metric **metric, struct dse_error *err);

/* The axis and its coordinate that stand in column `column`, NULL behind the last. */
const struct result_coordinate *followed_coordinate(const struct result_schema *schema, size_t column,
                                                    size_t *axis);

/* The letters of the name of column `column` without its unit. */
size_t followed_name_length(const struct followed_row *source, size_t column);

/* The value of column `column` as people read it; `buffer` (FOLLOWED_LABEL_MAX) may hold it. */
const char *followed_text(const struct followed_row *source, const struct csv_row *row, size_t column,
                          const uint32_t *index, char *buffer);

#endif
