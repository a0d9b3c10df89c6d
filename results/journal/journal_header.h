/* The first lines of OUT.csv and OUT.layers.csv, checked. */
#ifndef RESULTS_JOURNAL_JOURNAL_HEADER_H
#define RESULTS_JOURNAL_JOURNAL_HEADER_H

#include <stdbool.h>

#include "base/status.h"
#include "results/journal/journal_read.h"
#include "results/record/csv_widen.h"

/* Read the first line, which must be `expected` (with its line break) or that of an earlier version, which
 * `widen` (zero bytes before) is made for. `*empty`: there is none, or only a torn piece of it (zero bytes
 * at its end are what a power failure leaves). DSE_BAD_INPUT names the first column that differs. */
DSE_MUST_CHECK enum dse_status journal_header_read(struct line_reader *reader,
                                                   const struct text_buffer *expected, bool *empty,
                                                   struct csv_widen *widen, struct dse_error *err);

/* Whether the current line is the header of some journal. */
bool journal_header_is_one(const struct line_reader *reader);

#endif
