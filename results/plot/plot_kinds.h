/* The kinds of figure, and what they share. Each appends its data and layout to a script that ends with its
 * template. */
#ifndef RESULTS_PLOT_PLOT_KINDS_H
#define RESULTS_PLOT_PLOT_KINDS_H

#include "base/status.h"
#include "base/text.h"
#include "results/plot/plot_data.h"

/* Every kind, in the order help shows them. X(name, traits, words of x or NULL, how many metrics, the only
 * metric or NULL, sentence): the function is plot_NAME, the template plotting/NAME.gp. */
#define PLOT_KINDS(X)                                                                                        \
    X(heatmap, PLOT_TWO_AXES | PLOT_COMPARES, NULL, 1, NULL,                                                 \
      "the metric over two axes, the others as panels")                                                      \
    X(convergence, PLOT_ONE_FILE, "evaluations, seconds", 0, NULL,                                           \
      "best cost so far, at the point with the best edp_js; engines or the values of y as curves")           \
    X(breakdown, PLOT_ONE_FILE, NULL, 1, "energy_j", "bars of energy by storage level")                      \
    X(front, PLOT_ONE_FILE, "latency", 1, "energy_j",                                                        \
      "fronts of the objective pareto: energy over latency, the values of y as staircases")                  \
    X(scatter, PLOT_METRICS, NULL, 0, NULL,                                                                  \
      "the points over the metrics x and y, an axis as --color, and their front as a line")                  \
    X(lines, 0, NULL, PLOT_METRIC_MAX, NULL, "metrics over one axis, another as lines, the others as panels")

#define PLOT_DECLARE(name, traits, x_words, n_metric, metric, sentence)                                      \
    DSE_MUST_CHECK enum dse_status plot_##name(struct plot_job *job, struct dse_error *err);
PLOT_KINDS(PLOT_DECLARE)
#undef PLOT_DECLARE

/* What is being drawn; passed to the kinds. */
struct plot_job {
    struct plot_data data;
    const struct plot_options *options;
    const char *figure_path;
    struct text_buffer script;
};

/* Panels side by side: where they are on the canvas. Filled by plot_layout. */
struct plot_layout {
    size_t n_panel, n_column, n_row;
    double panel_width, panel_height;              /* points, the plotting area alone */
    double left, right, top, bottom, gap_x, gap_y; /* points around and between panels */
    double width, height;                          /* points, the canvas */
    double least_width;                            /* points, what titles and foot need */
};

/* Choose columns and rows for panels of that size (points): so many columns as are wanted (they are an axis),
 * or, for 0, so that the canvas stays about a page wide. */
void plot_layout(struct plot_layout *layout, size_t n_panel, size_t n_column_wanted);

/* Append the terminal, the title and the line under it (what is fixed); then the arrays of the panels' edges,
 * titles and which of them carry tick labels. */
DSE_MUST_CHECK enum dse_status plot_put_layout(struct plot_job *job, const struct plot_layout *layout,
                                               const char *const *title, struct dse_error *err);

/* Width in points that the title and the line under it need. */
double plot_head_width(const struct plot_job *job);

/* "set xtics (...)" with labels at 0 .. n-1, as a text variable that a template evaluates. */
void plot_put_ticks(struct text_buffer *script, const char *name, const char *axis, const char *const *label,
                    size_t n, const char *rotation);

/* Letters of the longest label. */
size_t plot_longest(const char *const *label, size_t n);

/* Three digits that matter, without an exponent where it can be helped. */
void plot_print_value(double value, char *buffer, size_t size);

/* Panel titles (n_panel) in the arena. */
DSE_MUST_CHECK enum dse_status plot_panel_titles(struct plot_data *data, const char *const **title,
                                                 struct dse_error *err);

#endif
