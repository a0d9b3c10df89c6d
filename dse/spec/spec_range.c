/* Ranges of axes, counted exactly: a number is digits x 10^ten x 2^two in 128 bits, and what does not fit is
 * an error. */
#include "dse/spec/spec_range.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

enum { DIGIT_MAX = 18, WORD_MAX = 64, ROLE_COUNT = 4 };

enum role { FROM, TO, STEP, FACTOR };
static const char *const role_word[ROLE_COUNT] = {"from", "to", "step", "factor"};

typedef __int128 wide;

/* digits x 10^ten */
struct decimal {
    wide digits;
    int ten;
};

struct quantity {
    const struct ynode *node; /* NULL: not given */
    struct decimal number;    /* as written */
    bool has_unit;
    struct unit_scale unit;
};

struct range {
    const struct yaml_doc *doc;
    const char *name;
    const struct ynode *node;
    struct quantity part[ROLE_COUNT];
    int two; /* values are counted in 2^two */
};

bool spec_is_range(const struct ynode *node)
{
    for (int r = 0; r < ROLE_COUNT; r++) {
        const struct ynode *part = yaml_find(node, role_word[r]);
        if (part && part->kind == YNODE_SCALAR)
            return true;
    }
    return false;
}

/* ---- decimals; false: beyond 128 bits ---- */

static bool scale(wide *digits, wide base, int times)
{
    for (; times > 0; times--)
        if (__builtin_mul_overflow(*digits, base, digits))
            return false;
    return true;
}

static struct decimal shortest(struct decimal a)
{
    while (a.digits != 0 && a.digits % 10 == 0) {
        a.digits /= 10;
        a.ten++;
    }
    return a.digits == 0 ? (struct decimal){0, 0} : a;
}

/* Both to the finer of the two exponents. */
static bool align(struct decimal *a, struct decimal *b)
{
    int ten = a->ten < b->ten ? a->ten : b->ten;
    if (!scale(&a->digits, 10, a->ten - ten) || !scale(&b->digits, 10, b->ten - ten))
        return false;
    a->ten = b->ten = ten;
    return true;
}

static bool add(struct decimal a, struct decimal b, struct decimal *sum)
{
    if (!align(&a, &b) || __builtin_add_overflow(a.digits, b.digits, &sum->digits))
        return false;
    sum->ten = a.ten;
    *sum = shortest(*sum);
    return true;
}

static bool multiply(struct decimal a, struct decimal b, struct decimal *product)
{
    if (__builtin_mul_overflow(a.digits, b.digits, &product->digits))
        return false;
    product->ten = a.ten + b.ten;
    *product = shortest(*product);
    return true;
}

/* -1, 0 or 1 in `*order`. */
static bool compare(struct decimal a, struct decimal b, int *order)
{
    if (!align(&a, &b))
        return false;
    *order = (a.digits > b.digits) - (a.digits < b.digits);
    return true;
}

/* ---- reading ---- */

/* "-1.5e3" at `*at`, which moves behind it. */
static bool read_number(const char **at, struct decimal *number)
{
    const char *p = *at;
    int n_digit = 0, sign = *p == '-' ? -1 : 1;
    bool point = false;
    p += *p == '-';
    *number = (struct decimal){0, 0};
    for (;; p++) {
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (*p < '0' || *p > '9')
            break;
        if (++n_digit > DIGIT_MAX)
            return false;
        number->digits = number->digits * 10 + (*p - '0');
        number->ten -= point;
    }
    if ((*p == 'e' || *p == 'E') && (p[1] == '+' || p[1] == '-' || (p[1] >= '0' && p[1] <= '9'))) {
        char *end;
        long exponent = strtol(p + 1, &end, 10);
        if (exponent < -99 || exponent > 99)
            return false;
        number->ten += (int)exponent;
        p = end;
    }
    number->digits *= sign;
    *number = shortest(*number);
    *at = p;
    return n_digit > 0;
}

static enum dse_status read_quantity(const struct range *range, enum role role, struct quantity *out,
                                     struct dse_error *err)
{
    const char *text = NULL, *at;
    char shown[WORD_MAX];
    DSE_TRY(yaml_text(range->doc, out->node, role_word[role], &text, err));
    at = text + strspn(text, " ");
    if (!read_number(&at, &out->number))
        return yaml_fail(range->doc, out->node, err,
                         "axis %s: %s \"%s\" is no number of at most %d digits, with or without a unit",
                         range->name, role_word[role], text_excerpt(text, shown, sizeof shown), DIGIT_MAX);
    at += strspn(at, " ");
    out->has_unit = *at != '\0';
    if (role == FACTOR && out->has_unit)
        return yaml_fail(range->doc, out->node, err, "axis %s: a factor has no unit; write factor: 2",
                         range->name);
    if (out->has_unit && !unit_find(at, &out->unit))
        return yaml_fail(range->doc, out->node, err, "axis %s: %s has the unknown unit \"%s\"", range->name,
                         role_word[role], text_excerpt(at, shown, sizeof shown));
    return DSE_OK;
}

static enum dse_status check_units(const struct range *range, enum role role, struct dse_error *err)
{
    const struct quantity *from = &range->part[FROM], *other = &range->part[role];
    if (!other->node ||
        (from->has_unit == other->has_unit && (!from->has_unit || from->unit.kind == other->unit.kind)))
        return DSE_OK;
    return yaml_fail(range->doc, other->node, err, "axis %s: from is in %s, %s in %s; a range is of one kind",
                     range->name, from->has_unit ? from->unit.name : "plain numbers", role_word[role],
                     other->has_unit ? other->unit.name : "plain numbers");
}

static enum dse_status too_fine(const struct range *range, struct dse_error *err)
{
    return yaml_fail(range->doc, range->node, err,
                     "axis %s: its values need more digits than can be counted exactly; write a list",
                     range->name);
}

/* The number counted in 2^two of the kind's unit. */
static bool count(const struct range *range, const struct quantity *part, struct decimal *out)
{
    *out = part->number;
    if (!part->has_unit)
        return true;
    out->ten += part->unit.ten;
    return scale(&out->digits, part->unit.times, 1) && scale(&out->digits, 2, part->unit.two - range->two);
}

/* ---- writing ---- */

/* From counts of 2^two to a number of this unit, if that is a decimal. */
static bool to_unit(const struct range *range, const struct unit_scale *unit, struct decimal *value)
{
    value->ten -= unit->ten;
    for (int two = range->two; two < unit->two; two++) { /* a half is 5 tenths */
        if (value->digits % 2 == 0)
            value->digits /= 2;
        else if (__builtin_mul_overflow(value->digits, 5, &value->digits))
            return false;
        else
            value->ten--;
    }
    if (unit->times == 1)
        return true;
    if (!scale(&value->digits, 100, 1)) /* 15 min are 0.25 h */
        return false;
    value->ten -= 2;
    bool exact = value->digits % unit->times == 0;
    value->digits /= unit->times;
    return exact;
}

/* `value` as "0.3 pJ"; false when that needs too many digits, or with `whole` when it is no whole number of
 * the unit. */
static bool print(const struct range *range, struct decimal value, const struct quantity *like, bool whole,
                  char *text, size_t size)
{
    char digits[2 * DIGIT_MAX];
    if (like->has_unit && !to_unit(range, &like->unit, &value))
        return false;
    value = shortest(value);
    wide rest = value.digits < 0 ? -value.digits : value.digits;
    int behind = value.ten < 0 ? -value.ten : 0; /* digits behind the point */
    if ((whole && behind) || behind >= DIGIT_MAX || !scale(&rest, 10, value.ten > 0 ? value.ten : 0) ||
        rest > INT64_MAX)
        return false;
    int n = snprintf(digits, sizeof digits, "%0*lld", behind + 1, (long long)rest);
    n = snprintf(text, size, "%s%.*s%s%s%s%s", value.digits < 0 ? "-" : "", n - behind, digits,
                 behind ? "." : "", digits + n - behind, like->has_unit ? " " : "",
                 like->has_unit ? like->unit.name : "");
    return n > 0 && (size_t)n < size;
}

/* In the first of the units in which it is whole, else in the first that it can be written in. */
static const char *value_text(const struct range *range, struct decimal value, struct arena *arena)
{
    static const enum role order[] = {TO, FROM, STEP};
    char text[2 * WORD_MAX];
    for (int whole = 1; whole >= 0; whole--)
        for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
            const struct quantity *like = &range->part[order[i]];
            if (like->node && print(range, value, like, whole, text, sizeof text))
                return arena_copy_text(arena, text, strlen(text));
        }
    return NULL;
}

/* ---- the range ---- */

static enum dse_status read_range(struct range *range, struct dse_error *err)
{
    char needed[160];
    const struct quantity *part = range->part;
    snprintf(needed, sizeof needed, "the range of axis %.120s", range->name);
    DSE_TRY(yaml_check_keys(range->doc, range->node, needed, role_word, ROLE_COUNT, err));
    for (int r = 0; r < ROLE_COUNT; r++) {
        if (r <= TO)
            DSE_TRY(yaml_require(range->doc, range->node, needed, role_word[r], &range->part[r].node, err));
        else
            range->part[r].node = yaml_find(range->node, role_word[r]);
        if (range->part[r].node)
            DSE_TRY(read_quantity(range, (enum role)r, &range->part[r], err));
        if (range->part[r].has_unit && range->part[r].unit.two < range->two)
            range->two = range->part[r].unit.two;
    }
    DSE_TRY(check_units(range, TO, err));
    DSE_TRY(check_units(range, STEP, err));
    if (part[STEP].node && part[FACTOR].node)
        return yaml_fail(range->doc, part[FACTOR].node, err,
                         "axis %s: a range has a step or a factor, not both", range->name);
    if (!part[STEP].node && !part[FACTOR].node &&
        (part[FROM].has_unit || part[FROM].number.ten < 0 || part[TO].number.ten < 0))
        return yaml_fail(range->doc, range->node, err,
                         "axis %s: only whole numbers without a unit go up by 1; say step or factor",
                         range->name);
    return DSE_OK;
}

/* What each value is plus, or times. */
static enum dse_status check_move(const struct range *range, struct decimal from, struct decimal to,
                                  struct decimal move, bool times, struct dse_error *err)
{
    const struct ynode *node = times                    ? range->part[FACTOR].node
                               : range->part[STEP].node ? range->part[STEP].node
                                                        : range->part[TO].node;
    int order, above;
    if (!compare(to, from, &order) || !compare(move, (struct decimal){1, 0}, &above))
        return too_fine(range, err);
    if (times && above <= 0)
        return yaml_fail(range->doc, node, err, "axis %s: factor %s is not above 1", range->name, node->text);
    if (times && (from.digits <= 0 || order < 0))
        return yaml_fail(range->doc, range->part[FROM].node, err,
                         "axis %s: with a factor a range goes up from above 0; from is %s, to is %s",
                         range->name, range->part[FROM].node->text, range->part[TO].node->text);
    if (!times && move.digits == 0)
        return yaml_fail(range->doc, node, err, "axis %s: step 0 leads nowhere", range->name);
    if (!times && order != 0 && (move.digits > 0) != (order > 0))
        return yaml_fail(range->doc, node, err, "axis %s: a step of %s does not lead from %s to %s",
                         range->name, range->part[STEP].node ? node->text : "1", range->part[FROM].node->text,
                         range->part[TO].node->text);
    return DSE_OK;
}

/* Into `list` (max) when it is not NULL; `*n` of them. */
static enum dse_status walk(const struct range *range, struct decimal at, struct decimal to,
                            struct decimal move, bool times, size_t max, struct arena *arena,
                            const char **list, size_t *n, struct dse_error *err)
{
    int order = 0;
    for (*n = 0;; ++*n) {
        if (!compare(at, to, &order))
            return too_fine(range, err);
        if (times || move.digits > 0 ? order > 0 : order < 0)
            return DSE_OK;
        if (*n == max)
            return yaml_fail(range->doc, range->node, err, "axis %s has more than %zu values", range->name,
                             max);
        if (list && !(list[*n] = value_text(range, at, arena))) {
            DSE_TRY(arena_check(arena, "a range", err));
            return too_fine(range, err);
        }
        if (!(times ? multiply : add)(at, move, &at))
            return too_fine(range, err);
    }
}

enum dse_status spec_range_expand(const struct yaml_doc *doc, const char *name, const struct ynode *node,
                                  size_t max, struct arena *arena, const char *const **value, size_t *n,
                                  struct dse_error *err)
{
    struct range range = {.doc = doc, .name = name, .node = node};
    struct decimal from, to, move = {1, 0};
    DSE_TRY(read_range(&range, err));
    bool times = range.part[FACTOR].node != NULL;
    const struct quantity *by = &range.part[times ? FACTOR : STEP];
    if (!count(&range, &range.part[FROM], &from) || !count(&range, &range.part[TO], &to) ||
        (by->node && !count(&range, by, &move)))
        return too_fine(&range, err);
    DSE_TRY(check_move(&range, from, to, move, times, err));
    DSE_TRY(walk(&range, from, to, move, times, max, arena, NULL, n, err));
    const char **list = arena_alloc(arena, *n, sizeof *list);
    DSE_TRY(arena_check(arena, "a range", err));
    DSE_TRY(walk(&range, from, to, move, times, max, arena, list, n, err));
    *value = list;
    return DSE_OK;
}
