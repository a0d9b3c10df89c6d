/* Nodes are compared as text in flow style, lists as sets, mappings key by key. */
#include "dse/spec/spec_diff_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dse/spec/spec.h"
#include "dse/spec/spec_range.h"

enum { ITEM_SHOWN_MAX = 4, FLOW_MAX = 65536 };

void diff_add(struct diff *diff, enum change_kind kind, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (diff->n[kind]++ < DIFF_LINE_MAX)
        text_append(&diff->line[kind], "%s%s\n", line,
                    kind == CHANGE_COSMETIC ? " (does not change results)" : "");
}

/* A node in flow style, for comparison and for people. */
static void write_flow(struct diff *diff, const struct ynode *node, struct text_buffer *out)
{
    if (out->length > FLOW_MAX) {
        diff->too_big = true;
        return;
    }
    if (node->kind == YNODE_SCALAR) {
        text_append(out, "%s", node->text);
        return;
    }
    text_append(out, node->kind == YNODE_SEQUENCE ? "[" : "{");
    for (size_t i = 0; i < node->n_item && !diff->too_big; i++) {
        text_append(out, "%s", i ? ", " : "");
        if (node->key)
            text_append(out, "%s: ", node->key[i]);
        write_flow(diff, node->item[i], out);
    }
    text_append(out, node->kind == YNODE_SEQUENCE ? "]" : "}");
}

/* In the arena; "" when out of memory. */
static const char *flow_of(struct diff *diff, const struct ynode *node)
{
    struct text_buffer text;
    text_init(&text);
    write_flow(diff, node, &text);
    const char *copy = text_keep(&text, &diff->arena);
    return copy ? copy : "";
}

const char *diff_show(const char *text, char *shown)
{
    return text_excerpt(text, shown, DIFF_SHOWN_MAX);
}

/* ---------------------------------------- lists */

struct item_list {
    size_t n;
    const char **text;   /* (n) in file order */
    const char **sorted; /* (n) */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Items of a sequence, values of a range, or the keys of a mapping; none of NULL. */
static struct item_list list_of(struct diff *diff, const struct ynode *node)
{
    struct item_list list = {0, NULL, NULL};
    const struct yaml_doc nowhere = {.path = NULL};
    const char *const *value = NULL;
    size_t n = node ? node->n_item : 0, n_value = 0;
    if (spec_is_range(node) &&
        spec_range_expand(&nowhere, "", node, SPEC_VALUE_MAX, &diff->arena, &value, &n_value, NULL) == DSE_OK)
        n = n_value;
    list.text = arena_alloc(&diff->arena, n + 1, sizeof *list.text);
    list.sorted = arena_alloc(&diff->arena, n + 1, sizeof *list.sorted);
    if (diff->arena.failed)
        return list;
    list.n = n;
    for (size_t i = 0; i < n; i++)
        list.sorted[i] = list.text[i] = value       ? value[i]
                                        : node->key ? node->key[i]
                                                    : flow_of(diff, node->item[i]);
    if (n)
        qsort(list.sorted, n, sizeof *list.sorted, by_text);
    return list;
}

/* "A, B, C and 5 more" of those that `other` has not. Returns how many. */
static size_t list_missing(const struct item_list *list, const struct item_list *other,
                           struct text_buffer *out)
{
    char shown[DIFF_SHOWN_MAX];
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        if (other->n && bsearch(&list->text[i], other->sorted, other->n, sizeof *other->sorted, by_text))
            continue;
        if (n < ITEM_SHOWN_MAX)
            text_append(out, "%s%s", n ? ", " : "", diff_show(list->text[i], shown));
        n++;
    }
    if (n > ITEM_SHOWN_MAX)
        text_append(out, " and %zu more", n - ITEM_SHOWN_MAX);
    return n;
}

/* "WHAT: A, B is new, C is gone". */
void diff_list(struct diff *diff, enum change_kind kind, const char *what, const struct ynode *was,
               const struct ynode *is)
{
    struct text_buffer line;
    struct item_list before = list_of(diff, was), now = list_of(diff, is);
    text_init(&line);
    size_t n = list_missing(&now, &before, &line);
    if (n)
        text_append(&line, n == 1 ? " is new" : " are new");
    size_t length = line.length;
    if (n)
        text_append(&line, "; ");
    size_t n_gone = list_missing(&before, &now, &line);
    if (n_gone)
        text_append(&line, n_gone == 1 ? " is gone" : " are gone");
    else if (line.data)
        line.data[line.length = length] = '\0';
    diff->failed = diff->failed || line.failed;
    if (n || n_gone)
        diff_add(diff, kind, "%s: %s", what, line.data ? line.data : "");
    else if (before.n != now.n)
        diff_add(diff, kind, "%s: an entry is there %s often", what, now.n > before.n ? "more" : "less");
    else
        for (size_t i = 0; i < now.n; i++)
            if (strcmp(before.text[i], now.text[i]) != 0) {
                diff_add(diff, kind, "%s: the same entries in another order", what);
                break;
            }
    text_free(&line);
}

/* ---------------------------------------- trees */

/* Two mappings, key by key, whatever their order; NULL counts as empty. */
void diff_keys(struct diff *diff, enum change_kind kind, const char *path, const struct ynode *was,
               const struct ynode *is)
{
    char below[256];
    for (size_t i = 0; is && i < is->n_item; i++) {
        snprintf(below, sizeof below, "%.180s%s%.60s", path, path[0] ? "." : "", is->key[i]);
        diff_node(diff, kind, below, yaml_find(was, is->key[i]), is->item[i]);
    }
    for (size_t i = 0; was && i < was->n_item; i++) {
        snprintf(below, sizeof below, "%.180s%s%.60s", path, path[0] ? "." : "", was->key[i]);
        if (!yaml_find(is, was->key[i]))
            diff_node(diff, kind, below, was->item[i], NULL);
    }
}

void diff_node(struct diff *diff, enum change_kind kind, const char *path, const struct ynode *was,
               const struct ynode *is)
{
    char a[DIFF_SHOWN_MAX], b[DIFF_SHOWN_MAX];
    if (diff->too_big)
        return;
    bool mappings = (!was || was->kind == YNODE_MAPPING) && (!is || is->kind == YNODE_MAPPING);
    bool lists = was && is && was->kind == YNODE_SEQUENCE && is->kind == YNODE_SEQUENCE;
    if (mappings) {
        diff_keys(diff, kind, path, was, is);
        return;
    }
    if (lists) {
        diff_list(diff, kind, path, was, is);
        return;
    }
    const char *before = was ? flow_of(diff, was) : NULL, *now = is ? flow_of(diff, is) : NULL;
    if (!before)
        diff_add(diff, kind, "%s: was not given, is %s", path, diff_show(now, a));
    else if (!now)
        diff_add(diff, kind, "%s: was %s, is not given any more", path, diff_show(before, a));
    else if (strcmp(before, now) != 0)
        diff_add(diff, kind, "%s: was %s, is %s", path, diff_show(before, a), diff_show(now, b));
}
