/* Which cells have been seen: a bit per cell of a cube that is not too large, else a hash table of those that
 * were. */
#ifndef RESULTS_RECORD_CELL_SET_H
#define RESULTS_RECORD_CELL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct cell_set {
    uint64_t *bit;  /* (n_cell bits) or NULL; owned */
    uint64_t *slot; /* (n_slot, a power of two) cell + 1, 0 is free; or NULL; owned */
    size_t n_slot, n;
};

/* For cells 0 .. n_cell - 1. DSE_NO_MEMORY; then the set needs no release. */
DSE_MUST_CHECK enum dse_status cell_set_init(struct cell_set *set, uint64_t n_cell, struct dse_error *err);
void cell_set_free(struct cell_set *set);

/* Add a cell; `*is_new` is false when it was there. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cell_set_add(struct cell_set *set, uint64_t cell, bool *is_new,
                                            struct dse_error *err);

bool cell_set_has(const struct cell_set *set, uint64_t cell);

#endif
