/* Energy reference tables: which action prices reads, fills, updates, multiplications and the leakage of a
 * cycle, each the maximum over its entries; and area reference tables. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop_parts.h"

static const double J_PER_PJ = 1e-12, MM2_PER_UM2 = 1e-6;

/* Actions that may price one kind of access, preferred first (docs/timeloop.md, "Energy Reference
 * Table"). */
static const char *const read_action[] = {"random_read", "read", NULL};
static const char *const fill_action[] = {"random_fill", "write", NULL};
static const char *const update_action[] = {"random_update", "random_fill", "write", NULL};
static const char *const mac_action[] = {"mac_random", "mult_random", "compute_random", "random_compute",
                                         "mac",        "mult",        "compute",        NULL};
static const char *const leak_action[] = {"leak", NULL};

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

/* The component that a table is about: a level, or -1 for the MACs. */
static enum dse_status find_component(const struct yaml_doc *doc, const struct ynode *table, const char *what,
                                      const struct architecture *arch, int *level, struct dse_error *err)
{
    const char *known[ARCH_LEVEL_MAX + 1], *path;
    const struct ynode *name_node;
    char name[ARCH_NAME_MAX], of[40];

    snprintf(of, sizeof of, "%s table", what);
    DSE_TRY(yaml_require(doc, table, of, "name", &name_node, err));
    snprintf(of, sizeof of, "the name of %s table", what);
    DSE_TRY(yaml_text(doc, name_node, of, &path, err));
    last_component(path, name, sizeof name);
    *level = architecture_find_level(arch, name);
    if (*level >= 0 || strcmp(name, arch->mac.name) == 0)
        return DSE_OK;
    for (uint32_t i = 0; i < arch->n_level; i++)
        known[i] = arch->level[i].name;
    known[arch->n_level] = arch->mac.name;
    snprintf(of, sizeof of, "component in the %s", what + sizeof "an " - 1);
    return timeloop_unknown(doc, name_node->line, err, of, name, known, arch->n_level + 1);
}

/* Does an action of the (not yet checked) tables say how long a cycle is? Then Accelergy has written it for
 * Timeloop v4, where `leak` is the energy of a cycle; in v3 it has no meaning. */
static bool says_cycle_time(const struct ynode *tables)
{
    for (size_t i = 0; i < tables->n_item; i++) {
        const struct ynode *actions = yaml_find(tables->item[i], "actions");
        for (size_t k = 0; actions != NULL && k < actions->n_item; k++) {
            const struct ynode *arguments = yaml_find(actions->item[k], "arguments");
            if (arguments != NULL && yaml_find(arguments, "global_cycle_seconds") != NULL)
                return true;
        }
    }
    return false;
}

static uint32_t line_of_leak(const struct ynode *actions)
{
    size_t i = 0;
    while (strcmp(yaml_find(actions->item[i], "name")->text, leak_action[0]) != 0)
        i++;
    return (uint32_t)actions->item[i]->line;
}

/* Of an instance in use, whatever prices its accesses. Where `leak` means nothing the first is noted. */
static enum dse_status apply_leak(const struct yaml_doc *doc, const struct ynode *actions, int l, bool leaks,
                                  struct architecture *arch, struct dse_error *err)
{
    double cycle_j = 0;

    DSE_TRY(apply_actions(doc, actions, leak_action, &cycle_j, err));
    if (!leaks) {
        if (cycle_j > 0 && !arch->unread_leak_line)
            arch->unread_leak_line = line_of_leak(actions);
        return DSE_OK;
    }
    arch->level[l].leakage_w = cycle_j * arch->clock_hz;
    arch->power_gating |= cycle_j > 0;
    return DSE_OK;
}

static enum dse_status apply_table(const struct yaml_doc *doc, const struct ynode *table, const bool *fixed,
                                   bool mac_fixed, bool leaks, struct architecture *arch,
                                   struct dse_error *err)
{
    static const char *const allowed[] = {"name", "actions"};
    const struct ynode *actions;
    int l;

    DSE_TRY(yaml_check_keys(doc, table, "an ERT table", allowed, 2, err));
    DSE_TRY(yaml_require(doc, table, "an ERT table", "actions", &actions, err));
    DSE_TRY(check_actions(doc, actions, err));
    DSE_TRY(find_component(doc, table, "an ERT", arch, &l, err));
    if (l < 0)
        return mac_fixed ? DSE_OK : apply_actions(doc, actions, mac_action, &arch->mac.energy_j, err);
    if (!arch->level[l].is_fanout)
        DSE_TRY(apply_leak(doc, actions, l, leaks, arch, err));
    struct storage_level *level = &arch->level[l];
    if (fixed[l])
        return DSE_OK;
    DSE_TRY(apply_actions(doc, actions, read_action, &level->read_energy_j, err));
    DSE_TRY(apply_actions(doc, actions, fill_action, &level->write_energy_j, err));
    return apply_actions(doc, actions, update_action, &level->update_energy_j, err);
}

/* The list of tables of `table`, which is `what`, "an ERT". */
static enum dse_status find_tables(const struct yaml_doc *doc, const struct ynode *table, const char *what,
                                   const struct ynode **tables, struct dse_error *err)
{
    static const char *const allowed[] = {"version", "tables"};
    static const char *const version[] = {"0.3", "0.4"};
    const char *word = what + sizeof "an " - 1;
    const struct ynode *value;
    char of[40];
    size_t which;

    DSE_TRY(yaml_check_keys(doc, table, word, allowed, 2, err));
    value = yaml_find(table, "version");
    snprintf(of, sizeof of, "%s.version", word);
    if (value != NULL)
        DSE_NOTE(doc->faults, yaml_choice(doc, value, of, version, 2, &which, err));
    DSE_TRY(yaml_require(doc, table, word, "tables", tables, err));
    if ((*tables)->kind == YNODE_MAPPING)
        return yaml_fail(doc, *tables, err,
                         "%s.tables must be a list (version 0.3 or 0.4); the mapping of version 0.2 is not "
                         "read",
                         word);
    snprintf(of, sizeof of, "%s.tables", word);
    return yaml_is_sequence(doc, *tables, of, err);
}

enum dse_status timeloop_ert_apply(const struct yaml_doc *doc, const struct ynode *ert, const bool *fixed,
                                   bool mac_fixed, bool v4, struct architecture *arch, struct dse_error *err)
{
    const struct ynode *tables;

    DSE_TRY(find_tables(doc, ert, "an ERT", &tables, err));
    const bool leaks = v4 || says_cycle_time(tables);
    for (size_t i = 0; i < tables->n_item; i++)
        DSE_NOTE(doc->faults, apply_table(doc, tables->item[i], fixed, mac_fixed, leaks, arch, err));
    return DSE_OK;
}

static enum dse_status apply_area(const struct yaml_doc *doc, const struct ynode *table,
                                  struct architecture *arch, struct dse_error *err)
{
    static const char *const allowed[] = {"name", "area"};
    const struct ynode *value;
    double um2;
    int l;

    DSE_TRY(yaml_check_keys(doc, table, "an ART table", allowed, 2, err));
    DSE_TRY(yaml_require(doc, table, "an ART table", "area", &value, err));
    DSE_TRY(yaml_double(doc, value, "the area of an ART table", 0.0, 1e15, &um2, err));
    DSE_TRY(find_component(doc, table, "an ART", arch, &l, err));
    if (l < 0 || !arch->level[l].is_fanout) /* of which Accelergy says 1 um2 */
        *(l < 0 ? &arch->mac.area_mm2 : &arch->level[l].area_mm2) = um2 * MM2_PER_UM2;
    return DSE_OK;
}

enum dse_status timeloop_art_apply(const struct yaml_doc *doc, const struct ynode *art,
                                   struct architecture *arch, struct dse_error *err)
{
    const struct ynode *tables;

    DSE_TRY(find_tables(doc, art, "an ART", &tables, err));
    for (size_t i = 0; i < tables->n_item; i++)
        DSE_NOTE(doc->faults, apply_area(doc, tables->item[i], arch, err));
    return DSE_OK;
}
