/* Linear probing over slots that hold the caller's pointers; the table doubles as it fills and is given
 * back when it has become large. */
#include "base/name_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

void name_table_init(struct name_table *table)
{
    memset(table, 0, sizeof *table);
}

void name_table_free(struct name_table *table)
{
    free(table->slot);
    name_table_init(table);
}

void name_table_clear(struct name_table *table)
{
    /* A large table is given back, else one large mapping would make clearing dear for all small ones after
     * it. */
    if (table->n_slot > 64) {
        name_table_free(table);
        return;
    }
    if (table->slot)
        memset(table->slot, 0, table->n_slot * sizeof *table->slot);
    table->n_name = 0;
}

/* The slot that holds `name`, or the free one where it belongs; n_slot > n_name. */
static struct name_slot *slot_of(struct name_slot *slot, size_t n_slot, const char *name)
{
    size_t at = (size_t)hash_of_bytes(name, strlen(name)) & (n_slot - 1);
    while (slot[at].name && strcmp(slot[at].name, name) != 0)
        at = (at + 1) & (n_slot - 1);
    return &slot[at];
}

static int grow(struct name_table *table)
{
    size_t n_slot = table->n_slot ? 2 * table->n_slot : 16;
    struct name_slot *slot = calloc(n_slot, sizeof *slot);
    if (!slot)
        return 0;
    for (size_t i = 0; i < table->n_slot; i++)
        if (table->slot[i].name)
            *slot_of(slot, n_slot, table->slot[i].name) = table->slot[i];
    free(table->slot);
    table->slot = slot;
    table->n_slot = n_slot;
    return 1;
}

int name_table_put(struct name_table *table, const char *name, size_t index)
{
    if (2 * (table->n_name + 1) > table->n_slot && !grow(table))
        return 0;
    struct name_slot *slot = slot_of(table->slot, table->n_slot, name);
    if (!slot->name) {
        slot->name = name;
        table->n_name++;
    }
    slot->index = index;
    return 1;
}

int name_table_get(const struct name_table *table, const char *name, size_t *index)
{
    if (table->n_slot == 0)
        return 0;
    const struct name_slot *slot = slot_of(table->slot, table->n_slot, name);
    if (!slot->name)
        return 0;
    *index = slot->index;
    return 1;
}
