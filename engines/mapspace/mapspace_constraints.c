/* Reads entries by target and type: factors, permutation, split, keep and bypass, in each spelling that
 * Timeloop has; a wrong word gets the nearest one. */
#include "engines/mapspace/mapspace_constraints.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { TYPE_TEMPORAL, TYPE_SPATIAL, WORD_MAX = PROBLEM_NAME_MAX };

/* What one entry is read with. */
struct entry {
    const struct yaml_doc *doc;
    const struct ynode *node;
    const struct problem *problem;
    const struct architecture *arch;
    struct level_constraints *level;
    const char *level_name;
    struct dse_error *err;
};

void mapspace_constraints_init(struct mapspace_constraints *constraints, const struct problem *problem,
                               const struct architecture *arch)
{
    *constraints = (struct mapspace_constraints){0};
    constraints->n_level = arch->n_level;
    constraints->n_dim = problem->n_dim;
    constraints->n_tensor = problem->n_tensor;
    for (uint32_t l = 0; l < arch->n_level; l++)
        constraints->level[l].dims_x = constraints->level[l].dims_y = (1u << problem->n_dim) - 1;
}

/* ---------------------------------------- names */

/* "unknown WHAT "word" ...; did you mean ...?; accepted: a, b, c" */
static enum dse_status unknown(const struct entry *e, const struct ynode *node, const char *what,
                               const char *word, const char *const *known, size_t n)
{
    char list[DSE_ERROR_TEXT_MAX / 2] = "";
    size_t used = 0;
    const char *nearest = text_nearest(word, known, n);
    for (size_t i = 0; i < n && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", known[i]);
    return yaml_fail(e->doc, node, e->err, "unknown %s \"%.80s\"%s%s%s; accepted: %s", what, word,
                     nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "", list);
}

static enum dse_status find_dim(const struct entry *e, const struct ynode *node, const char *word,
                                uint32_t *dim)
{
    const char *known[PROBLEM_DIM_MAX];
    int found = problem_find_dim(e->problem, word);
    for (uint32_t d = 0; d < e->problem->n_dim; d++)
        known[d] = e->problem->dim_name[d];
    if (found < 0)
        return unknown(e, node, "dimension", word, known, e->problem->n_dim);
    *dim = (uint32_t)found;
    return DSE_OK;
}

/* A level's name, or that of the array below it, as native files call it. */
static int find_level(const struct architecture *arch, const char *word)
{
    int l = architecture_find_level(arch, word);
    for (uint32_t i = 0; i < arch->n_level && l < 0; i++)
        if (arch->level[i].array[0] && strcmp(arch->level[i].array, word) == 0)
            l = (int)i;
    return l;
}

/* ---------------------------------------- factors */

/* "C=4", "C<=4", "C4": one word of a factor list. */
static enum dse_status read_factor(const struct entry *e, const struct ynode *node, const char *word,
                                   struct loop_constraints *loops)
{
    char name[WORD_MAX];
    size_t n = 0;
    uint64_t value = 0;
    uint32_t dim = 0;
    while (word[n] && !strchr("=<>", word[n]) && !isdigit((unsigned char)word[n]) && n + 1 < sizeof name) {
        name[n] = word[n];
        n++;
    }
    name[n] = '\0';
    const char *rest = word + n;
    bool limit = rest[0] == '<';
    rest += limit;
    rest += rest[0] == '=';
    if (n == 0 || !text_parse_u64(rest, &value) || value > UINT32_MAX)
        return yaml_fail(e->doc, node, e->err,
                         "%s: \"%.80s\" is no factor; accepted: C=4 (exactly), C<=4 (at most)", e->level_name,
                         word);
    DSE_TRY(find_dim(e, node, name, &dim));
    if (value == 0)
        return yaml_fail(e->doc, node, e->err,
                         "%s: factor %s=0 (\"the rest\") is not supported; leave %s out, or fix it elsewhere",
                         e->level_name, name, name);
    if (!limit && e->problem->bound[dim] % value != 0)
        return yaml_fail(e->doc, node, e->err, "%s: factor %s=%u does not divide the bound %u of problem %s",
                         e->level_name, name, (unsigned)value, e->problem->bound[dim], e->problem->name);
    *(limit ? &loops->highest[dim] : &loops->fixed[dim]) = (uint32_t)value;
    return DSE_OK;
}

/* "C=4 K<=2", or a list of such words. */
static enum dse_status read_factors(const struct entry *e, struct loop_constraints *loops)
{
    const struct ynode *node = yaml_find(e->node, "factors");
    const char *text;
    if (!node)
        return DSE_OK;
    if (node->kind == YNODE_SEQUENCE) {
        for (size_t i = 0; i < node->n_item; i++) {
            DSE_TRY(yaml_text(e->doc, node->item[i], "factors", &text, e->err));
            DSE_TRY(read_factor(e, node->item[i], text, loops));
        }
        return DSE_OK;
    }
    DSE_TRY(yaml_text(e->doc, node, "factors", &text, e->err));
    while (*text) {
        char word[WORD_MAX];
        size_t n = strcspn(text, " ,\t");
        if (n >= sizeof word)
            return yaml_fail(e->doc, node, e->err, "%s: a factor of %zu letters", e->level_name, n);
        memcpy(word, text, n);
        word[n] = '\0';
        if (n)
            DSE_TRY(read_factor(e, node, word, loops));
        text += n;
        text += strspn(text, " ,\t");
    }
    return DSE_OK;
}

/* ---------------------------------------- permutation */

static enum dse_status add_to_order(const struct entry *e, const struct ynode *node, const char *word,
                                    struct loop_constraints *loops)
{
    uint32_t dim = 0;
    DSE_TRY(find_dim(e, node, word, &dim));
    for (uint32_t i = 0; i < loops->n_order; i++)
        if (loops->order[i] == dim)
            return yaml_fail(e->doc, node, e->err, "%s: dimension %s is twice in the permutation",
                             e->level_name, word);
    loops->order[loops->n_order++] = (uint8_t)dim;
    return DSE_OK;
}

/* "CKR", "C,K,R", "C K R" or a list: the innermost loops, innermost first. Letters run together when every
 * dimension of the problem has a name of one letter. */
static enum dse_status read_order(const struct entry *e, struct loop_constraints *loops)
{
    const struct ynode *node = yaml_find(e->node, "permutation");
    const char *text;
    if (!node)
        return DSE_OK;
    loops->n_order = 0;
    if (node->kind == YNODE_SEQUENCE) {
        for (size_t i = 0; i < node->n_item; i++) {
            DSE_TRY(yaml_text(e->doc, node->item[i], "permutation", &text, e->err));
            DSE_TRY(add_to_order(e, node->item[i], text, loops));
        }
        return DSE_OK;
    }
    DSE_TRY(yaml_text(e->doc, node, "permutation", &text, e->err));
    bool letters = strpbrk(text, " ,") == NULL;
    for (uint32_t d = 0; d < e->problem->n_dim; d++)
        letters = letters && e->problem->dim_name[d][1] == '\0';
    while (*text) {
        char word[WORD_MAX];
        size_t n = letters ? 1 : strcspn(text, " ,");
        if (n >= sizeof word)
            return yaml_fail(e->doc, node, e->err, "%s: a dimension of %zu letters", e->level_name, n);
        memcpy(word, text, n);
        word[n] = '\0';
        if (n)
            DSE_TRY(add_to_order(e, node, word, loops));
        text += n;
        text += strspn(text, " ,");
    }
    return DSE_OK;
}

/* With a split, the first so many of the permutation may lie on X only, the others of it on Y only. */
static enum dse_status read_split(const struct entry *e)
{
    const struct ynode *node = yaml_find(e->node, "split");
    struct loop_constraints *loops = &e->level->spatial;
    uint64_t split = 0;
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_u64(e->doc, node, "split", 0, e->problem->n_dim, &split, e->err));
    for (uint32_t i = 0; i < loops->n_order; i++) {
        uint32_t bit = 1u << loops->order[i];
        if (i < split)
            e->level->dims_y &= ~bit;
        else
            e->level->dims_x &= ~bit;
    }
    return DSE_OK;
}

/* ---------------------------------------- lists */

/* A list of dimensions under `key` as a bit mask; leaves `mask` alone when there is no such key. */
static enum dse_status read_dims(const struct entry *e, const char *key, uint32_t *mask)
{
    const struct ynode *node = yaml_find(e->node, key);
    const char *text;
    uint32_t dim = 0;
    if (!node)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(e->doc, node, key, e->err));
    *mask = 0;
    for (size_t i = 0; i < node->n_item; i++) {
        DSE_TRY(yaml_text(e->doc, node->item[i], key, &text, e->err));
        DSE_TRY(find_dim(e, node->item[i], text, &dim));
        *mask |= 1u << dim;
    }
    return DSE_OK;
}

/* A list of tensors under `key`, added to `mask`. */
static enum dse_status read_tensors(const struct entry *e, const char *key, uint32_t *mask)
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
            return unknown(e, node->item[i], "tensor", text, known, e->problem->n_tensor);
        *mask |= 1u << t;
    }
    return DSE_OK;
}

static enum dse_status read_flags(const struct entry *e, const char *key, uint8_t *flags)
{
    uint32_t mask = *flags;
    DSE_TRY(read_tensors(e, key, &mask));
    *flags = (uint8_t)mask;
    return DSE_OK;
}

/* ---------------------------------------- entries */

static enum dse_status read_temporal(const struct entry *e)
{
    static const char *const keys[] = {"target", "type", "factors", "permutation", "no_temporal_reuse"};
    DSE_TRY(yaml_check_keys(e->doc, e->node, "a temporal constraint", keys, sizeof keys / sizeof keys[0],
                            e->err));
    DSE_TRY(read_factors(e, &e->level->temporal));
    DSE_TRY(read_order(e, &e->level->temporal));
    return read_flags(e, "no_temporal_reuse", &e->level->no_temporal_reuse);
}

static enum dse_status read_spatial(const struct entry *e)
{
    static const char *const keys[] = {"target",
                                       "type",
                                       "factors",
                                       "permutation",
                                       "split",
                                       "dims_x",
                                       "dims_y",
                                       "no_link_transfer",
                                       "no_multicast_no_reduction"};
    DSE_TRY(
        yaml_check_keys(e->doc, e->node, "a spatial constraint", keys, sizeof keys / sizeof keys[0], e->err));
    DSE_TRY(read_factors(e, &e->level->spatial));
    DSE_TRY(read_order(e, &e->level->spatial));
    DSE_TRY(read_dims(e, "dims_x", &e->level->dims_x));
    DSE_TRY(read_dims(e, "dims_y", &e->level->dims_y));
    DSE_TRY(read_split(e));
    DSE_TRY(read_flags(e, "no_link_transfer", &e->level->no_link_transfer));
    return read_flags(e, "no_multicast_no_reduction", &e->level->no_multicast);
}

static enum dse_status read_bypass(const struct entry *e)
{
    static const char *const keys[] = {"target", "type", "keep", "bypass"};
    DSE_TRY(
        yaml_check_keys(e->doc, e->node, "a bypass constraint", keys, sizeof keys / sizeof keys[0], e->err));
    DSE_TRY(read_tensors(e, "keep", &e->level->keep));
    DSE_TRY(read_tensors(e, "bypass", &e->level->bypass));
    for (uint32_t t = 0; t < e->problem->n_tensor; t++)
        if (e->level->keep & e->level->bypass & 1u << t)
            return yaml_fail(e->doc, e->node, e->err, "%s: %s is under keep and under bypass", e->level_name,
                             e->problem->tensor[t].name);
    return DSE_OK;
}

static enum dse_status read_entry(struct entry *e, struct mapspace_constraints *out)
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
        return unknown(e, node, "level", target, known, e->arch->n_level);
    e->level = &out->level[l];
    e->level_name = e->arch->level[l].name;
    DSE_TRY(yaml_require(e->doc, e->node, "a constraint", "type", &node, e->err));
    DSE_TRY(yaml_choice(e->doc, node, "type", types, sizeof types / sizeof types[0], &type, e->err));
    if (type == TYPE_TEMPORAL)
        return read_temporal(e);
    return type == TYPE_SPATIAL ? read_spatial(e) : read_bypass(e);
}

enum dse_status mapspace_constraints_read(const struct yaml_doc *doc, const struct ynode *node,
                                          const struct problem *problem, const struct architecture *arch,
                                          struct mapspace_constraints *out, struct dse_error *err)
{
    struct entry e = {.doc = doc, .problem = problem, .arch = arch, .err = err};
    DSE_TRY(yaml_is_sequence(doc, node, "constraints", err));
    for (size_t i = 0; i < node->n_item; i++) {
        e.node = node->item[i];
        DSE_TRY(read_entry(&e, out));
    }
    return DSE_OK;
}
