/* Points over two metrics, the values of an axis as colours, and the front of those that no other beats as a
 * line; panels for networks and batches, which are not compared. plotting/scatter.gp draws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "results/front/pareto_front.h"
#include "results/plot/plot_colours.h"
#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

/* MANY points are drawn small; then of those of a colour that lie in one of CELLS_X by CELLS_Y cells one is
 * drawn, for gnuplot takes 30 seconds for a million. PANEL_X by PANEL_Y: the largest panel, in 1/72 inch. */
enum { WORD_MAX = 24, LEGEND_MAX = 12, SHOWN_LABEL_MAX = 40, SHAPES = 5, MANY = 3000 };
enum { PANEL_X = 360, PANEL_Y = 260, CELLS_X = 2 * PANEL_X, CELLS_Y = 2 * PANEL_Y };

struct scatter {
    const struct metric *metric[2];
    double *value[2]; /* (n_cell) in SI */
    double factor[2];
    char unit[2][32];
    size_t n_panel, n_series; /* series: of the axis of colours, 1 without */
    bool by_number;           /* colours follow the size of the axis's numbers */
    bool parted;              /* series have fronts of their own */
    size_t n_slice, n;        /* cells of the slice; of these with both values */
    size_t *cell;             /* (n) panel by panel, series by series, ascending */
    size_t *begin;            /* (n_panel * n_series + 1) of each in `cell` */
    bool *on_front;           /* (n) */
    size_t n_on_front, n_covered;
    bool has_front; /* both metrics have a better end */
};

static const struct result_axis *colour_axis(const struct plot_data *data)
{
    return data->x.axis == PLOT_NO_AXIS ? NULL : &data->schema.axis[data->x.axis];
}

static bool is_work(const struct plot_data *data, size_t axis)
{
    return plot_axis_has(data, axis, "network") || plot_axis_has(data, axis, "batch");
}

/* The axis of colours in the place of x; by default engines. */
static enum dse_status choose_axes(struct plot_data *data, const struct plot_options *options,
                                   struct dse_error *err)
{
    const char *name = options->color;
    for (size_t a = 0; a < data->schema.n_axis && !name; a++)
        if (!data->is_fixed[a] && plot_axis_has(data, a, "engine"))
            name = "engine";
    if (name && strcmp(name, "none") != 0)
        DSE_TRY(plot_take_axis(data, name, &data->x, err));
    data->n_facet = 0;
    for (size_t a = 0; a < data->schema.n_axis; a++)
        if (!data->is_fixed[a] && a != data->x.axis && is_work(data, a))
            data->facet[data->n_facet++] = a;
    return DSE_OK;
}

static size_t place_of(const struct plot_data *data, const struct scatter *s, size_t cell)
{
    size_t panel = 0;
    for (size_t f = 0; f < data->n_facet; f++)
        panel = panel * data->schema.axis[data->facet[f]].n_value + plot_position(data, cell, data->facet[f]);
    return panel * s->n_series + (s->n_series > 1 ? plot_position(data, cell, data->x.axis) : 0);
}

/* The points, sorted by panel and series. */
static enum dse_status gather(struct plot_data *data, struct scatter *s, struct dse_error *err)
{
    const size_t n_place = s->n_panel * s->n_series;
    s->begin = arena_alloc(&data->arena, n_place + 1, sizeof *s->begin);
    size_t *at = arena_alloc(&data->arena, n_place, sizeof *at);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < data->n_cell; i++) {
        const bool in_slice = plot_in_slice(data, i) && data->status[i][0];
        const bool there = in_slice && isfinite(s->value[0][i]) && isfinite(s->value[1][i]);
        s->n_slice += in_slice;
        s->n += there;
        if (there)
            s->begin[place_of(data, s, i) + 1]++;
    }
    if (s->n == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "no point of the slice has a value of %s and of %s", s->metric[0]->name,
                           s->metric[1]->name);
    s->cell = arena_alloc(&data->arena, s->n, sizeof *s->cell);
    s->on_front = arena_alloc(&data->arena, s->n, sizeof *s->on_front);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t p = 0; p < n_place; p++) {
        at[p] = s->begin[p];
        s->begin[p + 1] += s->begin[p];
    }
    for (size_t i = 0; i < data->n_cell; i++)
        if (plot_in_slice(data, i) && isfinite(s->value[0][i]) && isfinite(s->value[1][i]))
            s->cell[at[place_of(data, s, i)]++] = i;
    return DSE_OK;
}

/* ---------------------------------------- fronts */

/* The points of the front in the order of x, for qsort_r. */
static int by_x(const void *a, const void *b, void *user)
{
    const struct scatter *s = user;
    const size_t one = s->cell[*(const size_t *)a], two = s->cell[*(const size_t *)b];
    for (size_t k = 0; k < 2; k++)
        if (s->value[k][one] != s->value[k][two])
            return s->value[k][one] < s->value[k][two] ? -1 : 1;
    return 0;
}

static double worse(const struct scatter *s, size_t k, size_t one, size_t other)
{
    return metric_direction(s->metric[k]) < 0 ? fmax(s->value[k][one], s->value[k][other])
                                              : fmin(s->value[k][one], s->value[k][other]);
}

/* The edge of what the points begin .. end beat, as a line: x, y, colour. */
static enum dse_status put_front(struct plot_job *job, struct scatter *s, size_t begin, size_t end,
                                 unsigned rgb, struct dse_error *err)
{
    struct arena *arena = &job->data.arena;
    const int direction[2] = {metric_direction(s->metric[0]), metric_direction(s->metric[1])};
    double *value = arena_alloc(arena, 2 * (end - begin), sizeof *value);
    size_t *front = arena_alloc(arena, end - begin, sizeof *front), n;
    DSE_TRY(arena_check(arena, "the figure", err));
    for (size_t i = begin; i < end; i++)
        for (size_t k = 0; k < 2; k++)
            value[2 * (i - begin) + k] = s->value[k][s->cell[i]];
    DSE_TRY(pareto_front(value, end - begin, direction, 2, PARETO_LEFT_OUT, front, &n, err));
    for (size_t i = 0; i < n; i++) {
        front[i] += begin;
        s->on_front[front[i]] = true;
    }
    s->n_on_front += n;
    qsort_r(front, n, sizeof *front, by_x, s);
    for (size_t i = 0; i < n; i++) {
        const size_t here = s->cell[front[i]], next = s->cell[front[i + 1 < n ? i + 1 : i]];
        text_append(&job->script, "%.9g %.9g %u\n%.9g %.9g %u\n", s->value[0][here] * s->factor[0],
                    s->value[1][here] * s->factor[1], rgb, worse(s, 0, here, next) * s->factor[0],
                    worse(s, 1, here, next) * s->factor[1], rgb);
    }
    text_append(&job->script, "\n");
    return DSE_OK;
}

/* ---------------------------------------- colours and names */

static unsigned rgb_of(const struct scatter *s, size_t series)
{
    return plot_colour(s->by_number, series, s->n_series);
}

/* Words have shapes besides, for print without colour; no two of WORD_MAX have both alike. */
static size_t shape_of(const struct scatter *s, size_t series)
{
    return s->by_number ? 1 : series % SHAPES + 1;
}

/* The legend: all words; of many numbers some. */
static enum dse_status put_names(struct plot_job *job, const struct scatter *s, double *width,
                                 struct dse_error *err)
{
    struct plot_data *data = &job->data;
    const char **label, *name[WORD_MAX];
    double rgb[WORD_MAX], shape[WORD_MAX];
    char title[128] = "";
    size_t n = 0, step = s->n_series > LEGEND_MAX && s->by_number
                             ? (s->n_series + LEGEND_MAX - 2) / (LEGEND_MAX - 1)
                             : 1;
    DSE_TRY(plot_ticks(data, &data->x, &label, title, sizeof title, err));
    for (size_t i = 0; i < s->n_series && s->n_series > 1 && n < WORD_MAX; i += step) {
        char shown[4 * SHOWN_LABEL_MAX];
        bool any = s->by_number;
        for (size_t p = 0; p < s->n_panel; p++)
            any = any || s->begin[p * s->n_series + i + 1] > s->begin[p * s->n_series + i];
        if (!any)
            continue;
        text_excerpt(label[i], shown, sizeof shown);
        rgb[n] = rgb_of(s, i);
        shape[n] = (double)shape_of(s, i);
        name[n++] = arena_copy_text(&data->arena, shown, strlen(shown));
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    const char *line = s->has_front ? "front" : "";
    size_t letters = plot_longest(name, n);
    letters = n > 0 && text_letters(title) > letters ? text_letters(title) : letters;
    letters = text_letters(line) > letters ? text_letters(line) : letters;
    *width = letters ? 50 + 5.4 * (double)letters : 24;
    gnuplot_set_texts(&job->script, "series_name", name, n);
    gnuplot_set_numbers(&job->script, "series_rgb", rgb, n);
    gnuplot_set_numbers(&job->script, "series_shape", shape, n);
    gnuplot_set_text(&job->script, "dse_series_title", n > 0 ? title : "");
    gnuplot_set_text(&job->script, "dse_front_word", line);
    text_append(&job->script, "dse_n_series = %zu\n", n);
    return DSE_OK;
}

/* ---------------------------------------- data */

/* $fronts: x, y, colour; an index per panel, a block for each front. */
static enum dse_status put_fronts(struct plot_job *job, struct scatter *s, struct dse_error *err)
{
    struct text_buffer *script = &job->script;
    text_append(script, "$fronts << END_OF_FRONTS\n");
    for (size_t p = 0; p < s->n_panel; p++) {
        const size_t first = p * s->n_series, last = first + s->n_series;
        text_append(script, "NaN NaN 0\n\n");
        if (s->has_front && !s->parted && s->begin[last] > s->begin[first])
            DSE_TRY(put_front(job, s, s->begin[first], s->begin[last], 0x444444, err));
        for (size_t i = first; i < last && s->has_front && s->parted; i++)
            if (s->begin[i + 1] > s->begin[i])
                DSE_TRY(put_front(job, s, s->begin[i], s->begin[i + 1], rgb_of(s, i - first), err));
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_FRONTS\n");
    return DSE_OK;
}

/* The ends of what a panel shows along x or y, 1 and 1 of nothing. */
static void ends_of(const struct scatter *s, size_t panel, size_t k, double *low, double *high)
{
    const size_t from = s->begin[panel * s->n_series], to = s->begin[(panel + 1) * s->n_series];
    *low = from < to ? INFINITY : 1;
    *high = from < to ? -INFINITY : 1;
    for (size_t i = from; i < to; i++) {
        *low = fmin(*low, s->value[k][s->cell[i]] * s->factor[k]);
        *high = fmax(*high, s->value[k][s->cell[i]] * s->factor[k]);
    }
}

/* Which of n cells between the ends a value lies in, on the axis that scatter.gp draws. */
static size_t cell_along(double value, double low, double high, size_t n)
{
    const bool is_log = low > 0 && high / low > 6;
    const double share = is_log ? log(value / low) / log(high / low) : (value - low) / (high - low);
    return share > 0 ? (size_t)fmin(share * (double)n, (double)n - 1) : 0;
}

/* Which of the points begin .. end need not be drawn on axes with these ends. */
static enum dse_status find_covered(struct plot_data *data, struct scatter *s, size_t begin, size_t end,
                                    const double low[2], const double high[2], bool *covered,
                                    struct dse_error *err)
{
    bool *taken = calloc((size_t)CELLS_X * CELLS_Y, sizeof *taken);
    if (!taken)
        return dse_fail_at(err, DSE_NO_MEMORY, data->path, 0, "out of memory for the figure");
    for (size_t i = begin; i < end; i++) {
        const double x = s->value[0][s->cell[i]] * s->factor[0], y = s->value[1][s->cell[i]] * s->factor[1];
        bool *here = &taken[cell_along(x, low[0], high[0], CELLS_X) * CELLS_Y +
                            cell_along(y, low[1], high[1], CELLS_Y)];
        covered[i] = *here && !s->on_front[i];
        s->n_covered += covered[i];
        *here = *here || !s->on_front[i];
    }
    free(taken);
    return DSE_OK;
}

/* $points: x, y, colour, shape, whether it is on the front; an index per panel. */
static enum dse_status put_points(struct plot_job *job, struct scatter *s, struct dse_error *err)
{
    struct text_buffer *script = &job->script;
    bool *covered = arena_alloc(&job->data.arena, s->n, sizeof *covered);
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    text_append(script, "$points << END_OF_POINTS\n");
    for (size_t p = 0; p < s->n_panel; p++) {
        double low[2], high[2];
        text_append(script, "NaN NaN 0 1 0\n");
        for (size_t k = 0; k < 2; k++)
            ends_of(s, p, k, &low[k], &high[k]);
        for (size_t i = 0; i < s->n_series; i++) {
            const size_t place = p * s->n_series + i;
            if (s->n > MANY)
                DSE_TRY(find_covered(&job->data, s, s->begin[place], s->begin[place + 1], low, high, covered,
                                     err));
            for (size_t at = s->begin[place]; at < s->begin[place + 1]; at++) {
                const bool strong = s->on_front[at] || !s->has_front;
                if (covered[at])
                    continue;
                text_append(script, "%.9g %.9g %u %zu %d\n", s->value[0][s->cell[at]] * s->factor[0],
                            s->value[1][s->cell[at]] * s->factor[1],
                            strong ? rgb_of(s, i) : plot_colour_mix(rgb_of(s, i), 0xffffff, 0.45),
                            shape_of(s, i), s->on_front[at]);
            }
        }
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_POINTS\n");
    return DSE_OK;
}

/* Titles and, per panel, the ends of each axis. */
static enum dse_status put_frame(struct plot_job *job, const struct scatter *s, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    double *end = arena_alloc(&data->arena, 2 * s->n_panel, sizeof *end);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t k = 0; k < 2; k++) {
        char title[192], name[32];
        for (size_t p = 0; p < s->n_panel; p++)
            ends_of(s, p, k, &end[p], &end[s->n_panel + p]);
        snprintf(name, sizeof name, "panel_low_%c", "xy"[k]);
        gnuplot_set_numbers(&job->script, name, end, s->n_panel);
        snprintf(name, sizeof name, "panel_high_%c", "xy"[k]);
        gnuplot_set_numbers(&job->script, name, end + s->n_panel, s->n_panel);
        snprintf(title, sizeof title, s->unit[k][0] ? "%s (%s)" : "%s", s->metric[k]->sentence, s->unit[k]);
        snprintf(name, sizeof name, "dse_%c_title", "xy"[k]);
        gnuplot_set_text(&job->script, name, title);
    }
    text_append(&job->script, "dse_many = %d\n", s->n > MANY);
    return DSE_OK;
}

static void note(struct plot_data *data, const struct scatter *s)
{
    size_t n = 0;
    if (s->has_front)
        n = (size_t)snprintf(data->note, sizeof data->note, "%zu of %zu points on the front%s", s->n_on_front,
                             s->n, s->n_panel > 1 || s->parted ? "s" : "");
    if (s->n < s->n_slice)
        n += (size_t)snprintf(data->note + n, sizeof data->note - n, "%s%zu without a value", n ? ", " : "",
                              s->n_slice - s->n);
    if (s->n_covered > 0)
        snprintf(data->note + n, sizeof data->note - n, "%swhat lies on another is drawn once",
                 n ? ", " : "");
}

static enum dse_status prepare(struct plot_job *job, struct scatter *s, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    const char *const name[2] = {job->options->x ? job->options->x : "latency_s",
                                 job->options->y ? job->options->y : "energy_j"};
    const size_t limit = job->options->max_facet ? job->options->max_facet : 12;
    DSE_TRY(choose_axes(data, job->options, err));
    for (size_t k = 0; k < 2; k++)
        DSE_TRY(plot_read_metric(data, name[k], &s->metric[k], &s->value[k], err));
    if (s->metric[0] == s->metric[1])
        return dse_fail(err, DSE_BAD_USAGE, "x and y are the same metric, %s", s->metric[0]->name);
    const struct result_axis *colours = colour_axis(data);
    s->n_panel = plot_n_panel(data);
    s->n_series = colours ? colours->n_value : 1;
    s->by_number = colours && colours->coordinate[data->x.coordinate].number && s->n_series > 2;
    s->parted = colours && is_work(data, data->x.axis);
    s->has_front = metric_direction(s->metric[0]) != 0 && metric_direction(s->metric[1]) != 0;
    if (!s->by_number && s->n_series > WORD_MAX)
        return plot_too_many(data, "colours", s->n_series, WORD_MAX, err);
    if (s->n_panel > limit)
        return plot_too_many(data, "panels", s->n_panel, limit, err);
    DSE_TRY(gather(data, s, err));
    for (size_t k = 0; k < 2; k++)
        plot_scale(s->value[k], data->n_cell, s->metric[k]->unit, &s->factor[k], s->unit[k],
                   sizeof s->unit[k]);
    return DSE_OK;
}

enum dse_status plot_scatter(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct scatter s = {0};
    struct plot_layout layout = {.left = 66, .gap_x = 62, .gap_y = 52, .bottom = 44};
    struct text_buffer *script = &job->script, points;
    const char *const *title;
    DSE_TRY(prepare(job, &s, err));
    DSE_TRY(plot_panel_titles(data, &title, err));
    DSE_TRY(put_names(job, &s, &layout.right, err));
    DSE_TRY(put_fronts(job, &s, err));
    DSE_TRY(put_points(job, &s, err));
    note(data, &s);
    /* The head comes first, but what it says of the fronts is known last. */
    points = *script;
    text_init(script);
    layout.panel_width = s.n_panel == 1 ? PANEL_X : fmax(220, 5.4 * (double)plot_longest(title, s.n_panel));
    layout.panel_height =
        fmax(s.n_panel == 1 ? PANEL_Y : 180, 14.0 * (double)((s.n_series > 12 ? 12 : s.n_series) + 3));
    layout.top = 44 + (s.n_panel > 1 ? 18 : 4);
    layout.least_width = plot_head_width(job);
    plot_layout(&layout, s.n_panel, 0);
    enum dse_status status = plot_put_layout(job, &layout, title, err);
    if (status == DSE_OK)
        status = put_frame(job, &s, err);
    if (points.data)
        text_append_bytes(script, points.data, points.length);
    script->failed = script->failed || points.failed;
    text_free(&points);
    return status;
}
