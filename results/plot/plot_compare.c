/* Makes a cube in which the compared axis is shorter by one value, or gone. */
#include "results/plot/plot_compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_colours.h"

enum { WINNER_MAX = 24 };

/* The cube around the axis: cell = (outer * n + position) * step + inner. */
struct around {
    size_t axis, n, step, n_outer;
};

static struct around around_axis(const struct plot_data *data, size_t axis)
{
    struct around c = {.axis = axis, .n = data->schema.axis[axis].n_value, .step = 1};
    for (size_t a = axis + 1; a < data->schema.n_axis; a++)
        c.step *= data->schema.axis[a].n_value;
    c.n_outer = data->n_cell / (c.n * c.step);
    return c;
}

static size_t cell_at(const struct around *c, size_t outer, size_t position, size_t inner)
{
    return (outer * c->n + position) * c->step + inner;
}

/* What is shown is a ratio from here on. */
static enum dse_status name_ratio(struct plot_data *data, const char *sentence, struct dse_error *err)
{
    struct metric *ratio = arena_alloc(&data->arena, 1, sizeof *ratio);
    const char *words = arena_copy_text(&data->arena, sentence, strlen(sentence));
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    *ratio = *data->metric;
    ratio->sentence = words;
    ratio->unit = "1";
    ratio->better = METRIC_NEITHER; /* cells are not compared with one another */
    data->metric = ratio;
    return DSE_OK;
}

/* One over the other; equal ones, also both 0, are 1. */
static double ratio_of(double one, double other)
{
    return one == other ? 1 : one / other;
}

/* ---------------------------------------- over one value */

static enum dse_status drop_value(struct plot_data *data, size_t axis, size_t position, struct dse_error *err)
{
    const struct result_axis *old = &data->schema.axis[axis];
    const size_t n = old->n_value - 1;
    struct result_axis *all = arena_alloc(&data->arena, data->schema.n_axis, sizeof *all);
    struct result_coordinate *made = arena_alloc(&data->arena, old->n_coordinate, sizeof *made);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    memcpy(all, data->schema.axis, data->schema.n_axis * sizeof *all);
    for (size_t k = 0; k < old->n_coordinate; k++) {
        const struct result_coordinate *c = &old->coordinate[k];
        double *number = arena_alloc(&data->arena, n, sizeof *number);
        const char **text = arena_alloc(&data->arena, n, sizeof *text);
        const char **label = arena_alloc(&data->arena, n, sizeof *label);
        DSE_TRY(arena_check(&data->arena, "the figure", err));
        for (size_t i = 0; i < n; i++) {
            const size_t from = i + (i >= position);
            number[i] = c->number ? c->number[from] : 0;
            text[i] = c->text ? c->text[from] : NULL;
            label[i] = c->label ? c->label[from] : NULL;
        }
        made[k] = *c;
        made[k].number = c->number ? number : NULL;
        made[k].text = c->text ? text : NULL;
        made[k].label = c->label ? label : NULL;
    }
    all[axis] = (struct result_axis){n, old->n_coordinate, made};
    data->schema.axis = all;
    if (data->fixed[axis] > position)
        data->fixed[axis]--;
    if (n == 1) {
        data->is_fixed[axis] = true;
        data->fixed[axis] = 0;
    }
    return DSE_OK;
}

/* The value that the others are compared with: `at`, `position`, and what people read, `label`. */
static enum dse_status find_base(struct plot_data *data, const char *where, struct plot_axis *at,
                                 uint32_t *position, char label[PLOT_LABEL_MAX], struct dse_error *err)
{
    DSE_TRY(plot_find_value(data, where, at, position, err));
    const struct result_coordinate *c = &data->schema.axis[at->axis].coordinate[at->coordinate];
    const size_t n = data->schema.axis[at->axis].n_value;
    coordinate_label(c, *position, label, PLOT_LABEL_MAX);
    if (n < 2 || (data->is_fixed[at->axis] && data->fixed[at->axis] == *position))
        return dse_fail_at(
            err, DSE_BAD_USAGE, data->path, 0, "nothing is left to compare with %s=%s%s", c->name, label,
            n < 2 ? "; name the files of the others, too" : ": leave out --where of that axis");
    return DSE_OK;
}

static enum dse_status make_relative(struct plot_data *data, const char *where, struct plot_compare *compare,
                                     struct dse_error *err)
{
    struct plot_axis at;
    uint32_t position;
    char label[PLOT_LABEL_MAX], text[3 * PLOT_LABEL_MAX + 64];
    DSE_TRY(find_base(data, where, &at, &position, label, err));
    const struct result_coordinate *c = &data->schema.axis[at.axis].coordinate[at.coordinate];
    const struct around cube = around_axis(data, at.axis);
    const size_t n_cell = data->n_cell / cube.n * (cube.n - 1);
    double *value = arena_alloc(&data->arena, n_cell, sizeof *value);
    const char **status = arena_alloc(&data->arena, n_cell, sizeof *status);
    compare->unmatched = arena_alloc(&data->arena, n_cell, sizeof *compare->unmatched);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < n_cell; i++) {
        const size_t outer = i / (cube.step * (cube.n - 1)), inner = i % cube.step;
        const size_t p = i / cube.step % (cube.n - 1);
        const size_t here = cell_at(&cube, outer, p + (p >= position), inner);
        const double over = data->value[cell_at(&cube, outer, position, inner)];
        compare->unmatched[i] = !isnan(data->value[here]) && isnan(over);
        value[i] = ratio_of(data->value[here], over);
        status[i] = data->status[here];
    }
    snprintf(text, sizeof text, "%s %s", c->long_name && c->long_name[0] ? c->long_name : c->name, label);
    compare->words = arena_copy_text(&data->arena, text, strlen(text));
    snprintf(text, sizeof text, "%s, over that of %s", data->metric->sentence, label);
    DSE_TRY(name_ratio(data, text, err));
    data->value = value;
    data->status = status;
    data->n_cell = n_cell;
    return drop_value(data, at.axis, position, err);
}

/* ---------------------------------------- the best value */

static void drop_axis(struct plot_data *data, size_t axis, struct result_axis *all)
{
    const size_t n_after = data->schema.n_axis - axis - 1;
    memcpy(all, data->schema.axis, axis * sizeof *all);
    memcpy(all + axis, data->schema.axis + axis + 1, n_after * sizeof *all);
    memmove(data->is_fixed + axis, data->is_fixed + axis + 1, n_after * sizeof *data->is_fixed);
    memmove(data->fixed + axis, data->fixed + axis + 1, n_after * sizeof *data->fixed);
    data->schema.axis = all;
    data->schema.n_axis--;
}

/* The best and the second best of a cell, and what becomes of it where there is none. */
static void judge(const struct plot_data *data, const struct around *cube, size_t outer, size_t inner,
                  struct plot_compare *compare, size_t i, double *margin, const char **status)
{
    double best = NAN, second = NAN;
    compare->best[i] = cube->n;
    *status = "";
    for (size_t p = 0; p < cube->n; p++) {
        const size_t cell = cell_at(cube, outer, p, inner);
        const double value = data->value[cell];
        if (!(*status)[0] || strcmp(data->status[cell], "infeasible") == 0)
            *status = data->status[cell];
        if (isnan(value))
            continue;
        if (isnan(best) || compare->direction * value > compare->direction * best) {
            second = best;
            best = value;
            compare->best[i] = p;
        } else if (isnan(second) || compare->direction * value > compare->direction * second) {
            second = value;
        }
    }
    compare->alone[i] = !isnan(best) && isnan(second);
    if (best == second)
        compare->best[i] = cube->n;
    *margin = isnan(second)            ? best - best + 1
              : compare->direction < 0 ? ratio_of(second, best)
                                       : ratio_of(best, second);
}

static enum dse_status check_winner(const struct plot_data *data, const struct plot_options *options,
                                    const struct plot_axis *at, struct dse_error *err)
{
    const struct result_axis *axis = &data->schema.axis[at->axis];
    const char *const drawn[] = {options->x, options->y};
    struct plot_axis other;
    if (metric_direction(data->metric) == 0)
        return dse_fail(err, DSE_BAD_USAGE, "there is no best of %s", data->metric->name);
    if (axis->n_value < 2 || data->is_fixed[at->axis])
        return dse_fail_at(
            err, DSE_BAD_USAGE, data->path, 0, "axis %s has one value here, which is always the best%s",
            axis->coordinate[at->coordinate].name,
            axis->n_value < 2 ? "; name the files of the others, too" : ": leave out --where of that axis");
    for (size_t i = 0; i < 2; i++)
        if (drawn[i] && plot_find_axis(data, drawn[i], &other, NULL) == DSE_OK && other.axis == at->axis)
            return dse_fail(err, DSE_BAD_USAGE,
                            "axis %s cannot be drawn along: which of its values is best is what is shown",
                            drawn[i]);
    if (!axis->coordinate[at->coordinate].number && axis->n_value > PLOT_WORD_COLOURS)
        return plot_too_many(data, "values to tell apart by colour", axis->n_value, PLOT_WORD_COLOURS, err);
    if (axis->n_value > WINNER_MAX)
        return plot_too_many(data, "values to tell apart by colour", axis->n_value, WINNER_MAX, err);
    return DSE_OK;
}

static enum dse_status find_winners(struct plot_data *data, const struct plot_options *options,
                                    struct plot_compare *compare, struct dse_error *err)
{
    struct plot_axis at;
    char title[192];
    DSE_TRY(plot_find_axis(data, options->winner, &at, err));
    DSE_TRY(check_winner(data, options, &at, err));
    const struct around cube = around_axis(data, at.axis);
    const size_t n_cell = data->n_cell / cube.n;
    const struct result_coordinate *c = &data->schema.axis[at.axis].coordinate[at.coordinate];
    double *value = arena_alloc(&data->arena, n_cell, sizeof *value);
    const char **status = arena_alloc(&data->arena, n_cell, sizeof *status);
    struct result_axis *all = arena_alloc(&data->arena, data->schema.n_axis, sizeof *all);
    compare->best = arena_alloc(&data->arena, n_cell, sizeof *compare->best);
    compare->alone = arena_alloc(&data->arena, n_cell, sizeof *compare->alone);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < n_cell; i++)
        judge(data, &cube, i / cube.step, i % cube.step, compare, i, &value[i], &status[i]);
    compare->n_value = cube.n;
    compare->is_number = c->number != NULL && cube.n > 2;
    DSE_TRY(plot_ticks(data, &at, &compare->label, title, sizeof title, err));
    compare->words = arena_copy_text(&data->arena, title, strlen(title));
    snprintf(title, sizeof title, "%s %s", compare->direction < 0 ? "lowest" : "highest",
             data->metric->sentence);
    const size_t first = strcspn(title, " ") + 1; /* of a sentence, unless it is an abbreviation */
    if (title[first] >= 'A' && title[first] <= 'Z' && !(title[first + 1] >= 'A' && title[first + 1] <= 'Z'))
        title[first] = (char)(title[first] - 'A' + 'a');
    DSE_TRY(name_ratio(data, title, err));
    data->value = value;
    data->status = status;
    data->n_cell = n_cell;
    drop_axis(data, at.axis, all);
    return DSE_OK;
}

enum dse_status plot_compare(struct plot_data *data, const struct plot_options *options,
                             struct plot_compare *compare, struct dse_error *err)
{
    *compare = (struct plot_compare){.direction = metric_direction(data->metric)};
    if (options->relative && options->winner)
        return dse_fail(err, DSE_BAD_USAGE, "--relative and --winner are two figures");
    if (options->relative) {
        compare->how = PLOT_RELATIVE;
        return make_relative(data, options->relative, compare, err);
    }
    if (options->winner) {
        compare->how = PLOT_WINNER;
        return find_winners(data, options, compare, err);
    }
    return DSE_OK;
}

enum dse_status plot_compare_check(const struct result_schema *schema, const struct plot_options *options,
                                   struct dse_error *err)
{
    char label[PLOT_LABEL_MAX];
    struct plot_axis at;
    uint32_t position;
    struct plot_data data = {.schema = *schema};
    arena_init(&data.arena);
    for (size_t a = 0; a < schema->n_axis; a++)
        data.is_fixed[a] = schema->axis[a].n_value == 1;
    enum dse_status status = DSE_OK;
    if (options->relative)
        status = find_base(&data, options->relative, &at, &position, label, err);
    if (status == DSE_OK && options->winner)
        status = plot_find_metric(&data, options->metric ? options->metric : "edp_js", &data.metric, err);
    if (status == DSE_OK && options->winner)
        status = plot_find_axis(&data, options->winner, &at, err);
    if (status == DSE_OK && options->winner)
        status = check_winner(&data, options, &at, err);
    arena_free(&data.arena);
    return status;
}
