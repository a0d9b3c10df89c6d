/* The rows of a journal in the order of the cube's cells. */
#ifndef RESULTS_CUBE_ROWS_H
#define RESULTS_CUBE_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/journal_read.h"
#include "results/schema.h"

/* One journal entry with its place in the cube. */
struct cube_row {
    uint64_t cell; /* row-major */
    size_t entry;  /* in the index */
};

/* A journal opened for reading in cell order. */
struct cube_rows {
    const struct result_schema *schema; /* borrowed */
    struct journal_index index;
    struct cube_row *row; /* (n) by cell; owned */
    size_t n;
    char csv_path[4096], layer_path[4096];
    struct line_reader csv, layers;
    struct csv_row split; /* the current point */
    uint32_t cell[RESULT_AXIS_MAX];
    struct level_values level[RESULT_LEVEL_MAX];
};

/* Index the journal beside `out` and sort its rows by cell. Rows that are not of this schema (key or coordinates) are
 * left out. DSE_BAD_INPUT: a bad line, two rows for one cell. On failure `rows` needs no release. */
DSE_MUST_CHECK enum dse_status cube_rows_open(struct cube_rows *rows, const char *out,
                                              const struct result_schema *schema, struct dse_error *err);
void cube_rows_close(struct cube_rows *rows);

/* Read the `i`-th row into `point`; its texts, index and levels stay valid until the next call. */
DSE_MUST_CHECK enum dse_status cube_rows_point(struct cube_rows *rows, size_t i, struct point_record *point,
                                               struct dse_error *err);

/* Read the layers of the `i`-th row: `layer` (n) and their texts and levels are allocated from `arena`. */
DSE_MUST_CHECK enum dse_status cube_rows_layers(struct cube_rows *rows, size_t i, struct arena *arena,
                                                struct layer_record **layer, size_t *n,
                                                struct dse_error *err);

#endif
