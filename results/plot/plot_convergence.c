/* Curves of the best cost over evaluations, per layer relative to the best of all panels, with their
 * geometric mean. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results/cube/cube_read.h"
#include "results/plot/plot_gnuplot.h"
#include "results/plot/plot_kinds.h"

/* The traces of one point: shape (n_layer, n_iteration), NaN beyond the end of each. */
struct traces {
    double *evaluation, *cost;
    double *last; /* (n_layer) evaluations spent in all, NaN when not known */
};

/* All panels together. */
struct convergence {
    size_t n_panel, n_layer, n_iteration;
    struct traces *panel; /* (n_panel) */
    const char **layer;   /* (n_layer) */
    double *best;         /* (n_layer) lowest cost over the panels */
    double *mean_log;     /* (n_layer) scratch for the mean curve */
    double high, last;    /* largest ratio and evaluation drawn */
};

static enum dse_status read_traces(struct plot_data *data, struct convergence *all, size_t panel,
                                   struct dse_error *err)
{
    uint32_t index[RESULT_AXIS_MAX];
    size_t n_cost, n_evaluation, n_last;
    struct traces *traces = &all->panel[panel];
    for (size_t a = 0; a < data->schema.n_axis; a++)
        index[a] = plot_position(data, plot_cell(data, panel, 0, 0), a);
    DSE_TRY(cube_read_cell(data->path, "trace/cost", index, data->schema.n_axis, &data->arena, &traces->cost,
                           &n_cost, err));
    DSE_TRY(cube_read_cell(data->path, "trace/evaluation", index, data->schema.n_axis, &data->arena,
                           &traces->evaluation, &n_evaluation, err));
    DSE_TRY(cube_read_cell(data->path, "layers/evaluations", index, data->schema.n_axis, &data->arena,
                           &traces->last, &n_last, err));
    all->n_iteration = n_cost / all->n_layer;
    if (n_last != all->n_layer || n_cost != n_evaluation || n_cost % all->n_layer != 0)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "the traces do not have the shape of the layers");
    return DSE_OK;
}

/* Keep the layers that have a trace in a panel: the others are those of other networks. */
static enum dse_status keep_traced(struct plot_data *data, struct convergence *all, struct dse_error *err)
{
    const size_t n_iteration = all->n_iteration;
    size_t n = 0;
    all->layer = arena_alloc(&data->arena, all->n_layer, sizeof *all->layer);
    all->best = arena_alloc(&data->arena, all->n_layer, sizeof *all->best);
    all->mean_log = arena_alloc(&data->arena, all->n_layer, sizeof *all->mean_log);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t l = 0; l < all->n_layer; l++) {
        bool any = false;
        for (size_t p = 0; p < all->n_panel; p++)
            any = any || (n_iteration && isfinite(all->panel[p].cost[l * n_iteration]));
        if (!any)
            continue;
        for (size_t p = 0; p < all->n_panel; p++) {
            struct traces *of = &all->panel[p];
            memmove(of->cost + n * n_iteration, of->cost + l * n_iteration, n_iteration * sizeof *of->cost);
            memmove(of->evaluation + n * n_iteration, of->evaluation + l * n_iteration,
                    n_iteration * sizeof *of->evaluation);
            of->last[n] = of->last[l];
        }
        all->layer[n++] = data->schema.layer[l];
    }
    all->n_layer = n;
    return n > 0 ? DSE_OK
                 : dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                               "the points to draw have no traces (were they recorded in this sweep?)");
}

/* What each layer's curve is divided by, and the ranges. */
static void survey(struct convergence *all)
{
    const size_t n_layer = all->n_layer, n_iteration = all->n_iteration;
    for (size_t l = 0; l < n_layer; l++) {
        all->best[l] = NAN;
        for (size_t p = 0; p < all->n_panel; p++) {
            for (size_t i = 0; i < n_iteration; i++)
                all->best[l] = fmin(all->best[l], all->panel[p].cost[l * n_iteration + i]);
        }
    }
    for (size_t p = 0; p < all->n_panel; p++) {
        for (size_t k = 0; k < n_layer * n_iteration; k++) {
            double ratio = all->panel[p].cost[k] / all->best[k / n_iteration];
            if (isfinite(ratio)) {
                all->high = fmax(all->high, ratio);
                all->last = fmax(all->last, all->panel[p].evaluation[k]);
            }
        }
        for (size_t l = 0; l < n_layer; l++)
            all->last = fmax(all->last, all->panel[p].last[l]); /* fmax leaves NaN aside */
    }
}

/* One improvement, for the mean curve. */
struct step {
    double evaluation;
    size_t layer;
    double log_ratio;
};

static int by_evaluation(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->evaluation < y->evaluation || x->evaluation > y->evaluation)
        return x->evaluation < y->evaluation ? -1 : 1;
    return (x->layer > y->layer) - (x->layer < y->layer);
}

/* The geometric mean over the layers, from where all of them have a first answer. */
static enum dse_status put_mean(struct plot_job *job, struct convergence *all, size_t panel,
                                struct dse_error *err)
{
    const struct traces *traces = &all->panel[panel];
    struct step *step = arena_alloc(&job->data.arena, all->n_layer * all->n_iteration + 1, sizeof *step);
    size_t n_step = 0, n_known = 0, n_with_trace = 0;
    double sum = 0;
    DSE_TRY(arena_check(&job->data.arena, "the figure", err));
    for (size_t l = 0; l < all->n_layer; l++) {
        all->mean_log[l] = NAN;
        n_with_trace += isfinite(traces->cost[l * all->n_iteration]) ? 1 : 0;
        for (size_t i = 0; i < all->n_iteration; i++) {
            double ratio = traces->cost[l * all->n_iteration + i] / all->best[l];
            if (isfinite(ratio) && ratio > 0)
                step[n_step++] = (struct step){traces->evaluation[l * all->n_iteration + i], l, log(ratio)};
        }
    }
    qsort(step, n_step, sizeof *step, by_evaluation);
    for (size_t i = 0; i < n_step; i++) {
        double *known = &all->mean_log[step[i].layer];
        n_known += isnan(*known) ? 1 : 0;
        sum += step[i].log_ratio - (isnan(*known) ? 0 : *known);
        *known = step[i].log_ratio;
        if (n_known == n_with_trace)
            text_append(&job->script, "%.9g %.9g\n", step[i].evaluation, exp(sum / (double)n_known));
    }
    if (n_step > 0)
        text_append(&job->script, "%.9g %.9g\n", all->last, exp(sum / (double)n_known));
    else
        text_append(&job->script, "NaN NaN\n");
    text_append(&job->script, "\n\n");
    return DSE_OK;
}

/* $curves: evaluation, ratio, layer; one index per panel, blank lines between layers. $mean: one index per
 * panel. */
static enum dse_status put_curves(struct plot_job *job, struct convergence *all, struct dse_error *err)
{
    struct text_buffer *script = &job->script;
    text_append(script, "$curves << END_OF_CURVES\n");
    for (size_t p = 0; p < all->n_panel; p++) {
        const struct traces *traces = &all->panel[p];
        text_append(script, "NaN NaN -1\n");
        for (size_t l = 0; l < all->n_layer; l++) {
            double ratio = NAN, end = traces->last[l];
            for (size_t i = 0; i < all->n_iteration; i++) {
                size_t k = l * all->n_iteration + i;
                if (!isfinite(traces->cost[k] / all->best[l]))
                    break;
                ratio = traces->cost[k] / all->best[l];
                text_append(script, "%s%.9g %.9g %zu\n", i == 0 ? "\n" : "", traces->evaluation[k], ratio, l);
            }
            if (!isnan(ratio) && !isnan(end))
                text_append(script, "%.9g %.9g %zu\n", end, ratio, l);
        }
        text_append(script, "\n\n");
    }
    text_append(script, "END_OF_CURVES\n$mean << END_OF_MEAN\n");
    for (size_t p = 0; p < all->n_panel; p++)
        DSE_TRY(put_mean(job, all, p, err));
    text_append(script, "END_OF_MEAN\n");
    return DSE_OK;
}

/* The panels' axis: asked for as x, else an axis called `engine`, else none. The rest is fixed at the best
 * point. */
static enum dse_status choose_panels(struct plot_data *data, const struct plot_options *options,
                                     struct dse_error *err)
{
    struct plot_axis panels = {PLOT_NO_AXIS, 0};
    if (options->x)
        DSE_TRY(plot_find_axis(data, options->x, &panels, err));
    else if (plot_find_axis(data, "engine", &panels, NULL) != DSE_OK)
        panels.axis = PLOT_NO_AXIS;
    DSE_TRY(plot_fix_at_best(data, &panels.axis, 1, err));
    data->n_facet = 0;
    if (panels.axis != PLOT_NO_AXIS && !data->is_fixed[panels.axis])
        data->facet[data->n_facet++] = panels.axis;
    return DSE_OK;
}

static void put_frame(struct plot_job *job, const struct convergence *all)
{
    gnuplot_set_text(&job->script, "dse_x_title", all->n_layer > 1 ? "Evaluations per layer" : "Evaluations");
    gnuplot_set_text(&job->script, "dse_y_title", "Best cost so far / best known");
    text_append(&job->script, "dse_high = %.9g\ndse_last = %.9g\ndse_n_layer = %zu\n", all->high, all->last,
                all->n_layer);
    gnuplot_set_texts(&job->script, "layer_name", all->layer, all->n_layer);
}

enum dse_status plot_convergence(struct plot_job *job, struct dse_error *err)
{
    struct plot_data *data = &job->data;
    struct convergence all = {.n_layer = data->schema.n_layer};
    struct plot_layout layout = {
        .panel_width = 250, .panel_height = 180, .left = 62, .gap_x = 20, .gap_y = 30};
    const char *const *title;
    if (all.n_layer == 0)
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0, "there are no layers, so there are no traces");
    DSE_TRY(choose_panels(data, job->options, err));
    all.n_panel = plot_n_panel(data);
    all.panel = arena_alloc(&data->arena, all.n_panel, sizeof *all.panel);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t p = 0; p < all.n_panel; p++)
        DSE_TRY(read_traces(data, &all, p, err));
    DSE_TRY(keep_traced(data, &all, err));
    survey(&all);
    DSE_TRY(plot_panel_titles(data, &title, err));
    if (all.n_panel == 1)
        layout.panel_width = 360;
    layout.right = all.n_layer <= 12 ? 40 + 5.2 * (double)plot_longest(all.layer, all.n_layer) : 116;
    layout.right = layout.right < 122 ? 122 : layout.right;
    layout.top = 44 + (all.n_panel > 1 ? 18 : 4);
    layout.bottom = 44;
    layout.least_width = plot_head_width(job);
    plot_layout(&layout, all.n_panel, 0);
    DSE_TRY(plot_put_layout(job, &layout, title, err));
    put_frame(job, &all);
    DSE_TRY(put_curves(job, &all, err));
    return DSE_OK;
}
