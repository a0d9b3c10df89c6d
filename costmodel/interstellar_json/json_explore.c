/* The grid of memories in an architecture file of Interstellar's authors. */
#include <stdio.h>
#include <string.h>

#include "costmodel/interstellar_json/interstellar_json.h"

static const char *const grid_key[] = {"explore_points", "capacity_scale", "access_cost_scale"};

static enum dse_status read_level(const struct yaml_doc *doc, const struct ynode *const list[3], uint32_t v,
                                  struct interstellar_explore *explore, struct dse_error *err)
{
    char what[64];
    uint64_t n;
    snprintf(what, sizeof what, "explore_points[%u]", v);
    DSE_TRY(yaml_u64(doc, list[0]->item[v], what, 1, 1000, &n, err));
    explore->n_point[v] = (uint32_t)n;
    snprintf(what, sizeof what, "capacity_scale[%u]", v);
    DSE_TRY(yaml_double(doc, list[1]->item[v], what, 1e-3, 1e3, &explore->capacity_scale[v], err));
    snprintf(what, sizeof what, "access_cost_scale[%u]", v);
    return yaml_double(doc, list[2]->item[v], what, 1e-3, 1e3, &explore->access_cost_scale[v], err);
}

enum dse_status interstellar_explore_read(const struct yaml_doc *doc, struct interstellar_explore *explore,
                                          struct dse_error *err)
{
    const struct ynode *list[3], *levels = yaml_find(doc->root, "mem_levels");
    uint64_t n_level = ARCH_LEVEL_MAX;
    int n_given = 0;
    memset(explore, 0, sizeof *explore);
    for (int i = 0; i < 3; i++)
        n_given += (list[i] = yaml_find(doc->root, grid_key[i])) != NULL;
    if (n_given == 0)
        return DSE_OK;
    if (levels)
        DSE_TRY(yaml_u64(doc, levels, "mem_levels", 1, ARCH_LEVEL_MAX, &n_level, err));
    for (int i = 0; i < 3; i++) {
        if (!list[i] && yaml_is_misspelt(doc, doc->root, grid_key[i]))
            return DSE_OK;
        if (!list[i])
            return yaml_fail(
                doc, doc->root, err,
                "%s is missing: explore_points, capacity_scale and access_cost_scale go together",
                grid_key[i]);
        DSE_TRY(yaml_is_sequence(doc, list[i], grid_key[i], err));
        if (list[i]->n_item != list[0]->n_item || list[i]->n_item < 1 || list[i]->n_item > n_level)
            return yaml_fail(
                doc, list[i], err,
                "%s has %zu entries; explore_points, capacity_scale and access_cost_scale have as "
                "many as each other, one for each of the innermost levels (at most %u)",
                grid_key[i], list[i]->n_item, (unsigned)n_level);
    }
    for (uint32_t v = 0; v < list[0]->n_item; v++)
        DSE_NOTE(doc->faults, read_level(doc, list, v, explore, err));
    explore->n_level = (uint32_t)list[0]->n_item;
    return DSE_OK;
}
