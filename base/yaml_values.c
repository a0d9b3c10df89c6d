/* Getters of base/yaml.h: look-up, key checks and scalar conversions, each with its error text. */
#include "base/yaml.h"

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { EXCERPT_MAX = 80, LIST_MAX = 640 };

const struct ynode *yaml_find(const struct ynode *node, const char *key)
{
    if (!node || node->kind != YNODE_MAPPING)
        return NULL;
    for (size_t i = 0; i < node->n_item; i++)
        if (strcmp(node->key[i], key) == 0)
            return node->item[i];
    return NULL;
}

enum dse_status yaml_fail(const struct yaml_doc *doc, const struct ynode *node, struct dse_error *err,
                          const char *format, ...)
{
    char text[DSE_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return dse_fail_at(err, DSE_BAD_INPUT, doc->path, node ? node->line : 0, "%s", text);
}

/* "a, b, c" of the words; cut with "..." when too long. */
static const char *list_words(const char *const *word, size_t n_word, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (size_t i = 0; i < n_word; i++) {
        size_t length = strlen(word[i]);
        if (used + length + 8 > size) {
            text_copy(buffer + used, size - used, ", ...");
            return buffer;
        }
        snprintf(buffer + used, size - used, "%s%s", i > 0 ? ", " : "", word[i]);
        used += length + (i > 0 ? 2 : 0);
    }
    return buffer;
}

static const char *kind_words(const struct ynode *node)
{
    switch (node->kind) {
    case YNODE_SCALAR:
        return "a single value";
    case YNODE_SEQUENCE:
        return "a list";
    case YNODE_MAPPING:
        return "a mapping";
    }
    return "something else";
}

static bool is_null(const struct ynode *node)
{
    static const char *const word[] = {"", "~", "null", "Null", "NULL"};
    if (node->kind != YNODE_SCALAR || node->quoted)
        return false;
    for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
        if (strcmp(node->text, word[i]) == 0)
            return true;
    return false;
}

static enum dse_status fail_null(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                 const char *wanted, struct dse_error *err)
{
    if (node->text[0] == '\0')
        return yaml_fail(doc, node, err, "%s is empty; it must be %s", what, wanted);
    return yaml_fail(doc, node, err, "%s is empty (\"%s\"); it must be %s", what, node->text, wanted);
}

static enum dse_status check_kind(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                  enum ynode_kind kind, const char *wanted, struct dse_error *err)
{
    if (node->kind == kind)
        return DSE_OK;
    if (is_null(node))
        return fail_null(doc, node, what, wanted, err);
    if (node->kind == YNODE_SCALAR) {
        char text[EXCERPT_MAX];
        return yaml_fail(doc, node, err, "%s must be %s, not the single value \"%s\"", what, wanted,
                         text_excerpt(node->text, text, sizeof text));
    }
    return yaml_fail(doc, node, err, "%s must be %s, not %s", what, wanted, kind_words(node));
}

enum dse_status yaml_is_sequence(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                 struct dse_error *err)
{
    return check_kind(doc, node, what, YNODE_SEQUENCE, "a list ([a, b] or lines of \"- a\")", err);
}

enum dse_status yaml_is_mapping(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                struct dse_error *err)
{
    return check_kind(doc, node, what, YNODE_MAPPING, "a mapping (lines of \"key: value\")", err);
}

enum dse_status yaml_check_keys(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                                const char *const *allowed, size_t n_allowed, struct dse_error *err)
{
    DSE_TRY(yaml_is_mapping(doc, node, what, err));
    for (size_t i = 0; i < node->n_item; i++) {
        size_t at = 0;
        while (at < n_allowed && strcmp(node->key[i], allowed[at]) != 0)
            at++;
        if (at < n_allowed)
            continue;
        char key[EXCERPT_MAX];
        char list[LIST_MAX];
        const char *near = text_nearest(node->key[i], allowed, n_allowed);
        DSE_NOTE(doc->faults,
                 dse_fail_at(err, DSE_BAD_INPUT, doc->path, node->key_line[i],
                             "unknown key \"%s\" in %s%s%s%s (accepted: %s)",
                             text_excerpt(node->key[i], key, sizeof key), what,
                             near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "",
                             list_words(allowed, n_allowed, list, sizeof list)));
    }
    return DSE_OK;
}

bool yaml_is_misspelt(const struct yaml_doc *doc, const struct ynode *node, const char *key)
{
    char told[EXCERPT_MAX + 16], excerpt[EXCERPT_MAX];
    const char *near = text_nearest(key, node->key, node->n_item);
    size_t n = doc->faults ? doc->faults->n : 0;
    if (!near || yaml_find(node, key))
        return false;
    size_t k = 0;
    while (node->key[k] != near)
        k++;
    snprintf(told, sizeof told, "unknown key \"%s\"", text_excerpt(near, excerpt, sizeof excerpt));
    for (size_t i = 0; i < n && i < DSE_FAULT_MAX; i++)
        if (doc->faults->fault[i].line == node->key_line[k] &&
            strcmp(doc->faults->fault[i].file, doc->path) == 0 &&
            strncmp(doc->faults->fault[i].text, told, strlen(told)) == 0)
            return true;
    return false;
}

enum dse_status yaml_require(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                             const char *key, const struct ynode **value, struct dse_error *err)
{
    DSE_TRY(yaml_is_mapping(doc, node, what, err));
    *value = yaml_find(node, key);
    if (*value)
        return DSE_OK;
    const char *near = text_nearest(key, node->key, node->n_item);
    if (!near)
        return yaml_fail(doc, node, err, "%s lacks the required key \"%s\"", what, key);
    char excerpt[EXCERPT_MAX];
    return yaml_fail(doc, node, err, "%s lacks the required key \"%s\" (is \"%s\" meant to be it?)", what,
                     key, text_excerpt(near, excerpt, sizeof excerpt));
}

enum dse_status yaml_text(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                          const char **value, struct dse_error *err)
{
    DSE_TRY(check_kind(doc, node, what, YNODE_SCALAR, "a single value", err));
    if (is_null(node))
        return fail_null(doc, node, what, "a single value", err);
    *value = node->text;
    return DSE_OK;
}

enum dse_status yaml_u64(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                         uint64_t lowest, uint64_t highest, uint64_t *value, struct dse_error *err)
{
    const char *text = NULL;
    char range[64];
    char excerpt[EXCERPT_MAX];
    DSE_TRY(yaml_text(doc, node, what, &text, err));
    if (highest == UINT64_MAX)
        snprintf(range, sizeof range, "%llu or more", (unsigned long long)lowest);
    else
        snprintf(range, sizeof range, "%llu to %llu", (unsigned long long)lowest,
                 (unsigned long long)highest);
    text_excerpt(text, excerpt, sizeof excerpt);
    uint64_t parsed = 0;
    if (!text_parse_u64(text, &parsed)) {
        bool digits = text[0] != '\0' && strspn(text, "0123456789") == strlen(text);
        return yaml_fail(doc, node, err, "%s: \"%s\" is %s; write a plain decimal number, %s", what, excerpt,
                         digits ? "too large" : "not a whole number", range);
    }
    if (text[0] == '0' && text[1] != '\0')
        return yaml_fail(doc, node, err,
                         "%s: \"%s\" begins with 0, which YAML 1.1 reads as octal; write %llu", what, excerpt,
                         (unsigned long long)parsed);
    if (parsed < lowest || parsed > highest)
        return yaml_fail(doc, node, err, "%s: %s is out of range; it must be %s", what, excerpt, range);
    *value = parsed;
    return DSE_OK;
}

/* "from 0 to 1", "at least 0", "at most 1", or nothing, each bound as text. */
static const char *range_words(double lowest, double highest, const char *low, const char *high, char *buffer,
                               size_t size)
{
    bool has_low = lowest > -DBL_MAX;
    bool has_high = highest < DBL_MAX;
    if (has_low && has_high)
        snprintf(buffer, size, "from %s to %s", low, high);
    else if (has_low)
        snprintf(buffer, size, "at least %s", low);
    else if (has_high)
        snprintf(buffer, size, "at most %s", high);
    else
        snprintf(buffer, size, "finite");
    return buffer;
}

enum dse_status yaml_double(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                            double lowest, double highest, double *value, struct dse_error *err)
{
    const char *text = NULL;
    char excerpt[EXCERPT_MAX];
    char low[40];
    char high[40];
    char range[128];
    double parsed = 0;
    DSE_TRY(yaml_text(doc, node, what, &text, err));
    text_excerpt(text, excerpt, sizeof excerpt);
    text_double(lowest, low, sizeof low);
    text_double(highest, high, sizeof high);
    range_words(lowest, highest, low, high, range, sizeof range);
    if (!text_parse_double(text, &parsed))
        return yaml_fail(doc, node, err,
                         "%s: \"%s\" is not a plain finite number; write one such as 0.5 or 1e-3, %s", what,
                         excerpt, range);
    if (parsed < lowest || parsed > highest)
        return yaml_fail(doc, node, err, "%s: %s is out of range; it must be %s", what, excerpt, range);
    *value = parsed;
    return DSE_OK;
}

enum dse_status yaml_bool(const struct yaml_doc *doc, const struct ynode *node, const char *what, bool *value,
                          struct dse_error *err)
{
    static const struct {
        const char *word[3]; /* as YAML 1.1 spells them */
        bool value;
    } accepted[] = {
        {{"true", "True", "TRUE"}, true},     {{"on", "On", "ON"}, true},     {{"yes", "Yes", "YES"}, true},
        {{"false", "False", "FALSE"}, false}, {{"off", "Off", "OFF"}, false}, {{"no", "No", "NO"}, false},
    };
    const char *text = NULL;
    DSE_TRY(yaml_text(doc, node, what, &text, err));
    for (size_t i = 0; i < sizeof accepted / sizeof accepted[0]; i++)
        for (size_t k = 0; k < 3; k++)
            if (strcmp(text, accepted[i].word[k]) == 0) {
                *value = accepted[i].value;
                return DSE_OK;
            }
    char excerpt[EXCERPT_MAX];
    return yaml_fail(doc, node, err, "%s: \"%s\" is not a switch; write true or false (or on, off, yes, no)",
                     what, text_excerpt(text, excerpt, sizeof excerpt));
}

enum dse_status yaml_quantity(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                              enum unit_kind kind, double lowest, double highest, double *value,
                              struct dse_error *err)
{
    const char *text = NULL;
    struct dse_error inner;
    double parsed = 0;
    DSE_TRY(yaml_text(doc, node, what, &text, err));
    if (quantity_parse(text, kind, what, &parsed, &inner) != DSE_OK)
        return yaml_fail(doc, node, err, "%s", inner.text);
    if (parsed < lowest || parsed > highest) {
        char excerpt[EXCERPT_MAX];
        char low[64];
        char high[64];
        char range[160];
        quantity_print(lowest, kind, low, sizeof low);
        quantity_print(highest, kind, high, sizeof high);
        return yaml_fail(doc, node, err, "%s: %s is out of range; it must be %s", what,
                         text_excerpt(text, excerpt, sizeof excerpt),
                         range_words(lowest, highest, low, high, range, sizeof range));
    }
    *value = parsed;
    return DSE_OK;
}

enum dse_status yaml_choice(const struct yaml_doc *doc, const struct ynode *node, const char *what,
                            const char *const *choice, size_t n_choice, size_t *index, struct dse_error *err)
{
    const char *text = NULL;
    DSE_TRY(yaml_text(doc, node, what, &text, err));
    for (size_t i = 0; i < n_choice; i++)
        if (strcmp(text, choice[i]) == 0) {
            *index = i;
            return DSE_OK;
        }
    char excerpt[EXCERPT_MAX];
    char list[LIST_MAX];
    const char *near = text_nearest(text, choice, n_choice);
    return yaml_fail(doc, node, err, "%s: \"%s\" is unknown%s%s%s (accepted: %s)", what,
                     text_excerpt(text, excerpt, sizeof excerpt), near ? "; did you mean \"" : "",
                     near ? near : "", near ? "\"?" : "", list_words(choice, n_choice, list, sizeof list));
}
