/* The rows of a journal in the order of the cube's cells, in constant memory. */
#ifndef RESULTS_CUBE_CUBE_ROWS_H
#define RESULTS_CUBE_CUBE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/cube/cube_index.h"
#include "results/journal/journal_scan.h"
#include "results/record/schema.h"

/* Entries of a journal's index that are in memory, by default: 16 MiB. */
enum { CUBE_ROWS_ENTRY_MAX = 256 * 1024 };

/* A journal opened for reading in cell order. */
struct cube_rows {
    const struct result_schema *schema; /* borrowed */
    struct journal_scan *scan;
    struct cube_index index; /* owned */
    bool searched;           /* only what the cells' own searches have found */
    uint64_t n;              /* cells of the axes that have a row */
    struct cube_entry ahead; /* the row that comes next, when there is one */
    bool begun, is_ahead;
    struct csv_row split, layer;    /* the current lines */
    struct cube_entry at;           /* the current row */
    uint32_t cell[RESULT_AXIS_MAX]; /* its position on each axis */
};

/* Read the journal beside `out` once, check it, and find the order of its rows, the last of each cell; those
 * that are not on the axes are left out. At most `n_entry` rows' places are in memory; more go to a scratch
 * file beside `near`. Both names must stay. On failure `rows` needs no release. DSE_BAD_INPUT: a bad line
 * (file and line). DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_rows_open(struct cube_rows *rows, const char *out,
                                              const struct result_schema *schema, size_t n_entry,
                                              const char *near, struct dse_error *err);

/* The same without exchanged rows: what the cells' own searches have found. */
DSE_MUST_CHECK enum dse_status cube_rows_open_searched(struct cube_rows *rows, const char *out,
                                                       const struct result_schema *schema, size_t n_entry,
                                                       const char *near, struct dse_error *err);

/* The same when the order is known: `index`, finished, is moved into `rows`, also on failure. Lines are still
 * checked when they are read. */
DSE_MUST_CHECK enum dse_status cube_rows_open_sorted(struct cube_rows *rows, const char *out,
                                                     const struct result_schema *schema,
                                                     struct cube_index *index, struct dse_error *err);
void cube_rows_close(struct cube_rows *rows);

/* Go to the next cell: `at`, `cell` and `split` are about its row until the next call. `*more` is false at
 * the end. DSE_BAD_INPUT: two rows for one cell, and the second is no exchanged one. */
DSE_MUST_CHECK enum dse_status cube_rows_next(struct cube_rows *rows, bool *more, struct dse_error *err);

/* The same without reading the line: `split` is not about the row. */
DSE_MUST_CHECK enum dse_status cube_rows_step(struct cube_rows *rows, bool *more, struct dse_error *err);

/* Show the split lines of the current row's layers to `visit`, in order. */
DSE_MUST_CHECK enum dse_status cube_rows_layers(struct cube_rows *rows, journal_layer_visit *visit,
                                                void *user, struct dse_error *err);

#endif
