/* One dataset of the cube, filled cell by cell in row-major order and written chunk by chunk: a chunk without
 * a row is not written. */
#ifndef RESULTS_CUBE_CUBE_COLUMN_H
#define RESULTS_CUBE_CUBE_COLUMN_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "results/cube/cube_hdf5.h"
#include "results/record/schema.h"

struct cube_column {
    hid_t dataset, space, transfer; /* -1: not open; `transfer` is borrowed from the group */
    hid_t type;                     /* in memory; owned when it is text */
    enum metric_type kind;
    int rank, n_axis; /* dimensions; those that are axes */
    hsize_t length[CUBE_RANK_MAX], chunk[CUBE_RANK_MAX];
    size_t inner;      /* values of one cell */
    uint64_t first, n; /* the cells that `value` is about; n 0: none yet */
    uint64_t current;  /* the cell before, whose texts may not be complete */
    uint64_t written;  /* cells of these that are in the file already */
    bool used;         /* a row has come since */
    union {
        double *f64;
        uint64_t *u64;
        const char **text;
        void *any;
    } value;            /* (n x inner); owned */
    size_t capacity;    /* of `value` */
    struct arena texts; /* what value.text points to */
};

/* Create a dataset of the group (extra, metric: see cube_dataset) and a column for it. >= 0 on success; a
 * column that failed may be closed. */
int cube_column_open(struct cube_column *column, const struct cube_group *group, const char *name,
                     unsigned extra, const struct metric *metric);

/* The values (inner) of a cell, missing (NaN, METRIC_U64_MISSING, NULL) unless they were set before: a text
 * may be kept with cube_column_text, or live as long as the program. Cells come in order; the pointer is
 * valid until the next call. NULL: writing failed or out of memory. */
void *cube_column_cell(struct cube_column *column, uint64_t cell);

/* Keep a copy of a text until it is written; NULL when out of memory. */
const char *cube_column_text(struct cube_column *column, const char *text);

/* Write what is left, and close. < 0 when that failed. A column of zero bytes may be closed. */
int cube_column_close(struct cube_column *column, bool write);

#endif
