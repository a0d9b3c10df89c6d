/* Reads the one-line notation of mappings: brackets of loops, then arrays. */
#include "costmodel/interstellar/points.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/interstellar/loops.h"

struct reader {
    const char *text, *at, *end, *path;
    int line;
    const struct problem *problem;
    const struct architecture *arch;
    struct mapping *mapping;
    struct dse_error *err;
};

__attribute__((format(printf, 3, 4))) static enum dse_status fail_at(const struct reader *r,
                                                                     const char *place, const char *format,
                                                                     ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return dse_fail_at(r->err, DSE_BAD_INPUT, r->path, r->line, "column %d: %s", (int)(place - r->text) + 1,
                       what);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* A name, empty where there is none. */
static size_t take_name(struct reader *r, const char **name)
{
    skip_blanks(r);
    *name = r->at;
    while (r->at < r->end && is_name(*r->at))
        r->at++;
    return (size_t)(r->at - *name);
}

/* "IC:8": a dimension that is not in `seen` yet, and its factor. */
static enum dse_status read_loop(struct reader *r, uint32_t *seen, uint32_t *dim, uint32_t *factor)
{
    const char *name;
    size_t length = take_name(r, &name);
    int shown = length > 40 ? 40 : (int)length, d = interstellar_find_dim(r->problem, name, length);
    uint64_t value = 0;
    if (length == 0)
        return fail_at(r, r->at, "a loop such as IC:8 is expected");
    if (d < 0)
        return fail_at(r, name,
                       "%s has no loop %.*s; loops are FX FY OX OY OC IC ON of a convolution, or "
                       "dimensions by their names",
                       r->problem->name, shown, name);
    if (*seen >> d & 1u)
        return fail_at(r, name, "%.*s is here a second time", shown, name);
    *seen |= 1u << d;
    if (!take(r, ':'))
        return fail_at(r, r->at, "\":\" and the iterations of %.*s are expected", shown, name);
    skip_blanks(r);
    const char *number = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9' && value <= UINT32_MAX)
        value = 10 * value + (uint64_t)(*r->at++ - '0');
    if (value < 1 || value > UINT32_MAX || (r->at < r->end && is_name(*r->at)))
        return fail_at(r, number, "%.*s wants a whole number of iterations from 1 to 4294967295", shown,
                       name);
    *dim = (uint32_t)d;
    *factor = (uint32_t)value;
    return DSE_OK;
}

/* The dimensions that are not in `seen` follow those that are. */
static void complete_order(uint8_t *order, uint32_t n, uint32_t seen, uint32_t n_dim)
{
    for (uint32_t d = 0; d < n_dim; d++)
        if (!(seen >> d & 1u))
            order[n++] = (uint8_t)d;
}

/* "-Weights" */
static enum dse_status read_bypass(struct reader *r, struct mapping_level *level)
{
    const char *name;
    char text[PROBLEM_NAME_MAX];
    size_t length = take_name(r, &name);
    int t = -1;
    if (length < sizeof text) {
        memcpy(text, name, length);
        text[length] = '\0';
        t = problem_find_tensor(r->problem, text);
    }
    if (t < 0)
        return fail_at(r, name, "%s has no tensor %.*s", r->problem->name, length > 40 ? 40 : (int)length,
                       name);
    level->keep &= (uint8_t) ~(1u << t);
    return DSE_OK;
}

static enum dse_status read_level(struct reader *r, uint32_t l)
{
    struct mapping_level *level = &r->mapping->level[l];
    uint32_t n = 0, seen = 0;
    if (!take(r, '['))
        return fail_at(r, r->at, "the bracket of level %u is expected: [ and its loops; %s has %u levels",
                       (unsigned)l, r->arch->name, (unsigned)r->arch->n_level);
    while (!take(r, ']')) {
        if (take(r, '-')) {
            DSE_TRY(read_bypass(r, level));
            continue;
        }
        uint32_t d, factor;
        if (r->at == r->end)
            return fail_at(r, r->at, "the bracket of level %u is not closed", (unsigned)l);
        DSE_TRY(read_loop(r, &seen, &d, &factor));
        level->temporal[d] = factor;
        level->temporal_order[n++] = (uint8_t)d;
    }
    complete_order(level->temporal_order, n, seen, r->problem->n_dim);
    return DSE_OK;
}

/* What comes before the loops of an array: "L0", whose copies it has, or "MAC". Its loops are those of the
 * level around. */
static enum dse_status read_array_name(struct reader *r, uint32_t *l)
{
    const char *name;
    size_t length = take_name(r, &name);
    if (length == 3 && memcmp(name, "MAC", 3) == 0) {
        *l = 0;
        return DSE_OK;
    }
    uint32_t k = 0;
    bool number = length > 1 && length < 4 && name[0] == 'L';
    for (size_t i = 1; number && i < length; i++) {
        number = name[i] >= '0' && name[i] <= '9';
        k = 10 * k + (uint32_t)(name[i] - '0');
    }
    if (!number || k + 1 >= r->arch->n_level)
        return fail_at(r, name, "an array is expected: L0 to L%u, or MAC, and its loops",
                       (unsigned)(r->arch->n_level > 1 ? r->arch->n_level - 2 : 0));
    *l = k + 1;
    return DSE_OK;
}

/* "L0 OC:16 | IC:3 OX:4": the first dimension is X, the second Y, others go on from there. */
static enum dse_status read_array(struct reader *r, uint32_t *arrays)
{
    uint32_t l = 0, n = 0, seen = 0, n_dimension = 1;
    skip_blanks(r);
    const char *place = r->at;
    DSE_TRY(read_array_name(r, &l));
    struct mapping_level *level = &r->mapping->level[l];
    if (*arrays >> l & 1u)
        return fail_at(r, place, "this array is here a second time");
    *arrays |= 1u << l;
    level->split = (uint8_t)r->problem->n_dim;
    for (skip_blanks(r); r->at < r->end && *r->at != ';'; skip_blanks(r)) {
        uint32_t d, factor;
        if (take(r, '|')) {
            if (n_dimension > 1 && (n == level->split || ((uint32_t)level->further >> n & 1u)))
                return fail_at(r, r->at - 1, "this dimension of the array has no loop");
            if (n_dimension++ == 1)
                level->split = (uint8_t)n;
            else
                level->further |= (uint16_t)(1u << n);
            continue;
        }
        DSE_TRY(read_loop(r, &seen, &d, &factor));
        level->spatial[d] = factor;
        level->spatial_order[n++] = (uint8_t)d;
    }
    if (n_dimension > 1 && (n == level->split || ((uint32_t)level->further >> n & 1u)))
        return fail_at(r, r->at, "this dimension of the array has no loop");
    complete_order(level->spatial_order, n, seen, r->problem->n_dim);
    return DSE_OK;
}

static enum dse_status read_point(struct reader *r)
{
    uint32_t arrays = 0;
    for (uint32_t l = 0; l < r->arch->n_level; l++) {
        DSE_TRY(read_level(r, l));
        if (l + 1 < r->arch->n_level && !take(r, '/'))
            return fail_at(r, r->at, "\"/\" and the bracket of level %u are expected: %s has %u levels",
                           (unsigned)l + 1, r->arch->name, (unsigned)r->arch->n_level);
    }
    while (take(r, ';'))
        DSE_TRY(read_array(r, &arrays));
    skip_blanks(r);
    if (r->at < r->end)
        return fail_at(r, r->at,
                       "the line should end here, or go on with \";\" and an array; %s has %u levels",
                       r->arch->name, (unsigned)r->arch->n_level);
    return DSE_OK;
}

enum dse_status points_read_line(const char *text, size_t length, const char *path, int line,
                                 const struct problem *problem, const struct architecture *arch,
                                 struct mapping *mapping, struct dse_error *err)
{
    struct reader r = {text, text, text + length, path, line, problem, arch, mapping, err};
    mapping_init(mapping, problem, arch);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        mapping->level[arch->n_level - 1].temporal[d] = 1;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        mapping->level[l].keep = 0;
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            mapping->level[l].keep |= (uint8_t)(architecture_keeps(arch, l, &problem->tensor[t]) << t);
    }
    return read_point(&r);
}

bool points_is(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && (is_blank(text[i]) || text[i] == '\n' || text[i] == '#'))
        if (text[i] == '#')
            while (i < length && text[i] != '\n')
                i++;
        else
            i++;
    if (i == length || text[i++] != '[')
        return false;
    while (i < length && (is_blank(text[i]) || text[i] == '\n'))
        i++;
    return i < length && text[i] != '{';
}
