/* From the columns of a CSV table to the datasets of a group: which field goes into which dataset, and
 * where. */
#ifndef RESULTS_CUBE_CUBE_TABLE_H
#define RESULTS_CUBE_CUBE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/cube/cube_column.h"
#include "results/record/csv_line.h"
#include "results/record/schema.h"

/* One field of a line. */
struct cube_source {
    size_t at;                  /* in the split line */
    size_t column, slot;        /* its dataset, and which of the values at one position */
    const struct metric *field; /* for messages */
    bool is_status;
};

struct cube_table {
    struct csv_row header;
    struct cube_source *source; /* (n_source) owned */
    size_t n_source;
    struct cube_column *column; /* (n_column) owned */
    size_t n_column, n_column_max;
    size_t n_position; /* of a cell: 1, or the layers */
};

/* An empty table for lines with this header (sealed or not), each about one of n_position positions of a
 * cell. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_table_init(struct cube_table *table, const struct text_buffer *header,
                                               size_t n_position, struct dse_error *err);

/* Create a dataset (see cube_dataset) for the CSV column of the same name, or of `csv_name` when that is not
 * NULL. */
DSE_MUST_CHECK enum dse_status cube_table_add(struct cube_table *table, const struct cube_group *group,
                                              const char *name, const char *csv_name, unsigned extra,
                                              const struct metric *field, struct dse_error *err);

/* Create a dataset with a value for each level, from the CSV columns LEVEL.name. */
DSE_MUST_CHECK enum dse_status cube_table_add_levels(struct cube_table *table, const struct cube_group *group,
                                                     const char *name, unsigned extra,
                                                     const struct result_schema *schema,
                                                     const struct metric *field, struct dse_error *err);

/* Where a CSV column stands; the last of that name, since axes come first and may be called anything.
 * header.n: nowhere. */
size_t cube_table_find(const struct cube_table *table, const char *name);

/* A line about position `position` of `cell`. DSE_BAD_INPUT: a field that is no number or status. DSE_IO,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_table_take(struct cube_table *table, const struct csv_row *line,
                                               uint64_t cell, size_t position, struct dse_error *err);

/* Texts of a cell without a line at some position are "" from now on, not missing. */
DSE_MUST_CHECK enum dse_status cube_table_clear_texts(struct cube_table *table, uint64_t cell,
                                                      struct dse_error *err);

/* Write what is left (`write`) and close. DSE_IO. A table of zero bytes may be closed. */
DSE_MUST_CHECK enum dse_status cube_table_close(struct cube_table *table, bool write, struct dse_error *err);

#endif
