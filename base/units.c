/* One table of units for all kinds. A number is scaled on its decimal text, so that "0.8 pJ" is the
 * nearest double and prints back as it was written; refusals name the unit that was probably meant. */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* A unit: value = number x 10^ten x 2^two x times. The three parts are apart because the first is done on the
 * decimal text and the second is exact, so that "0.8 pJ" is the double nearest to 8e-13 and prints back as
 * "0.8 pJ". */
struct unit {
    enum unit_kind kind;
    const char *name;
    int ten;
    int two;
    double times;
    double least; /* printed with this unit when the number is at least this; 0: never printed */
};

/* Per kind from the largest to the smallest. */
static const struct unit units[] = {
    {UNIT_BYTE, "TiB", 0, 40, 1, 1},
    {UNIT_BYTE, "TB", 12, 0, 1, 1},
    {UNIT_BYTE, "GiB", 0, 30, 1, 1},
    {UNIT_BYTE, "GB", 9, 0, 1, 1},
    {UNIT_BYTE, "MiB", 0, 20, 1, 1},
    {UNIT_BYTE, "MB", 6, 0, 1, 1},
    {UNIT_BYTE, "KiB", 0, 10, 1, 1},
    {UNIT_BYTE, "kB", 3, 0, 1, 1},
    {UNIT_BYTE, "B", 0, 0, 1, 1},
    {UNIT_BIT, "Tibit", 0, 40, 1, 1},
    {UNIT_BIT, "Tbit", 12, 0, 1, 1},
    {UNIT_BIT, "Gibit", 0, 30, 1, 1},
    {UNIT_BIT, "Gbit", 9, 0, 1, 1},
    {UNIT_BIT, "Mibit", 0, 20, 1, 1},
    {UNIT_BIT, "Mbit", 6, 0, 1, 1},
    {UNIT_BIT, "Kibit", 0, 10, 1, 1},
    {UNIT_BIT, "kbit", 3, 0, 1, 1},
    {UNIT_BIT, "bit", 0, 0, 1, 1},
    {UNIT_BYTE_PER_S, "TiB/s", 0, 40, 1, 1},
    {UNIT_BYTE_PER_S, "TB/s", 12, 0, 1, 1},
    {UNIT_BYTE_PER_S, "GiB/s", 0, 30, 1, 1},
    {UNIT_BYTE_PER_S, "GB/s", 9, 0, 1, 1},
    {UNIT_BYTE_PER_S, "MiB/s", 0, 20, 1, 1},
    {UNIT_BYTE_PER_S, "MB/s", 6, 0, 1, 1},
    {UNIT_BYTE_PER_S, "KiB/s", 0, 10, 1, 1},
    {UNIT_BYTE_PER_S, "kB/s", 3, 0, 1, 1},
    {UNIT_BYTE_PER_S, "B/s", 0, 0, 1, 1},
    {UNIT_BYTE_PER_S, "Tbit/s", 12, -3, 1, 0},
    {UNIT_BYTE_PER_S, "Gbit/s", 9, -3, 1, 0},
    {UNIT_BYTE_PER_S, "Mbit/s", 6, -3, 1, 0},
    {UNIT_BYTE_PER_S, "kbit/s", 3, -3, 1, 0},
    {UNIT_BYTE_PER_S, "bit/s", 0, -3, 1, 0},
    {UNIT_JOULE, "J", 0, 0, 1, 1},
    {UNIT_JOULE, "mJ", -3, 0, 1, 1},
    {UNIT_JOULE, "uJ", -6, 0, 1, 1},
    {UNIT_JOULE, "nJ", -9, 0, 1, 1},
    {UNIT_JOULE, "pJ", -12, 0, 1, 0.01}, /* the customary unit of an access */
    {UNIT_JOULE, "fJ", -15, 0, 1, 1},
    {UNIT_HERTZ, "GHz", 9, 0, 1, 1},
    {UNIT_HERTZ, "MHz", 6, 0, 1, 1},
    {UNIT_HERTZ, "kHz", 3, 0, 1, 1},
    {UNIT_HERTZ, "Hz", 0, 0, 1, 1},
    {UNIT_SECOND, "h", 0, 0, 3600, 1},
    {UNIT_SECOND, "min", 0, 0, 60, 1},
    {UNIT_SECOND, "s", 0, 0, 1, 1},
    {UNIT_SECOND, "ms", -3, 0, 1, 1},
    {UNIT_SECOND, "us", -6, 0, 1, 1},
    {UNIT_SECOND, "ns", -9, 0, 1, 1},
    {UNIT_METRE, "m", 0, 0, 1, 1},
    {UNIT_METRE, "mm", -3, 0, 1, 1},
    {UNIT_METRE, "um", -6, 0, 1, 1},
    {UNIT_METRE, "nm", -9, 0, 1, 1},
    {UNIT_WATT, "W", 0, 0, 1, 1},
    {UNIT_WATT, "mW", -3, 0, 1, 1},
    {UNIT_WATT, "uW", -6, 0, 1, 1},
    {UNIT_WATT, "nW", -9, 0, 1, 1},
    {UNIT_CYCLE, "cycles", 0, 0, 1, 1},
    {UNIT_CYCLE, "cycle", 0, 0, 1, 0},
    {UNIT_WORD, "words", 0, 0, 1, 1},
    {UNIT_WORD, "word", 0, 0, 1, 0},
    {UNIT_WORD_PER_CYCLE, "word/cycle", 0, 0, 1, 1},
    {UNIT_WORD_PER_CYCLE, "words/cycle", 0, 0, 1, 0},
    {UNIT_JOULE_PER_BIT, "J/bit", 0, 0, 1, 1},
    {UNIT_JOULE_PER_BIT, "nJ/bit", -9, 0, 1, 1},
    {UNIT_JOULE_PER_BIT, "pJ/bit", -12, 0, 1, 0.01},
    {UNIT_JOULE_PER_BIT, "fJ/bit", -15, 0, 1, 1},
    {UNIT_MM2, "mm2", 0, 0, 1, 0.01}, /* the customary unit of a chip */
    {UNIT_MM2, "um2", -6, 0, 1, 1},
};

enum { N_UNIT = sizeof units / sizeof units[0], NUMBER_MAX = 64, UNIT_MAX = 48, EXCERPT_MAX = 80 };

struct kind_words {
    const char *symbol;  /* of the value in SI */
    const char *example; /* "write a ..." */
    const char *accepted;
};

/* Indexed by enum unit_kind. */
static const struct kind_words kinds[] = {
    [UNIT_BYTE] = {"byte", "a size such as 128 KiB", "B, KiB, MiB, GiB, TiB (1024), kB, MB, GB, TB (1000)"},
    [UNIT_BIT] = {"bit", "a width such as 24 bit",
                  "bit, Kibit, Mibit, Gibit, Tibit (1024), kbit, Mbit, Gbit, Tbit (1000)"},
    [UNIT_BYTE_PER_S] = {"byte/s", "a bandwidth such as 16 GB/s",
                         "B/s, KiB/s, MiB/s, GiB/s, TiB/s, kB/s, MB/s, GB/s, TB/s, "
                         "bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s"},
    [UNIT_JOULE] = {"J", "an energy such as 0.8 pJ", "fJ, pJ, nJ, uJ, mJ, J"},
    [UNIT_HERTZ] = {"Hz", "a frequency such as 1 GHz", "Hz, kHz, MHz, GHz"},
    [UNIT_SECOND] = {"s", "a time such as 5 ns", "ns, us, ms, s, min, h"},
    [UNIT_METRE] = {"m", "a length such as 30 um", "nm, um, mm, m"},
    [UNIT_WATT] = {"W", "a power such as 10 mW", "nW, uW, mW, W"},
    [UNIT_CYCLE] = {"cycle", "a count such as 12 cycles", "cycle, cycles"},
    [UNIT_WORD] = {"word", "a count such as 8 words", "word, words"},
    [UNIT_WORD_PER_CYCLE] = {"word/cycle", "a rate such as 16 word/cycle", "word/cycle, words/cycle"},
    [UNIT_MM2] = {"mm2", "an area such as 0.3 mm2", "um2, mm2"},
    [UNIT_JOULE_PER_BIT] = {"J/bit", "an energy such as 0.8 pJ/bit", "fJ/bit, pJ/bit, nJ/bit, J/bit"},
};

/* Spellings that edit distance does not lead to the right unit. */
static const struct {
    enum unit_kind kind;
    const char *wrong;
    const char *right;
} habits[] = {
    {UNIT_BYTE, "K", "KiB"},
    {UNIT_BYTE, "k", "KiB"},
    {UNIT_BYTE, "KB", "KiB (1024) or kB (1000)"},
    {UNIT_BYTE, "Kb", "KiB (1024) or kB (1000)"},
    {UNIT_BYTE, "kb", "KiB (1024) or kB (1000)"},
    {UNIT_BYTE, "M", "MiB"},
    {UNIT_BYTE, "G", "GiB"},
    {UNIT_BYTE, "byte", "B"},
    {UNIT_BYTE, "bytes", "B"},
    {UNIT_BIT, "b", "bit"},
    {UNIT_BYTE_PER_S, "G/s", "GB/s"},
    {UNIT_BYTE_PER_S, "M/s", "MB/s"},
    {UNIT_BYTE_PER_S, "Gbps", "Gbit/s (or GB/s)"},
    {UNIT_BYTE_PER_S, "Mbps", "Mbit/s (or MB/s)"},
    {UNIT_BYTE_PER_S, "Gb/s", "Gbit/s (or GB/s)"},
    {UNIT_BYTE_PER_S, "Mb/s", "Mbit/s (or MB/s)"},
    {UNIT_HERTZ, "G", "GHz"},
    {UNIT_HERTZ, "M", "MHz"},
    {UNIT_SECOND, "sec", "s"},
    {UNIT_SECOND, "second", "s"},
    {UNIT_SECOND, "seconds", "s"},
    {UNIT_SECOND, "minutes", "min"},
    {UNIT_SECOND, "hour", "h"},
    {UNIT_SECOND, "hours", "h"},
};

const char *unit_symbol(enum unit_kind kind)
{
    return kinds[kind].symbol;
}

/* A quantity taken apart; `unit` points at the first letter of the unit in the text. */
struct parts {
    char mantissa[NUMBER_MAX]; /* digits and one point */
    long exponent;
    char unit[UNIT_MAX];
};

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static const char *skip_digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* Split "0.8e-3 pJ " into mantissa, exponent and unit; 0 when there is no number or a part is too long. */
static int split(const char *text, struct parts *parts)
{
    const char *first = skip_blanks(text);
    const char *at = skip_digits(first);
    long n_digit = at - first;
    if (*at == '.') {
        const char *end = skip_digits(at + 1);
        n_digit += end - at - 1;
        at = end;
    }
    if (n_digit == 0 || at - first >= NUMBER_MAX)
        return 0;
    memcpy(parts->mantissa, first, (size_t)(at - first));
    parts->mantissa[at - first] = '\0';
    parts->exponent = 0;
    if (*at == 'e' || *at == 'E') {
        const char *digit = at + 1 + (at[1] == '+' || at[1] == '-');
        const char *end = skip_digits(digit);
        if (end > digit) {
            parts->exponent = strtol(at + 1, NULL, 10);
            at = end;
        }
    }
    if (parts->exponent > 9999 || parts->exponent < -9999)
        return 0;
    at = skip_blanks(at);
    size_t length = strlen(at);
    while (length > 0 && (at[length - 1] == ' ' || at[length - 1] == '\t'))
        length--;
    if (length >= UNIT_MAX)
        length = UNIT_MAX - 1; /* no unit is that long: it stays unknown */
    memcpy(parts->unit, at, length);
    parts->unit[length] = '\0';
    return 1;
}

static double value_of(const struct parts *parts, const struct unit *unit)
{
    char number[NUMBER_MAX + 24];
    size_t n = strlen(parts->mantissa);
    long ten = parts->exponent + unit->ten;
    double value = 0;
    memcpy(number, parts->mantissa, n);
    number[n++] = 'e';
    number[n++] = ten < 0 ? '-' : '+';
    n += text_u64_bytes((uint64_t)labs(ten), number + n);
    number[n] = '\0';
    if (!text_parse_double(number, &value))
        return INFINITY; /* too large: it is made of digits alone */
    return ldexp(value, unit->two) * unit->times;
}

static const struct unit *find_unit(enum unit_kind kind, const char *name)
{
    for (size_t i = 0; i < N_UNIT; i++)
        if (units[i].kind == kind && strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

/* `from` with the micro sign (either code point) as "u". */
static void replace_micro(const char *from, char to[UNIT_MAX])
{
    size_t n = 0;
    for (; *from != '\0'; from++) {
        int micro = strncmp(from, "\xC2\xB5", 2) == 0 || strncmp(from, "\xCE\xBC", 2) == 0;
        to[n++] = micro ? 'u' : *from;
        from += micro;
    }
    to[n] = '\0';
}

/* What the user may have meant by `name`, or NULL. */
static const char *suggest(enum unit_kind kind, const char *name)
{
    const char *candidate[N_UNIT];
    size_t n = 0;
    char plain[UNIT_MAX];
    for (size_t i = 0; i < sizeof habits / sizeof habits[0]; i++)
        if (habits[i].kind == kind && strcmp(habits[i].wrong, name) == 0)
            return habits[i].right;
    replace_micro(name, plain);
    const struct unit *exact = find_unit(kind, plain);
    if (exact)
        return exact->name;
    for (size_t i = 0; i < N_UNIT; i++)
        if (units[i].kind == kind)
            candidate[n++] = units[i].name;
    return text_nearest(plain, candidate, n);
}

/* The unit of any kind with this name, or NULL. */
static const struct unit *foreign_unit(const char *name)
{
    for (size_t i = 0; i < N_UNIT; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool unit_find(const char *name, struct unit_scale *scale)
{
    const struct unit *unit = foreign_unit(name);
    if (unit)
        *scale = (struct unit_scale){unit->kind, unit->name, unit->ten, unit->two, (int)unit->times};
    return unit != NULL;
}

static enum dse_status fail_unit(const char *what, const char *text, const char *name, enum unit_kind kind,
                                 struct dse_error *err)
{
    const struct kind_words *words = &kinds[kind];
    if (!err) /* nobody wants to know */
        return DSE_BAD_INPUT;
    const struct unit *foreign = foreign_unit(name);
    if (name[0] == '\0')
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" has no unit; write %s (%s)", what, text,
                        words->example, words->accepted);
    if (foreign)
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is in %s, but a value in %s is wanted; write %s (%s)",
                        what, text, name, words->symbol, words->example, words->accepted);
    if (name[0] == ',' || name[0] == '_' || name[0] == '\'')
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: \"%s\" has a separator in the number; write it as plain digits, %s", what, text,
                        words->example);
    char excerpt[UNIT_MAX];
    const char *meant = suggest(kind, name);
    text_excerpt(name, excerpt, sizeof excerpt);
    if (meant)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s: \"%s\" has the unknown unit \"%s\"; did you mean %s? (accepted: %s)", what, text,
                        excerpt, meant, words->accepted);
    return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" has the unknown unit \"%s\"; write %s (%s)", what, text,
                    excerpt, words->example, words->accepted);
}

enum dse_status quantity_parse(const char *text, enum unit_kind kind, const char *what, double *value,
                               struct dse_error *err)
{
    char excerpt[EXCERPT_MAX];
    struct parts parts;
    const struct kind_words *words = &kinds[kind];
    text_excerpt(text, excerpt, sizeof excerpt);
    if (*skip_blanks(text) == '-')
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is negative; write %s", what, excerpt,
                        words->example);
    if (!split(text, &parts))
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is not a number with a unit; write %s (%s)", what,
                        excerpt, words->example, words->accepted);
    const struct unit *unit = find_unit(kind, parts.unit);
    if (!unit)
        return fail_unit(what, excerpt, parts.unit, kind, err);
    double parsed = value_of(&parts, unit);
    if (!isfinite(parsed))
        return dse_fail(err, DSE_BAD_INPUT, "%s: \"%s\" is too large for a number; write %s", what, excerpt,
                        words->example);
    *value = parsed;
    return DSE_OK;
}

/* `value` in `unit` as "128 KiB"; 0 when that text does not read back to the same double. */
static int print_with(double value, const struct unit *unit, char *buffer, size_t size, double *number)
{
    char digits[NUMBER_MAX];
    struct parts parts;
    text_double_shifted(ldexp(value, -unit->two) / unit->times, -unit->ten, digits, sizeof digits);
    if (!split(digits, &parts) || value_of(&parts, unit) != value)
        return 0;
    const char *name = unit->name;
    if (strcmp(digits, "1") == 0 && (unit->kind == UNIT_CYCLE || unit->kind == UNIT_WORD))
        name = unit->kind == UNIT_CYCLE ? "cycle" : "word";
    *number = strtod(digits, NULL);
    snprintf(buffer, size, "%s %s", digits, name);
    return 1;
}

char *quantity_print(double value, enum unit_kind kind, char *buffer, size_t size)
{
    char best[NUMBER_MAX + UNIT_MAX] = "";
    char text[NUMBER_MAX + UNIT_MAX];
    char smallest[NUMBER_MAX + UNIT_MAX] = "";
    if (!(value > 0) || !isfinite(value)) {
        text_double(value, text, sizeof text);
        const char *name = strcmp(kinds[kind].symbol, "byte") == 0 ? "B" : kinds[kind].symbol;
        snprintf(buffer, size, "%s %s", text, kind == UNIT_BYTE_PER_S ? "B/s" : name);
        return buffer;
    }
    for (size_t i = 0; i < N_UNIT; i++) {
        double number = 0;
        if (units[i].kind != kind || units[i].least == 0 ||
            !print_with(value, &units[i], text, sizeof text, &number))
            continue;
        text_copy(smallest, sizeof smallest, text);
        if (number >= units[i].least && (best[0] == '\0' || strlen(text) < strlen(best)))
            text_copy(best, sizeof best, text);
    }
    snprintf(buffer, size, "%s", best[0] != '\0' ? best : smallest);
    return buffer;
}
