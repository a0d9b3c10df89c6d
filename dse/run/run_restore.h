/* Points that OUT.csv has lost, from the OUT.h5 beside it. */
#ifndef DSE_RUN_RUN_RESTORE_H
#define DSE_RUN_RUN_RESTORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/cube/stored_rows.h"
#include "results/journal/journal.h"
#include "results/record/cell_set.h"
#include "results/record/schema.h"

struct run_restore {
    struct arena file, row; /* the schema of OUT.h5; the current point */
    struct result_schema schema;
    struct stored_rows *rows; /* owned; NULL: there is nothing to take */
    uint64_t cell, n_cell;
    uint32_t index[RESULT_AXIS_MAX];
    struct stored_point point; /* the current one */
};

/* Open `h5_path` (borrowed) when its rows are those of a journal of this schema: the same specification and
 * the same columns. Else, or where it cannot be read, there will be no points. Free it also on failure.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status run_restore_open(struct run_restore *restore, const char *h5_path,
                                                const struct result_schema *schema, struct dse_error *err);
void run_restore_free(struct run_restore *restore);

/* Go to the next point that OUT.h5 has and `seen` has not: `point`, `index` and `cell` are about it. `*more`
 * is false at the end. DSE_BAD_INPUT, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status run_restore_next(struct run_restore *restore, const struct cell_set *seen,
                                                bool *more, struct dse_error *err);

/* The lines of the point, as the journal had them. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status run_restore_lines(struct run_restore *restore, struct journal_lines *lines,
                                                 struct dse_error *err);

#endif
