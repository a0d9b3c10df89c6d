/* A sorted array of pointers: nearly every offer is refused by a look at the last entry, and equal mappings
 * are neighbours. */
#include "engines/driver/shortlist.h"

enum dse_status shortlist_new(uint32_t n_max, struct arena *arena, struct shortlist **out,
                              struct dse_error *err)
{
    struct shortlist *list = arena_alloc(arena, 1, sizeof *list);
    struct shortlist_entry *room = arena_alloc_unset(arena, n_max, sizeof *room);
    struct shortlist_entry **entry = arena_alloc(arena, n_max, sizeof *entry);
    *out = list;
    DSE_TRY(arena_check(arena, "the best mappings of a search", err));
    for (uint32_t i = 0; i < n_max; i++)
        entry[i] = &room[i];
    *list = (struct shortlist){0, n_max, entry};
    return DSE_OK;
}

/* Where it stands in the order: below 0 before the entry, 0 at it, above 0 behind. */
static int compare(const struct evaluation *evaluation, double cost, const struct shortlist_entry *entry)
{
    const struct evaluation *e = &entry->evaluation;
    const double a[] = {cost, evaluation->edp_js, evaluation->energy_j};
    const double b[] = {entry->cost, e->edp_js, e->energy_j};
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

void shortlist_offer(struct shortlist *list, const struct mapping *mapping,
                     const struct evaluation *evaluation, double cost)
{
    uint32_t low = 0, high = list->n;
    if (list->n == list->n_max && compare(evaluation, cost, list->entry[list->n - 1]) >= 0)
        return;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = compare(evaluation, cost, list->entry[middle]);
        if (order == 0)
            return;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    list->n += list->n < list->n_max;
    struct shortlist_entry *place = list->entry[list->n - 1];
    for (uint32_t i = list->n - 1; i > low; i--)
        list->entry[i] = list->entry[i - 1];
    *place = (struct shortlist_entry){cost, *mapping, *evaluation};
    list->entry[low] = place;
}
