/* Tables of an earlier version, which lack columns that there are today: how their lines become today's. */
#ifndef RESULTS_RECORD_CSV_WIDEN_H
#define RESULTS_RECORD_CSV_WIDEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "results/record/csv_line.h"

struct csv_widen {
    bool needed; /* false: the table has today's columns, and nothing else is set */
    size_t n_from, n_to;
    size_t *from;                         /* (n_to) the field of an old line; SIZE_MAX: blank; owned */
    size_t at_layer, at_mapping, at_same; /* of today's columns; n_to: there is none */
};

/* Compare the columns of a table with today's. An earlier version's lack some of those behind `status`; all
 * others are there, in the same order, and the last two are point_key and checksum. `widen->needed` is false
 * for anything else, which is for the caller to refuse. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status csv_widen_init(struct csv_widen *widen, const struct csv_row *columns,
                                              const struct csv_row *today, struct dse_error *err);
void csv_widen_free(struct csv_widen *widen); /* one of zero bytes is fine */

/* The fields of an old line in the places of today's. DSE_NO_MEMORY. Rows of other lengths stay as they are.
 * */
DSE_MUST_CHECK enum dse_status csv_widen_row(const struct csv_widen *widen, struct csv_row *row,
                                             struct dse_error *err);

/* Append old lines as today's version would have written them, sealed anew: whole lines, where those of a
 * point's layers stand together. A line that does not check stays as it is. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status csv_widen_lines(const struct csv_widen *widen, const char *bytes,
                                               size_t length, struct text_buffer *to, struct dse_error *err);

#endif
