/* Searches by their improvements, as the traces of a cube have them: read, set against the best known of the
 * same work, averaged over layers and over seeds. What `--kind convergence` draws. */
#ifndef RESULTS_PLOT_PLOT_TRACES_H
#define RESULTS_PLOT_PLOT_TRACES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/plot/plot_data.h"

/* The searches of one cell, one for each layer of the cube. */
struct plot_search {
    size_t *first;      /* (n_layer + 1) where the improvements of a layer begin */
    double *x, *cost;   /* (first[n_layer]) evaluations or processor seconds; the best cost so far */
    double *end;        /* (n_layer) evaluations in all; NaN when not known, and of seconds */
    const double *best; /* (n_layer) set by plot_searches_compare */
};

/* A staircase: from x[i] to x[i + 1] it is y[i], which is the mean of what lies between low[i] and
 * high[i]. */
struct plot_curve {
    size_t n;
    double *x, *y, *low, *high; /* (n) */
};

/* The traces of a cell; none where it has no result. Memory from data->arena. DSE_BAD_INPUT: the file has no
 * traces, or traces without seconds where these are asked for. */
DSE_MUST_CHECK enum dse_status plot_search_read(struct plot_data *data, size_t cell, bool in_seconds,
                                                struct plot_search *search, struct dse_error *err);

/* Set `best` of the searches (n) of the cells (n): the lowest cost of each layer over those that compute the
 * same network and batch; NaN where a layer has no trace. */
DSE_MUST_CHECK enum dse_status plot_searches_compare(struct plot_data *data, struct plot_search *search,
                                                     const size_t *cell, size_t n, struct dse_error *err);

/* Cost over best known of improvement i of a layer; NaN when there is no such number. */
double plot_search_ratio(const struct plot_search *search, size_t layer, size_t i);

/* The geometric mean over the layers of cost over best known, from where all layers that anyone has an answer
 * for have one; no step when that never comes. Memory from `arena`. */
DSE_MUST_CHECK enum dse_status plot_search_mean(const struct plot_search *search, size_t n_layer,
                                                struct arena *arena, struct plot_curve *curve,
                                                struct dse_error *err);

/* The arithmetic mean of those of the curves (n) that have steps, from where all of these have begun. Steps
 * closer together than a thousandth of x are one. */
DSE_MUST_CHECK enum dse_status plot_curves_mean(const struct plot_curve *curve, size_t n, struct arena *arena,
                                                struct plot_curve *mean, struct dse_error *err);

#endif
