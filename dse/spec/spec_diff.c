/* Compares section by section: axes, the other keys, --set, then the input files; the stored side comes
 * from the result file. */
#include "dse/spec/spec_diff.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/yaml.h"
#include "dse/spec/spec_diff_tree.h"
#include "dse/spec/spec_range.h"
#include "results/cube/cube_read.h"

/* ---------------------------------------- sections */

static void diff_axes(struct diff *diff, const struct ynode *was, const struct ynode *is)
{
    char what[160];
    size_t n_change = diff->n[CHANGE_AXIS];
    for (size_t i = 0; is && i < is->n_item; i++) {
        const struct ynode *before = yaml_find(was, is->key[i]);
        snprintf(what, sizeof what, "axis %.120s%s", is->key[i], before ? "" : " (new)");
        if (before && before->kind == YNODE_MAPPING && is->item[i]->kind == YNODE_MAPPING &&
            !spec_is_range(before) && !spec_is_range(is->item[i]))
            diff_keys(diff, CHANGE_AXIS, what, before, is->item[i]);
        else
            diff_list(diff, CHANGE_AXIS, what, before, is->item[i]);
    }
    for (size_t i = 0; was && i < was->n_item; i++) {
        snprintf(what, sizeof what, "axis %.120s (gone)", was->key[i]);
        if (!yaml_find(is, was->key[i]))
            diff_list(diff, CHANGE_AXIS, what, was->item[i], NULL);
    }
    if (diff->n[CHANGE_AXIS] > n_change || !was || !is)
        return;
    for (size_t i = 0; i < is->n_item; i++)
        if (strcmp(was->key[i], is->key[i]) != 0) {
            diff_add(diff, CHANGE_AXIS, "axes: the same ones in another order");
            return;
        }
}

/* What a key at the top of a specification is about. */
static enum change_kind kind_of(const char *key)
{
    static const char *const axis[] = {"axes", "zip", "points", "skip", "only"};
    static const char *const cosmetic[] = {"experiment", "title", "source", "plot", "isolation"};
    for (size_t i = 0; i < sizeof axis / sizeof *axis; i++)
        if (strcmp(key, axis[i]) == 0)
            return CHANGE_AXIS;
    for (size_t i = 0; i < sizeof cosmetic / sizeof *cosmetic; i++)
        if (strcmp(key, cosmetic[i]) == 0)
            return CHANGE_COSMETIC;
    return CHANGE_RESULT;
}

static void diff_top(struct diff *diff, const char *key, const struct ynode *was, const struct ynode *is)
{
    enum change_kind kind = kind_of(key);
    const struct ynode *one = is ? is : was;
    if (strcmp(key, "axes") == 0)
        diff_axes(diff, was, is);
    else if (kind == CHANGE_AXIS && one->kind == YNODE_SEQUENCE)
        diff_list(diff, kind, key, was, is);
    else
        diff_node(diff, kind, key, was, is);
}

static void diff_specifications(struct diff *diff, const struct ynode *was, const struct ynode *is)
{
    if (was->kind != YNODE_MAPPING || is->kind != YNODE_MAPPING) {
        diff_node(diff, CHANGE_RESULT, "the specification", was, is);
        return;
    }
    for (size_t i = 0; i < is->n_item; i++)
        diff_top(diff, is->key[i], yaml_find(was, is->key[i]), is->item[i]);
    for (size_t i = 0; i < was->n_item; i++)
        if (!yaml_find(is, was->key[i]))
            diff_top(diff, was->key[i], was->item[i], NULL);
}

/* ---------------------------------------- --set */

static size_t key_length(const char *set)
{
    size_t length = strcspn(set, "=");
    while (length > 0 && set[length - 1] == ' ')
        length--;
    return length;
}

static const char *value_of(const char *set)
{
    const char *equals = strchr(set, '=');
    return equals ? equals + 1 + strspn(equals + 1, " ") : "";
}

/* The last one with the key of `set`: that is what counts. */
static const char *find_set(const struct result_schema *schema, const char *set)
{
    size_t length = key_length(set);
    for (size_t i = schema->n_set; i-- > 0;)
        if (key_length(schema->set[i]) == length && strncmp(schema->set[i], set, length) == 0)
            return schema->set[i];
    return NULL;
}

static void diff_sets(struct diff *diff, const struct result_schema *was, const struct result_schema *is)
{
    char a[DIFF_SHOWN_MAX], b[DIFF_SHOWN_MAX], key[DIFF_SHOWN_MAX];
    for (size_t i = 0; i < is->n_set; i++) {
        const char *before = find_set(was, is->set[i]);
        if (find_set(is, is->set[i]) != is->set[i])
            continue;
        if (!before)
            diff_add(diff, CHANGE_RESULT, "--set %s is new", diff_show(is->set[i], a));
        else if (strcmp(value_of(before), value_of(is->set[i])) != 0) {
            snprintf(key, sizeof key, "%.*s", (int)key_length(before), before);
            diff_add(diff, CHANGE_RESULT, "--set %s: was %s, is %s", key, diff_show(value_of(before), a),
                     diff_show(value_of(is->set[i]), b));
        }
    }
    for (size_t i = 0; i < was->n_set; i++)
        if (find_set(was, was->set[i]) == was->set[i] && !find_set(is, was->set[i]))
            diff_add(diff, CHANGE_RESULT, "--set %s is gone", diff_show(was->set[i], a));
}

/* ---------------------------------------- inputs */

/* Whether two files say the same but for comments and layout. */
static bool same_tree(struct diff *diff, const struct result_input *was, const struct result_input *is)
{
    struct yaml_doc a, b;
    if (yaml_parse(&a, was->path, was->content, was->n_byte, NULL) != DSE_OK)
        return false;
    bool same = yaml_parse(&b, is->path, is->content, is->n_byte, NULL) == DSE_OK;
    if (same) {
        struct diff inner;
        memset(&inner, 0, sizeof inner);
        arena_init(&inner.arena);
        diff_node(&inner, CHANGE_RESULT, "", a.root, b.root);
        same = inner.n[CHANGE_RESULT] == 0 && !inner.too_big;
        diff->failed = diff->failed || inner.failed;
        text_free(&inner.line[CHANGE_RESULT]);
        arena_free(&inner.arena);
        yaml_doc_free(&b);
    }
    yaml_doc_free(&a);
    return same;
}

/* The line at `*at`, and on to the next. */
static void take_line(const char **at, char *line, size_t size)
{
    size_t length = strcspn(*at, "\r\n"), indent = strspn(*at, " ");
    indent = indent < length ? indent : length;
    size_t shown = length - indent < size ? length - indent : size - 1;
    memcpy(line, *at + indent, shown);
    line[shown] = '\0';
    *at += length + ((*at)[length] != '\0');
}

static void diff_content(struct diff *diff, const struct result_input *was, const struct result_input *is)
{
    char a[256], b[256], shown_a[DIFF_SHOWN_MAX], shown_b[DIFF_SHOWN_MAX];
    if (same_tree(diff, was, is)) {
        diff_add(diff, CHANGE_COSMETIC, "%s %.60s (%.160s): only comments or layout differ", is->role,
                 is->name, is->path);
        return;
    }
    const char *p = was->content, *q = is->content;
    size_t line = 1;
    for (size_t i = 0; p[i] && p[i] == q[i]; i++)
        if (p[i] == '\n') {
            line++;
            p += i + 1;
            q += i + 1;
            i = (size_t)-1;
        }
    take_line(&p, a, sizeof a);
    take_line(&q, b, sizeof b);
    diff_add(diff, CHANGE_RESULT, "%s %.60s (%.160s): line %zu differs: was '%s', is '%s'", is->role,
             is->name, is->path, line, diff_show(a, shown_a), diff_show(b, shown_b));
}

static void diff_inputs(struct diff *diff, const struct result_schema *was, const struct result_schema *is)
{
    for (size_t i = 0; i < is->n_input; i++) {
        if (strcmp(is->input[i].role, INPUT_ROLE_SPECIFICATION) == 0)
            continue;
        for (size_t k = 0; k < was->n_input; k++) {
            const struct result_input *before = &was->input[k], *now = &is->input[i];
            if (strcmp(before->role, now->role) == 0 && strcmp(before->name, now->name) == 0 &&
                (before->n_byte != now->n_byte || memcmp(before->content, now->content, now->n_byte) != 0))
                diff_content(diff, before, now);
        }
    }
}

/* ---------------------------------------- together */

static void put_together(const struct diff *diff, struct text_buffer *out)
{
    size_t n = 0, n_all = 0;
    for (int k = 0; k < CHANGE_KIND_COUNT; k++) {
        n_all += diff->n[k];
        for (const char *at = diff->line[k].data; at && *at && n < DIFF_LINE_MAX; n++) {
            size_t length = strcspn(at, "\n") + 1;
            text_append_bytes(out, at, length);
            at += length;
        }
    }
    if (n_all > n)
        text_append(out, "and %zu more\n", n_all - n);
}

enum dse_status spec_diff_schemas(const struct result_schema *was, const struct result_schema *is,
                                  struct text_buffer *out, struct spec_changes *changes,
                                  struct dse_error *err)
{
    struct yaml_doc a, b;
    struct diff diff;
    memset(&diff, 0, sizeof diff);
    DSE_TRY(yaml_parse(&a, "the specification in the result file", was->specification,
                       strlen(was->specification), err));
    enum dse_status status =
        yaml_parse(&b, "the specification", is->specification, strlen(is->specification), err);
    if (status == DSE_OK) {
        arena_init(&diff.arena);
        diff_sets(&diff, was, is);
        diff_specifications(&diff, a.root, b.root);
        diff_inputs(&diff, was, is);
        if (diff.too_big)
            diff_add(&diff, CHANGE_RESULT, "a part that is too large to be compared");
        else if (strcmp(was->specification, is->specification) != 0 && diff.n[0] + diff.n[1] + diff.n[2] == 0)
            diff_add(&diff, CHANGE_COSMETIC, "only comments or layout differ");
        put_together(&diff, out);
        for (int k = 0; k < CHANGE_KIND_COUNT; k++) {
            diff.failed = diff.failed || diff.line[k].failed;
            text_free(&diff.line[k]);
        }
        bool diff_memory = diff.arena.failed;
        arena_free(&diff.arena);
        yaml_doc_free(&b);
        if (diff.failed || diff_memory || out->failed)
            status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the comparison of specifications");
    }
    yaml_doc_free(&a);
    *changes = (struct spec_changes){diff.n[CHANGE_RESULT], diff.n[CHANGE_AXIS], diff.n[CHANGE_COSMETIC]};
    return status;
}

enum dse_status spec_diff(const char *h5, const struct sweep *now, struct text_buffer *out,
                          struct spec_changes *changes, struct dse_error *err)
{
    struct arena arena;
    struct result_schema kept;
    arena_init(&arena);
    enum dse_status status = cube_read_schema(h5, &arena, &kept, err);
    if (status == DSE_OK)
        status = cube_read_inputs(h5, &arena, &kept, NULL, err);
    if (status == DSE_OK)
        status = spec_diff_schemas(&kept, &now->schema, out, changes, err);
    arena_free(&arena);
    return status;
}
