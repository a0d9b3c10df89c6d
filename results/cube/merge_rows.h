/* The rows of all shards in cell order, as one stream. */
#ifndef RESULTS_CUBE_MERGE_ROWS_H
#define RESULTS_CUBE_MERGE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "results/cube/cube_rows.h"
#include "results/cube/merge_files.h"

/* One shard being merged. */
struct merge_shard {
    struct cube_rows rows;
    FILE *csv, *layers; /* its tables, for copying; owned */
    uint64_t at[2];     /* where these two are */
    bool open;
};

struct merge_rows {
    struct merge_shard *shard; /* (n) owned */
    uint64_t *cell;            /* (n) of each shard's next row; UINT64_MAX: none */
    size_t n;
    struct text_buffer line[2]; /* of two rows that are compared or copied */
};

/* Room for `n` shards. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_rows_init(struct merge_rows *rows, size_t n, struct dse_error *err);
void merge_rows_free(struct merge_rows *rows);

/* Open shard `i`; see cube_rows_open. DSE_IO: there is no table. */
DSE_MUST_CHECK enum dse_status merge_rows_add(struct merge_rows *rows, size_t i, const char *path,
                                              const struct result_schema *schema, const char *near,
                                              struct dse_error *err);

/* Copy the row of the lowest cell to `files`; `*cell` is UINT64_MAX at the end. Twins in other shards are
 * compared and passed over: equal ones are counted in `*n_twin`; of two that differ, one of which failed,
 * timed out or was ended by max_seconds, the better stays, else the first, and `*n_chosen` counts them.
 * DSE_BAD_INPUT: they differ otherwise, or a line does not check any more. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_rows_next(struct merge_rows *rows, struct merge_files *files,
                                               uint64_t *cell, uint64_t *n_twin, uint64_t *n_chosen,
                                               struct dse_error *err);

#endif
