/* Mappings: directives by target and type, each at most once per level; the factors of every dimension
 * must multiply to its bound. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop.h"
#include "costmodel/timeloop/timeloop_parts.h"

/* One mapping being read. */
struct builder {
    const struct yaml_doc *doc;
    const struct problem *problem;
    const struct architecture *arch;
    struct mapping *mapping;
    const struct ynode *temporal[ARCH_LEVEL_MAX]; /* the directive, once seen */
    const struct ynode *spatial[ARCH_LEVEL_MAX];
    uint8_t kept_or_bypassed[ARCH_LEVEL_MAX]; /* tensors that a directive has decided on */
};

static enum dse_status find_target(const struct builder *b, const struct ynode *directive, uint32_t *level,
                                   struct dse_error *err)
{
    const char *known[ARCH_LEVEL_MAX];
    const struct ynode *node;
    char name[ARCH_NAME_MAX];
    uint64_t count;
    int l;

    DSE_TRY(yaml_require(b->doc, directive, "a mapping directive", "target", &node, err));
    DSE_TRY(timeloop_name(b->doc, node, "target", name, sizeof name, &count, err));
    l = architecture_find_target(b->arch, name);
    if (l >= 0) {
        *level = (uint32_t)l;
        return DSE_OK;
    }
    if (strcmp(name, b->arch->mac.name) == 0)
        return yaml_fail(b->doc, node, err,
                         "target %s is the MACs: loops and tensors belong to storage levels", name);
    for (uint32_t i = 0; i < b->arch->n_level; i++)
        known[i] = b->arch->level[i].name;
    return timeloop_unknown(b->doc, node->line, err, "target", name, known, b->arch->n_level);
}

/* A list of tensors (or one name) under `key`, as bits; absent and empty give none. A name must not
 * repeat. */
static enum dse_status read_tensors(const struct builder *b, const struct ynode *directive, const char *key,
                                    uint8_t *mask, struct dse_error *err)
{
    const struct ynode *list = yaml_find(directive, key);
    const char *known[PROBLEM_TENSOR_MAX];
    const char *name;
    size_t n;

    *mask = 0;
    if (timeloop_is_null(list))
        return DSE_OK;
    n = list->kind == YNODE_SCALAR ? 1 : list->n_item;
    if (list->kind != YNODE_SCALAR)
        DSE_TRY(yaml_is_sequence(b->doc, list, key, err));
    for (size_t i = 0; i < n; i++) {
        const struct ynode *node = list->kind == YNODE_SCALAR ? list : list->item[i];
        int t;

        DSE_TRY(yaml_text(b->doc, node, key, &name, err));
        t = problem_find_tensor(b->problem, name);
        if (t < 0) {
            for (uint32_t k = 0; k < b->problem->n_tensor; k++)
                known[k] = b->problem->tensor[k].name;
            return timeloop_unknown(b->doc, node->line, err, "tensor", name, known, b->problem->n_tensor);
        }
        if ((*mask >> t & 1) != 0)
            return yaml_fail(b->doc, node, err, "%s names %s twice", key, name);
        *mask = (uint8_t)(*mask | 1U << t);
    }
    return DSE_OK;
}

static enum dse_status only_once(const struct builder *b, const struct ynode **seen,
                                 const struct ynode *directive, const char *type, uint32_t level,
                                 struct dse_error *err)
{
    if (*seen != NULL)
        return yaml_fail(b->doc, directive, err, "%s has a second %s directive (the first is on line %d)",
                         b->arch->level[level].name, type, (*seen)->line);
    *seen = directive;
    return DSE_OK;
}

static enum dse_status read_temporal(struct builder *b, const struct ynode *directive, uint32_t l,
                                     struct dse_error *err)
{
    static const char *const allowed[] = {"target", "type", "factors", "permutation", "no_temporal_reuse"};
    struct mapping_level *level = &b->mapping->level[l];

    DSE_TRY(yaml_check_keys(b->doc, directive, "a temporal directive", allowed, 5, err));
    DSE_TRY(only_once(b, &b->temporal[l], directive, "temporal", l, err));
    DSE_TRY(timeloop_factors(b->doc, yaml_find(directive, "factors"), b->problem, level->temporal, err));
    DSE_TRY(timeloop_permutation(b->doc, yaml_find(directive, "permutation"), b->problem,
                                 level->temporal_order, err));
    return read_tensors(b, directive, "no_temporal_reuse", &level->no_temporal_reuse, err);
}

/* The number of loops on X; as a list [x, p, ...], which Timeloop does not have: from position p of the
 * permutation a third dimension of the array, and so on. */
static enum dse_status read_split(const struct builder *b, const struct ynode *split,
                                  struct mapping_level *level, struct dse_error *err)
{
    uint64_t value = b->problem->n_dim, least = 0;
    bool is_list = split && split->kind == YNODE_SEQUENCE;
    level->further = 0;
    for (size_t i = 0; split && i < (is_list ? split->n_item : 1); i++) {
        DSE_TRY(yaml_u64(b->doc, is_list ? split->item[i] : split, "split", least,
                         is_list ? b->problem->n_dim - 1 : UINT32_MAX, &value, err));
        if (i == 0)
            level->split = (uint8_t)(value < b->problem->n_dim ? value : b->problem->n_dim);
        else
            level->further = (uint16_t)(level->further | 1U << value);
        least = value + 1;
    }
    if (!split || (is_list && split->n_item == 0))
        level->split = b->mapping->n_dim;
    return DSE_OK;
}

static enum dse_status read_spatial(struct builder *b, const struct ynode *directive, uint32_t l,
                                    struct dse_error *err)
{
    static const char *const allowed[] = {
        "target", "type", "factors", "permutation", "split", "no_link_transfer", "no_multicast_no_reduction"};
    struct mapping_level *level = &b->mapping->level[l];

    DSE_TRY(yaml_check_keys(b->doc, directive, "a spatial directive", allowed, 7, err));
    DSE_TRY(only_once(b, &b->spatial[l], directive, "spatial", l, err));
    DSE_TRY(timeloop_factors(b->doc, yaml_find(directive, "factors"), b->problem, level->spatial, err));
    DSE_TRY(timeloop_permutation(b->doc, yaml_find(directive, "permutation"), b->problem,
                                 level->spatial_order, err));
    DSE_TRY(read_split(b, yaml_find(directive, "split"), level, err));
    DSE_TRY(read_tensors(b, directive, "no_link_transfer", &level->no_link_transfer, err));
    return read_tensors(b, directive, "no_multicast_no_reduction", &level->no_multicast, err);
}

static enum dse_status read_bypass(struct builder *b, const struct ynode *directive, uint32_t l,
                                   struct dse_error *err)
{
    static const char *const allowed[] = {"target", "type", "keep", "bypass"};
    struct mapping_level *level = &b->mapping->level[l];
    uint8_t keep, bypass, twice;

    DSE_TRY(yaml_check_keys(b->doc, directive, "a bypass directive", allowed, 4, err));
    DSE_TRY(read_tensors(b, directive, "keep", &keep, err));
    DSE_TRY(read_tensors(b, directive, "bypass", &bypass, err));
    twice = (uint8_t)((keep & bypass) | (b->kept_or_bypassed[l] & (keep | bypass)));
    for (uint32_t t = 0; t < b->problem->n_tensor; t++)
        if ((twice >> t & 1) != 0)
            return yaml_fail(b->doc, directive, err, "keep and bypass of %s at %s are given twice",
                             b->problem->tensor[t].name, b->arch->level[l].name);
    b->kept_or_bypassed[l] = (uint8_t)(b->kept_or_bypassed[l] | keep | bypass);
    level->keep = (uint8_t)((level->keep | keep) & (uint8_t)~bypass);
    for (uint32_t t = 0; b->arch->strict_fanout && l + 1 == b->arch->n_level && t < b->problem->n_tensor; t++)
        if ((bypass >> t & 1) != 0)
            return yaml_fail(b->doc, directive, err,
                             "%s is the outermost level: every tensor lies there, %s cannot be bypassed",
                             b->arch->level[l].name, b->problem->tensor[t].name);
    return DSE_OK;
}

/* What a directive may say in Timeloop but not here. */
static enum dse_status refuse_features(const struct builder *b, const struct ynode *directive,
                                       struct dse_error *err)
{
    static const char *const refused[][2] = {
        {"skew", "skewed loops are not supported"},
        {"flatten", "flattened loops are not supported"},
        {"flattened", "flattened loops are not supported"},
        {"residuals", "imperfect factors are not supported"},
        {"max_overbooked_proportion", "overbooking is not supported"},
        {"sparse_optimizations", "sparsity is not supported"},
        {"network_type", "user-defined networks are not supported"},
    };

    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        const struct ynode *value = yaml_find(directive, refused[i][0]);

        if (value != NULL)
            return yaml_fail(b->doc, value, err, "\"%s\" in a mapping: %s", refused[i][0], refused[i][1]);
    }
    return DSE_OK;
}

static enum dse_status read_directive(struct builder *b, const struct ynode *directive, struct dse_error *err)
{
    static const char *const type[] = {"temporal", "spatial", "bypass", "datatype", "dataspace"};
    const struct ynode *value;
    uint32_t level = 0;
    size_t which = 0;

    DSE_TRY(yaml_is_mapping(b->doc, directive, "a mapping directive", err));
    DSE_TRY(refuse_features(b, directive, err));
    DSE_TRY(yaml_require(b->doc, directive, "a mapping directive", "type", &value, err));
    for (size_t i = 0; value->kind == YNODE_SCALAR && i < 2; i++)
        if (strcmp(value->text, i == 0 ? "skew" : "flattened") == 0)
            return yaml_fail(b->doc, value, err, "type %s is not supported", value->text);
    DSE_TRY(yaml_choice(b->doc, value, "type", type, 5, &which, err));
    DSE_TRY(find_target(b, directive, &level, err));
    if (which == 0)
        return read_temporal(b, directive, level, err);
    if (which == 1)
        return read_spatial(b, directive, level, err);
    return read_bypass(b, directive, level, err);
}

/* Timeloop refuses a mapping unless the factors of every dimension, over all levels and both kinds, multiply
 * to its bound. */
static enum dse_status check_products(const struct builder *b, const struct ynode *top, struct dse_error *err)
{
    for (uint32_t d = 0; d < b->problem->n_dim; d++) {
        double product = 1.0; /* exact below 2^53, and cannot wrap */

        for (uint32_t l = 0; l < b->arch->n_level; l++)
            product *= (double)b->mapping->level[l].temporal[d] * b->mapping->level[l].spatial[d];
        if (product != (double)b->problem->bound[d])
            return yaml_fail(b->doc, top, err,
                             "factors of dimension %s multiply to %.17g, the problem has %u%s",
                             b->problem->dim_name[d], product, b->problem->bound[d],
                             product > b->problem->bound[d] ? " (--pad, if an engine padded it)" : "");
    }
    return DSE_OK;
}

enum dse_status mapping_build(const struct yaml_doc *doc, const struct problem *problem,
                              const struct architecture *arch, struct mapping *mapping, struct dse_error *err)
{
    struct builder b = {.doc = doc, .problem = problem, .arch = arch, .mapping = mapping};
    const struct ynode *top;

    DSE_TRY(timeloop_check_root(doc, TIMELOOP_MAPPING, err));
    DSE_TRY(yaml_require(doc, doc->root, "a mapping file", "mapping", &top, err));
    DSE_TRY(yaml_is_sequence(doc, top, "mapping", err));
    if (top->n_item == 0 && timeloop_is_v4(doc))
        return yaml_fail(doc, top, err,
                         "the mapping is empty: what a mapper finds is in a file of its own "
                         "(timeloop-mapper.map.yaml)");
    mapping_init(mapping, problem, arch);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        mapping->level[arch->n_level - 1].temporal[d] = 1;
    for (size_t i = 0; i < top->n_item; i++)
        DSE_TRY(read_directive(&b, top->item[i], err));
    return check_products(&b, top, err);
}

enum dse_status mapping_read(const char *path, const struct problem *problem, const struct architecture *arch,
                             struct mapping *mapping, struct dse_error *err)
{
    struct yaml_doc doc;
    enum dse_status status;

    DSE_TRY(yaml_read(&doc, path, err));
    status = mapping_build(&doc, problem, arch, mapping, err);
    yaml_doc_free(&doc);
    return status;
}
