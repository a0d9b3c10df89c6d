/* The names of a network file with parameters: what is declared, what is set, and values when they are asked
 * for, so that the order in the file does not matter. */
#include "costmodel/native/network_scope.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static enum dse_status check_name(const struct scope *scope, const struct ynode *node, const char *name,
                                  struct dse_error *err)
{
    const size_t fine = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (name[0] == '\0' || isdigit((unsigned char)name[0]) || name[fine] != '\0' ||
        fine >= PROBLEM_NAME_MAX || strcmp(name, "min") == 0 || strcmp(name, "max") == 0)
        return yaml_fail(scope->doc, node, err,
                         "\"%.60s\" is not a name: a letter, then letters, digits and _ are accepted, but "
                         "not min and max",
                         name);
    if (scope_index(scope, name, strlen(name)) >= 0)
        return yaml_fail(scope->doc, node, err, "%s is declared twice", name);
    if (scope->n == SCOPE_SYMBOL_MAX)
        return dse_fail_at(err, DSE_LIMIT, scope->doc->path, node->line, "more than %d names",
                           SCOPE_SYMBOL_MAX);
    return DSE_OK;
}

static enum dse_status declare(struct scope *scope, const struct ynode *node, const char *name,
                               bool is_parameter, struct dse_error *err)
{
    DSE_TRY(check_name(scope, node, name, err));
    scope->symbol[scope->n++] =
        (struct scope_symbol){.name = name, .node = node, .is_parameter = is_parameter, .state = SCOPE_NEW};
    return DSE_OK;
}

int scope_index(const struct scope *scope, const char *name, size_t length)
{
    for (size_t i = 0; i < scope->n; i++)
        if (strncmp(scope->symbol[i].name, name, length) == 0 && scope->symbol[i].name[length] == '\0')
            return (int)i;
    return -1;
}

enum dse_status scope_push(struct scope *scope, const struct ynode *node, const char *name,
                           struct dse_error *err)
{
    DSE_TRY(check_name(scope, node, name, err));
    scope->symbol[scope->n++] = (struct scope_symbol){.name = name, .state = SCOPE_DONE};
    return DSE_OK;
}

void scope_pop(struct scope *scope)
{
    scope->n--;
}

const char *scope_text(const struct scope *scope, const struct scope_value *value)
{
    char text[24];
    if (value->kind == SCOPE_WORD)
        return value->word;
    snprintf(text, sizeof text, "%" PRId64, value->number);
    return arena_copy_text(scope->arena, text, strlen(text));
}

/* An error about a value that somebody set, where it was set. */
static enum dse_status fail_set(const struct network_set *set, struct dse_error *err, const char *expected)
{
    char shown[96];
    text_excerpt(set->value, shown, sizeof shown);
    return set->file
               ? dse_fail_at(err, DSE_BAD_INPUT, set->file, set->line, "network.%s %s: %s is expected",
                             set->name, shown, expected)
               : dse_fail(err, DSE_BAD_INPUT, "network.%s %s: %s is expected", set->name, shown, expected);
}

const char *scope_accepted(const struct scope *scope, size_t i)
{
    const struct scope_symbol *symbol = &scope->symbol[i];
    struct text_buffer text;
    text_init(&text);
    if (symbol->value.kind == SCOPE_NUMBER)
        text_append(&text, "from %" PRId64 " to %" PRId64, symbol->from, symbol->to);
    for (size_t k = 0; symbol->value.kind == SCOPE_WORD && k < symbol->node->n_item; k++)
        text_append(&text, "%s%s", k ? ", " : "", symbol->node->item[k]->text);
    const char *kept = text_keep(&text, scope->arena);
    return kept;
}

/* [small, medium, large]: the first is the default. */
static enum dse_status find_choice(struct scope_symbol *symbol, struct scope_value *value,
                                   struct dse_error *err)
{
    const struct ynode *node = symbol->node;
    struct text_buffer all;
    *value = (struct scope_value){.kind = SCOPE_WORD, .choices = node};
    text_init(&all);
    for (size_t i = 0; i < node->n_item; i++) {
        if (!symbol->set ? i == 0 : strcmp(symbol->set->value, node->item[i]->text) == 0)
            value->word = node->item[i]->text;
        text_append(&all, "%s%.60s", i ? ", " : node->n_item > 1 ? "one of " : "", node->item[i]->text);
    }
    enum dse_status status = text_check(&all, "a network", err);
    if (status == DSE_OK && !value->word)
        status = fail_set(symbol->set, err, all.data);
    text_free(&all);
    symbol->is_default = status == DSE_OK && value->word == node->item[0]->text;
    return status;
}

static enum dse_status check_choice(const struct scope *scope, const struct scope_symbol *symbol,
                                    struct dse_error *err)
{
    const char *text;
    if (symbol->node->n_item == 0)
        return yaml_fail(scope->doc, symbol->node, err, "%s has no values", symbol->name);
    for (size_t i = 0; i < symbol->node->n_item; i++) {
        DSE_TRY(yaml_text(scope->doc, symbol->node->item[i], symbol->name, &text, err));
        for (size_t k = 0; k < i; k++)
            if (strcmp(symbol->node->item[k]->text, text) == 0)
                return yaml_fail(scope->doc, symbol->node->item[i], err, "%s has the value %.60s twice",
                                 symbol->name, text);
    }
    return DSE_OK;
}

/* A bound of a parameter, or its default. */
static enum dse_status find_bound(struct scope *scope, const struct scope_symbol *symbol, const char *key,
                                  int64_t missing, int64_t *number, struct dse_error *err)
{
    const struct ynode *node = yaml_find(symbol->node, key);
    *number = missing;
    return node ? scope_number(scope, node, key, number, err) : DSE_OK;
}

/* {default: 512, from: 1, to: 4096} */
static enum dse_status find_number(struct scope *scope, struct scope_symbol *symbol,
                                   struct scope_value *value, struct dse_error *err)
{
    int64_t from, to, number;
    uint64_t given = 0;
    char range[80];
    DSE_TRY(find_bound(scope, symbol, "from", 1, &from, err));
    DSE_TRY(find_bound(scope, symbol, "to", NETWORK_DIM_MAX, &to, err));
    DSE_TRY(find_bound(scope, symbol, "default", 0, &number, err));
    symbol->from = from;
    symbol->to = to;
    if (symbol->set) {
        snprintf(range, sizeof range, "a whole number from %" PRId64 " to %" PRId64, from, to);
        if (!text_parse_u64(symbol->set->value, &given) || given > INT64_MAX || (int64_t)given < from ||
            (int64_t)given > to)
            return fail_set(symbol->set, err, range);
        symbol->is_default = (int64_t)given == number;
        number = (int64_t)given;
    } else if (number < from || number > to) {
        return yaml_fail(scope->doc, symbol->node, err,
                         "%s is %" PRId64 " by default; from %" PRId64 " to %" PRId64 " is expected",
                         symbol->name, number, from, to);
    } else {
        symbol->is_default = true;
    }
    *value = (struct scope_value){.kind = SCOPE_NUMBER, .number = number};
    return DSE_OK;
}

static enum dse_status find_derived(struct scope *scope, const struct ynode *node, const char *name,
                                    struct scope_value *value, struct dse_error *err);

/* {size: {small: 768, medium: 1024}}: what stands beside the choice's value; there is one for each. */
static enum dse_status find_by_choice(struct scope *scope, const struct ynode *node, const char *name,
                                      struct scope_value *value, struct dse_error *err)
{
    struct scope_value choice;
    const int symbol = node->n_item == 1 ? scope_index(scope, node->key[0], strlen(node->key[0])) : -1;
    if (symbol < 0 || node->item[0]->kind != YNODE_MAPPING)
        return yaml_fail(
            scope->doc, node, err,
            "%s: an expression, or the values by a choice, such as {size: {small: 1, large: 2}}, "
            "is expected",
            name);
    const struct ynode *list = node->item[0];
    DSE_TRY(scope_find(scope, node, (size_t)symbol, &choice, err));
    if (choice.kind != SCOPE_WORD)
        return yaml_fail(scope->doc, node, err, "%s: %s is no choice but a number", name, node->key[0]);
    const char *known[NETWORK_CHOICE_MAX];
    size_t n = choice.choices->n_item;
    for (size_t i = 0; i < n; i++) {
        known[i] = choice.choices->item[i]->text;
        if (!yaml_find(list, known[i]))
            return yaml_fail(scope->doc, list, err, "%s: no value for %s %.60s", name, node->key[0],
                             known[i]);
    }
    DSE_TRY(yaml_check_keys(scope->doc, list, name, known, n, err));
    return find_derived(scope, yaml_find(list, choice.word), name, value, err);
}

static enum dse_status find_derived(struct scope *scope, const struct ynode *node, const char *name,
                                    struct scope_value *value, struct dse_error *err)
{
    if (node->kind == YNODE_MAPPING)
        return find_by_choice(scope, node, name, value, err);
    *value = (struct scope_value){.kind = SCOPE_NUMBER};
    return scope_number(scope, node, name, &value->number, err);
}

enum dse_status scope_find(struct scope *scope, const struct ynode *node, size_t i, struct scope_value *value,
                           struct dse_error *err)
{
    struct scope_symbol *symbol = &scope->symbol[i];
    if (symbol->state == SCOPE_OPEN)
        return yaml_fail(scope->doc, node, err, "%s depends on itself", symbol->name);
    if (symbol->state == SCOPE_NEW) {
        symbol->state = SCOPE_OPEN;
        DSE_TRY(!symbol->is_parameter ? find_derived(scope, symbol->node, symbol->name, &symbol->value, err)
                : symbol->node->kind == YNODE_SEQUENCE ? find_choice(symbol, &symbol->value, err)
                                                       : find_number(scope, symbol, &symbol->value, err));
        symbol->state = SCOPE_DONE;
    }
    *value = symbol->value;
    return DSE_OK;
}

static enum dse_status declare_parameter(struct scope *scope, const struct ynode *node, const char *name,
                                         struct dse_error *err)
{
    static const char *const allowed[] = {"default", "from", "to"};
    const struct ynode *value;
    DSE_TRY(declare(scope, node, name, true, err));
    if (node->kind == YNODE_SEQUENCE) {
        if (node->n_item > NETWORK_CHOICE_MAX)
            return dse_fail_at(err, DSE_LIMIT, scope->doc->path, node->line, "%s has more than %d values",
                               name, NETWORK_CHOICE_MAX);
        return check_choice(scope, &scope->symbol[scope->n - 1], err);
    }
    if (node->kind != YNODE_MAPPING)
        return yaml_fail(scope->doc, node, err,
                         "parameter %s: a range, {default: 512, from: 1, to: 4096}, or a list of words, of "
                         "which the first is the default, is expected",
                         name);
    DSE_TRY(yaml_check_keys(scope->doc, node, name, allowed, 3, err));
    return yaml_require(scope->doc, node, name, "default", &value, err);
}

/* `name` is none of the parameters. */
static enum dse_status unknown_parameter(const struct scope *scope, const struct network_set *set,
                                         struct dse_error *err)
{
    const char *known[SCOPE_SYMBOL_MAX];
    size_t n = 0;
    char text[DSE_ERROR_TEXT_MAX], shown[96];
    struct text_buffer all;
    text_init(&all);
    for (size_t i = 0; i < scope->n; i++)
        if (scope->symbol[i].is_parameter) {
            if (all.length < 300)
                text_append(&all, "%s%.60s", n ? ", " : "; it has ", scope->symbol[i].name);
            known[n++] = scope->symbol[i].name;
        }
    const char *near = text_nearest(set->name, known, n);
    snprintf(text, sizeof text, "the network has no parameter %s%.400s%s%.60s%s (%.100s)",
             text_excerpt(set->name, shown, sizeof shown), all.data ? all.data : "",
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "", scope->doc->path);
    text_free(&all);
    return set->file ? dse_fail_at(err, DSE_BAD_INPUT, set->file, set->line, "%s", text)
                     : dse_fail(err, DSE_BAD_INPUT, "%s", text);
}

static enum dse_status apply_settings(struct scope *scope, const struct network_settings *settings,
                                      struct dse_error *err)
{
    for (size_t i = 0; i < settings->n; i++) {
        const struct network_set *set = &settings->set[i];
        const int symbol = scope_index(scope, set->name, strlen(set->name));
        if (symbol >= 0 && scope->symbol[symbol].is_parameter)
            scope->symbol[symbol].set = set;
        else if (!settings->may_lack || set->by_file)
            return unknown_parameter(scope, set, err);
    }
    return DSE_OK;
}

enum dse_status scope_init(struct scope *scope, const struct yaml_doc *doc, struct arena *arena,
                           const struct network_settings *settings, struct dse_error *err)
{
    static const char *const key[] = {"parameters", "let"};
    scope->doc = doc;
    scope->arena = arena;
    scope->depth = 0;
    scope->n = 0;
    for (int k = 0; k < 2; k++) {
        const struct ynode *list = yaml_find(doc->root, key[k]);
        if (list)
            DSE_TRY(yaml_is_mapping(doc, list, key[k], err));
        for (size_t i = 0; list && i < list->n_item; i++)
            DSE_TRY(k == 0 ? declare_parameter(scope, list->item[i], list->key[i], err)
                           : declare(scope, list->item[i], list->key[i], false, err));
    }
    DSE_TRY(apply_settings(scope, settings, err));
    for (size_t i = 0; i < scope->n; i++) {
        struct scope_value value;
        DSE_TRY(scope_find(scope, scope->symbol[i].node, i, &value, err));
    }
    return DSE_OK;
}
