/* Constraints of Timeloop files in our own words (docs/engines.md, "Constraints"): the lists of targets of v3
 * and of the v4 front end, and what stands in a component of v4. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/model/machine_rules.h"
#include "costmodel/timeloop/timeloop.h"
#include "costmodel/timeloop/timeloop_parts.h"

static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const char DIGITS[] = "0123456789";
static const char SPACE[] = " \t\r\n";
#define NO_ITERATION "no_iteration_over_dataspaces"

/* What Timeloop can say of loops and tensors, and the space of mappings here cannot. */
static const char *const refused[][2] = {
    {"maximize_dims", "an engine maximises by the objective; leave it out"},
    {"maximize_dims_capacity", "an engine maximises by the objective; leave it out"},
    {"rmw_first_update", "first updates without a read are not modelled"},
    {"rmw_on_first_writeback", "first updates without a read are not modelled"},
    {"passthrough", "it is not modelled"},
    {"no_coalesce", "it is not modelled"},
    {"no_refetch", "it is not modelled"},
    {"skew", "skewed loops are not supported"},
    {"flatten", "flattened loops are not supported"},
    {"min", "a least parallelism is not supported"},
    {"min_utilization", "write it as an attribute of the level"},
    {"max_overbooked_proportion", "overbooking is not supported"},
    {"remainders", "imperfect factors are not supported"},
    {"residuals", "imperfect factors are not supported"},
};

static enum dse_status check_keys(const struct timeloop_rules *r, const struct ynode *node, const char *what,
                                  const char *const *allowed, size_t n_allowed, struct dse_error *err)
{
    enum { REFUSED_COUNT = sizeof refused / sizeof refused[0], ALLOWED_MAX = 9 };
    const char *known[ALLOWED_MAX + REFUSED_COUNT];
    size_t n_known = 0;
    DSE_TRY(yaml_is_mapping(r->doc, node, what, err));
    for (; n_known < n_allowed; n_known++)
        known[n_known] = allowed[n_known];
    for (size_t k = 0; k < REFUSED_COUNT; k++) {
        const struct ynode *value = yaml_find(node, refused[k][0]);
        if (!timeloop_is_empty(value))
            return yaml_fail(r->doc, value, err, "\"%s\" in %s is not supported: %s", refused[k][0], what,
                             refused[k][1]);
        if (value)
            known[n_known++] = refused[k][0];
    }
    return yaml_check_keys(r->doc, node, what, known, n_known, err);
}

/* ---------------------------------------- the words of a rule */

/* "43 {target: "PE", type: temporal", which the caller goes on with. */
static void begin(const struct timeloop_rules *r, const struct ynode *node, const char *level,
                  const char *type)
{
    text_append(r->text, "%d {target: \"%s\", type: %s", node->line, level, type);
}

static enum dse_status bad_factor(const struct timeloop_rules *r, const struct ynode *node, const char *at,
                                  struct dse_error *err)
{
    char excerpt[64];
    return yaml_fail(r->doc, node, err,
                     "factors cannot be read at \"%s\": a constraint says C=4, C<=4, or C=0 for the whole "
                     "dimension",
                     text_excerpt(at, excerpt, sizeof excerpt));
}

/* One "C=4", "C<=4" or "C4" at `*at`, which is moved behind it. */
static enum dse_status next_factor(const struct timeloop_rules *r, const struct ynode *node, const char **at,
                                   struct dse_error *err)
{
    const char *start = *at, *end = start + strspn(start, WORD), *p = end + strspn(end, SPACE);
    bool limit = *p == '<';
    if (limit && p[1] != '=')
        return bad_factor(r, node, start, err);
    if (limit || *p == '=') {
        p += limit;
        p += strspn(p, "=");
        p += strspn(p, SPACE);
    } else {
        while (end > start && strchr(DIGITS, end[-1]))
            end--;
        p = end;
    }
    const size_t digits = strspn(p, DIGITS);
    if (end == start || digits == 0 || (p[digits] && !strchr(" \t\r\n,", p[digits])))
        return bad_factor(r, node, start, err);
    const bool all = strspn(p, "0") == digits;
    if (all && limit)
        return bad_factor(r, node, start, err);
    text_append(r->text, "\"%.*s%s%.*s\",", (int)(end - start), start, limit ? "<=" : "=",
                all ? 3 : (int)digits, all ? "all" : p);
    *at = p + digits;
    return DSE_OK;
}

static enum dse_status factor_text(const struct timeloop_rules *r, const struct ynode *node, const char *at,
                                   struct dse_error *err)
{
    for (at += strspn(at, " \t\r\n,"); *at; at += strspn(at, " \t\r\n,"))
        DSE_TRY(next_factor(r, node, &at, err));
    return DSE_OK;
}

static enum dse_status add_factors(const struct timeloop_rules *r, const struct ynode *node, const char *key,
                                   struct dse_error *err)
{
    const char *text;
    char pair[2 * PROBLEM_DIM_NAME_MAX + 32];
    const struct ynode *list = yaml_find(node, key);
    if (timeloop_is_empty(list))
        return DSE_OK;
    text_append(r->text, ", %s: [", key);
    for (size_t i = 0; list->kind != YNODE_SCALAR && i < list->n_item; i++) {
        DSE_TRY(yaml_text(r->doc, list->item[i], "a factor", &text, err));
        if (list->kind == YNODE_MAPPING) {
            snprintf(pair, sizeof pair, "%s=%s", list->key[i], text);
            text = pair;
        }
        DSE_TRY(factor_text(r, list->item[i], text, err));
    }
    if (list->kind == YNODE_SCALAR)
        DSE_TRY(factor_text(r, list, list->text, err));
    text_append(r->text, "]");
    return DSE_OK;
}

/* The words of a permutation, which only the dimensions of a problem tell apart: "RSC" or "R, S, C". */
static enum dse_status add_permutation(const struct timeloop_rules *r, const struct ynode *node,
                                       struct dse_error *err)
{
    const char *text;
    if (timeloop_is_empty(node))
        return DSE_OK;
    text_append(r->text, ", permutation: \"");
    if (node->kind != YNODE_SCALAR)
        DSE_TRY(yaml_is_sequence(r->doc, node, "permutation", err));
    for (size_t i = 0; i < (node->kind == YNODE_SCALAR ? 1 : node->n_item); i++) {
        const struct ynode *item = node->kind == YNODE_SCALAR ? node : node->item[i];
        DSE_TRY(yaml_text(r->doc, item, "permutation", &text, err));
        for (text += strspn(text, " \t\r\n,"); *text; text += strspn(text, " \t\r\n,")) {
            const size_t n = strspn(text, WORD);
            if (n == 0 || (text[n] && !strchr(" \t\r\n,", text[n])))
                return yaml_fail(r->doc, item, err,
                                 "permutation: dimensions are written like RSC or R, S, C, innermost first");
            text_append(r->text, "%.*s ", (int)n, text);
            text += n;
        }
    }
    text_append(r->text, "\"");
    return DSE_OK;
}

static bool has_name(const struct ynode *list, const char *name)
{
    for (size_t i = 0; list && list->kind == YNODE_SEQUENCE && i < list->n_item; i++)
        if (list->item[i]->kind == YNODE_SCALAR && strcmp(list->item[i]->text, name) == 0)
            return true;
    return list && list->kind == YNODE_SCALAR && strcmp(list->text, name) == 0;
}

/* Names of tensors, one after the other, without those in `but`. */
static enum dse_status add_names(const struct timeloop_rules *r, const struct ynode *list,
                                 const struct ynode *but, struct dse_error *err)
{
    const char *name;
    if (timeloop_is_empty(list))
        return DSE_OK;
    if (list->kind != YNODE_SCALAR)
        DSE_TRY(yaml_is_sequence(r->doc, list, "a list of data spaces", err));
    for (size_t i = 0; i < (list->kind == YNODE_SCALAR ? 1 : list->n_item); i++) {
        const struct ynode *item = list->kind == YNODE_SCALAR ? list : list->item[i];
        DSE_TRY(yaml_text(r->doc, item, "a data space", &name, err));
        if (!text_is_name(name))
            return yaml_fail(
                r->doc, item, err,
                "a data space is named by letters, digits and _ . + / -, beginning with a letter");
        if (!has_name(but, name))
            text_append(r->text, "\"%s\",", name);
    }
    return DSE_OK;
}

static enum dse_status add_tensors(const struct timeloop_rules *r, const struct ynode *node, const char *key,
                                   const char *ours, struct dse_error *err)
{
    const struct ynode *list = yaml_find(node, key);
    if (timeloop_is_empty(list))
        return DSE_OK;
    text_append(r->text, ", %s: [", ours);
    DSE_TRY(add_names(r, list, NULL, err));
    text_append(r->text, "]");
    return DSE_OK;
}

/* What both kinds of loops have. */
static enum dse_status add_loops(const struct timeloop_rules *r, const struct ynode *node,
                                 struct dse_error *err)
{
    DSE_TRY(add_factors(r, node, "factors", err));
    DSE_TRY(add_factors(r, node, "factors_only", err));
    DSE_TRY(add_tensors(r, node, NO_ITERATION, NO_ITERATION, err));
    return add_permutation(r, yaml_find(node, "permutation"), err);
}

/* ---------------------------------------- rules */

enum dse_status timeloop_rule_temporal(const struct timeloop_rules *r, const struct ynode *node,
                                       const char *level, struct dse_error *err)
{
    static const char *const allowed[] = {"target",     "type",        "factors",  "factors_only",
                                          NO_ITERATION, "permutation", "no_reuse", "no_temporal_reuse"};
    if (timeloop_is_empty(node))
        return DSE_OK;
    DSE_TRY(check_keys(r, node, "a temporal constraint", allowed, 8, err));
    begin(r, node, level, "temporal");
    DSE_TRY(add_loops(r, node, err));
    DSE_TRY(add_tensors(r, node, yaml_find(node, "no_reuse") ? "no_reuse" : "no_temporal_reuse",
                        "no_temporal_reuse", err));
    text_append(r->text, "}\n");
    return DSE_OK;
}

enum dse_status timeloop_rule_spatial(const struct timeloop_rules *r, const struct ynode *node,
                                      const char *level, struct dse_error *err)
{
    static const char *const allowed[] = {"target",
                                          "type",
                                          "factors",
                                          "factors_only",
                                          NO_ITERATION,
                                          "permutation",
                                          "split",
                                          "no_link_transfer",
                                          "no_multicast_no_reduction"};
    const struct ynode *split;
    uint64_t at = 0;
    if (timeloop_is_empty(node))
        return DSE_OK;
    DSE_TRY(check_keys(r, node, "a spatial constraint", allowed, 9, err));
    begin(r, node, level, "spatial");
    DSE_TRY(add_loops(r, node, err));
    split = yaml_find(node, "split");
    if (!timeloop_is_null(split)) {
        DSE_TRY(yaml_u64(r->doc, split, "split", 0, UINT32_MAX, &at, err));
        text_append(r->text, ", split_all: %llu%s", (unsigned long long)at,
                    r->in_component ? ", ones_first: true" : "");
    }
    DSE_TRY(add_tensors(r, node, "no_link_transfer", "no_link_transfer", err));
    DSE_TRY(add_tensors(r, node, "no_multicast_no_reduction", "no_multicast_no_reduction", err));
    text_append(r->text, "}\n");
    return DSE_OK;
}

/* The lists `keep` and `keep_only` of all components in a branch, but for those in `own`, as names. */
static enum dse_status add_kept(const struct timeloop_rules *r, const struct ynode *branch,
                                const struct ynode *own, int depth, struct dse_error *err)
{
    const struct ynode *nodes = yaml_find(branch, "nodes");
    const struct ynode *space = yaml_find(yaml_find(branch, "constraints"), "dataspace");
    if (depth == TIMELOOP_DEPTH_MAX || ++*r->n_visited > TIMELOOP_VISIT_MAX)
        return dse_fail_at(err, DSE_LIMIT, r->doc->path, branch->line, "too many nodes beside each other");
    DSE_TRY(add_names(r, yaml_find(space, "keep"), own, err));
    DSE_TRY(add_names(r, yaml_find(space, "keep_only"), own, err));
    for (size_t i = 0; nodes && nodes->kind == YNODE_SEQUENCE && i < nodes->n_item; i++)
        DSE_TRY(add_kept(r, nodes->item[i], own, depth + 1, err));
    return DSE_OK;
}

enum dse_status timeloop_rule_dataspace(const struct timeloop_rules *r, const struct ynode *node,
                                        const struct ynode *component, const char *level,
                                        const struct timeloop_branch *branch, struct dse_error *err)
{
    static const char *const allowed[] = {"target", "type", "keep", "keep_only", "bypass"};
    const struct ynode *only = yaml_find(node, "keep_only");
    const struct ynode *keep = timeloop_is_empty(only) ? yaml_find(node, "keep") : only;
    if (!timeloop_is_null(node))
        DSE_TRY(check_keys(r, node, "a dataspace constraint", allowed, 5, err));
    if (timeloop_is_empty(node) && !branch)
        return DSE_OK;
    begin(r, timeloop_is_empty(node) ? component : node, level, "bypass");
    DSE_TRY(add_tensors(r, node, "keep", "keep", err));
    DSE_TRY(add_tensors(r, node, "keep_only", "keep_only", err));
    text_append(r->text, ", bypass: [");
    DSE_TRY(add_names(r, yaml_find(node, "bypass"), NULL, err));
    for (; branch; branch = branch->outer)
        for (size_t i = 0; i < branch->parallel->n_item; i++)
            if (i != branch->which)
                DSE_TRY(add_kept(r, branch->parallel->item[i], keep, 0, err));
    text_append(r->text, "]}\n");
    return DSE_OK;
}

static enum dse_status add_target(const struct timeloop_rules *r, const struct ynode *node,
                                  struct dse_error *err)
{
    static const char *const type[] = {"temporal", "spatial", "bypass", "datatype", "dataspace"};
    const struct ynode *value;
    char level[ARCH_NAME_MAX];
    uint64_t count;
    size_t which = 0;
    DSE_TRY(yaml_is_mapping(r->doc, node, "a constraint", err));
    DSE_TRY(yaml_require(r->doc, node, "a constraint", "target", &value, err));
    DSE_TRY(timeloop_name(r->doc, value, "target", level, sizeof level, &count, err));
    DSE_TRY(yaml_require(r->doc, node, "a constraint", "type", &value, err));
    if (value->kind == YNODE_SCALAR &&
        (strcmp(value->text, "utilization") == 0 || strcmp(value->text, "parallelism") == 0 ||
         strcmp(value->text, "max_overbooked_proportion") == 0))
        return yaml_fail(r->doc, value, err, "a constraint of type %s is not supported%s", value->text,
                         value->text[0] == 'm' ? ": overbooking is not modelled"
                                               : "; restrict the spatial factors instead");
    DSE_TRY(yaml_choice(r->doc, value, "type", type, 5, &which, err));
    if (which == 0)
        return timeloop_rule_temporal(r, node, level, err);
    return which == 1 ? timeloop_rule_spatial(r, node, level, err)
                      : timeloop_rule_dataspace(r, node, node, level, NULL, err);
}

/* `node`: a mapping with `targets`, or the list itself. */
static enum dse_status add_targets(const struct timeloop_rules *r, const struct ynode *node, const char *what,
                                   struct dse_error *err)
{
    static const char *const allowed[] = {"version", "targets", "template"};
    const struct ynode *list = node;
    if (node->kind == YNODE_MAPPING) {
        DSE_TRY(yaml_check_keys(r->doc, node, what, allowed, 3, err));
        list = yaml_find(node, "targets");
    }
    if (timeloop_is_empty(list))
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(r->doc, list, what, err));
    for (size_t i = 0; i < list->n_item; i++)
        DSE_NOTE(r->doc->faults, add_target(r, list->item[i], err));
    return DSE_OK;
}

static const char *const lists[] = {"architecture_constraints", "arch_constraints", "mapspace_constraints",
                                    "constraints", "mapspace"};
enum { LIST_COUNT = sizeof lists / sizeof lists[0] };

enum dse_status timeloop_rules_lists(const struct timeloop_rules *r, struct dse_error *err)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const struct ynode *node = yaml_find(r->doc->root, lists[i]);
        if (!timeloop_is_empty(node))
            DSE_NOTE(r->doc->faults, add_targets(r, node, lists[i], err));
    }
    return DSE_OK;
}

bool timeloop_has_rules(const struct yaml_doc *doc)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const struct ynode *node = yaml_find(doc->root, lists[i]);
        if (node && (node->kind == YNODE_MAPPING ? !timeloop_is_empty(yaml_find(node, "targets"))
                                                 : !timeloop_is_empty(node)))
            return true;
    }
    return false;
}

bool timeloop_is_constraints(const struct yaml_doc *doc)
{
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (yaml_find(doc->root, lists[i]) &&
            (strcmp(lists[i], "constraints") != 0 || yaml_find(yaml_find(doc->root, lists[i]), "targets")))
            return true;
    return false;
}

enum dse_status timeloop_constraints_read(const struct yaml_doc *doc, struct yaml_doc *list,
                                          struct dse_error *err)
{
    struct text_buffer text;
    const struct timeloop_rules r = {.doc = doc, .text = &text};
    text_init(&text);
    machine_rules_begin(&text, doc->path);
    enum dse_status status = timeloop_check_root(doc, TIMELOOP_CONSTRAINTS, err);
    if (status == DSE_OK)
        status = timeloop_rules_lists(&r, err);
    if (status == DSE_OK)
        status = text_check(&text, "the constraints", err);
    if (status == DSE_OK)
        status = machine_rules_parse(text.data, list, err);
    text_free(&text);
    return status;
}
