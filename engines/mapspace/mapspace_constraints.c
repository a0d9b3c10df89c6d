/* Reads lists of constraints, entry by entry: target and type, tensors kept and bypassed, flags; a wrong word
 * gets the nearest one. What entries say of loops is read in constraints_loops.c. */
#include "engines/mapspace/mapspace_constraints.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/machine_rules.h"
#include "engines/mapspace/constraints_entry.h"

enum { TYPE_TEMPORAL, TYPE_SPATIAL };

void mapspace_constraints_init(struct mapspace_constraints *constraints, const struct problem *problem,
                               const struct architecture *arch)
{
    *constraints = (struct mapspace_constraints){0};
    constraints->n_level = arch->n_level;
    constraints->n_dim = problem->n_dim;
    constraints->n_tensor = problem->n_tensor;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        struct level_constraints *level = &constraints->level[l];
        level->dims_x = level->dims_y = (1u << problem->n_dim) - 1;
        level->is_fanout = arch->level[l].is_fanout;
        for (uint32_t d = 0; level->is_fanout && d < problem->n_dim; d++)
            level->temporal.fixed[d] = 1;
    }
}

bool mapspace_constraints_of_machine(const struct architecture *arch)
{
    bool any = arch->rules[0] != '\0';
    for (uint32_t l = 0; l < arch->n_level; l++)
        any = any || arch->level[l].is_fanout;
    return any;
}

bool mapspace_constraints_are_free(const struct mapspace_constraints *constraints)
{
    const uint32_t all = (1u << constraints->n_dim) - 1;
    for (uint32_t l = 0; l < constraints->n_level; l++) {
        const struct level_constraints *level = &constraints->level[l];
        const bool dataflow = level->dataflow.n > 0 && level->dataflow.n == level->spatial.n_order;
        uint32_t said = level->temporal.n_order | level->keep | level->bypass | level->no_temporal_reuse |
                        level->no_link_transfer | level->no_multicast;
        for (uint32_t d = 0; d < constraints->n_dim; d++)
            said |= (level->is_fanout ? 0 : level->temporal.fixed[d]) | level->temporal.highest[d] |
                    level->spatial.fixed[d] | level->spatial.highest[d];
        if (said || (!dataflow && (level->spatial.n_order || level->dims_x != all || level->dims_y != all)))
            return false;
    }
    return true;
}

enum dse_status mapspace_constraints_unroll(struct level_constraints *level, const struct unrolling *dataflow,
                                            struct dse_error *err)
{
    uint32_t sides = 0, side[2] = {0, 0};
    for (uint32_t i = 0; i < dataflow->n; i++) {
        sides += dataflow->begins >> i & 1;
        if (sides > 2)
            return dse_fail(err, DSE_BAD_INPUT, "a dataflow of more than two sides is not supported");
        side[sides - 1] |= 1u << dataflow->loop[i];
    }
    level->spatial.n_order = dataflow->n;
    memcpy(level->spatial.order, dataflow->loop, sizeof dataflow->loop);
    level->dims_x = side[0];
    level->dims_y = side[1];
    level->dataflow = *dataflow;
    return DSE_OK;
}

/* ---------------------------------------- names */

enum dse_status constraint_unknown(const struct constraint_entry *e, const struct ynode *node,
                                   const char *what, const char *word, const char *const *known, size_t n)
{
    char list[DSE_ERROR_TEXT_MAX / 2] = "";
    size_t used = 0;
    const char *nearest = text_nearest(word, known, n);
    for (size_t i = 0; i < n && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    return yaml_fail(e->doc, node, e->err, "unknown %s \"%.80s\"%s%s%s; accepted: %s", what, word,
                     nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", list);
}

/* A level's name, or that of the array below it, as native files call it. */
static int find_level(const struct architecture *arch, const char *word)
{
    int l = architecture_find_target(arch, word);
    for (uint32_t i = 0; i < arch->n_level && l < 0; i++)
        if (arch->level[i].array[0] && strcmp(arch->level[i].array, word) == 0)
            l = (int)i;
    return l;
}

/* ---------------------------------------- lists */

enum dse_status constraint_read_tensors(const struct constraint_entry *e, const char *key, uint32_t *mask)
{
    const struct ynode *node = yaml_find(e->node, key);
    const char *known[PROBLEM_TENSOR_MAX], *text;
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(e->doc, node, key, e->err));
    for (uint32_t t = 0; t < e->problem->n_tensor; t++)
        known[t] = e->problem->tensor[t].name;
    for (size_t i = 0; i < node->n_item; i++) {
        DSE_TRY(yaml_text(e->doc, node->item[i], key, &text, e->err));
        int t = problem_find_tensor(e->problem, text);
        if (t < 0)
            return constraint_unknown(e, node->item[i], "tensor", text, known, e->problem->n_tensor);
        *mask |= 1u << t;
    }
    return DSE_OK;
}

static enum dse_status read_flags(const struct constraint_entry *e, const char *key, uint8_t *flags)
{
    uint32_t mask = *flags;
    DSE_TRY(constraint_read_tensors(e, key, &mask));
    *flags = (uint8_t)mask;
    return DSE_OK;
}

/* ---------------------------------------- entries */

static enum dse_status read_temporal(const struct constraint_entry *e)
{
    static const char *const keys[] = {"target",
                                       "type",
                                       "factors",
                                       "factors_only",
                                       "permutation",
                                       "no_temporal_reuse",
                                       "no_iteration_over_dataspaces"};
    DSE_TRY(yaml_check_keys(e->doc, e->node, "a temporal constraint", keys, sizeof keys / sizeof keys[0],
                            e->err));
    DSE_TRY(constraint_read_temporal(e));
    return read_flags(e, "no_temporal_reuse", &e->level->no_temporal_reuse);
}

static enum dse_status read_spatial(const struct constraint_entry *e)
{
    static const char *const keys[] = {"target",
                                       "type",
                                       "factors",
                                       "factors_only",
                                       "no_iteration_over_dataspaces",
                                       "permutation",
                                       "split",
                                       "split_all",
                                       "dataflow",
                                       "dims_x",
                                       "dims_y",
                                       "no_link_transfer",
                                       "no_multicast_no_reduction",
                                       "ones_first"};
    DSE_TRY(
        yaml_check_keys(e->doc, e->node, "a spatial constraint", keys, sizeof keys / sizeof keys[0], e->err));
    DSE_TRY(constraint_read_spatial(e));
    DSE_TRY(read_flags(e, "no_link_transfer", &e->level->no_link_transfer));
    return read_flags(e, "no_multicast_no_reduction", &e->level->no_multicast);
}

static enum dse_status read_bypass(const struct constraint_entry *e)
{
    static const char *const keys[] = {"target", "type", "keep", "bypass", "keep_only"};
    DSE_TRY(
        yaml_check_keys(e->doc, e->node, "a bypass constraint", keys, sizeof keys / sizeof keys[0], e->err));
    uint32_t keep = 0, bypass = 0, only = 0;
    char place[SAID_MAX];
    DSE_TRY(constraint_read_tensors(e, "keep", &keep));
    DSE_TRY(constraint_read_tensors(e, "bypass", &bypass));
    DSE_TRY(constraint_read_tensors(e, "keep_only", &only));
    keep |= only;
    if (yaml_find(e->node, "keep_only"))
        bypass |= ~only & ((1u << e->problem->n_tensor) - 1);
    for (uint32_t t = 0; t < e->problem->n_tensor; t++) {
        const char *name = e->problem->tensor[t].name;
        const struct said *other = keep >> t & 1u ? &e->said->bypass[t] : &e->said->keep[t];
        if (keep & bypass & 1u << t)
            return yaml_fail(e->doc, e->node, e->err, "%s: %s is under keep and under bypass", e->level_name,
                             name);
        if ((keep & e->level->bypass & 1u << t) || (bypass & e->level->keep & 1u << t))
            return yaml_fail(e->doc, e->node, e->err, "%s: %s is under %s here and under %s on %s",
                             e->level_name, name, keep >> t & 1u ? "keep" : "bypass",
                             keep >> t & 1u ? "bypass" : "keep",
                             said_print(other, e->list, e->machine_path, place, sizeof place));
        if ((bypass >> t & 1u) && e->level_name == e->arch->level[e->arch->n_level - 1].name)
            return yaml_fail(e->doc, e->node, e->err,
                             "%s is the outermost level: every tensor lies there, %s cannot be bypassed",
                             e->level_name, name);
        if (keep >> t & 1u)
            e->said->keep[t] = (struct said){e->node->line, e->list};
        if (bypass >> t & 1u)
            e->said->bypass[t] = (struct said){e->node->line, e->list};
    }
    e->level->keep |= keep;
    e->level->bypass |= bypass;
    return DSE_OK;
}

static enum dse_status read_entry(struct constraint_entry *e, struct mapspace_constraints *out,
                                  struct constraints_said *said)
{
    static const char *const types[] = {"temporal", "spatial", "bypass", "datatype"};
    const struct ynode *node;
    const char *target, *known[ARCH_LEVEL_MAX];
    size_t type = 0;
    DSE_TRY(yaml_is_mapping(e->doc, e->node, "a constraint", e->err));
    DSE_TRY(yaml_require(e->doc, e->node, "a constraint", "target", &node, e->err));
    DSE_TRY(yaml_text(e->doc, node, "target", &target, e->err));
    for (uint32_t l = 0; l < e->arch->n_level; l++)
        known[l] = e->arch->level[l].name;
    int l = find_level(e->arch, target);
    if (l < 0)
        return constraint_unknown(e, node, "level", target, known, e->arch->n_level);
    e->level = &out->level[l];
    e->said = &said->level[l];
    e->level_name = e->arch->level[l].name;
    DSE_TRY(yaml_require(e->doc, e->node, "a constraint", "type", &node, e->err));
    DSE_TRY(yaml_choice(e->doc, node, "type", types, sizeof types / sizeof types[0], &type, e->err));
    if (type == TYPE_TEMPORAL)
        return read_temporal(e);
    return type == TYPE_SPATIAL ? read_spatial(e) : read_bypass(e);
}

/* A schedule of Interstellar's authors; that of a later list replaces the other. */
static enum dse_status read_schedule(const struct constraint_entry *e, const struct ynode *node,
                                     struct mapspace_constraints *out)
{
    return interstellar_hint_read(e->doc, node, e->problem, e->arch, &out->hint, e->err);
}

static enum dse_status read_list(struct constraint_entry *e, const struct ynode *list,
                                 struct mapspace_constraints *out, struct constraints_said *said)
{
    if (interstellar_is_schedule(list))
        return read_schedule(e, list, out);
    DSE_TRY(yaml_is_sequence(e->doc, list, "constraints", e->err));
    for (size_t i = 0; i < list->n_item; i++) {
        e->node = list->item[i];
        DSE_TRY(interstellar_is_schedule(e->node) ? read_schedule(e, e->node, out)
                                                  : read_entry(e, out, said));
    }
    return DSE_OK;
}

/* The machine's own constraints first. */
static enum dse_status read_machine(struct constraint_entry *e, const char *rules,
                                    struct mapspace_constraints *out, struct constraints_said *said)
{
    struct yaml_doc doc;
    DSE_TRY(machine_rules_parse(rules, &doc, e->err));
    e->list = LIST_MACHINE;
    e->doc = &doc;
    enum dse_status status = read_list(e, doc.root, out, said);
    yaml_doc_free(&doc);
    return status;
}

enum dse_status mapspace_constraints_read(const struct yaml_doc *doc, const struct ynode *list,
                                          const struct ynode *further, const struct problem *problem,
                                          const struct architecture *arch, struct mapspace_constraints *out,
                                          struct dse_error *err)
{
    struct constraints_said said = {0};
    char machine_path[SAID_MAX];
    struct constraint_entry e = {.machine_path = machine_path, .problem = problem, .arch = arch, .err = err};
    mapspace_constraints_init(out, problem, arch);
    snprintf(machine_path, sizeof machine_path, "%.*s", (int)strcspn(arch->rules, "\n"), arch->rules);
    if (arch->rules[0])
        DSE_TRY(read_machine(&e, arch->rules, out, &said));
    e.doc = doc;
    for (e.list = LIST_FIRST; e.list <= LIST_FURTHER; e.list++)
        if (e.list == LIST_FIRST ? list : further)
            DSE_TRY(read_list(&e, e.list == LIST_FIRST ? list : further, out, &said));
    constraints_split(&said, problem, out);
    return constraints_agree(doc ? doc->path : NULL, machine_path, problem, arch, &said, out, err);
}
