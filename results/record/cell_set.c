/* Either form behind one function; the hash table doubles when it is half full. */
#include "results/record/cell_set.h"

#include <stdlib.h>

/* 32 MiB of bits. */
static const uint64_t most_bits = (uint64_t)1 << 28;

enum dse_status cell_set_init(struct cell_set *set, uint64_t n_cell, struct dse_error *err)
{
    *set = (struct cell_set){0};
    if (n_cell <= most_bits) {
        set->bit = calloc((size_t)(n_cell / 64 + 1), sizeof *set->bit);
    } else {
        set->n_slot = 1024;
        set->slot = calloc(set->n_slot, sizeof *set->slot);
    }
    if (!set->bit && !set->slot)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the cells that are there");
    return DSE_OK;
}

void cell_set_free(struct cell_set *set)
{
    free(set->bit);
    free(set->slot);
    *set = (struct cell_set){0};
}

/* Where a cell is, or a free slot where it would be. Cells are consecutive numbers: a multiplication spreads
 * them (Fibonacci hashing, Knuth, The Art of Computer Programming 3, section 6.4). */
static uint64_t *find_slot(const struct cell_set *set, uint64_t cell)
{
    size_t at = (size_t)((cell * 0x9e3779b97f4a7c15u) >> 20) & (set->n_slot - 1);
    while (set->slot[at] != 0 && set->slot[at] != cell + 1)
        at = (at + 1) & (set->n_slot - 1);
    return &set->slot[at];
}

static bool grow(struct cell_set *set)
{
    struct cell_set larger = {.n_slot = 2 * set->n_slot, .n = set->n};
    larger.slot = calloc(larger.n_slot, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < set->n_slot; i++)
        if (set->slot[i] != 0)
            *find_slot(&larger, set->slot[i] - 1) = set->slot[i];
    free(set->slot);
    *set = larger;
    return true;
}

enum dse_status cell_set_add(struct cell_set *set, uint64_t cell, bool *is_new, struct dse_error *err)
{
    if (set->bit) {
        uint64_t bit = (uint64_t)1 << (cell & 63);
        *is_new = (set->bit[cell >> 6] & bit) == 0;
        set->bit[cell >> 6] |= bit;
        return DSE_OK;
    }
    if (2 * set->n >= set->n_slot && !grow(set))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu cells", set->n);
    uint64_t *slot = find_slot(set, cell);
    *is_new = *slot == 0;
    if (*is_new) {
        *slot = cell + 1;
        set->n++;
    }
    return DSE_OK;
}

bool cell_set_has(const struct cell_set *set, uint64_t cell)
{
    return set->bit ? (set->bit[cell >> 6] >> (cell & 63) & 1) != 0 : *find_slot(set, cell) != 0;
}
