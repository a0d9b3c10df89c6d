/* Fronts of the objective pareto: energy over latency, a staircase for each value of one axis, panels for the
 * others; of the network or of one layer. plotting/front.gp draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "results/cube/cube_read.h"
#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

enum { SERIES_MAX = 24, SHOWN_LABEL_MAX = 40 };

/* The points of one cell, the fastest first. */
struct one_front {
    size_t n, best; /* that of the least energy x latency */
    double *latency_s, *energy_j;
};

struct fronts {
    size_t n_panel, n_series;
    struct one_front *front; /* (n_panel, n_series) */
    bool *is_shown;          /* (n_series) some panel has points of it */
    double *low, *high;      /* (2, n_panel) of latency, then of energy, in the units of the figure */
    double factor[2];
    char unit[2][32];
};

static enum dse_status bad_front(const struct plot_data *data, const char *text, struct dse_error *err)
{
    char shown[64];
    return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                       "front is '%s', 'latency_s:energy_j latency_s:energy_j ...' was expected",
                       text_excerpt(text, shown, sizeof shown));
}

/* "0.5:2 0.6:1"; "" is none. */
static enum dse_status parse(struct plot_data *data, const char *text, struct one_front *out,
                             struct dse_error *err)
{
    size_t n = text[0] != '\0';
    for (const char *c = text; *c; c++)
        n += *c == ' ';
    *out = (struct one_front){.latency_s = arena_alloc(&data->arena, n, sizeof *out->latency_s),
                              .energy_j = arena_alloc(&data->arena, n, sizeof *out->energy_j)};
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (const char *at = text; out->n < n; out->n++) {
        char pair[96];
        const size_t length = strcspn(at, " "), colon = strcspn(at, ":");
        if (length >= sizeof pair || colon >= length)
            return bad_front(data, text, err);
        memcpy(pair, at, length);
        pair[length] = pair[colon] = '\0';
        if (!text_parse_double(pair, &out->latency_s[out->n]) ||
            !text_parse_double(pair + colon + 1, &out->energy_j[out->n]))
            return bad_front(data, text, err);
        if (out->energy_j[out->n] * out->latency_s[out->n] <
            out->energy_j[out->best] * out->latency_s[out->best])
            out->best = out->n;
        at += length + (at[length] == ' ');
    }
    return DSE_OK;
}

/* The number of the layer asked for. */
static enum dse_status find_layer(const struct plot_data *data, const char *name, size_t *layer,
                                  struct dse_error *err)
{
    const struct result_schema *schema = &data->schema;
    for (*layer = 0; *layer < schema->n_layer; ++*layer)
        if (strcmp(schema->layer[*layer], name) == 0)
            return DSE_OK;
    const char *near = text_nearest(name, schema->layer, schema->n_layer);
    return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "unknown layer '%s'%s%s%s", name,
                       near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
}

static enum dse_status read_fronts(struct plot_job *job, struct fronts *all, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    const char *name = job->options->layer;
    const char *const *text;
    size_t layer = 0, n, per_cell = name ? data->schema.n_layer : 1, n_point = 0;
    if (!data->schema.fronts)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "there are no fronts: no point has the objective pareto");
    if (name)
        DSE_TRY(find_layer(data, name, &layer, err));
    DSE_TRY(cube_read_text(data->path, name ? "layers/front" : "front", &data->arena, &text, &n, err));
    if (n != data->n_cell * per_cell)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "the datasets do not have the shape of the axes");
    all->front = arena_alloc(&data->arena, all->n_panel * all->n_series, sizeof *all->front);
    all->is_shown = arena_alloc(&data->arena, all->n_series, sizeof *all->is_shown);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < all->n_panel * all->n_series; i++) {
        const size_t cell = plot_cell(data, i / all->n_series, i % all->n_series, 0);
        DSE_TRY(parse(data, text[cell * per_cell + layer], &all->front[i], err));
        all->is_shown[i % all->n_series] = all->is_shown[i % all->n_series] || all->front[i].n > 0;
        n_point += all->front[i].n;
    }
    return n_point > 0
               ? DSE_OK
               : dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "no point of the slice has a front%s%s",
                             name ? " of layer " : "", name ? name : "");
}

static const double *values_of(const struct one_front *front, size_t k)
{
    return k == 0 ? front->latency_s : front->energy_j;
}

/* Units of all panels, and the ends of each. */
static enum dse_status survey(struct plot_data *data, struct fronts *all, struct dse_error *err)
{
    static const char *const unit[2] = {"s", "J"};
    const size_t n = all->n_panel * all->n_series;
    size_t n_point = 0;
    for (size_t i = 0; i < n; i++)
        n_point += all->front[i].n;
    double *every = arena_alloc(&data->arena, n_point, sizeof *every);
    all->low = arena_alloc(&data->arena, 2 * all->n_panel, sizeof *all->low);
    all->high = arena_alloc(&data->arena, 2 * all->n_panel, sizeof *all->high);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t k = 0; k < 2; k++) {
        size_t at = 0;
        for (size_t i = 0; i < n; i++) {
            const double *value = values_of(&all->front[i], k);
            for (size_t p = 0; p < all->front[i].n; p++)
                every[at++] = value[p];
        }
        plot_scale(every, n_point, unit[k], &all->factor[k], all->unit[k], sizeof all->unit[k]);
        for (size_t panel = 0; panel < all->n_panel; panel++) {
            double low = INFINITY, high = 0;
            for (size_t i = panel * all->n_series; i < (panel + 1) * all->n_series; i++)
                for (size_t p = 0; p < all->front[i].n; p++) {
                    low = fmin(low, values_of(&all->front[i], k)[p] * all->factor[k]);
                    high = fmax(high, values_of(&all->front[i], k)[p] * all->factor[k]);
                }
            all->low[k * all->n_panel + panel] = isfinite(low) ? low : 1;
            all->high[k * all->n_panel + panel] = isfinite(low) ? high : 1;
        }
    }
    return DSE_OK;
}

/* $fronts: latency, energy; $best: latency, energy, series; NaN where there is nothing. One index per panel
 * and series of the first, one per panel of the second. */
static void put_points(struct text_buffer *script, const struct fronts *all)
{
    struct text_buffer best;
    text_init(&best);
    text_append(script, "$fronts << END_OF_FRONTS\n");
    for (size_t i = 0; i < all->n_panel * all->n_series; i++) {
        const struct one_front *front = &all->front[i];
        text_append(script, front->n ? "" : "NaN NaN\n");
        for (size_t p = 0; p < front->n; p++)
            text_append(script, "%.12g %.12g\n", front->latency_s[p] * all->factor[0],
                        front->energy_j[p] * all->factor[1]);
        text_append(script, "\n\n");
        text_append(&best, i % all->n_series ? "" : "NaN NaN 1\n");
        if (front->n > 1)
            text_append(&best, "%.12g %.12g %zu\n", front->latency_s[front->best] * all->factor[0],
                        front->energy_j[front->best] * all->factor[1], i % all->n_series + 1);
        text_append(&best, i % all->n_series + 1 == all->n_series ? "\n\n" : "");
    }
    text_append(script, "END_OF_FRONTS\n$best << END_OF_BEST\n%sEND_OF_BEST\n", best.data ? best.data : "");
    script->failed = script->failed || best.failed;
    text_free(&best);
}

/* The legend; a series that has no front here has no name. */
static enum dse_status put_names(struct plot_job *job, const struct fronts *all, double *width,
                                 struct dse_error *err)
{
    struct plot_data *data = &job->data;
    const char **label, **name = arena_alloc(&data->arena, all->n_series, sizeof *name);
    char title[128];
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    DSE_TRY(plot_ticks(data, &data->x, &label, title, sizeof title, err));
    for (size_t s = 0; s < all->n_series; s++) {
        char shown[4 * SHOWN_LABEL_MAX];
        text_excerpt(all->n_series > 1 && all->is_shown[s] ? label[s] : "", shown, sizeof shown);
        name[s] = arena_copy_text(&data->arena, shown, strlen(shown));
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    size_t letters = plot_longest(name, all->n_series);
    letters = all->n_series > 1 && text_letters(title) > letters ? text_letters(title) : letters;
    *width = letters ? 50 + 5.4 * (double)letters : 24;
    gnuplot_set_texts(&job->script, "series_name", name, all->n_series);
    gnuplot_set_text(&job->script, "dse_series_title", all->n_series > 1 ? title : "");
    return DSE_OK;
}

/* Series along the axis of y, else the longest; the rest are panels. */
static enum dse_status choose_axes(struct plot_data *data, const struct plot_options *options,
                                   struct dse_error *err)
{
    struct plot_options wanted = *options;
    wanted.x = options->y;
    return plot_choose_axes(data, &wanted, 1, err);
}

static void put_frame(struct plot_job *job, const struct fronts *all)
{
    struct text_buffer *script = &job->script;
    char title[2][PLOT_LABEL_MAX];
    const char *layer = job->options->layer;
    snprintf(title[0], sizeof title[0], "Latency (%s)", all->unit[0]);
    snprintf(title[1], sizeof title[1], "Energy (%s)", all->unit[1]);
    gnuplot_set_text(script, "dse_x_title", title[0]);
    gnuplot_set_text(script, "dse_y_title", title[1]);
    gnuplot_set_text(script, "dse_layer", layer ? layer : "");
    gnuplot_set_numbers(script, "panel_low_x", all->low, all->n_panel);
    gnuplot_set_numbers(script, "panel_high_x", all->high, all->n_panel);
    gnuplot_set_numbers(script, "panel_low_y", all->low + all->n_panel, all->n_panel);
    gnuplot_set_numbers(script, "panel_high_y", all->high + all->n_panel, all->n_panel);
    text_append(script, "dse_n_series = %zu\n", all->n_series);
}

enum dse_status plot_front(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct fronts all = {0};
    struct plot_layout layout = {.left = 66, .gap_x = 62, .gap_y = 52, .bottom = 44};
    const size_t limit = job->options->max_facet ? job->options->max_facet : 12;
    const char *const *title;
    DSE_TRY(choose_axes(data, job->options, err));
    all.n_panel = plot_n_panel(data);
    all.n_series = plot_length(data, &data->x);
    if (all.n_series > SERIES_MAX)
        return plot_too_many(data, "fronts", all.n_series, SERIES_MAX, err);
    if (all.n_panel > limit)
        return plot_too_many(data, "panels", all.n_panel, limit, err);
    DSE_TRY(read_fronts(job, &all, err));
    DSE_TRY(survey(data, &all, err));
    DSE_TRY(plot_panel_titles(data, &title, err));
    DSE_TRY(put_names(job, &all, &layout.right, err));
    layout.panel_width = all.n_panel == 1 ? 380 : fmax(220, 5.4 * (double)plot_longest(title, all.n_panel));
    layout.panel_height = fmax(all.n_panel == 1 ? 240 : 170, 13.0 * (double)(all.n_series + 3));
    layout.top = 44 + (all.n_panel > 1 ? 18 : 4);
    layout.least_width = plot_head_width(job);
    plot_layout(&layout, all.n_panel, 0);
    DSE_TRY(plot_put_layout(job, &layout, title, err));
    put_frame(job, &all);
    put_points(&job->script, &all);
    return DSE_OK;
}
