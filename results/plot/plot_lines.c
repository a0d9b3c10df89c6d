/* Metrics over one axis: a panel for each unit and each value of the further axes, a line for each value of
 * one axis (engines before others) or for each metric. plotting/lines.gp draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

enum { LINE_MAX = 24, SHOWN_LABEL_MAX = 40 };

/* Panels of one unit, one row of the figure. */
struct line_row {
    size_t first, n; /* of the metrics */
    double factor, low, high;
    char unit[32];
    bool log_scale;
};

struct lines {
    size_t n_metric, n_row, n_x, n_line, n_column; /* n_column: panels of a row */
    const struct metric *metric[PLOT_METRIC_MAX];
    double *value[PLOT_METRIC_MAX]; /* (n_cell) in SI */
    struct line_row row[PLOT_METRIC_MAX];
    double *place; /* (n_x) on the axis, 0 .. 1 */
    const char **x_label, **line_label;
    char x_title[128], line_title[128];
    bool has_look[3]; /* infeasible, failed, not computed */
};

static enum dse_status read_metrics(struct plot_job *job, struct lines *lines, struct dse_error *err)
{
    char name[PLOT_LABEL_MAX];
    const char *asked = job->options->metric;
    lines->metric[0] = job->data.metric;
    lines->value[0] = job->data.value;
    lines->n_metric = 1;
    while (asked && plot_metric_word(asked, lines->n_metric, name, sizeof name)) {
        DSE_TRY(plot_read_metric(&job->data, name, &lines->metric[lines->n_metric],
                                 &lines->value[lines->n_metric], err));
        lines->n_metric++;
    }
    return DSE_OK;
}

/* Metrics share panels when nothing else makes lines and their unit is the same. */
static void make_rows(struct lines *lines)
{
    lines->n_row = 0;
    for (size_t m = 0; m < lines->n_metric; m++) {
        struct line_row *row = lines->n_row ? &lines->row[lines->n_row - 1] : NULL;
        if (!row || lines->n_line > 1 ||
            strcmp(lines->metric[row->first]->unit, lines->metric[m]->unit) != 0) {
            row = &lines->row[lines->n_row++];
            *row = (struct line_row){.first = m, .low = INFINITY, .high = -INFINITY};
        }
        row->n++;
    }
}

/* Do equal steps of the axis multiply rather than add? */
static bool are_powers(const double *value, size_t n)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(value[i] > 0))
            return false;
        least = fmin(least, value[i]);
        most = fmax(most, value[i]);
    }
    for (size_t i = 1; i < n && n > 2; i++)
        if (fabs((value[i] - value[i - 1]) / (value[1] - value[0]) - 1) > 1e-6) /* not equally spaced */
            return most / least >= 8;
    return false;
}

/* Where the values stand, 0 .. 1: by size, by logarithm, or one after the other. */
static enum dse_status place_values(struct plot_data *data, struct lines *lines, struct dse_error *err)
{
    const size_t n = lines->n_x;
    const double *number = NULL;
    lines->place = arena_alloc(&data->arena, n, sizeof *lines->place);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    if (data->x.axis != PLOT_NO_AXIS)
        number = data->schema.axis[data->x.axis].coordinate[data->x.coordinate].number;
    bool powers = number && are_powers(number, n);
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        lines->place[i] = powers ? log(number[i]) : number ? number[i] : (double)i;
        low = fmin(low, lines->place[i]);
        high = fmax(high, lines->place[i]);
    }
    for (size_t i = 0; i < n; i++)
        lines->place[i] = high > low ? (lines->place[i] - low) / (high - low) : 0.5;
    return DSE_OK;
}

/* The cell of line `line` in panel `column` of a row, and its metric. */
static size_t cell_of(const struct plot_data *data, const struct lines *lines, const struct line_row *row,
                      size_t column, size_t line, size_t x, size_t *metric)
{
    *metric = row->first + (lines->n_line > 1 ? 0 : line);
    return plot_cell(data, column, x, lines->n_line > 1 ? line : 0);
}

static size_t lines_of_row(const struct lines *lines, const struct line_row *row)
{
    return lines->n_line > 1 ? lines->n_line : row->n;
}

/* What a point without a value is: 0 infeasible, 1 failed, 2 not computed, or nothing of this metric. */
static int look_of(const char *status)
{
    if (strcmp(status, "infeasible") == 0)
        return 0;
    return status[0] && strcmp(status, "ok") != 0 && strcmp(status, "timeout") != 0 ? 1 : 2;
}

static enum dse_status survey(struct plot_data *data, struct lines *lines, struct dse_error *err)
{
    for (size_t r = 0; r < lines->n_row; r++) {
        struct line_row *row = &lines->row[r];
        plot_scale(lines->value[row->first], data->n_cell, lines->metric[row->first]->unit, &row->factor,
                   row->unit, sizeof row->unit);
        for (size_t c = 0; c < lines->n_column; c++)
            for (size_t l = 0; l < lines_of_row(lines, row); l++)
                for (size_t x = 0; x < lines->n_x; x++) {
                    size_t m, cell = cell_of(data, lines, row, c, l, x, &m);
                    double value = lines->value[m][cell] * row->factor;
                    row->low = fmin(row->low, value); /* fmin leaves NaN aside */
                    row->high = fmax(row->high, value);
                    if (isnan(value))
                        lines->has_look[look_of(data->status[cell])] = true;
                }
        if (!isfinite(row->high))
            return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "no point of the slice has a value of %s",
                               lines->metric[row->first]->name);
        row->log_scale = row->low > 0 && row->high / row->low > 6;
    }
    return DSE_OK;
}

/* $lines: place, value in blocks of one line each, NaN at gaps; $marks: place, line, look of points without
 * a value, and which one of those at the same place. One block per panel and line of the first, one per panel
 * of the second. */
static void put_points(struct plot_job *job, const struct lines *lines)
{
    const struct plot_data *data = &job->data;
    struct text_buffer marks;
    text_init(&marks);
    text_append(&job->script, "$lines << END_OF_LINES\n");
    for (size_t p = 0; p < lines->n_row * lines->n_column; p++) {
        const struct line_row *row = &lines->row[p / lines->n_column];
        text_append(&marks, "-9 0 0 0\n");
        for (size_t l = 0; l < lines_of_row(lines, row); l++) {
            for (size_t x = 0; x < lines->n_x; x++) {
                size_t m, cell = cell_of(data, lines, row, p % lines->n_column, l, x, &m);
                double value = lines->value[m][cell];
                if (!isnan(value)) {
                    text_append(&job->script, "%.9g %.9g\n", lines->place[x], value * row->factor);
                    continue;
                }
                text_append(&job->script, "%.9g NaN\n", lines->place[x]);
                text_append(&marks, "%.9g %zu %d %zu\n", lines->place[x], l + 1, look_of(data->status[cell]),
                            l);
            }
            text_append(&job->script, "\n\n");
        }
        text_append(&marks, "\n\n");
    }
    text_append(&job->script, "END_OF_LINES\n$marks << END_OF_MARKS\n%sEND_OF_MARKS\n",
                marks.data ? marks.data : "");
    job->script.failed = job->script.failed || marks.failed;
    text_free(&marks);
}

/* Labels of x that do not run into each other: `keep` gets the positions, `*slope` whether they are
 * turned. */
static size_t choose_ticks(const struct lines *lines, double width, size_t *keep, bool *slope)
{
    const double letter = 5.2;
    size_t n = 0;
    double longest = letter * (double)plot_longest((const char *const *)lines->x_label, lines->n_x) + 6;
    *slope = false;
    for (size_t i = 1; i < lines->n_x; i++)
        *slope = *slope || (lines->place[i] - lines->place[i - 1]) * width < longest;
    *slope = *slope && longest > 26;
    double step = *slope ? 12 : longest, end = -INFINITY;
    for (size_t i = 0; i < lines->n_x; i++)
        if (lines->place[i] * width >= end + step) {
            keep[n++] = i;
            end = lines->place[i] * width;
        }
    return n;
}

static enum dse_status put_x_ticks(struct plot_job *job, const struct lines *lines, const size_t *keep,
                                   size_t n, bool slope, struct dse_error *err)
{
    const char **label = arena_alloc(&job->data.arena, n, sizeof *label);
    double *place = arena_alloc(&job->data.arena, n, sizeof *place);
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    for (size_t i = 0; i < n; i++) {
        label[i] = lines->x_label[keep[i]];
        place[i] = lines->place[keep[i]];
    }
    gnuplot_set_ticks(&job->script, "x_label", label, n);
    gnuplot_set_numbers(&job->script, "x_place", place, n);
    text_append(&job->script,
                "dse_x_ticks = 'set xtics nomirror scale 0.4 %s (); set for [i = 1:%zu] xtics add "
                "(x_label[i] x_place[i])'\n",
                slope ? "rotate by 45 right" : "norotate", n);
    return DSE_OK;
}

/* Ranges of the rows, with room above and below; a linear scale begins at 0 unless that wastes the panel. */
static enum dse_status put_rows(struct plot_job *job, const struct lines *lines, struct dse_error *err)
{
    const char *title[PLOT_METRIC_MAX];
    double low[PLOT_METRIC_MAX], high[PLOT_METRIC_MAX], log_scale[PLOT_METRIC_MAX], n_line[PLOT_METRIC_MAX];
    for (size_t r = 0; r < lines->n_row; r++) {
        const struct line_row *row = &lines->row[r];
        struct text_buffer words;
        double room = row->high > row->low ? 0.08 * (row->high - row->low) : 0.1 * fabs(row->high) + 1e-12;
        low[r] = row->log_scale ? row->low / 1.25 : row->low - room;
        high[r] = row->log_scale ? row->high * 1.25 : row->high + room;
        if (!row->log_scale && row->low >= 0 && row->low < 0.6 * row->high)
            low[r] = 0;
        log_scale[r] = row->log_scale;
        n_line[r] = (double)lines_of_row(lines, row);
        text_init(&words);
        text_append(&words, "%s", row->n == 1 ? lines->metric[row->first]->sentence : "");
        if (row->unit[0])
            text_append(&words, row->n == 1 ? " (%s)" : "%s", row->unit);
        title[r] = text_keep(&words, &job->data.arena);
    }
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    gnuplot_set_texts(&job->script, "row_title", title, lines->n_row);
    gnuplot_set_numbers(&job->script, "row_low", low, lines->n_row);
    gnuplot_set_numbers(&job->script, "row_high", high, lines->n_row);
    gnuplot_set_numbers(&job->script, "row_log", log_scale, lines->n_row);
    gnuplot_set_numbers(&job->script, "row_lines", n_line, lines->n_row);
    return DSE_OK;
}

/* The legend: of values of an axis once, of metrics per row. */
static enum dse_status put_names(struct plot_job *job, const struct lines *lines, size_t *longest,
                                 struct dse_error *err)
{
    const char *name[PLOT_METRIC_MAX * LINE_MAX];
    size_t n = 0;
    for (size_t r = 0; r < lines->n_row; r++)
        for (size_t l = 0; l < lines_of_row(lines, &lines->row[r]); l++) {
            const char *full =
                lines->n_line > 1 ? lines->line_label[l] : lines->metric[lines->row[r].first + l]->sentence;
            char shown[4 * SHOWN_LABEL_MAX];
            text_excerpt(full, shown, sizeof shown);
            name[n++] = arena_copy_text(&job->data.arena, shown, strlen(shown));
        }
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    *longest = plot_longest(name, n);
    gnuplot_set_texts(&job->script, "line_name", name, n);
    gnuplot_set_text(&job->script, "dse_line_title", lines->n_line > 1 ? lines->line_title : "");
    text_append(&job->script, "dse_legend = %d\n", n > lines->n_row);
    return DSE_OK;
}

static void lay_out(struct plot_job *job, const struct lines *lines, size_t legend_letters, bool slope,
                    struct plot_layout *layout)
{
    const size_t title = text_letters(lines->line_title);
    size_t most = 1, letters = plot_longest((const char *const *)lines->x_label, lines->n_x);
    for (size_t r = 0; r < lines->n_row; r++)
        if (lines_of_row(lines, &lines->row[r]) > most)
            most = lines_of_row(lines, &lines->row[r]);
    double tick_height = slope ? (double)letters * 5.2 * 0.75 + 10 : 14;
    layout->panel_height = fmax(lines->n_row * lines->n_column > 1 ? 150 : 200, 13.0 * (double)(most + 2));
    layout->left = 66;
    layout->right = 24;
    if (most > 1)
        layout->right = 50 + 5.4 * (double)(legend_letters > title ? legend_letters : title);
    layout->gap_x = 18;
    layout->gap_y = 30;
    layout->top = 44 + (lines->n_column > 1 ? 18 : 4);
    layout->bottom =
        tick_height + 26 + (lines->has_look[0] || lines->has_look[1] || lines->has_look[2] ? 22 : 0);
    layout->least_width = plot_head_width(job);
    /* Rows and columns are axes, as in heatmaps, or rows are units. */
    const struct plot_data *data = &job->data;
    plot_layout(layout, lines->n_row * lines->n_column,
                data->n_facet > 1  ? data->schema.axis[data->facet[data->n_facet - 1]].n_value
                : lines->n_row > 1 ? lines->n_column
                                   : 0);
    text_append(&job->script, "dse_x_title_offset = %.4g\n", tick_height);
}

/* Engines make lines rather than an axis; else what is asked for as y; else the longest axis that is left. */
static enum dse_status choose_axes(struct plot_data *data, const struct plot_options *options,
                                   struct dse_error *err)
{
    struct plot_options wanted = *options;
    for (size_t a = 0; a < data->schema.n_axis; a++)
        if (!wanted.y && !data->is_fixed[a] && plot_axis_has(data, a, "engine") &&
            !(wanted.x && plot_axis_has(data, a, wanted.x)))
            wanted.y = "engine";
    DSE_TRY(plot_choose_axes(data, &wanted, 2, err));
    if (data->x.axis == PLOT_NO_AXIS) { /* only engines: along the axis */
        data->x = data->y;
        data->y.axis = PLOT_NO_AXIS;
    }
    return DSE_OK;
}

/* Titles of the panels: those of the facets, the same in each row. */
static enum dse_status row_titles(struct plot_data *data, const struct lines *lines, const char *const **out,
                                  struct dse_error *err)
{
    const char *const *one;
    size_t n = lines->n_row * lines->n_column;
    const char **title = arena_alloc(&data->arena, n, sizeof *title);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    DSE_TRY(plot_panel_titles(data, &one, err));
    for (size_t i = 0; i < n; i++)
        title[i] = one[i % lines->n_column];
    *out = title;
    return DSE_OK;
}

static enum dse_status prepare(struct plot_job *job, struct lines *lines, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    size_t limit = job->options->max_facet ? job->options->max_facet : 12;
    DSE_TRY(choose_axes(data, job->options, err));
    lines->n_x = plot_length(data, &data->x);
    lines->n_line = plot_length(data, &data->y);
    lines->n_column = plot_n_panel(data);
    DSE_TRY(read_metrics(job, lines, err));
    make_rows(lines);
    if (lines->n_line > LINE_MAX)
        return plot_too_many(data, "lines", lines->n_line, LINE_MAX, err);
    if (lines->n_row * lines->n_column > limit)
        return plot_too_many(data, "panels", lines->n_row * lines->n_column, limit, err);
    DSE_TRY(survey(data, lines, err));
    DSE_TRY(place_values(data, lines, err));
    DSE_TRY(plot_ticks(data, &data->x, &lines->x_label, lines->x_title, sizeof lines->x_title, err));
    return plot_ticks(data, &data->y, &lines->line_label, lines->line_title, sizeof lines->line_title, err);
}

enum dse_status plot_lines(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct lines lines = {0};
    struct plot_layout layout = {0};
    const char *const *title;
    bool slope;
    size_t legend;
    DSE_TRY(prepare(job, &lines, err));
    size_t *keep = arena_alloc(&data->arena, lines.n_x, sizeof *keep);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    DSE_TRY(row_titles(data, &lines, &title, err));
    layout.panel_width = lines.n_column > 1 ? 200 : 380;
    double words = 5.4 * (double)plot_longest(title, lines.n_row * lines.n_column);
    layout.panel_width = words > layout.panel_width ? fmin(words, 400) : layout.panel_width;
    size_t n = choose_ticks(&lines, layout.panel_width * 0.94, keep, &slope);
    DSE_TRY(put_names(job, &lines, &legend, err));
    lay_out(job, &lines, legend, slope, &layout);
    DSE_TRY(plot_put_layout(job, &layout, title, err));
    DSE_TRY(put_rows(job, &lines, err));
    DSE_TRY(put_x_ticks(job, &lines, keep, n, slope, err));
    gnuplot_set_text(&job->script, "dse_x_title", lines.x_title);
    text_append(&job->script, "dse_n_row = %zu\ndse_row_panels = %zu\n", lines.n_row, lines.n_column);
    put_points(job, &lines);
    text_append(&job->script, "array dse_has_look[3] = [%d, %d, %d]\n", lines.has_look[0], lines.has_look[1],
                lines.has_look[2]);
    return DSE_OK;
}
