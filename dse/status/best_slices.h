/* The best point so far for each value of an axis, or for each combination of values of several. */
#ifndef DSE_STATUS_BEST_SLICES_H
#define DSE_STATUS_BEST_SLICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/text.h"
#include "dse/status/followed_row.h"

enum { BEST_BY_MAX = 8, BEST_SLICE_MAX = 100000 };

struct best_slice {
    uint64_t hash;  /* of the values, as they are written */
    uint64_t order; /* by the position of the values on their axes; else of appearance */
    double value;   /* of the best; NaN: no point is ok yet */
    uint64_t n, n_ok;
    char *text;  /* (n_by) "64 KiB" "4x4": the values as people read them, each with its terminator; owned */
    char *place; /* of the best: its other coordinates; owned, NULL: none */
};

struct best_slices {
    const char *by[BEST_BY_MAX]; /* (n_by) axes as they were given; borrowed */
    size_t n_by;
    const char *metric;                       /* a column: "edp_js"; borrowed */
    const char *unit;                         /* "J s"; "" for ratios and counts */
    int direction;                            /* -1: less is better, 1: more is */
    size_t column[BEST_BY_MAX], value_column; /* of the header */
    bool bound;
    size_t n;
    struct best_slice *slice; /* (n) owned */
    size_t capacity;
    size_t *slot; /* (n_slot) slice + 1, 0 is free; a hash table; owned */
    size_t n_slot;
    uint64_t n_left_out; /* points of slices beyond BEST_SLICE_MAX */
};

/* Check the metric; the texts are borrowed. DSE_BAD_USAGE: there is no best of it. */
DSE_MUST_CHECK enum dse_status best_slices_init(struct best_slices *best, const char *const *by, size_t n_by,
                                                const char *metric, struct dse_error *err);
void best_slices_free(struct best_slices *best);

/* Forget all points. */
void best_slices_clear(struct best_slices *best);

/* Find the columns in the header of a table whose first `n_axis` columns are the axes; those of further
 * tables must be in the same places. DSE_BAD_USAGE says which there are. */
DSE_MUST_CHECK enum dse_status best_slices_bind(struct best_slices *best, const struct csv_row *header,
                                                size_t n_axis, struct dse_error *err);

/* Add a row; `index` (n_axis of the schema) is its cell. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status best_slices_add(struct best_slices *best, const struct followed_row *source,
                                               const struct csv_row *row, bool ok, const uint32_t *index,
                                               struct dse_error *err);

/* In the order of the axes' values. More rows may follow. */
void best_slices_sort(struct best_slices *best);

#endif
