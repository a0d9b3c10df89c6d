/* Understanding the values of the variables: numbers with units where all of them are, else texts; columns
 * and labels. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "dse/spec/sweep.h"

enum { UNIT_NONE = -1, UNIT_KIND_COUNT = UNIT_JOULE_PER_BIT + 1 };

/* Is `text` a number in this unit (UNIT_NONE: without one)? */
static bool parse_number(const char *text, int unit, double *number)
{
    if (unit == UNIT_NONE)
        return text_parse_double(text, number) == 1;
    return quantity_parse(text, (enum unit_kind)unit, "value", number, NULL) == DSE_OK;
}

static bool all_numbers(const struct spec_variable *variable, int unit, double *number)
{
    for (size_t i = 0; i < variable->n_value; i++)
        if (!parse_number(variable->value[i].text, unit, &number[i]))
            return false;
    return true;
}

/* The unit that the file gives to a path, when all machines agree. Unknown paths are errors. */
static enum dse_status quantity_unit(const struct sweep *sweep, const struct spec_variable *variable,
                                     int *unit, struct dse_error *err)
{
    for (size_t a = 0; a < sweep->n_arch; a++) {
        struct dse_error inner = {0};
        struct spec_text where = {variable->name, variable->line};
        int one = UNIT_NONE;
        if (architecture_path_unit(&sweep->arch[a], variable->name, &one, &inner) != DSE_OK)
            return spec_blame(sweep->spec, &where, &inner, err);
        if (a == 0)
            *unit = one;
    }
    return DSE_OK;
}

static bool is_numeric(const struct sweep *sweep, const struct spec_variable *variable, int unit,
                       double *number, int *found)
{
    *found = UNIT_NONE;
    if (variable->kind->target != SPEC_QUANTITY)
        return variable->kind->numeric && variable->kind->numeric(sweep, variable) &&
               all_numbers(variable, UNIT_NONE, number);
    for (int u = UNIT_NONE; unit != UNIT_NONE && u < UNIT_KIND_COUNT; u++) {
        *found = u == UNIT_NONE ? unit : u;
        if (all_numbers(variable, *found, number))
            return true;
    }
    *found = UNIT_NONE;
    return all_numbers(variable, UNIT_NONE, number);
}

/* "GlobalBuffer.capacity" in byte -> column "GlobalBuffer.capacity_byte", long name "GlobalBuffer
 * capacity". */
static enum dse_status name_column(struct sweep *sweep, const struct spec_variable *variable,
                                   struct sweep_variable *out, struct dse_error *err)
{
    struct text_buffer column;
    text_init(&column);
    text_append(&column, "%s", variable->kind->column ? variable->kind->column : variable->name);
    if (out->numeric && out->unit != UNIT_NONE) {
        text_append(&column, "_");
        for (const char *at = unit_symbol((enum unit_kind)out->unit); *at; at++)
            text_append(&column, *at == '/' ? "_per_" : "%c", tolower((unsigned char)*at));
    }
    out->column = text_keep(&column, &sweep->arena);
    out->long_name = arena_copy_text(&sweep->arena, variable->name, strlen(variable->name));
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    for (char *at = out->long_name; *at; at++)
        if (*at == '.' || *at == '_')
            *at = ' ';
    return DSE_OK;
}

static enum dse_status understand(struct sweep *sweep, size_t v, struct dse_error *err)
{
    const struct spec_variable *variable = &sweep->spec->variable[v];
    struct sweep_variable *out = &sweep->variable[v];
    int unit = UNIT_NONE;
    if (variable->kind->target == SPEC_QUANTITY)
        DSE_TRY(quantity_unit(sweep, variable, &unit, err));
    out->number = arena_alloc(&sweep->arena, variable->n_value, sizeof *out->number);
    out->text = arena_alloc(&sweep->arena, variable->n_value, sizeof *out->text);
    out->label = arena_alloc(&sweep->arena, variable->n_value, sizeof *out->label);
    DSE_TRY(arena_check(&sweep->arena, "a sweep", err));
    out->numeric = is_numeric(sweep, variable, unit, out->number, &out->unit);
    for (size_t i = 0; i < variable->n_value; i++)
        out->text[i] = out->label[i] = variable->value[i].text;
    return name_column(sweep, variable, out, err);
}

bool sweep_same_value(const struct sweep_variable *variable, size_t i, size_t k)
{
    if (variable->numeric)
        return !(variable->number[i] < variable->number[k]) && !(variable->number[i] > variable->number[k]);
    return strcmp(variable->text[i], variable->text[k]) == 0;
}

/* How two positions of a dimension compare, value by value. */
struct order {
    const struct sweep *sweep;
    const struct spec_dimension *dimension;
};

static int by_value(const struct order *order, size_t i, size_t k)
{
    const struct spec_dimension *d = order->dimension;
    for (size_t v = d->first; v < d->first + d->n_variable; v++) {
        const struct sweep_variable *variable = &order->sweep->variable[v];
        if (order->sweep->spec->variable[v].kind->target == SPEC_POINT || sweep_same_value(variable, i, k))
            continue;
        if (variable->numeric)
            return variable->number[i] < variable->number[k] ? -1 : 1;
        return strcmp(variable->text[i], variable->text[k]);
    }
    return 0;
}

/* Equal ones in the order of the file. */
static int by_value_and_place(const void *a, const void *b, void *user)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = by_value(user, i, k);
    return order ? order : (i > k) - (i < k);
}

/* No position of a dimension may repeat an earlier one: the first that does. */
static enum dse_status check_repeats(const struct sweep *sweep, const struct spec_dimension *d,
                                     struct dse_error *err)
{
    const struct spec_variable *first = &sweep->spec->variable[d->first];
    struct order order = {sweep, d};
    size_t i = d->n_value, k = 0;
    uint32_t *place = malloc(d->n_value * sizeof *place);
    if (!place)
        return sweep_no_memory(sweep, err);
    for (uint32_t p = 0; p < d->n_value; p++)
        place[p] = p;
    qsort_r(place, d->n_value, sizeof *place, by_value_and_place, &order);
    for (size_t p = 1; p < d->n_value; p++)
        if (place[p] < i && by_value(&order, place[p - 1], place[p]) == 0) {
            i = place[p];
            k = place[p - 1];
        }
    free(place);
    if (i == d->n_value)
        return DSE_OK;
    const char *one = first->value[i].text, *other = first->value[k].text;
    if (first->kind->target == SPEC_POINT)
        return spec_fail(sweep->spec, &first->value[i], err, "point %zu is the same as point %zu", i + 1,
                         k + 1);
    bool differ = strcmp(one, other) != 0;
    return spec_fail(sweep->spec, &first->value[i], err, "axis %s has the value %s twice%s%s", first->name,
                     one, differ ? ", first as " : "", differ ? other : "");
}

bool sweep_is_bad(const struct sweep *sweep, const struct spec_dimension *d)
{
    for (size_t v = d->first; v < d->first + d->n_variable; v++)
        if (sweep->variable[v].is_bad)
            return true;
    return false;
}

enum dse_status sweep_variables(struct sweep *sweep, struct dse_error *err)
{
    for (size_t v = 0; v < sweep->spec->n_variable; v++) {
        enum dse_status status = understand(sweep, v, err);
        sweep->variable[v].is_bad = status != DSE_OK;
        DSE_NOTE(sweep->spec->faults, status);
    }
    for (size_t d = 0; d < sweep->spec->n_dimension; d++)
        if (!sweep_is_bad(sweep, &sweep->spec->dimension[d]))
            DSE_NOTE(sweep->spec->faults, check_repeats(sweep, &sweep->spec->dimension[d], err));
    return DSE_OK;
}

long sweep_find_value(const struct sweep *sweep, size_t v, const char *text)
{
    const struct sweep_variable *variable = &sweep->variable[v];
    const struct spec_variable *written = &sweep->spec->variable[v];
    double number = 0;
    bool is_number = variable->numeric && parse_number(text, variable->unit, &number);
    for (size_t i = 0; i < written->n_value; i++)
        if (strcmp(written->value[i].text, text) == 0 ||
            (is_number && !(variable->number[i] < number) && !(variable->number[i] > number)))
            return (long)i;
    return -1;
}
