/* Opens the cube, gives axes their roles (x, y, panels, fixed at the best point), and finds labels and
 * prefixes for what is shown. */
#include "results/plot/plot_data.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/cube/cube_read.h"

static const struct result_axis *axis_of(const struct plot_data *data, size_t axis)
{
    return &data->schema.axis[axis];
}

static const char *axis_words(const struct result_coordinate *c)
{
    return c->long_name && c->long_name[0] ? c->long_name : c->name;
}

/* A name that is none of `what`; says which there are and which is near. */
static enum dse_status unknown_name(const struct plot_data *data, const char *what, const char *name,
                                    const char *const *known, size_t n, struct dse_error *err)
{
    struct text_buffer list;
    text_init(&list);
    text_append(&list, "%s", "");
    for (size_t i = 0; i < n; i++)
        text_append(&list, "%s%s", i ? ", " : "", known[i]);
    const char *near = text_nearest(name, known, n);
    enum dse_status status = dse_fail_at(
        err, DSE_BAD_INPUT, data->path, 0, "unknown %s '%s'%s%s%s; there are %s", what, name,
        near ? " (did you mean " : "", near ? near : "", near ? "?)" : "", list.data ? list.data : "none");
    text_free(&list);
    return status;
}

enum dse_status plot_find_axis(const struct plot_data *data, const char *name, struct plot_axis *axis,
                               struct dse_error *err)
{
    const char *known[RESULT_AXIS_MAX * 4];
    size_t n = 0;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        for (size_t k = 0; k < axis_of(data, a)->n_coordinate; k++) {
            const char *candidate = axis_of(data, a)->coordinate[k].name;
            if (strcmp(candidate, name) == 0) {
                *axis = (struct plot_axis){a, k};
                return DSE_OK;
            }
            if (n < sizeof known / sizeof *known)
                known[n++] = candidate;
        }
    }
    return unknown_name(data, "axis", name, known, n, err);
}

static enum dse_status find_metric(struct plot_data *data, const char *name, struct dse_error *err)
{
    struct result_column column[RESULT_COLUMN_MAX];
    const char *known[RESULT_COLUMN_MAX];
    size_t n_column = schema_columns(&data->schema, RESULT_POINTS, column), n = 0;
    for (size_t i = 0; i < n_column; i++) {
        const struct metric *metric = column[i].metric;
        if (metric->type == METRIC_TEXT)
            continue;
        if (strcmp(metric->name, name) == 0) {
            data->metric = metric;
            return DSE_OK;
        }
        known[n++] = metric->name;
    }
    return unknown_name(data, "metric", name, known, n, err);
}

/* "axis=value": the value as in the CSV or as on a figure. */
static enum dse_status fix_where(struct plot_data *data, const char *where, struct dse_error *err)
{
    char name[256], text[PLOT_LABEL_MAX];
    const char *equals = strchr(where, '=');
    struct plot_axis at;
    if (!equals || equals == where || (size_t)(equals - where) >= sizeof name)
        return dse_fail(err, DSE_BAD_USAGE, "'%s' should be axis=value", where);
    memcpy(name, where, (size_t)(equals - where));
    name[equals - where] = '\0';
    DSE_TRY(plot_find_axis(data, name, &at, err));
    const struct result_axis *axis = axis_of(data, at.axis);
    const struct result_coordinate *c = &axis->coordinate[at.coordinate];
    const char **known = arena_alloc(&data->arena, axis->n_value, sizeof *known);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < axis->n_value; i++) {
        int hit = strcmp(coordinate_text(c, i, text, sizeof text), equals + 1) == 0;
        coordinate_label(c, i, text, sizeof text);
        if (hit || strcmp(text, equals + 1) == 0) {
            data->is_fixed[at.axis] = true;
            data->fixed[at.axis] = (uint32_t)i;
            return DSE_OK;
        }
        known[i] = arena_copy_text(&data->arena, text, strlen(text));
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    return unknown_name(data, name, equals + 1, known, axis->n_value, err);
}

enum dse_status plot_data_open(struct plot_data *data, const char *path, const struct plot_options *options,
                               struct dse_error *err)
{
    size_t n_status;
    memset(data, 0, sizeof *data);
    arena_init(&data->arena);
    data->path = path;
    data->x.axis = data->y.axis = PLOT_NO_AXIS;
    DSE_TRY(cube_read_schema(path, &data->arena, &data->schema, err));
    DSE_TRY(find_metric(data, options->metric ? options->metric : "edp_js", err));
    DSE_TRY(cube_read_number(path, data->metric->name, &data->arena, &data->value, &data->n_cell, err));
    DSE_TRY(cube_read_text(path, "status", &data->arena, &data->status, &n_status, err));
    if (data->n_cell != schema_n_cell(&data->schema) || n_status != data->n_cell)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "the datasets do not have the shape of the axes");
    for (size_t a = 0; a < data->schema.n_axis; a++)
        data->is_fixed[a] = axis_of(data, a)->n_value == 1;
    for (size_t i = 0; i < options->n_where; i++)
        DSE_TRY(fix_where(data, options->where[i], err));
    /* Infeasible and failed points have no place in a search for the best. */
    for (size_t i = 0; i < data->n_cell; i++) {
        if (strcmp(data->status[i], "ok") != 0 && strcmp(data->status[i], "timeout") != 0)
            data->value[i] = NAN;
    }
    return DSE_OK;
}

void plot_data_close(struct plot_data *data)
{
    arena_free(&data->arena);
}

/* The longest free axis not yet taken, numeric ones first; of equals the first. */
static size_t longest_axis(const struct plot_data *data, const size_t *taken, size_t n_taken)
{
    size_t best = PLOT_NO_AXIS;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        int skip = data->is_fixed[a];
        for (size_t i = 0; i < n_taken; i++)
            skip |= taken[i] == a;
        if (skip)
            continue;
        if (best == PLOT_NO_AXIS) {
            best = a;
            continue;
        }
        int numeric = axis_of(data, a)->coordinate[0].number != NULL;
        int best_numeric = axis_of(data, best)->coordinate[0].number != NULL;
        if (numeric > best_numeric ||
            (numeric == best_numeric && axis_of(data, a)->n_value > axis_of(data, best)->n_value))
            best = a;
    }
    return best;
}

static enum dse_status take_role(struct plot_data *data, const char *name, struct plot_axis *role,
                                 struct dse_error *err)
{
    if (!name)
        return DSE_OK;
    DSE_TRY(plot_find_axis(data, name, role, err));
    if (data->is_fixed[role->axis] && axis_of(data, role->axis)->n_value > 1)
        return dse_fail(err, DSE_BAD_USAGE, "axis %s cannot be drawn along and be fixed at one value", name);
    return DSE_OK;
}

enum dse_status plot_choose_axes(struct plot_data *data, const struct plot_options *options, int n_role,
                                 struct dse_error *err)
{
    size_t taken[2];
    DSE_TRY(take_role(data, options->x, &data->x, err));
    if (n_role > 1)
        DSE_TRY(take_role(data, options->y, &data->y, err));
    if (data->x.axis != PLOT_NO_AXIS && data->x.axis == data->y.axis)
        return dse_fail(err, DSE_BAD_USAGE, "x and y are the same axis, %s", options->x);
    taken[0] = data->x.axis;
    taken[1] = data->y.axis;
    if (data->x.axis == PLOT_NO_AXIS)
        data->x.axis = taken[0] = longest_axis(data, taken, 2);
    if (n_role > 1 && data->y.axis == PLOT_NO_AXIS)
        data->y.axis = taken[1] = longest_axis(data, taken, 2);
    data->n_facet = 0;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        if (!data->is_fixed[a] && a != data->x.axis && a != data->y.axis)
            data->facet[data->n_facet++] = a;
    }
    return DSE_OK;
}

uint32_t plot_position(const struct plot_data *data, size_t cell, size_t axis)
{
    for (size_t a = data->schema.n_axis; a-- > axis + 1;)
        cell /= axis_of(data, a)->n_value;
    return (uint32_t)(cell % axis_of(data, axis)->n_value);
}

/* Whether the cell lies in the fixed slice. */
static bool in_slice(const struct plot_data *data, size_t cell)
{
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        if (data->is_fixed[a] && plot_position(data, cell, a) != data->fixed[a])
            return false;
    }
    return true;
}

enum dse_status plot_fix_at_best(struct plot_data *data, const size_t *keep, size_t n_keep,
                                 struct dse_error *err)
{
    size_t best = data->n_cell;
    double sign = metric_direction(data->metric) > 0 ? -1 : 1;
    for (size_t i = 0; i < data->n_cell; i++) {
        if (!isnan(data->value[i]) && in_slice(data, i) &&
            (best == data->n_cell || sign * data->value[i] < sign * data->value[best]))
            best = i;
    }
    if (best == data->n_cell)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "no point of the slice has a value of %s",
                           data->metric->name);
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        int kept = data->is_fixed[a];
        for (size_t i = 0; i < n_keep; i++)
            kept |= keep[i] == a;
        if (!kept) {
            data->is_fixed[a] = true;
            data->fixed[a] = plot_position(data, best, a);
        }
    }
    return DSE_OK;
}

size_t plot_n_panel(const struct plot_data *data)
{
    size_t n = 1;
    for (size_t i = 0; i < data->n_facet; i++)
        n *= axis_of(data, data->facet[i])->n_value;
    return n;
}

/* Position of a panel on facet `f`; the last facet runs fastest. */
static size_t facet_position(const struct plot_data *data, size_t panel, size_t f)
{
    for (size_t i = data->n_facet; i-- > f + 1;)
        panel /= axis_of(data, data->facet[i])->n_value;
    return panel % axis_of(data, data->facet[f])->n_value;
}

size_t plot_cell(const struct plot_data *data, size_t panel, size_t ix, size_t iy)
{
    size_t cell = 0;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        size_t at = data->is_fixed[a] ? data->fixed[a] : 0;
        if (a == data->x.axis)
            at = ix;
        else if (a == data->y.axis)
            at = iy;
        for (size_t f = 0; f < data->n_facet; f++) {
            if (data->facet[f] == a)
                at = facet_position(data, panel, f);
        }
        cell = cell * axis_of(data, a)->n_value + at;
    }
    return cell;
}

size_t plot_length(const struct plot_data *data, const struct plot_axis *axis)
{
    return axis->axis == PLOT_NO_AXIS ? 1 : axis_of(data, axis->axis)->n_value;
}

static void append_place(const struct plot_data *data, size_t axis, size_t at, struct text_buffer *text)
{
    char label[PLOT_LABEL_MAX];
    const struct result_coordinate *c = &axis_of(data, axis)->coordinate[0];
    coordinate_label(c, at, label, sizeof label);
    text_append(text, "%s%s %s", text->length ? ", " : "", axis_words(c), label);
}

void plot_panel_title(const struct plot_data *data, size_t panel, struct text_buffer *text)
{
    for (size_t f = 0; f < data->n_facet; f++)
        append_place(data, data->facet[f], facet_position(data, panel, f), text);
}

void plot_fixed_text(const struct plot_data *data, struct text_buffer *text)
{
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        if (data->is_fixed[a] && a != data->x.axis && a != data->y.axis)
            append_place(data, a, data->fixed[a], text);
    }
}

size_t plot_fixed_letters(const struct plot_data *data)
{
    struct text_buffer text;
    text_init(&text);
    plot_fixed_text(data, &text);
    size_t n = text.data ? text_letters(text.data) : 0;
    text_free(&text);
    return n;
}

void plot_cell_text(const struct plot_data *data, size_t cell, struct text_buffer *text)
{
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        if (!data->is_fixed[a])
            append_place(data, a, plot_position(data, cell, a), text);
    }
}

void plot_scale(const double *value, size_t n, const char *unit_symbol, double *factor, char *unit,
                size_t size)
{
    static const char *const prefix[] = {"p", "n", "\xc2\xb5", "m", "", "k", "M", "G", "T"};
    double *positive = malloc((n + 1) * sizeof *positive);
    size_t n_positive = 0;
    *factor = 1;
    snprintf(unit, size, "%s", strcmp(unit_symbol, "1") == 0 ? "" : unit_symbol);
    for (size_t i = 0; positive && i < n; i++) {
        if (value[i] > 0 && isfinite(value[i]))
            positive[n_positive++] = value[i];
    }
    if (n_positive == 0 || !unit[0] || strcmp(unit, "cycle") == 0) {
        free(positive);
        return;
    }
    double median = gsl_stats_select(positive, 1, n_positive, n_positive / 2);
    free(positive);
    bool is_byte =
        strcmp(unit, "byte") == 0; /* binary prefixes, as capacities on axes and all tables have them */
    int step = (int)floor(is_byte ? log2(median) / 10 + 1e-9 : log10(median) / 3 + 1e-9);
    step = step < -4 ? -4 : step > 4 ? 4 : step;
    if (is_byte && step <= 0)
        return;
    *factor = pow(is_byte ? 1024 : 1000, -step);
    if (is_byte)
        snprintf(unit, size, "%ciB", "KMGT"[step - 1]);
    else
        snprintf(unit, size, "%s%s", prefix[step + 4], unit_symbol);
}

/* The unit that all labels share ("GB/s" of "4 GB/s"), or NULL. */
static const char *shared_unit(const char *const *label, size_t n)
{
    const char *unit = NULL;
    for (size_t i = 0; i < n; i++) {
        char *end;
        (void)strtod(label[i], &end);
        if (end == label[i] || *end != ' ' || !end[1])
            return NULL;
        if (unit && strcmp(unit, end + 1) != 0)
            return NULL;
        unit = end + 1;
    }
    return unit;
}

enum dse_status plot_ticks(struct plot_data *data, const struct plot_axis *axis, const char ***label,
                           char *title, size_t size, struct dse_error *err)
{
    size_t n = plot_length(data, axis);
    const char **text = arena_alloc(&data->arena, n, sizeof *text);
    *label = text;
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    if (axis->axis == PLOT_NO_AXIS) {
        text[0] = "";
        text_copy(title, size, "");
        return DSE_OK;
    }
    const struct result_coordinate *c = &axis_of(data, axis->axis)->coordinate[axis->coordinate];
    for (size_t i = 0; i < n; i++) {
        char buffer[PLOT_LABEL_MAX];
        coordinate_label(c, i, buffer, sizeof buffer);
        text[i] = arena_copy_text(&data->arena, buffer, strlen(buffer));
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    const char *unit = shared_unit(text, n);
    snprintf(title, size, unit ? "%s (%s)" : "%s", axis_words(c), unit);
    for (size_t i = 0; i < n && unit; i++)
        text[i] = arena_copy_text(&data->arena, text[i], strcspn(text[i], " "));
    return arena_check(&data->arena, "the figure", err);
}
