/* Opens the cube, reads metrics, gives axes their roles (x, y, panels, fixed at the best point), and says
 * which cells may be compared. */
#include "results/plot/plot_data.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct result_axis *axis_of(const struct plot_data *data, size_t axis)
{
    return &data->schema.axis[axis];
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
    axis->axis = PLOT_NO_AXIS;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        for (size_t k = 0; k < axis_of(data, a)->n_coordinate; k++) {
            const char *candidate = axis_of(data, a)->coordinate[k].name;
            const bool exact = strcmp(candidate, name) == 0;
            if (exact || (axis->axis == PLOT_NO_AXIS && result_column_is(candidate, name)))
                *axis = (struct plot_axis){a, k};
            if (exact)
                return DSE_OK;
            if (n < sizeof known / sizeof *known)
                known[n++] = candidate;
        }
    }
    return axis->axis != PLOT_NO_AXIS ? DSE_OK : unknown_name(data, "axis", name, known, n, err);
}

enum dse_status plot_find_metric(const struct plot_data *data, const char *name, const struct metric **found,
                                 struct dse_error *err)
{
    struct result_column column[RESULT_COLUMN_MAX];
    const char *known[RESULT_COLUMN_MAX];
    size_t n_column = schema_columns(&data->schema, RESULT_POINTS, column), n = 0;
    for (size_t i = 0; i < n_column; i++) {
        const struct metric *metric = column[i].metric;
        if (metric->type == METRIC_TEXT)
            continue;
        if (strcmp(metric->name, name) == 0) {
            *found = metric;
            return DSE_OK;
        }
        known[n++] = metric->name;
    }
    return unknown_name(data, "metric", name, known, n, err);
}

enum dse_status plot_read_metric(struct plot_data *data, const char *name, const struct metric **metric,
                                 double **value, struct dse_error *err)
{
    DSE_TRY(plot_find_metric(data, name, metric, err));
    DSE_TRY(cube_join_number(&data->join, name, &data->arena, value, err));
    /* Infeasible and failed points have no place in a search for the best. */
    for (size_t i = 0; i < data->n_cell; i++)
        if (strcmp(data->status[i], "ok") != 0 && strcmp(data->status[i], "timeout") != 0)
            (*value)[i] = NAN;
    return DSE_OK;
}

enum dse_status plot_find_value(struct plot_data *data, const char *where, struct plot_axis *at,
                                uint32_t *position, struct dse_error *err)
{
    char name[256], text[PLOT_LABEL_MAX];
    const char *equals = strchr(where, '=');
    if (!equals || equals == where || (size_t)(equals - where) >= sizeof name)
        return dse_fail(err, DSE_BAD_USAGE, "'%s' should be axis=value", where);
    memcpy(name, where, (size_t)(equals - where));
    name[equals - where] = '\0';
    DSE_TRY(plot_find_axis(data, name, at, err));
    const struct result_axis *axis = axis_of(data, at->axis);
    const struct result_coordinate *c = &axis->coordinate[at->coordinate];
    const char **known = arena_alloc(&data->arena, axis->n_value, sizeof *known);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < axis->n_value; i++) {
        int hit = strcmp(coordinate_text(c, i, text, sizeof text), equals + 1) == 0;
        coordinate_label(c, i, text, sizeof text);
        if (hit || strcmp(text, equals + 1) == 0) {
            *position = (uint32_t)i;
            return DSE_OK;
        }
        known[i] = arena_copy_text(&data->arena, text, strlen(text));
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    return unknown_name(data, name, equals + 1, known, axis->n_value, err);
}

static enum dse_status fix_where(struct plot_data *data, const char *where, struct dse_error *err)
{
    struct plot_axis at;
    uint32_t position;
    DSE_TRY(plot_find_value(data, where, &at, &position, err));
    data->is_fixed[at.axis] = true;
    data->fixed[at.axis] = position;
    return DSE_OK;
}

enum dse_status plot_data_open(struct plot_data *data, const char *path, const struct plot_options *options,
                               struct dse_error *err)
{
    const struct cube_file one = {.path = path};
    memset(data, 0, sizeof *data);
    arena_init(&data->arena);
    data->path = path;
    data->x.axis = data->y.axis = PLOT_NO_AXIS;
    DSE_TRY(cube_join_open(&data->join, options->n_file > 1 ? options->file : &one,
                           options->n_file > 1 ? options->n_file : 1, &data->arena, err));
    data->schema = data->join.schema;
    data->status = data->join.status;
    data->n_cell = data->join.n_cell;
    for (size_t a = 0; a < data->schema.n_axis; a++)
        data->is_fixed[a] = axis_of(data, a)->n_value == 1;
    for (size_t i = 0; i < options->n_where; i++)
        DSE_TRY(fix_where(data, options->where[i], err));
    return DSE_OK;
}

enum dse_status plot_data_metric(struct plot_data *data, const struct plot_options *options,
                                 struct dse_error *err)
{
    char metric[PLOT_LABEL_MAX];
    (void)plot_metric_word(options->metric ? options->metric : "edp_js", 0, metric, sizeof metric);
    return plot_read_metric(data, metric, &data->metric, &data->value, err);
}

void plot_data_close(struct plot_data *data)
{
    arena_free(&data->arena);
}

bool plot_axis_has(const struct plot_data *data, size_t axis, const char *name)
{
    for (size_t k = 0; k < axis_of(data, axis)->n_coordinate; k++)
        if (strcmp(axis_of(data, axis)->coordinate[k].name, name) == 0)
            return true;
    return false;
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

enum dse_status plot_take_axis(const struct plot_data *data, const char *name, struct plot_axis *role,
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
    DSE_TRY(plot_take_axis(data, options->x, &data->x, err));
    if (n_role > 1)
        DSE_TRY(plot_take_axis(data, options->y, &data->y, err));
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

/* The first position of the axis with the same network and batch as position `at`; 0 on axes without. */
static size_t same_work(const struct plot_data *data, size_t axis, size_t at)
{
    static const char *const work[] = {"network", "batch"};
    char here[PLOT_LABEL_MAX], there[PLOT_LABEL_MAX];
    for (size_t first = 0; first < at; first++) {
        bool same = true;
        for (size_t k = 0; k < axis_of(data, axis)->n_coordinate; k++) {
            const struct result_coordinate *c = &axis_of(data, axis)->coordinate[k];
            if (strcmp(c->name, work[0]) == 0 || strcmp(c->name, work[1]) == 0)
                same = same && strcmp(coordinate_text(c, at, here, sizeof here),
                                      coordinate_text(c, first, there, sizeof there)) == 0;
        }
        if (same)
            return first;
    }
    return at;
}

size_t plot_group(const struct plot_data *data, size_t cell)
{
    size_t group = 0;
    for (size_t a = 0; a < data->schema.n_axis; a++)
        group = group * axis_of(data, a)->n_value +
                (data->is_fixed[a] ? 0 : same_work(data, a, plot_position(data, cell, a)));
    return group;
}

size_t plot_n_group(const struct plot_data *data)
{
    size_t n = 1;
    for (size_t a = 0; a < data->schema.n_axis; a++) {
        size_t n_work = 0;
        for (size_t i = 0; i < axis_of(data, a)->n_value; i++)
            n_work += same_work(data, a, i) == i;
        n *= data->is_fixed[a] ? 1 : n_work;
    }
    return n;
}

bool plot_in_slice(const struct plot_data *data, size_t cell)
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
        if (!isnan(data->value[i]) && plot_in_slice(data, i) &&
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

size_t plot_facet_position(const struct plot_data *data, size_t panel, size_t f)
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
                at = plot_facet_position(data, panel, f);
        }
        cell = cell * axis_of(data, a)->n_value + at;
    }
    return cell;
}

size_t plot_length(const struct plot_data *data, const struct plot_axis *axis)
{
    return axis->axis == PLOT_NO_AXIS ? 1 : axis_of(data, axis->axis)->n_value;
}

enum dse_status plot_too_many(const struct plot_data *data, const char *what, size_t n, size_t most,
                              struct dse_error *err)
{
    return dse_fail_at(err, DSE_BAD_USAGE, data->path, 0,
                       "%zu %s are more than %zu; keep a slice (--where AXIS=VALUE)%s", n, what, most,
                       strcmp(what, "panels") == 0 ? ", or allow more (--facets)" : "");
}
