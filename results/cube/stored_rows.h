/* One cell of an OUT.h5 as the rows that it was made from: what `dse rerun` compares with. */
#ifndef RESULTS_CUBE_STORED_ROWS_H
#define RESULTS_CUBE_STORED_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/record/schema.h"

struct stored_rows;

/* The row of a cell. Columns that the file has no dataset for are missing values; stored_rows_has tells
 * them. */
struct stored_point {
    bool there;         /* false: the cell was not computed, and nothing else is set */
    const char *status; /* the word of the file, which may be none of ours */
    struct point_record point;
    const char *const *layer_status; /* (n_layer) likewise; "": there is no such row */
    struct layer_record *layer; /* (n_layer) in the order of schema->layer; `trace` as the table has it */
};

/* Open `h5_path` for reading cells; `schema` as cube_read_schema gave it, borrowed. DSE_IO, DSE_BAD_INPUT,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status stored_rows_open(const char *h5_path, const struct result_schema *schema,
                                                struct stored_rows **rows, struct dse_error *err);
void stored_rows_close(struct stored_rows *rows);

/* The cell at `index` (n_axis), bit for bit; memory from `arena`. The point's index is `index`.
 * DSE_BAD_INPUT: a dataset is damaged or has another shape than the axes say. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status stored_rows_read(struct stored_rows *rows, const uint32_t *index,
                                                struct arena *arena, struct stored_point *point,
                                                struct dse_error *err);

/* The column of this name, when the file has it; else NULL. */
const struct result_column *stored_rows_column(const struct stored_rows *rows, enum result_table table,
                                               const char *name);

#endif
