/* Figures from OUT.h5 with gnuplot: heatmaps, convergence curves, energy bars; PNG, SVG or PDF by the
 * ending. */
#ifndef RESULTS_PLOT_PLOT_H
#define RESULTS_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum plot_kind { PLOT_HEATMAP, PLOT_CONVERGENCE, PLOT_BREAKDOWN };

/* What to draw; NULL or 0 means: choose. */
struct plot_options {
    enum plot_kind kind;
    const char *metric;       /* a field name; default edp_js */
    const char *x, *y;        /* axis names; default: the two longest axes, numeric ones first */
    const char *const *where; /* (n_where) "axis=value" or "axis=label": keep only this slice */
    size_t n_where;
    size_t max_facet;  /* at most so many panels (default 12); more is an error that says how to choose */
    const char *title; /* default: the specification's title */
    /* where the .gp files are; default: plotting/ beside the program or $PREFIX/share/dse */
    const char *template_dir;
    bool keep_script; /* also leave FIG.gp, the whole script with its data, beside the figure */
};

/* Names of the kinds for the command line: "heatmap", "convergence", "breakdown". Returns 0 when unknown,
 * else 1. */
int plot_kind_find(const char *word, enum plot_kind *kind);

/* Draw `h5_path` into `figure_path`. DSE_BAD_INPUT: nothing to draw, unknown metric or axis (with the nearest
 * name). DSE_BAD_USAGE: unknown ending. DSE_IO: gnuplot is missing (names the package gnuplot-nox) or failed
 * (its last words). */
DSE_MUST_CHECK enum dse_status plot_draw(const char *h5_path, const char *figure_path,
                                         const struct plot_options *options, struct dse_error *err);

#endif
