/* Expressions of a network file: whole numbers, names, + - * /, min and max, parentheses and at most one
 * comparison; by recursive descent. A division is exact or an error. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/native/network_scope.h"

enum { DEPTH_MAX = 200, LENGTH_MAX = 256, SHOWN_MAX = 80 };

struct parser {
    struct scope *scope;
    const struct ynode *node; /* for messages */
    const char *text, *end;   /* of the whole expression */
    const char *at;
};

static enum dse_status fail(const struct parser *p, struct dse_error *err, const char *what)
{
    const int length = (int)(p->end - p->text < SHOWN_MAX ? p->end - p->text : SHOWN_MAX);
    return yaml_fail(p->scope->doc, p->node, err, "\"%.*s\": %s", length, p->text, what);
}

static void skip_blanks(struct parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t'))
        p->at++;
}

/* The next sign, when it is this one. */
static bool take(struct parser *p, char sign)
{
    skip_blanks(p);
    if (p->at == p->end || *p->at != sign)
        return false;
    p->at++;
    return true;
}

static enum dse_status unknown_name(const struct parser *p, const char *name, struct dse_error *err)
{
    const char *known[SCOPE_SYMBOL_MAX];
    struct text_buffer all;
    text_init(&all);
    for (size_t i = 0; i < p->scope->n; i++) {
        known[i] = p->scope->symbol[i].name;
        if (all.length < 200)
            text_append(&all, "%s%.60s", i ? ", " : "", known[i]);
    }
    const char *near = text_nearest(name, known, p->scope->n);
    enum dse_status status =
        near ? yaml_fail(p->scope->doc, p->node, err, "\"%.60s\" is not known here; did you mean \"%s\"?",
                         name, near)
             : yaml_fail(p->scope->doc, p->node, err, "\"%.60s\" is not known here; %s%s", name,
                         all.data ? "known are " : "no names are", all.data ? all.data : "");
    text_free(&all);
    return status;
}

/* A word that is no value of a choice is a name that nobody declared. */
static enum dse_status need_number(const struct parser *p, const struct scope_value *value,
                                   struct dse_error *err)
{
    if (value->kind == SCOPE_NUMBER)
        return DSE_OK;
    if (value->kind == SCOPE_WORD && !value->choices)
        return unknown_name(p, value->word, err);
    return fail(p, err,
                value->kind == SCOPE_WORD ? "a choice is a word, not a number"
                                          : "a comparison is not a number");
}

static enum dse_status calculate(const struct parser *p, char sign, int64_t a, int64_t b, int64_t *out,
                                 struct dse_error *err)
{
    bool over = false;
    switch (sign) {
    case '+':
        over = __builtin_add_overflow(a, b, out);
        break;
    case '-':
        over = __builtin_sub_overflow(a, b, out);
        break;
    case '*':
        over = __builtin_mul_overflow(a, b, out);
        break;
    case '/':
        if (b == 0)
            return fail(p, err, "a division by 0");
        if (b != -1 && a % b != 0)
            return yaml_fail(
                p->scope->doc, p->node, err,
                "\"%.*s\": %" PRId64 " / %" PRId64 " leaves a rest of %" PRId64 "; divisions are exact",
                (int)(p->end - p->text < SHOWN_MAX ? p->end - p->text : SHOWN_MAX), p->text, a, b, a % b);
        over = b == -1 ? __builtin_sub_overflow(0, a, out) : (*out = a / b, false);
        break;
    case 'm': /* min */
        *out = a < b ? a : b;
        break;
    default: /* max */
        *out = a > b ? a : b;
        break;
    }
    return over ? dse_fail_at(err, DSE_LIMIT, p->scope->doc->path, p->node->line,
                              "\"%.*s\": a value is beyond 64 bits",
                              (int)(p->end - p->text < SHOWN_MAX ? p->end - p->text : SHOWN_MAX), p->text)
                : DSE_OK;
}

static enum dse_status parse_sum(struct parser *p, struct scope_value *value, struct dse_error *err);

static enum dse_status parse_digits(struct parser *p, struct scope_value *value, struct dse_error *err)
{
    int64_t number = 0;
    for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, *p->at - '0', &number))
            return fail(p, err, "a number is beyond 64 bits");
    *value = (struct scope_value){.kind = SCOPE_NUMBER, .number = number};
    return DSE_OK;
}

/* min(a, b, ...) and max: behind the opening parenthesis. */
static enum dse_status parse_extreme(struct parser *p, char which, struct scope_value *value,
                                     struct dse_error *err)
{
    struct scope_value next;
    DSE_TRY(parse_sum(p, value, err));
    DSE_TRY(need_number(p, value, err));
    while (take(p, ',')) {
        DSE_TRY(parse_sum(p, &next, err));
        DSE_TRY(need_number(p, &next, err));
        DSE_TRY(calculate(p, which, value->number, next.number, &value->number, err));
    }
    return take(p, ')') ? DSE_OK : fail(p, err, "a closing parenthesis is missing");
}

static enum dse_status parse_name(struct parser *p, struct scope_value *value, struct dse_error *err)
{
    const char *name = p->at;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
        p->at++;
    const size_t length = (size_t)(p->at - name);
    if (length == 3 && (strncmp(name, "min", 3) == 0 || strncmp(name, "max", 3) == 0) && take(p, '('))
        return parse_extreme(p, strncmp(name, "min", 3) == 0 ? 'm' : 'M', value, err);
    const int symbol = scope_index(p->scope, name, length);
    if (symbol >= 0)
        return scope_find(p->scope, p->node, (size_t)symbol, value, err);
    *value = (struct scope_value){.kind = SCOPE_WORD, .word = arena_copy_text(p->scope->arena, name, length)};
    return arena_check(p->scope->arena, "a network", err);
}

static enum dse_status parse_primary(struct parser *p, struct scope_value *value, struct dse_error *err)
{
    skip_blanks(p);
    if (p->at == p->end)
        return fail(p, err, "a number or a name is missing at the end");
    if (isdigit((unsigned char)*p->at))
        return parse_digits(p, value, err);
    if (isalpha((unsigned char)*p->at) || *p->at == '_')
        return parse_name(p, value, err);
    if (!take(p, '('))
        return fail(p, err, "no expression; whole numbers, names, + - * / ( ), min and max are accepted");
    DSE_TRY(parse_sum(p, value, err));
    return take(p, ')') ? DSE_OK : fail(p, err, "a closing parenthesis is missing");
}

/* Operands joined by one of two signs, from the left. */
static enum dse_status parse_chain(struct parser *p, const char signs[2],
                                   enum dse_status (*operand)(struct parser *, struct scope_value *,
                                                              struct dse_error *),
                                   struct scope_value *value, struct dse_error *err)
{
    DSE_TRY(operand(p, value, err));
    for (;;) {
        struct scope_value next;
        const char sign = take(p, signs[0]) ? signs[0] : take(p, signs[1]) ? signs[1] : '\0';
        if (!sign)
            return DSE_OK;
        DSE_TRY(operand(p, &next, err));
        DSE_TRY(need_number(p, value, err));
        DSE_TRY(need_number(p, &next, err));
        DSE_TRY(calculate(p, sign, value->number, next.number, &value->number, err));
    }
}

static enum dse_status parse_product(struct parser *p, struct scope_value *value, struct dse_error *err)
{
    return parse_chain(p, "*/", parse_primary, value, err);
}

static enum dse_status parse_sum(struct parser *p, struct scope_value *value, struct dse_error *err)
{
    if (++p->scope->depth > DEPTH_MAX)
        return fail(p, err, "parentheses and names of names are nested too deep");
    enum dse_status status = parse_chain(p, "+-", parse_product, value, err);
    p->scope->depth--;
    return status;
}

/* The comparison at this place: 0 == , 1 != , 2 <= , 3 >= , 4 < , 5 >; -1: none. */
static int take_comparison(struct parser *p)
{
    static const char *const sign[] = {"==", "!=", "<=", ">=", "<", ">"};
    skip_blanks(p);
    for (int i = 0; i < 6; i++) {
        const size_t length = strlen(sign[i]);
        if ((size_t)(p->end - p->at) >= length && strncmp(p->at, sign[i], length) == 0) {
            p->at += length;
            return i;
        }
    }
    return -1;
}

/* The word is one of the choice's. */
static enum dse_status check_choice(const struct parser *p, const struct scope_value *choice,
                                    const struct scope_value *word, struct dse_error *err)
{
    struct text_buffer all;
    text_init(&all);
    for (size_t i = 0; i < choice->choices->n_item; i++) {
        if (strcmp(choice->choices->item[i]->text, word->word) == 0) {
            text_free(&all);
            return DSE_OK;
        }
        text_append(&all, "%s%.60s", i ? ", " : "", choice->choices->item[i]->text);
    }
    enum dse_status status =
        yaml_fail(p->scope->doc, p->node, err, "\"%.60s\" is never the value; it is one of %s", word->word,
                  all.data ? all.data : "none");
    text_free(&all);
    return status;
}

static enum dse_status compare_words(const struct parser *p, int how, const struct scope_value *a,
                                     const struct scope_value *b, bool *truth, struct dse_error *err)
{
    if (a->kind != b->kind || (!a->choices && !b->choices)) {
        DSE_TRY(need_number(p, a, err));
        DSE_TRY(need_number(p, b, err));
    }
    if (how > 1)
        return fail(p, err, "words are compared by == and != only");
    if (!a->choices || !b->choices)
        DSE_TRY(check_choice(p, a->choices ? a : b, a->choices ? b : a, err));
    *truth = (strcmp(a->word, b->word) == 0) == (how == 0);
    return DSE_OK;
}

static bool compare_numbers(int how, int64_t a, int64_t b)
{
    const bool outcome[] = {a == b, a != b, a <= b, a >= b, a<b, a> b};
    return outcome[how];
}

enum dse_status scope_evaluate(struct scope *scope, const struct ynode *node, const char *text, size_t length,
                               struct scope_value *value, struct dse_error *err)
{
    struct parser p = {scope, node, text, text + length, text};
    if (length > LENGTH_MAX)
        return fail(&p, err, "an expression is longer than 256 characters; name a part of it under let");
    DSE_TRY(parse_sum(&p, value, err));
    const int how = take_comparison(&p);
    if (how >= 0) {
        struct scope_value other;
        bool truth = false;
        DSE_TRY(parse_sum(&p, &other, err));
        if (value->kind == SCOPE_WORD || other.kind == SCOPE_WORD)
            DSE_TRY(compare_words(&p, how, value, &other, &truth, err));
        else
            truth = compare_numbers(how, value->number, other.number);
        *value = (struct scope_value){.kind = SCOPE_TRUTH, .number = truth};
    }
    skip_blanks(&p);
    if (p.at != p.end)
        return fail(&p, err, "no expression; whole numbers, names, + - * / ( ), min and max are accepted");
    if (value->kind == SCOPE_WORD && !value->choices)
        return unknown_name(&p, value->word, err);
    return DSE_OK;
}

enum dse_status scope_number(struct scope *scope, const struct ynode *node, const char *what, int64_t *number,
                             struct dse_error *err)
{
    const char *text;
    struct scope_value value;
    DSE_TRY(yaml_text(scope->doc, node, what, &text, err));
    DSE_TRY(scope_evaluate(scope, node, text, strlen(text), &value, err));
    if (value.kind != SCOPE_NUMBER)
        return yaml_fail(scope->doc, node, err, "%s \"%.80s\" is not a number", what, text);
    *number = value.number;
    return DSE_OK;
}

enum dse_status scope_truth(struct scope *scope, const struct ynode *node, bool *truth, struct dse_error *err)
{
    const char *text;
    struct scope_value value;
    DSE_TRY(yaml_text(scope->doc, node, "when", &text, err));
    DSE_TRY(scope_evaluate(scope, node, text, strlen(text), &value, err));
    if (value.kind != SCOPE_TRUTH)
        return yaml_fail(scope->doc, node, err,
                         "when \"%.80s\" is not a comparison, such as \"phase == decode\" or \"blocks > 1\"",
                         text);
    *truth = value.number != 0;
    return DSE_OK;
}
