/* The variables of a specification: axes, linked axes, explicit points. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "dse/spec/spec.h"
#include "dse/spec/spec_range.h"

const struct spec_text *spec_fixed(const struct sweep_spec *spec, const char *name)
{
    size_t n;
    return &spec->fixed[axis_kind_of(name) - axis_kind_all(&n)];
}

const struct spec_variable *spec_find_variable(const struct sweep_spec *spec, const char *name)
{
    for (size_t i = 0; i < spec->n_variable; i++)
        if (strcmp(spec->variable[i].name, name) == 0)
            return &spec->variable[i];
    return NULL;
}

/* A thing is either fixed or swept. */
static enum dse_status check_not_fixed(const struct sweep_spec *spec, const char *name, int line,
                                       struct dse_error *err)
{
    const struct axis_kind *kind = axis_kind_of(name);
    int other = kind->is_key && spec_fixed(spec, name)->text ? spec_fixed(spec, name)->line : 0;
    for (size_t i = 0; i < spec->n_override; i++)
        if (strcmp(spec->override[i].path, name) == 0)
            other = spec->override[i].value.line;
    for (size_t i = 0; i < spec->n_parameter; i++)
        if (kind->target == SPEC_PARAMETER &&
            strcmp(spec->parameter[i].path, axis_kind_rest(kind, name)) == 0)
            other = spec->parameter[i].value.line;
    for (size_t i = 0; i < spec->n_option; i++)
        if (kind->target == SPEC_OPTION && strcmp(spec->option[i].name, axis_kind_rest(kind, name)) == 0)
            other = spec->option[i].value.line;
    if (other)
        return dse_fail_at(err, DSE_BAD_INPUT, spec->path, line,
                           "%s is an axis here and fixed on line %d; keep one of the two", name, other);
    return DSE_OK;
}

static enum dse_status add_variable(struct sweep_spec *spec, const char *name, int line, size_t n_value,
                                    struct spec_text **value, struct dse_error *err)
{
    if (spec->n_variable == SPEC_VARIABLE_MAX)
        return dse_fail_at(err, DSE_LIMIT, spec->path, line, "more than %d axes", SPEC_VARIABLE_MAX);
    if (spec_find_variable(spec, name))
        return dse_fail_at(err, DSE_BAD_INPUT, spec->path, line, "axis %s is given twice", name);
    if (strcmp(name, "option.") == 0 || strcmp(name, "network.") == 0 || name[0] == '\0')
        return dse_fail_at(
            err, DSE_BAD_INPUT, spec->path, line,
            "\"%s\" names nothing; write option.NAME, network.NAME or a path such as DRAM.bandwidth", name);
    DSE_TRY(check_not_fixed(spec, name, line, err));
    *value = arena_alloc(&spec->arena, n_value, sizeof **value);
    if (!*value)
        return dse_fail_at(err, DSE_NO_MEMORY, spec->path, line, "out of memory");
    struct spec_variable *v = &spec->variable[spec->n_variable++];
    *v = (struct spec_variable){
        .name = name, .kind = axis_kind_of(name), .line = line, .n_value = n_value, .value = *value};
    return DSE_OK;
}

/* constraints: {NAME: [entries], NAME: [entries]}; the entries are read where problem and machine are
 * known. */
static enum dse_status read_constraints_axis(struct sweep_spec *spec, const char *name, int line,
                                             const struct ynode *node, struct dse_error *err)
{
    struct spec_text *value;
    if (node->kind != YNODE_MAPPING)
        return yaml_fail(
            &spec->doc, node, err,
            "axis constraints: named lists are expected, as in constraints: {CKP: [...], CPK: [...]}");
    if (node->n_item == 0)
        return yaml_fail(&spec->doc, node, err, "axis constraints has no values");
    if (node->n_item > SPEC_VALUE_MAX)
        return yaml_fail(&spec->doc, node, err, "axis constraints has more than %d values", SPEC_VALUE_MAX);
    for (size_t i = 0; i < node->n_item; i++) {
        if (node->key[i][0] == '\0' || strpbrk(node->key[i], "\r\n"))
            return dse_fail_at(err, DSE_BAD_INPUT, spec->path, node->key_line[i],
                               "axis %s: a name is one line and not empty", name);
        if (node->item[i]->kind != YNODE_SEQUENCE)
            return yaml_fail(&spec->doc, node->item[i], err,
                             "axis constraints: %.60s is a list of constraints, [] for none", node->key[i]);
    }
    DSE_TRY(add_variable(spec, name, line, node->n_item, &value, err));
    for (size_t i = 0; i < node->n_item; i++)
        value[i] = (struct spec_text){node->key[i], node->key_line[i]};
    spec->variable[spec->n_variable - 1].list = node->item;
    return DSE_OK;
}

/* {from: A, to: B, step: C}: the values of a range, all on its line. */
static enum dse_status read_range_axis(struct sweep_spec *spec, const char *name, int line,
                                       const struct ynode *node, struct dse_error *err)
{
    const char *const *text;
    struct spec_text *value;
    size_t n;
    DSE_TRY(spec_range_expand(&spec->doc, name, node, SPEC_VALUE_MAX, &spec->arena, &text, &n, err));
    DSE_TRY(add_variable(spec, name, line, n, &value, err));
    for (size_t i = 0; i < n; i++)
        value[i] = (struct spec_text){text[i], node->line};
    return DSE_OK;
}

static enum dse_status read_axis(struct sweep_spec *spec, const char *name, int line,
                                 const struct ynode *node, struct dse_error *err)
{
    struct spec_text *value;
    if (axis_kind_of(name)->target == SPEC_CONSTRAINTS)
        return read_constraints_axis(spec, name, line, node, err);
    if (strcmp(name, "point") == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, spec->path, line,
                           "axis name %s is kept for explicit points (the key points)", name);
    if (node->kind == YNODE_MAPPING)
        return read_range_axis(spec, name, line, node, err);
    if (node->kind != YNODE_SEQUENCE)
        return yaml_fail(
            &spec->doc, node, err,
            "axis %s: a list of values is expected, as in %s: [a, b], or a range such as {from: 1, "
            "to: 9}",
            name, name);
    if (node->n_item == 0)
        return yaml_fail(&spec->doc, node, err, "axis %s has no values", name);
    if (node->n_item > SPEC_VALUE_MAX)
        return yaml_fail(&spec->doc, node, err, "axis %s has more than %d values", name, SPEC_VALUE_MAX);
    DSE_TRY(add_variable(spec, name, line, node->n_item, &value, err));
    for (size_t i = 0; i < node->n_item; i++) {
        DSE_TRY(yaml_text(&spec->doc, node->item[i], name, &value[i].text, err));
        value[i].line = node->item[i]->line;
    }
    return DSE_OK;
}

/* The number of a variable that a zip names. */
static enum dse_status zip_member(const struct sweep_spec *spec, const struct ynode *node, size_t *index,
                                  struct dse_error *err)
{
    const char *name, *known[SPEC_VARIABLE_MAX];
    DSE_TRY(yaml_text(&spec->doc, node, "zip", &name, err));
    for (size_t i = 0; i < spec->n_variable; i++) {
        known[i] = spec->variable[i].name;
        if (strcmp(known[i], name) == 0) {
            *index = i;
            return DSE_OK;
        }
    }
    const char *nearest = text_nearest(name, known, spec->n_variable);
    if (nearest)
        return yaml_fail(&spec->doc, node, err, "zip: %s is no axis; did you mean %s?", name, nearest);
    return yaml_fail(&spec->doc, node, err, "zip: %s is no axis of this sweep", name);
}

/* group[v]: 0 for an axis of its own, else 1 + the number of its zip. */
static enum dse_status read_zip(const struct sweep_spec *spec, size_t *group, struct dse_error *err)
{
    const struct ynode *zip = yaml_find(spec->doc.root, "zip");
    if (!zip)
        return DSE_OK;
    DSE_TRY(yaml_is_sequence(&spec->doc, zip, "zip", err));
    for (size_t i = 0; i < zip->n_item; i++) {
        const struct ynode *list = zip->item[i];
        size_t first = 0;
        if (list->kind != YNODE_SEQUENCE || list->n_item < 2)
            return yaml_fail(&spec->doc, list, err, "zip is a list of lists of two or more axes: [[A, B]]");
        for (size_t k = 0; k < list->n_item; k++) {
            size_t v = 0;
            DSE_TRY(zip_member(spec, list->item[k], &v, err));
            if (group[v])
                return yaml_fail(&spec->doc, list->item[k], err, "zip: %s is linked twice",
                                 spec->variable[v].name);
            group[v] = i + 1;
            if (k == 0)
                first = v;
            if (spec->variable[v].n_value != spec->variable[first].n_value)
                return yaml_fail(&spec->doc, list->item[k], err,
                                 "zip: linked axes have equally many values, but %s has %zu and %s has %zu",
                                 spec->variable[first].name, spec->variable[first].n_value,
                                 spec->variable[v].name, spec->variable[v].n_value);
        }
    }
    return DSE_OK;
}

/* Dimensions in the order of their first axis, and the variables in the order of the dimensions. */
static void make_dimensions(struct sweep_spec *spec, const size_t *group)
{
    struct spec_variable declared[SPEC_VARIABLE_MAX];
    bool placed[SPEC_VARIABLE_MAX] = {false};
    size_t n = 0;
    memcpy(declared, spec->variable, sizeof declared);
    for (size_t v = 0; v < spec->n_variable; v++) {
        if (placed[v])
            continue;
        struct spec_dimension *d = &spec->dimension[spec->n_dimension];
        *d = (struct spec_dimension){.first = n, .n_value = declared[v].n_value};
        for (size_t k = v; k < spec->n_variable; k++)
            if (k == v || (group[v] && group[k] == group[v])) {
                spec->variable[n] = declared[k];
                spec->variable[n++].dimension = spec->n_dimension;
                placed[k] = true;
            }
        d->n_variable = n - d->first;
        spec->n_dimension++;
    }
}

/* All points name the same things as the first. */
static enum dse_status check_point(const struct sweep_spec *spec, const struct ynode *first,
                                   const struct ynode *node, struct dse_error *err)
{
    DSE_TRY(yaml_is_mapping(&spec->doc, node, "a point", err));
    if (node->n_item == 0)
        return yaml_fail(&spec->doc, node, err, "a point without values");
    for (size_t i = 0; i < first->n_item; i++)
        if (!yaml_find(node, first->key[i]))
            return yaml_fail(&spec->doc, node, err, "this point does not say %s, as the first one does",
                             first->key[i]);
    for (size_t i = 0; i < node->n_item; i++)
        if (!yaml_find(first, node->key[i]))
            return dse_fail_at(err, DSE_BAD_INPUT, spec->path, node->key_line[i],
                               "this point says %s, which the first one does not", node->key[i]);
    return DSE_OK;
}

static enum dse_status read_points(struct sweep_spec *spec, const struct ynode *points, struct dse_error *err)
{
    struct spec_text *value;
    DSE_TRY(yaml_is_sequence(&spec->doc, points, "points", err));
    if (points->n_item == 0)
        return yaml_fail(&spec->doc, points, err, "points is empty");
    if (points->n_item > SPEC_VALUE_MAX)
        return yaml_fail(&spec->doc, points, err, "more than %d points", SPEC_VALUE_MAX);
    const struct ynode *first = points->item[0];
    for (size_t i = 0; i < points->n_item; i++)
        DSE_TRY(check_point(spec, first, points->item[i], err));
    DSE_TRY(add_variable(spec, "point", points->line, points->n_item, &value, err));
    for (size_t i = 0; i < points->n_item; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i + 1);
        value[i].text = arena_copy_text(&spec->arena, number, strlen(number));
        value[i].line = points->item[i]->line;
        if (!value[i].text)
            return dse_fail_at(err, DSE_NO_MEMORY, spec->path, points->line, "out of memory");
    }
    for (size_t k = 0; k < first->n_item; k++) {
        if (strcmp(first->key[k], "point") == 0)
            return dse_fail_at(err, DSE_BAD_INPUT, spec->path, first->key_line[k],
                               "%s is the number of the point and is not written", "point");
        if (axis_kind_of(first->key[k])->target == SPEC_CONSTRAINTS)
            return dse_fail_at(err, DSE_BAD_INPUT, spec->path, first->key_line[k],
                               "%s cannot vary from point to point; list them by name under axes",
                               "constraints");
        DSE_TRY(add_variable(spec, first->key[k], first->key_line[k], points->n_item, &value, err));
        for (size_t i = 0; i < points->n_item; i++) {
            const struct ynode *node = yaml_find(points->item[i], first->key[k]);
            DSE_TRY(yaml_text(&spec->doc, node, first->key[k], &value[i].text, err));
            value[i].line = node->line;
        }
    }
    spec->dimension[spec->n_dimension++] = (struct spec_dimension){0, spec->n_variable, points->n_item};
    return DSE_OK;
}

enum dse_status spec_read_axes(struct sweep_spec *spec, struct dse_error *err)
{
    const struct ynode *axes = yaml_find(spec->doc.root, "axes"),
                       *points = yaml_find(spec->doc.root, "points");
    const struct ynode *zip = yaml_find(spec->doc.root, "zip");
    size_t group[SPEC_VARIABLE_MAX] = {0};
    if (points && (axes || zip))
        return yaml_fail(&spec->doc, points, err, "points and %s exclude each other", axes ? "axes" : "zip");
    if (points)
        return read_points(spec, points, err);
    if (!axes)
        return zip ? yaml_fail(&spec->doc, zip, err, "zip links axes, but there are no axes") : DSE_OK;
    DSE_TRY(yaml_is_mapping(&spec->doc, axes, "axes", err));
    for (size_t i = 0; i < axes->n_item; i++) {
        const size_t n_variable = spec->n_variable;
        enum dse_status status = read_axis(spec, axes->key[i], axes->key_line[i], axes->item[i], err);
        if (status != DSE_OK)
            spec->n_variable = n_variable;
        spec->has_bad_axis |= status != DSE_OK;
        DSE_NOTE(spec->faults, status);
    }
    if (!spec->has_bad_axis) /* it may be the one that is linked */
        DSE_NOTE(spec->faults, read_zip(spec, group, err));
    make_dimensions(spec, group);
    return DSE_OK;
}
