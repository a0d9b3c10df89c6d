/* The three files of a merge under their temporary names, and how they get their own. OUT.merging.h5 is made
 * last and renamed last: while it is there, the set is whole, and whoever comes next can go on renaming. */
#ifndef RESULTS_CUBE_MERGE_FILES_H
#define RESULTS_CUBE_MERGE_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "base/text.h"
#include "results/cube/cube_rows.h"
#include "results/record/schema.h"

enum { MERGE_PATH_MAX = 4096 };

struct merge_files {
    char h5_path[MERGE_PATH_MAX], csv_path[MERGE_PATH_MAX], layer_path[MERGE_PATH_MAX]; /* temporary */
    FILE *csv, *layers;                                                                 /* owned */
    struct cube_entry end;   /* where the next row goes */
    struct cube_index index; /* of the rows, for the cube */
    uint64_t digest;         /* of their lines, as of journal_scan_place */
};

/* Begin both tables with their headers; what is left of an earlier merge is overwritten. DSE_IO,
 * DSE_NO_MEMORY, DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status merge_files_open(struct merge_files *files, const char *out,
                                                const struct result_schema *schema, struct dse_error *err);

/* Append a row: its line and those of its layers. `row` says its cell, and whether it is an exchanged one.
 * DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_files_add(struct merge_files *files, const struct cube_entry *row,
                                               const struct text_buffer *point,
                                               const struct text_buffer *layers, struct dse_error *err);

/* So that the tables can be read. DSE_IO. */
DSE_MUST_CHECK enum dse_status merge_files_flush(struct merge_files *files, struct dse_error *err);

/* Close the tables and bring them to the disk; the index may be read then. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_files_close(struct merge_files *files, struct dse_error *err);

/* Close and remove everything; the index as well. */
void merge_files_discard(struct merge_files *files);

/* Was a merge into `out` killed while it wrote its tables? */
bool merge_files_begun(const char *out);

/* Rename all that is there of a whole set: layers, points, cube. `*whole` is false, and nothing happens, when
 * OUT.merging.h5 is missing. DSE_IO, DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status merge_files_rename(const char *out, bool *whole, struct dse_error *err);

#endif
