/* Lists the combinations of sizes of a machine's storage levels. */
#include "dse/optimise/hierarchies.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

enum size_limit { LIMIT_STORAGE, LIMIT_AREA, LIMIT_RATIO, SIZE_LIMITS };

static enum dse_status add_size(struct size_axis *axis, double byte, struct dse_error *err)
{
    if (axis->n == SIZE_VALUE_MAX)
        return dse_fail(err, DSE_BAD_USAGE, "--size %s: more than %d sizes", axis->level, SIZE_VALUE_MAX);
    for (uint32_t i = 0; i < axis->n; i++)
        if (axis->byte[i] == byte)
            return dse_fail(err, DSE_BAD_USAGE, "--size %s: a size stands there twice", axis->level);
    axis->byte[axis->n++] = byte;
    return DSE_OK;
}

/* "16 B", "16 B..512 B" or "none". */
static enum dse_status read_sizes(char *word, struct size_axis *axis, struct dse_error *err)
{
    char what[ARCH_NAME_MAX + 8];
    char *end = strstr(word, "..");
    double first, last;
    word += strspn(word, " ");
    snprintf(what, sizeof what, "--size %s", axis->level);
    if (strncmp(word, "none", 4) == 0 && word[4 + strspn(word + 4, " ")] == '\0')
        return add_size(axis, 0, err);
    if (end)
        *end = '\0';
    if (end && (word[strspn(word, " ")] == '\0' || end[2 + strspn(end + 2, " .")] == '\0' || end[2] == '.'))
        return dse_fail(err, DSE_BAD_USAGE, "%s: a range has two dots and two ends: 16 B..512 B", what);
    DSE_TRY(quantity_parse(word, UNIT_BYTE, what, &first, err));
    last = first;
    if (end)
        DSE_TRY(quantity_parse(end + 2, UNIT_BYTE, what, &last, err));
    if (first <= 0 || last < first)
        return dse_fail(err, DSE_BAD_USAGE, "%s: sizes are above 0, and a range goes upwards: 16 B..512 B",
                        what);
    for (; first <= last; first *= 2)
        DSE_TRY(add_size(axis, first, err));
    return DSE_OK;
}

enum dse_status size_axis_parse(const char *text, struct size_axis *axis, struct dse_error *err)
{
    char words[INPUT_SET_TEXT_MAX], *next;
    const char *list;
    char shown[60];
    memset(axis, 0, sizeof *axis);
    if (!strchr(text, '=') || text[0] == '=')
        return dse_fail(err, DSE_BAD_USAGE, "--size %s: write LEVEL=SIZES, such as 'RF=16 B..512 B'",
                        text_excerpt(text, shown, sizeof shown));
    DSE_TRY(input_split_set("size", text, axis->level, sizeof axis->level, &list, err));
    if (strlen(list) >= sizeof words)
        return dse_fail(err, DSE_BAD_USAGE, "--size %s: the list is too long", axis->level);
    memcpy(words, list, strlen(list) + 1);
    for (char *word = words; word; word = next) {
        next = strchr(word, ',');
        if (next)
            *next++ = '\0';
        DSE_TRY(read_sizes(word, axis, err));
    }
    return DSE_OK;
}

/* Bytes of a level on the chip, all instances. */
static double level_byte(const struct storage_level *level)
{
    return level->is_dram || level->size_word == ARCH_UNLIMITED
               ? 0
               : (double)level->size_word * level->word_bit / 8 * (double)level->instances;
}

static enum dse_status leave_out(const char *name, struct architecture *arch, struct dse_error *err)
{
    const int v = architecture_find_level(arch, name);
    uint64_t x, y;
    if (v < 0)
        return dse_fail(err, DSE_BAD_INPUT, "machine %s has no storage %s", arch->name, name);
    architecture_fanout(arch, (uint32_t)v, &x, &y);
    if (x * y > 1 || (uint32_t)v + 1 == arch->n_level)
        return dse_fail(err, DSE_BAD_INPUT,
                        "--size %s=none: only a level without an array inside it can be left out, and not "
                        "the outermost",
                        name);
    memmove(&arch->level[v], &arch->level[v + 1], (arch->n_level - (uint32_t)v - 1) * sizeof arch->level[0]);
    arch->n_level--;
    return DSE_OK;
}

static void print_sizes(const struct hierarchies *all, const struct hierarchy *one, struct text_buffer *out)
{
    char size[48];
    for (uint32_t a = 0; a < all->n_axis; a++) {
        const double byte = all->axis[a].byte[one->choice[a]];
        text_append(out, "%s%s=%s", a ? " " : "", all->axis[a].level,
                    byte > 0 ? quantity_print(byte, UNIT_BYTE, size, sizeof size) : "none");
    }
}

/* The machine's complaint, after the sizes that make it. */
static enum dse_status blame_sizes(const struct hierarchies *all, const struct hierarchy *one,
                                   enum dse_status status, const struct dse_error *inner,
                                   struct dse_error *err)
{
    struct text_buffer sizes;
    char text[DSE_ERROR_FILE_MAX + DSE_ERROR_TEXT_MAX];
    text_init(&sizes);
    print_sizes(all, one, &sizes);
    dse_error_print(inner, text, sizeof text);
    status = dse_fail(err, status, "--size %.200s: %.800s", sizes.data ? sizes.data : "", text);
    text_free(&sizes);
    return status;
}

static enum dse_status build(const char *name, const struct input_overrides *overrides,
                             const struct hierarchies *all, struct hierarchy *out, struct dse_error *err)
{
    struct input_overrides with = *overrides;
    char size[SIZE_AXIS_MAX][64];
    for (uint32_t a = 0; a < all->n_axis; a++) {
        const double byte = all->axis[a].byte[out->choice[a]];
        if (with.n == INPUT_SET_MAX)
            return dse_fail(err, DSE_LIMIT, "more than %d quantities replaced", INPUT_SET_MAX);
        out->group |= (uint32_t)(byte == 0) << a;
        if (byte == 0)
            continue;
        snprintf(with.path[with.n], sizeof with.path[0], "%s.capacity", all->axis[a].level);
        with.value[with.n++] = quantity_print(byte, UNIT_BYTE, size[a], sizeof size[a]);
    }
    struct dse_error inner = {0};
    enum dse_status status = input_architecture(name, &with, &out->arch, &inner);
    if (status != DSE_OK)
        return blame_sizes(all, out, status, &inner, err);
    architecture_stop_leakage(&out->arch); /* bounds know the energy of accesses */
    for (uint32_t a = 0; a < all->n_axis; a++)
        if (architecture_find_level(&out->arch, all->axis[a].level) + 1 == (int)out->arch.n_level)
            return dse_fail(
                err, DSE_BAD_INPUT,
                "--size %s: the outermost level is off the chip and never full; choose from those "
                "inside it",
                all->axis[a].level);
    for (uint32_t a = 0; a < all->n_axis; a++)
        if (out->group >> a & 1)
            DSE_TRY(leave_out(all->axis[a].level, &out->arch, err));
    for (uint32_t v = 0; v < out->arch.n_level; v++)
        out->onchip_byte += level_byte(&out->arch.level[v]);
    return DSE_OK;
}

/* The limit that a hierarchy breaks, the first of them; SIZE_LIMITS: none. */
static enum size_limit broken_limit(const struct hierarchy *one, const struct size_limits *limits)
{
    double inner = 0;
    char reason[128];
    if (one->onchip_byte > limits->most_byte)
        return LIMIT_STORAGE;
    if (!architecture_area_fits(&one->arch, reason, sizeof reason))
        return LIMIT_AREA;
    for (uint32_t v = 0; v < one->arch.n_level && limits->most_ratio > 0; v++) {
        const double byte = level_byte(&one->arch.level[v]);
        if (byte > 0 && inner > 0 &&
            (byte < limits->least_ratio * inner || byte > limits->most_ratio * inner))
            return LIMIT_RATIO;
        inner = byte > 0 ? byte : inner;
    }
    return SIZE_LIMITS;
}

static enum dse_status none_left(const uint32_t *broken, uint32_t n, struct dse_error *err)
{
    static const char *const name[SIZE_LIMITS] = {"--max-storage", "max_area", "--ratio"};
    struct text_buffer list;
    text_init(&list);
    for (int l = 0; l < SIZE_LIMITS; l++)
        if (broken[l] > 0)
            text_append(&list, "%s%u break %s", list.length ? ", " : "", broken[l], name[l]);
    enum dse_status status =
        dse_fail(err, DSE_BAD_USAGE, "none of the %u hierarchies keeps within the limits: %s", n,
                 list.data ? list.data : "");
    text_free(&list);
    return status;
}

/* The next combination; false behind the last. */
static bool next_choice(const struct hierarchies *all, uint8_t *choice)
{
    for (uint32_t a = all->n_axis; a-- > 0;) {
        if (++choice[a] < all->axis[a].n)
            return true;
        choice[a] = 0;
    }
    return false;
}

enum dse_status hierarchies_list(const char *name, const struct input_overrides *overrides,
                                 const struct size_axis *axis, uint32_t n_axis,
                                 const struct size_limits *limits, struct hierarchies *out,
                                 struct dse_error *err)
{
    uint8_t choice[SIZE_AXIS_MAX] = {0};
    uint32_t broken[SIZE_LIMITS + 1] = {0};
    double n_all = 1;
    memset(out, 0, sizeof *out);
    out->n_axis = n_axis;
    memcpy(out->axis, axis, n_axis * sizeof *axis);
    for (uint32_t a = 0; a < n_axis; a++)
        n_all *= axis[a].n;
    if (n_all > HIERARCHY_MAX)
        return dse_fail(err, DSE_LIMIT, "these are %.0f hierarchies; at most %d are compared", n_all,
                        HIERARCHY_MAX);
    out->list = calloc((size_t)n_all, sizeof *out->list);
    if (!out->list)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %.0f hierarchies", n_all);
    do {
        struct hierarchy *one = &out->list[out->n];
        memset(one, 0, sizeof *one);
        memcpy(one->choice, choice, sizeof choice);
        DSE_TRY(build(name, overrides, out, one, err));
        const enum size_limit limit = broken_limit(one, limits);
        out->n += limit == SIZE_LIMITS;
        out->n_refused += limit != SIZE_LIMITS;
        broken[limit]++;
    } while (next_choice(out, choice));
    if (out->n == 0)
        return none_left(broken, out->n_refused, err);
    return DSE_OK;
}

void hierarchies_free(struct hierarchies *hierarchies)
{
    free(hierarchies->list);
    hierarchies->list = NULL;
}

static void relax_level(struct storage_level *level, const struct storage_level *other)
{
    level->size_word = level->size_word > other->size_word ? level->size_word : other->size_word;
    level->multiple_buffering = fmin(level->multiple_buffering, other->multiple_buffering);
    level->read_energy_j = fmin(level->read_energy_j, other->read_energy_j);
    level->write_energy_j = fmin(level->write_energy_j, other->write_energy_j);
    level->update_energy_j = fmin(level->update_energy_j, other->update_energy_j);
    level->address_energy_j = fmin(level->address_energy_j, other->address_energy_j);
    level->min_utilization = 0;
}

void hierarchies_relax(const struct hierarchies *hierarchies, uint32_t group, struct architecture *out)
{
    bool first = true;
    for (uint32_t i = 0; i < hierarchies->n; i++) {
        const struct hierarchy *one = &hierarchies->list[i];
        if (one->group != group)
            continue;
        if (first)
            *out = one->arch;
        first = false;
        for (uint32_t v = 0; v < out->n_level; v++)
            relax_level(&out->level[v], &one->arch.level[v]);
    }
}

void hierarchy_print(const struct hierarchies *hierarchies, uint32_t i, struct text_buffer *out)
{
    print_sizes(hierarchies, &hierarchies->list[i], out);
}
