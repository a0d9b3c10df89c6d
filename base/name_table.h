/* A map from names to indices (open addressing), for duplicate checks and look-ups in long lists. */
#ifndef BASE_NAME_TABLE_H
#define BASE_NAME_TABLE_H

#include <stddef.h>

struct name_slot {
    const char *name; /* NULL: free; borrowed from the caller */
    size_t index;
};

struct name_table {
    struct name_slot *slot; /* (n_slot) owned */
    size_t n_slot;          /* a power of two, or 0 */
    size_t n_name;
};

void name_table_init(struct name_table *table);
void name_table_free(struct name_table *table);

/* Forget all names; keeps a little memory for reuse. */
void name_table_clear(struct name_table *table);

/* Store `index` under `name`, which must outlive the table; a name already there gets the new index. Returns
 * 0 when out of memory, else 1. */
int name_table_put(struct name_table *table, const char *name, size_t index);

/* 1 and the index of `name`, or 0 when it is not there. */
int name_table_get(const struct name_table *table, const char *name, size_t *index);

#endif
