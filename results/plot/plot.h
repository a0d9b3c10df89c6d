/* Figures from OUT.h5 with gnuplot: heatmaps, convergence curves, energy bars; PNG, SVG or PDF by the
 * ending. */
#ifndef RESULTS_PLOT_PLOT_H
#define RESULTS_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "results/cube/cube_join.h"

struct plot_job;

enum { PLOT_METRIC_MAX = 6 };

enum plot_trait {
    PLOT_TWO_AXES = 1, /* x and y are different axes */
    PLOT_ONE_FILE = 2, /* it reads more than points, and those of one file */
    PLOT_METRICS = 4,  /* x and y are metrics */
    PLOT_COMPARES = 8, /* it can show values of an axis over one of them, or which is the best */
};

/* A kind of figure: a row of the table in plot_kinds.h. */
struct plot_kind {
    const char *name;     /* for --kind and the specification; its template is NAME.gp */
    const char *sentence; /* for help */
    unsigned traits;      /* of enum plot_trait */
    const char *x_words;  /* "a,b": what x is one of, instead of an axis; NULL: an axis */
    size_t n_metric;      /* how many metrics it shows at most */
    const char *metric;   /* the only one it can show, or NULL */
    /* append data and layout to the script, for the template to draw */
    enum dse_status (*draw)(struct plot_job *job, struct dse_error *err);
};

/* What to draw; NULL or 0 means: choose. */
struct plot_options {
    const struct plot_kind
        *kind;          /* default: lines where one axis is free, or several metrics; else heatmap */
    const char *metric; /* a field name, or several with commas between; default edp_js */
    /* axis names; default: the two longest axes, numeric ones first. Or x: a word. Of scatter: metrics */
    const char *x, *y;
    const char *color; /* of kind scatter: an axis or "none"; default: engine where there are several */
    /* (n_file) where the sweep lies in several: all of them, the one to draw first */
    const struct cube_file *file;
    size_t n_file;
    const char *relative;     /* of kind heatmap: "axis=value", values over that one's */
    const char *winner;       /* of kind heatmap: an axis, its best value in each cell */
    const char *layer;        /* of kind front: its front in place of the network's */
    const char *const *where; /* (n_where) "axis=value" or "axis=label": keep only this slice */
    size_t n_where;
    size_t max_facet;  /* at most so many panels (default 12); more is an error that says how to choose */
    const char *title; /* default: the specification's title */
    /* where the .gp files are; default: plotting/ beside the program or $PREFIX/share/dse */
    const char *template_dir;
    bool keep_script; /* also leave FIG.gp, the whole script with its data, beside the figure */
};

/* The kind at position i, or NULL behind the last one. */
const struct plot_kind *plot_kind_at(size_t i);

/* The kind of that name, or NULL. */
const struct plot_kind *plot_kind_find(const char *name);

/* Can this kind show these metrics ("a" or "a,b"; NULL: the default)? DSE_BAD_USAGE says what would be
 * right. */
DSE_MUST_CHECK enum dse_status plot_kind_takes(const struct plot_kind *kind, const char *metric,
                                               struct dse_error *err);

/* Can this kind be drawn over `x`, a word or the name of an axis (NULL: the default)? DSE_BAD_USAGE says what
 * would be right; whether there is such an axis is seen when it is drawn. */
DSE_MUST_CHECK enum dse_status plot_kind_takes_x(const struct plot_kind *kind, const char *x,
                                                 struct dse_error *err);

/* Word i of "a,b,c" into `word`; false behind the last. */
bool plot_metric_word(const char *metric, size_t i, char *word, size_t size);

/* Are options->relative and options->winner (each may be NULL) of a sweep with these axes? options->metric, x
 * and y as plot_draw takes them. DSE_BAD_USAGE, DSE_BAD_INPUT as plot_draw. */
DSE_MUST_CHECK enum dse_status plot_compare_check(const struct result_schema *schema,
                                                  const struct plot_options *options, struct dse_error *err);

/* The names of all kinds, (n). */
const char *const *plot_kind_names(size_t *n);

/* Name and sentence of the kind at position i for help (cli_command.choice); NULL behind the last one. */
const char *plot_kind_word(size_t i, const char **sentence);

/* Draw `h5_path` into `figure_path`. DSE_BAD_INPUT: nothing to draw, unknown metric or axis (with the nearest
 * name). DSE_BAD_USAGE: unknown ending. DSE_IO: gnuplot is missing (names the package gnuplot-nox) or failed
 * (its last words). */
DSE_MUST_CHECK enum dse_status plot_draw(const char *h5_path, const char *figure_path,
                                         const struct plot_options *options, struct dse_error *err);

#endif
