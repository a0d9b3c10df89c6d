/* Reads the traces of one cell at a time and keeps their improvements; means of staircases, step by step. */
#include "results/plot/plot_traces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "results/cube/cube_read.h"

/* A cell's part of a dataset, shape (n_layer, `*n_column`) or, for NULL, (n_layer). */
static enum dse_status read_part(struct plot_data *data, size_t cell, const char *dataset,
                                 struct arena *arena, double **value, size_t *n_column, struct dse_error *err)
{
    const size_t n_layer = data->schema.n_layer;
    uint32_t index[RESULT_AXIS_MAX];
    size_t n;
    for (size_t a = 0; a < data->schema.n_axis; a++)
        index[a] = plot_position(data, cell, a);
    DSE_TRY(cube_read_cell(data->path, dataset, index, data->schema.n_axis, arena, value, &n, err));
    if (n % n_layer != 0 || (!n_column && n != n_layer) ||
        (n_column && *n_column && n != n_layer * *n_column))
        return dse_fail_at(err, DSE_BAD_INPUT, data->path, 0,
                           "the traces do not have the shape of the layers");
    if (n_column)
        *n_column = n / n_layer;
    return DSE_OK;
}

/* Earlier versions kept no seconds; traces of theirs may have been merged with others. */
static enum dse_status no_seconds(const struct plot_data *data, struct dse_error *err)
{
    return dse_fail_at(
        err, DSE_BAD_INPUT, data->path, 0,
        "its traces have no seconds (an earlier version of dse wrote them): leave `-x seconds` "
        "out to draw them over evaluations");
}

static enum dse_status read_places(struct plot_data *data, size_t cell, bool in_seconds, struct arena *arena,
                                   double **x, size_t *n_step, struct dse_error *err)
{
    if (!in_seconds)
        return read_part(data, cell, "trace/evaluation", arena, x, n_step, err);
    enum dse_status status = read_part(data, cell, "trace/seconds", arena, x, n_step, err);
    return status == DSE_BAD_INPUT ? no_seconds(data, err) : status;
}

/* The improvements of all layers one after the other: shape (n_layer, n_step) without what is NaN at the
 * ends. */
static enum dse_status pack(struct plot_data *data, const double *x, const double *cost, size_t n_step,
                            bool in_seconds, struct plot_search *search, struct dse_error *err)
{
    const size_t n_layer = data->schema.n_layer;
    size_t n = 0;
    for (size_t l = 0; l < n_layer; l++)
        for (size_t i = l * n_step; i < (l + 1) * n_step && isfinite(cost[i]); i++)
            n++;
    search->first = arena_alloc(&data->arena, n_layer + 1, sizeof *search->first);
    search->x = arena_alloc(&data->arena, n, sizeof *search->x);
    search->cost = arena_alloc(&data->arena, n, sizeof *search->cost);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    n = 0;
    for (size_t l = 0; l < n_layer; l++) {
        search->first[l] = n;
        for (size_t i = l * n_step; i < (l + 1) * n_step && isfinite(cost[i]); i++) {
            if (in_seconds && isnan(x[i]))
                return no_seconds(data, err);
            search->x[n] = x[i];
            search->cost[n++] = cost[i];
        }
    }
    search->first[n_layer] = n;
    return DSE_OK;
}

static enum dse_status read_search(struct plot_data *data, size_t cell, bool in_seconds,
                                   struct arena *scratch, struct plot_search *search, struct dse_error *err)
{
    double *x, *cost;
    size_t n_step = 0;
    DSE_TRY(read_part(data, cell, "trace/cost", scratch, &cost, &n_step, err));
    DSE_TRY(read_places(data, cell, in_seconds, scratch, &x, &n_step, err));
    DSE_TRY(read_part(data, cell, "layers/evaluations", &data->arena, &search->end, NULL, err));
    for (size_t l = 0; in_seconds && l < data->schema.n_layer; l++)
        search->end[l] = NAN;
    return pack(data, x, cost, n_step, in_seconds, search, err);
}

enum dse_status plot_search_read(struct plot_data *data, size_t cell, bool in_seconds,
                                 struct plot_search *search, struct dse_error *err)
{
    struct arena scratch;
    arena_init(&scratch);
    enum dse_status status = read_search(data, cell, in_seconds, &scratch, search, err);
    arena_free(&scratch);
    return status;
}

enum dse_status plot_searches_compare(struct plot_data *data, struct plot_search *search, const size_t *cell,
                                      size_t n, struct dse_error *err)
{
    const size_t n_layer = data->schema.n_layer;
    double **of_group = arena_alloc(&data->arena, data->n_cell, sizeof *of_group);
    DSE_TRY(arena_check(&data->arena, "the figure", err));
    for (size_t i = 0; i < n; i++) {
        double **best = &of_group[plot_group(data, cell[i])];
        if (!*best) {
            *best = arena_alloc(&data->arena, n_layer, sizeof **best);
            DSE_TRY(arena_check(&data->arena, "the figure", err));
            for (size_t l = 0; l < n_layer; l++)
                (*best)[l] = NAN;
        }
        for (size_t l = 0; l < n_layer; l++)
            for (size_t k = search[i].first[l]; k < search[i].first[l + 1]; k++)
                (*best)[l] = fmin((*best)[l], search[i].cost[k]); /* fmin leaves NaN aside */
        search[i].best = *best;
    }
    return DSE_OK;
}

double plot_search_ratio(const struct plot_search *search, size_t layer, size_t i)
{
    double ratio = search->cost[i] / search->best[layer];
    return isfinite(ratio) ? ratio : NAN;
}

/* A step of one of the staircases that are averaged. */
struct step {
    double x, y;
    size_t item;
};

/* By place; what one staircase has at one place goes down. */
static int by_place(const void *a, const void *b)
{
    const struct step *s = a, *t = b;
    if (s->x < t->x || s->x > t->x)
        return s->x < t->x ? -1 : 1;
    if (s->item != t->item)
        return s->item < t->item ? -1 : 1;
    return (t->y > s->y) - (t->y < s->y);
}

/* The arithmetic mean of n_item staircases from where all have begun; steps within `near` times x of the one
 * before them are put into that. */
static enum dse_status mean_of_steps(struct step *step, size_t n_step, size_t n_item, double near,
                                     struct arena *arena, struct plot_curve *mean, struct dse_error *err)
{
    double *now = arena_alloc(arena, n_item, sizeof *now),
           **const row[] = {&mean->x, &mean->y, &mean->low, &mean->high};
    size_t n_begun = 0;
    mean->n = 0;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        *row[i] = arena_alloc(arena, n_step, sizeof **row[i]);
    DSE_TRY(arena_check(arena, "the figure", err));
    for (size_t k = 0; k < n_item; k++)
        now[k] = NAN;
    qsort(step, n_step, sizeof *step, by_place);
    for (size_t i = 0; i < n_step; i++) {
        double sum = 0, low = INFINITY, high = -INFINITY;
        n_begun += isnan(now[step[i].item]) ? 1 : 0;
        now[step[i].item] = step[i].y;
        if (n_begun < n_item)
            continue;
        for (size_t k = 0; k < n_item; k++) {
            sum += now[k];
            low = fmin(low, now[k]);
            high = fmax(high, now[k]);
        }
        if (mean->n == 0 || step[i].x >= mean->x[mean->n - 1] * near)
            mean->x[mean->n++] = step[i].x;
        const size_t at = mean->n - 1;
        mean->y[at] = sum / (double)n_item;
        mean->low[at] = low;
        mean->high[at] = high;
    }
    return DSE_OK;
}

enum dse_status plot_search_mean(const struct plot_search *search, size_t n_layer, struct arena *arena,
                                 struct plot_curve *curve, struct dse_error *err)
{
    struct step *step = arena_alloc(arena, search->first[n_layer], sizeof *step);
    size_t n_step = 0, n_item = 0;
    DSE_TRY(arena_check(arena, "the figure", err));
    for (size_t l = 0; l < n_layer; l++) {
        if (isnan(search->best[l]))
            continue;
        for (size_t i = search->first[l]; i < search->first[l + 1]; i++) {
            double ratio = plot_search_ratio(search, l, i);
            if (ratio > 0)
                step[n_step++] = (struct step){search->x[i], log(ratio), n_item};
        }
        n_item++;
    }
    DSE_TRY(mean_of_steps(step, n_step, n_item, 0, arena, curve, err));
    for (size_t i = 0; i < curve->n; i++)
        curve->y[i] = exp(curve->y[i]);
    return DSE_OK;
}

enum dse_status plot_curves_mean(const struct plot_curve *curve, size_t n, struct arena *arena,
                                 struct plot_curve *mean, struct dse_error *err)
{
    size_t n_all = 0, n_step = 0, n_item = 0;
    for (size_t k = 0; k < n; k++)
        n_all += curve[k].n;
    struct step *step = arena_alloc(arena, n_all, sizeof *step);
    DSE_TRY(arena_check(arena, "the figure", err));
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < curve[k].n; i++)
            step[n_step++] = (struct step){curve[k].x[i], curve[k].y[i], n_item};
        n_item += curve[k].n > 0 ? 1 : 0;
    }
    return mean_of_steps(step, n_step, n_item, 1.001, arena, mean, err);
}
