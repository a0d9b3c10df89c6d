/* Where the rows of a journal are, sorted by cell in constant memory: runs that are sorted in memory, spilled
 * to a scratch file, and read back merged. */
#ifndef RESULTS_CUBE_CUBE_INDEX_H
#define RESULTS_CUBE_CUBE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* One row: its cell and its place in both files. */
struct cube_entry {
    uint64_t cell; /* row-major */
    uint64_t line, offset, length;
    uint64_t layer_line, layer_offset, layer_length;
    bool exchanged; /* it takes the place of the row before it that has the same cell */
};

struct cube_run; /* one sorted run in the scratch file */

struct cube_index {
    /* (capacity) the run that is being filled; later the buffers of all runs; owned */
    struct cube_entry *entry;
    size_t n, capacity, n_max;
    uint64_t n_all, n_exchanged;
    const char *near; /* where the scratch file goes; borrowed */
    FILE *file;
    struct cube_run *run; /* (n_run) owned */
    size_t n_run;
    size_t next;  /* without a file: the next entry */
    int in_order; /* the entries of the run at hand came by cell */
};

/* An empty index of which at most `n_max` entries are in memory (at least 1024). */
void cube_index_init(struct cube_index *index, size_t n_max, const char *near);
void cube_index_free(struct cube_index *index);

/* DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_index_add(struct cube_index *index, const struct cube_entry *entry,
                                              struct dse_error *err);

/* No more entries come; they may be read once. */
DSE_MUST_CHECK enum dse_status cube_index_finish(struct cube_index *index, struct dse_error *err);

/* The entry of the lowest cell that is left (of equal cells the one that came first); `*entry` is NULL at the
 * end and valid until the next call. */
DSE_MUST_CHECK enum dse_status cube_index_next(struct cube_index *index, const struct cube_entry **entry,
                                               struct dse_error *err);

#endif
