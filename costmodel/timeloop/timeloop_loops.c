/* Small tokenizers for "C=4 K8" and "KCP" or "K, C, P", each with an error that quotes the token. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/timeloop/timeloop_parts.h"

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
static const char DIGITS[] = "0123456789";
static const char WORD[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
static const char SPACE[] = " \t\r\n";

/* Factors of one directive as they are found. */
struct factor_reader {
    const struct yaml_doc *doc;
    const struct ynode *node;
    const struct problem *problem;
    uint32_t *factor;
    bool seen[PROBLEM_DIM_MAX];
};

static enum dse_status take_factor(struct factor_reader *r, const char *name, const char *number,
                                   struct dse_error *err)
{
    int d = problem_find_dim(r->problem, name);
    uint64_t value = 0;
    char excerpt[64];

    if (d < 0)
        return timeloop_unknown_dim(r->doc, r->node->line, err, "dimension", name, r->problem);
    if (strchr(number, ',') != NULL)
        return yaml_fail(r->doc, r->node, err,
                         "factor %s=%s has a residual: imperfect factors are not supported, the "
                         "factors of a dimension must multiply to its bound",
                         name, text_excerpt(number, excerpt, sizeof excerpt));
    if (!text_parse_u64(number, &value) || value > UINT32_MAX)
        return yaml_fail(r->doc, r->node, err,
                         "factor of %s is \"%s\", it must be a whole number from 1 to %u", name,
                         text_excerpt(number, excerpt, sizeof excerpt), (unsigned)UINT32_MAX);
    if (value == 0)
        return yaml_fail(r->doc, r->node, err,
                         "factor of %s is 0, it must be at least 1 (in a mapping nothing is left "
                         "for Timeloop to fill in)",
                         name);
    if (r->seen[d])
        return yaml_fail(r->doc, r->node, err, "dimension %s has two factors in one directive", name);
    r->seen[d] = true;
    r->factor[d] = (uint32_t)value;
    return DSE_OK;
}

static enum dse_status bad_factor(const struct factor_reader *r, const char *at, struct dse_error *err)
{
    char excerpt[64];

    return yaml_fail(r->doc, r->node, err, "factors cannot be read at \"%s\": they are written like C=4 K=2",
                     text_excerpt(at, excerpt, sizeof excerpt));
}

/* One "C=4" or "C4" at `*at`. A name without "=" ends where its last digits begin. */
static enum dse_status next_factor(struct factor_reader *r, const char **at, struct dse_error *err)
{
    const char *start = *at, *end, *p;
    char name[2 * PROBLEM_DIM_NAME_MAX], number[48];
    size_t length;

    if (strchr(LETTERS, *start) == NULL)
        return bad_factor(r, start, err);
    end = start + strspn(start, WORD);
    p = end + strspn(end, SPACE);
    if (*p == '=') {
        while (*p == '=')
            p++;
        p += strspn(p, SPACE);
    } else if (strchr(DIGITS, *p) == NULL || *p == '\0') {
        while (end > start && strchr(DIGITS, end[-1]) != NULL)
            end--;
        p = end;
    }
    length = strspn(p, DIGITS);
    if (p[length] == ',' && p[length + 1] != '\0' && strchr(DIGITS, p[length + 1]) != NULL)
        length += 1 + strspn(p + length + 1, DIGITS);
    if (length == 0 || length >= sizeof number || (size_t)(end - start) >= sizeof name ||
        (p[length] != '\0' && p[length] != ',' && strchr(SPACE, p[length]) == NULL))
        return bad_factor(r, start, err);
    snprintf(name, sizeof name, "%.*s", (int)(end - start), start);
    snprintf(number, sizeof number, "%.*s", (int)length, p);
    *at = p + length;
    return take_factor(r, name, number, err);
}

static enum dse_status factor_text(struct factor_reader *r, const char *text, struct dse_error *err)
{
    const char *at = text;

    for (;;) {
        at += strspn(at, SPACE);
        if (*at == ',' && at != text)
            at += 1 + strspn(at + 1, SPACE);
        if (*at == '\0')
            return DSE_OK;
        DSE_TRY(next_factor(r, &at, err));
    }
}

enum dse_status timeloop_factors(const struct yaml_doc *doc, const struct ynode *node,
                                 const struct problem *problem, uint32_t *factor, struct dse_error *err)
{
    struct factor_reader r = {.doc = doc, .node = node, .problem = problem, .factor = factor};
    const char *text;

    if (timeloop_is_null(node))
        return DSE_OK;
    if (node->kind == YNODE_SCALAR)
        return factor_text(&r, node->text, err);
    for (size_t i = 0; i < node->n_item; i++) {
        r.node = node->item[i];
        DSE_TRY(yaml_text(doc, r.node, "a factor", &text, err));
        if (node->kind == YNODE_MAPPING)
            DSE_TRY(take_factor(&r, node->key[i], text, err));
        else
            DSE_TRY(factor_text(&r, text, err));
    }
    return DSE_OK;
}

/* The order as far as it is read. */
struct order_reader {
    const struct yaml_doc *doc;
    const struct ynode *node;
    const struct problem *problem;
    uint8_t *order;
    uint32_t n;
    bool seen[PROBLEM_DIM_MAX];
};

static enum dse_status take_dim(struct order_reader *r, const char *name, struct dse_error *err)
{
    int d = problem_find_dim(r->problem, name);

    if (d < 0)
        return timeloop_unknown_dim(r->doc, r->node->line, err, "dimension", name, r->problem);
    if (r->seen[d])
        return yaml_fail(r->doc, r->node, err, "dimension %s appears twice in the permutation", name);
    r->seen[d] = true;
    r->order[r->n++] = (uint8_t)d;
    return DSE_OK;
}

/* One token: the name of a dimension, or one-letter names run together. */
static enum dse_status take_token(struct order_reader *r, const char *token, struct dse_error *err)
{
    if (problem_find_dim(r->problem, token) >= 0)
        return take_dim(r, token, err);
    for (const char *p = token; *p != '\0'; p++) {
        char letter[2] = {*p, '\0'};

        if (problem_find_dim(r->problem, letter) < 0)
            return timeloop_unknown_dim(r->doc, r->node->line, err, "dimension",
                                        p == token && p[1] != '\0' ? token : letter, r->problem);
        DSE_TRY(take_dim(r, letter, err));
    }
    return DSE_OK;
}

static enum dse_status order_text(struct order_reader *r, const char *text, struct dse_error *err)
{
    char token[PROBLEM_DIM_MAX * 2 + PROBLEM_DIM_NAME_MAX];

    for (;;) {
        text += strspn(text, " \t\r\n,");
        if (*text == '\0')
            return DSE_OK;
        size_t length = strcspn(text, " \t\r\n,");
        snprintf(token, sizeof token, "%.*s", (int)length, text);
        DSE_TRY(take_token(r, token, err));
        text += length;
    }
}

enum dse_status timeloop_permutation(const struct yaml_doc *doc, const struct ynode *node,
                                     const struct problem *problem, uint8_t *order, struct dse_error *err)
{
    struct order_reader r = {.doc = doc, .node = node, .problem = problem, .order = order};
    const char *text;

    if (!timeloop_is_null(node)) {
        if (node->kind == YNODE_SCALAR) {
            DSE_TRY(order_text(&r, node->text, err));
        } else {
            DSE_TRY(yaml_is_sequence(doc, node, "permutation", err));
            for (size_t i = 0; i < node->n_item; i++) {
                r.node = node->item[i];
                DSE_TRY(yaml_text(doc, r.node, "a dimension of the permutation", &text, err));
                DSE_TRY(order_text(&r, text, err));
            }
        }
    }
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (!r.seen[d])
            order[r.n++] = (uint8_t)d;
    return DSE_OK;
}
