/* The best cost so far over evaluations or processor seconds, relative to the best known: of one search a
 * curve for each layer and their geometric mean; of several engines, or values of another axis, a curve of
 * that mean for each, with the range over seeds. plotting/convergence.gp draws. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"
#include "results/plot/plot_traces.h"

enum { SERIES_MAX = 24, SHOWN_LABEL_MAX = 40 };

/* What is drawn. Searches and cells have the shape (n_panel, n_series, n_seed), of layers (1, 1, 1). */
struct convergence {
    size_t n_panel, n_series, n_seed;
    struct plot_search *search;
    size_t *cell;
    struct plot_curve *curve; /* (n_panel, n_series); not in a picture of layers */
    size_t *n_answer;         /* (n_series) searches with an answer for all layers */
    size_t *shown;            /* (n_shown) layers that have a trace, in a picture of layers */
    size_t n_shown;
    bool in_seconds;
    double first, last, high; /* least and largest place on the x axis, largest ratio */
};

static enum dse_status read_searches(struct plot_data *data, struct convergence *all, struct dse_error *err)
{
    const size_t n = all->n_panel * all->n_series * all->n_seed;
    size_t n_step = 0;
    all->search = arena_alloc(&data->arena, n, sizeof *all->search);
    all->cell = arena_alloc(&data->arena, n, sizeof *all->cell);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < n; i++) {
        const size_t panel = i / all->n_seed / all->n_series, series = i / all->n_seed % all->n_series;
        all->cell[i] = plot_cell(data, panel, i % all->n_seed, series);
        DSE_TRY(plot_search_read(data, all->cell[i], all->in_seconds, &all->search[i], err));
        n_step += all->search[i].first[data->schema.n_layer];
    }
    if (n_step == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "the points to draw have no traces (were they recorded in this sweep?)");
    return plot_searches_compare(data, all->search, all->cell, n, err);
}

/* Where the x axis begins and ends. One of evaluations begins at 1, one of seconds at the first answer. */
static void survey_places(const struct plot_data *data, struct convergence *all)
{
    const size_t n_layer = data->schema.n_layer;
    all->first = INFINITY;
    for (size_t i = 0; i < all->n_panel * all->n_series * all->n_seed; i++) {
        const struct plot_search *search = &all->search[i];
        for (size_t k = 0; k < search->first[n_layer]; k++) {
            all->first = search->x[k] > 0 ? fmin(all->first, search->x[k]) : all->first;
            all->last = fmax(all->last, search->x[k]);
        }
        for (size_t l = 0; l < n_layer; l++)
            all->last = fmax(all->last, search->end[l]); /* fmax leaves NaN aside */
    }
    if (!all->in_seconds || !isfinite(all->first))
        all->first = 1;
}

/* A place on the axis: what took less time than the clock can tell stands at its beginning. */
static double place(const struct convergence *all, double x)
{
    return all->in_seconds ? fmax(x, all->first) : x;
}

/* $curves: place, ratio, layer; blank lines between layers. */
static void put_layers(struct text_buffer *script, struct convergence *all)
{
    const struct plot_search *search = all->search;
    text_append(script, "$curves << END_OF_CURVES\nNaN NaN -1\n");
    for (size_t s = 0; s < all->n_shown; s++) {
        const size_t l = all->shown[s];
        double ratio = NAN;
        for (size_t i = search->first[l]; i < search->first[l + 1]; i++) {
            if (isnan(plot_search_ratio(search, l, i)))
                break;
            ratio = plot_search_ratio(search, l, i);
            all->high = fmax(all->high, ratio);
            text_append(script, "%s%.9g %.9g %zu\n", i == search->first[l] ? "\n" : "",
                        place(all, search->x[i]), ratio, s);
        }
        if (!isnan(ratio) && !isnan(search->end[l]))
            text_append(script, "%.9g %.9g %zu\n", search->end[l], ratio, s);
    }
    text_append(script, "\n\nEND_OF_CURVES\n");
}

/* $mean: place, ratio. */
static enum dse_status put_mean(struct plot_job *job, const struct convergence *all, struct dse_error *err)
{
    struct text_buffer *script = &job->script;
    struct plot_curve mean;
    DSE_TRY(plot_search_mean(all->search, job->data.schema.n_layer, &job->data.arena, &mean, err));
    text_append(script, "$mean << END_OF_MEAN\n");
    for (size_t i = 0; i < mean.n; i++)
        text_append(script, "%.9g %.9g\n", place(all, mean.x[i]), mean.y[i]);
    if (mean.n > 0)
        text_append(script, "%.9g %.9g\n", all->last, mean.y[mean.n - 1]);
    else
        text_append(script, "NaN NaN\n");
    text_append(script, "\n\nEND_OF_MEAN\n");
    return DSE_OK;
}

/* A curve of every panel and series: over the layers first, then over the seeds. */
static enum dse_status make_curves(struct plot_data *data, struct convergence *all, struct dse_error *err)
{
    const size_t n = all->n_panel * all->n_series;
    struct plot_curve *of_seed = arena_alloc(&data->arena, all->n_seed, sizeof *of_seed);
    all->curve = arena_alloc(&data->arena, n, sizeof *all->curve);
    all->n_answer = arena_alloc(&data->arena, all->n_series, sizeof *all->n_answer);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t c = 0; c < n; c++) {
        for (size_t k = 0; k < all->n_seed; k++) {
            DSE_TRY(plot_search_mean(&all->search[c * all->n_seed + k], data->schema.n_layer, &data->arena,
                                     &of_seed[k], err));
            all->n_answer[c % all->n_series] += of_seed[k].n > 0;
        }
        DSE_TRY(plot_curves_mean(of_seed, all->n_seed, &data->arena, &all->curve[c], err));
        for (size_t i = 0; i < all->curve[c].n; i++)
            all->high = fmax(all->high, all->curve[c].high[i]);
    }
    return DSE_OK;
}

/* $curves: place, mean, lowest, highest, with the corners of the steps; one index per panel and series. */
static void put_series(struct text_buffer *script, const struct convergence *all)
{
    text_append(script, "$curves << END_OF_CURVES\n");
    for (size_t c = 0; c < all->n_panel * all->n_series; c++) {
        const struct plot_curve *curve = &all->curve[c];
        if (curve->n == 0)
            text_append(script, "NaN NaN NaN NaN\n");
        for (size_t i = 0; i < curve->n; i++) {
            const double end[2] = {curve->x[i], i + 1 < curve->n ? curve->x[i + 1] : all->last};
            for (size_t e = 0; e < 2; e++)
                text_append(script, "%.9g %.9g %.9g %.9g\n", place(all, end[e]), curve->y[i], curve->low[i],
                            curve->high[i]);
        }
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_CURVES\n");
}

/* Names of the series, with how many of the searches found a mapping of every layer where not all did. */
static enum dse_status put_names(struct plot_job *job, const struct convergence *all, double *width,
                                 struct dse_error *err)
{
    struct plot_data *data = &job->data;
    const size_t n_search = all->n_panel * all->n_seed;
    const char **label, **name = arena_alloc(&data->arena, all->n_series, sizeof *name);
    char title[128], note[64] = "";
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    DSE_TRY(plot_ticks(data, &data->y, &label, title, sizeof title, err));
    for (size_t s = 0; s < all->n_series; s++) {
        char shown[4 * SHOWN_LABEL_MAX];
        struct text_buffer words;
        text_init(&words);
        text_append(&words, "%s", text_excerpt(label[s], shown, sizeof shown));
        if (all->n_answer[s] < n_search)
            text_append(&words, " (%zu of %zu searches)", all->n_answer[s], n_search);
        name[s] = text_keep(&words, &data->arena);
    }
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    if (all->n_seed > 1)
        snprintf(note, sizeof note, "mean and range of %zu seeds", all->n_seed);
    size_t letters = plot_longest(name, all->n_series);
    letters = text_letters(title) > letters ? text_letters(title) : letters;
    *width = 50 + 5.4 * (double)(text_letters(note) > letters ? text_letters(note) : letters);
    gnuplot_set_texts(&job->script, "series_name", name, all->n_series);
    gnuplot_set_text(&job->script, "dse_series_title", title);
    gnuplot_set_text(&job->script, "dse_note", note);
    return DSE_OK;
}

/* The layers that have a trace: the others are those of other networks. */
static enum dse_status put_layer_names(struct plot_job *job, struct convergence *all, double *width,
                                       struct dse_error *err)
{
    const struct result_schema *schema = &job->data.schema;
    const char **name = arena_alloc(&job->data.arena, schema->n_layer, sizeof *name);
    all->shown = arena_alloc(&job->data.arena, schema->n_layer, sizeof *all->shown);
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    for (size_t l = 0; l < schema->n_layer; l++)
        if (!isnan(all->search->best[l])) {
            name[all->n_shown] = schema->layer[l];
            all->shown[all->n_shown++] = l;
        }
    *width = all->n_shown <= 12 ? 40 + 5.2 * (double)plot_longest(name, all->n_shown) : 116;
    gnuplot_set_texts(&job->script, "layer_name", name, all->n_shown);
    return DSE_OK;
}

/* Is a coordinate of this axis the work that is done? Costs of different work share no curve. */
static bool is_work(const struct plot_data *data, size_t axis)
{
    return plot_axis_has(data, axis, "network") || plot_axis_has(data, axis, "batch");
}

/* The series are along the axis of y, else of the engines, and seeds are averaged; networks and batches are
 * then panels. Without series and seeds it is a picture of layers. The rest is fixed at the best point. */
static enum dse_status choose_axes(struct plot_data *data, const struct plot_options *options,
                                   bool *is_series, struct dse_error *err)
{
    size_t keep[RESULT_AXIS_MAX + 2];
    DSE_TRY(plot_take_axis(data, options->y, &data->y, err));
    for (size_t a = 0; a < data->schema.n_axis; a++)
        if (!options->y && !data->is_fixed[a] && plot_axis_has(data, a, "engine"))
            DSE_TRY(plot_find_axis(data, "engine", &data->y, err));
    for (size_t a = 0; a < data->schema.n_axis; a++)
        if (a != data->y.axis && !data->is_fixed[a] && plot_axis_has(data, a, "seed"))
            data->x.axis = a;
    *is_series = data->x.axis != PLOT_NO_AXIS || data->y.axis != PLOT_NO_AXIS;
    data->n_facet = 0;
    for (size_t a = 0; *is_series && a < data->schema.n_axis; a++)
        if (a != data->x.axis && a != data->y.axis && !data->is_fixed[a] && is_work(data, a))
            data->facet[data->n_facet++] = a;
    memcpy(keep, data->facet, data->n_facet * sizeof *keep);
    keep[data->n_facet] = data->x.axis;
    keep[data->n_facet + 1] = data->y.axis;
    return plot_fix_at_best(data, keep, data->n_facet + 2, err);
}

static enum dse_status prepare(struct plot_job *job, struct convergence *all, bool *is_series,
                               struct dse_error *err)
{
    struct plot_data *data = &job->data;
    const size_t limit = job->options->max_facet ? job->options->max_facet : 12;
    if (data->schema.n_layer == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "there are no layers, so there are no traces");
    all->in_seconds = job->options->x && strcmp(job->options->x, "seconds") == 0;
    DSE_TRY(choose_axes(data, job->options, is_series, err));
    all->n_panel = plot_n_panel(data);
    all->n_series = plot_length(data, &data->y);
    all->n_seed = plot_length(data, &data->x);
    if (all->n_series > SERIES_MAX)
        return plot_too_many(data, "curves", all->n_series, SERIES_MAX, err);
    if (all->n_panel > limit)
        return plot_too_many(data, "panels", all->n_panel, limit, err);
    DSE_TRY(read_searches(data, all, err));
    survey_places(data, all);
    return *is_series ? make_curves(data, all, err) : DSE_OK;
}

static void put_frame(struct plot_job *job, const struct convergence *all, bool is_series)
{
    struct text_buffer *script = &job->script;
    const char *unit = all->in_seconds ? "Processor time" : "Evaluations";
    char title[64];
    snprintf(title, sizeof title, "%s%s%s", unit, is_series || all->n_shown > 1 ? " per layer" : "",
             all->in_seconds ? " (s)" : "");
    gnuplot_set_text(script, "dse_x_title", title);
    gnuplot_set_text(script, "dse_y_title", "Best cost so far / best known");
    text_append(script, "dse_first = %.9g\ndse_last = %.9g\ndse_high = %.9g\n", all->first, all->last,
                all->high);
    text_append(script, "dse_n_layer = %zu\ndse_n_series = %zu\n", all->n_shown,
                is_series ? all->n_series : 0);
}

enum dse_status plot_convergence(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct convergence all = {0};
    struct plot_layout layout = {
        .panel_width = 250, .panel_height = 180, .left = 62, .gap_x = 20, .gap_y = 30};
    const char *const *title;
    bool is_series = false;
    DSE_TRY(prepare(job, &all, &is_series, err));
    DSE_TRY(plot_panel_titles(data, &title, err));
    DSE_TRY(is_series ? put_names(job, &all, &layout.right, err)
                      : put_layer_names(job, &all, &layout.right, err));
    layout.right = layout.right < 122 ? 122 : layout.right;
    layout.panel_width = all.n_panel == 1 ? 360 : fmax(250, 5.4 * (double)plot_longest(title, all.n_panel));
    layout.panel_height = fmax(layout.panel_height, 13.0 * (double)(all.n_series + 3));
    layout.top = 44 + (all.n_panel > 1 ? 18 : 4);
    layout.bottom = 44;
    layout.least_width = plot_head_width(job);
    plot_layout(&layout, all.n_panel, 0);
    DSE_TRY(plot_put_layout(job, &layout, title, err));
    if (is_series) {
        put_series(&job->script, &all);
    } else {
        put_layers(&job->script, &all);
        DSE_TRY(put_mean(job, &all, err));
    }
    put_frame(job, &all, is_series);
    return DSE_OK;
}
