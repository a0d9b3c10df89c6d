/* The execution graph of a schedule as a file (docs/execution-graph.md). As HDF5 for `dse plot` and readers
 * of arrays, as CSV for the rest. */
#ifndef RESULTS_TIMELINE_TIMELINE_H
#define RESULTS_TIMELINE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "base/timeline_data.h"

/* The format as data, for writers and readers. */
enum timeline_type { TIMELINE_WHOLE, TIMELINE_TEXT, TIMELINE_REAL };

struct timeline_column {
    const char *name;
    enum timeline_type type;
    size_t offset;
    const char *unit; /* "" for texts and plain numbers */
    const char *sentence;
};

/* A table: a group of the file, and the rows of a kind in the CSV. */
struct timeline_table {
    const char *name;  /* "dram", "compute", "buffer", "groups"; "uops" */
    const char *index; /* name of its dimension, whose values are 0 .. n-1 */
    const char *index_sentence;
    const struct timeline_column *column; /* (n_column) offsets into a row */
    size_t n_column, row_size;
    size_t rows_offset, count_offset; /* of the pointer and the count in struct timeline */
};

/* What files of a kind have. */
struct timeline_form {
    const char *format;                 /* the attribute of that name of an HDF5 file's root */
    const struct timeline_table *table; /* (n_table) */
    size_t n_table;
    const struct timeline_column *attribute; /* (n_attribute) of the root, offsets into struct timeline */
    size_t n_attribute;
};

extern const struct timeline_form timeline_form[TIMELINE_N_KIND];

/* Append the CSV: one header for all tables, the table's name in the first column, empty fields where a
 * column is another table's. Out of memory shows in out->failed. */
void timeline_csv(const struct timeline *timeline, struct text_buffer *out);

/* Write `path` (first PATH.tmp, which then takes the name): HDF5, or CSV for the ending .csv. DSE_BAD_USAGE
 * for another ending than .h5, .hdf5 or .csv; DSE_IO; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status timeline_write(const struct timeline *timeline, const char *path,
                                              struct dse_error *err);

/* Whether the rows are such as a schedule makes: times that do not run backwards, no later than the end,
 * numbers of 0 and more below 2^60, known kinds, groups that exist. DSE_BAD_INPUT says what is wrong. */
DSE_MUST_CHECK enum dse_status timeline_check(const struct timeline *timeline, struct dse_error *err);

/* HDF5 alone, whatever the ending. */
DSE_MUST_CHECK enum dse_status timeline_hdf5_write(const struct timeline *timeline, const char *path,
                                                   struct dse_error *err);

/* Whether the file is HDF5 and says that it is a timeline; false also when it cannot be read. */
bool timeline_is_file(const char *path);

/* Read a timeline from HDF5; memory from `arena`. DSE_IO when it cannot be opened; DSE_BAD_INPUT when it is
 * no timeline, lacks a column, or its numbers are not those of a schedule (times that run backwards, bytes
 * below 0). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status timeline_hdf5_read(const char *path, struct arena *arena,
                                                  struct timeline *timeline, struct dse_error *err);

#endif
