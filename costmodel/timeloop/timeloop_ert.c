/* Energy reference tables: which action prices reads, fills, updates and multiplications, each the maximum
 * over its entries. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop_parts.h"

static const double J_PER_PJ = 1e-12;

/* Actions that may price one kind of access, preferred first (docs/timeloop.md, "Energy Reference
 * Table"). */
static const char *const read_action[] = {"random_read", "read", NULL};
static const char *const fill_action[] = {"random_fill", "write", NULL};
static const char *const update_action[] = {"random_update", "random_fill", "write", NULL};
static const char *const mac_action[] = {"mac_random", "mult_random", "compute_random", "random_compute",
                                         "mac",        "mult",        "compute",        NULL};

/* "system.chip.PE[0..15].RF[0..3]" -> "RF" */
static void last_component(const char *path, char *name, size_t size)
{
    size_t end = strlen(path), start;

    if (end > 0 && path[end - 1] == ']')
        while (end > 0 && path[--end] != '[')
            continue;
    for (start = end; start > 0 && path[start - 1] != '.'; start--)
        continue;
    snprintf(name, size, "%.*s", (int)(end - start), path + start);
}

static enum dse_status check_actions(const struct yaml_doc *doc, const struct ynode *actions,
                                     struct dse_error *err)
{
    static const char *const allowed[] = {"name", "arguments", "energy"};
    const struct ynode *value;
    const char *text;
    double pj;

    DSE_TRY(yaml_is_sequence(doc, actions, "ERT actions", err));
    for (size_t i = 0; i < actions->n_item; i++) {
        const struct ynode *action = actions->item[i];

        DSE_TRY(yaml_check_keys(doc, action, "an ERT action", allowed, 3, err));
        DSE_TRY(yaml_require(doc, action, "an ERT action", "name", &value, err));
        DSE_TRY(yaml_text(doc, value, "the name of an ERT action", &text, err));
        DSE_TRY(yaml_require(doc, action, "an ERT action", "energy", &value, err));
        DSE_TRY(yaml_double(doc, value, "the energy of an ERT action", 0.0, 1e15, &pj, err));
    }
    return DSE_OK;
}

/* Set `*energy_j` from the first of `wanted` that the (checked) table has: the maximum over its entries. */
static enum dse_status apply_actions(const struct yaml_doc *doc, const struct ynode *actions,
                                     const char *const *wanted, double *energy_j, struct dse_error *err)
{
    for (size_t w = 0; wanted[w] != NULL; w++) {
        double highest = -1.0;

        for (size_t i = 0; i < actions->n_item; i++) {
            double pj = 0.0;

            if (strcmp(yaml_find(actions->item[i], "name")->text, wanted[w]) != 0)
                continue;
            DSE_TRY(yaml_double(doc, yaml_find(actions->item[i], "energy"), wanted[w], 0.0, 1e15, &pj, err));
            highest = fmax(highest, pj);
        }
        if (highest >= 0.0) {
            *energy_j = highest * J_PER_PJ;
            return DSE_OK;
        }
    }
    return DSE_OK;
}

static enum dse_status apply_table(const struct yaml_doc *doc, const struct ynode *table, const bool *fixed,
                                   bool mac_fixed, struct architecture *arch, struct dse_error *err)
{
    static const char *const allowed[] = {"name", "actions"};
    const char *known[ARCH_LEVEL_MAX + 1];
    const struct ynode *name_node, *actions;
    const char *path;
    char name[ARCH_NAME_MAX];
    int l;

    DSE_TRY(yaml_check_keys(doc, table, "an ERT table", allowed, 2, err));
    DSE_TRY(yaml_require(doc, table, "an ERT table", "name", &name_node, err));
    DSE_TRY(yaml_text(doc, name_node, "the name of an ERT table", &path, err));
    DSE_TRY(yaml_require(doc, table, "an ERT table", "actions", &actions, err));
    DSE_TRY(check_actions(doc, actions, err));
    last_component(path, name, sizeof name);
    if (strcmp(name, arch->mac.name) == 0)
        return mac_fixed ? DSE_OK : apply_actions(doc, actions, mac_action, &arch->mac.energy_j, err);
    l = architecture_find_level(arch, name);
    if (l >= 0) {
        struct storage_level *level = &arch->level[l];

        if (fixed[l])
            return DSE_OK;
        DSE_TRY(apply_actions(doc, actions, read_action, &level->read_energy_j, err));
        DSE_TRY(apply_actions(doc, actions, fill_action, &level->write_energy_j, err));
        return apply_actions(doc, actions, update_action, &level->update_energy_j, err);
    }
    for (uint32_t i = 0; i < arch->n_level; i++)
        known[i] = arch->level[i].name;
    known[arch->n_level] = arch->mac.name;
    return timeloop_unknown(doc, name_node->line, err, "component in the ERT", name, known,
                            arch->n_level + 1);
}

enum dse_status timeloop_ert_apply(const struct yaml_doc *doc, const struct ynode *ert, const bool *fixed,
                                   bool mac_fixed, struct architecture *arch, struct dse_error *err)
{
    static const char *const allowed[] = {"version", "tables"};
    static const char *const version[] = {"0.3", "0.4"};
    const struct ynode *tables, *value;
    size_t which;

    DSE_TRY(yaml_check_keys(doc, ert, "ERT", allowed, 2, err));
    value = yaml_find(ert, "version");
    if (value != NULL)
        DSE_NOTE(doc->faults, yaml_choice(doc, value, "ERT.version", version, 2, &which, err));
    DSE_TRY(yaml_require(doc, ert, "ERT", "tables", &tables, err));
    if (tables->kind == YNODE_MAPPING)
        return yaml_fail(doc, tables, err,
                         "ERT.tables must be a list (version 0.3 or 0.4); the mapping of version "
                         "0.2 is not read");
    DSE_TRY(yaml_is_sequence(doc, tables, "ERT.tables", err));
    for (size_t i = 0; i < tables->n_item; i++)
        DSE_NOTE(doc->faults, apply_table(doc, tables->item[i], fixed, mac_fixed, arch, err));
    return DSE_OK;
}
