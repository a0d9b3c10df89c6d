/* What a figure shows: one metric over the cells of a cube, the axes in their roles, labels and scales. */
#ifndef RESULTS_PLOT_PLOT_DATA_H
#define RESULTS_PLOT_PLOT_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
#include "results/plot/plot.h"
#include "results/record/schema.h"

enum { PLOT_NO_AXIS = RESULT_AXIS_MAX, PLOT_LABEL_MAX = 96 };

/* An axis in the role of x or y: `coordinate` is the one whose labels are shown. */
struct plot_axis {
    size_t axis; /* PLOT_NO_AXIS: none */
    size_t coordinate;
};

struct plot_data {
    struct arena arena;
    const char *path;      /* of the first file; borrowed */
    struct cube_join join; /* of the files */
    struct result_schema schema;
    const struct metric *metric;
    double *value;             /* (n_cell) in SI, NaN when missing */
    const char *const *status; /* (n_cell) "" when missing */
    size_t n_cell;
    bool is_fixed[RESULT_AXIS_MAX];
    uint32_t fixed[RESULT_AXIS_MAX]; /* position on fixed axes */
    struct plot_axis x, y;
    size_t facet[RESULT_AXIS_MAX]; /* (n_facet) axes that are neither fixed nor x nor y */
    size_t n_facet;
    char note[192]; /* what else to say of all that is shown, or "" */
};

/* Open the cube or cubes, fix what `where` and axes of length 1 fix. Release with plot_data_close,
 * also on failure. */
DSE_MUST_CHECK enum dse_status plot_data_open(struct plot_data *data, const char *path,
                                              const struct plot_options *options, struct dse_error *err);
void plot_data_close(struct plot_data *data);

/* Where on which axis "axis=value" is, the value as in the CSV or as on a figure. DSE_BAD_USAGE,
 * DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status plot_find_value(struct plot_data *data, const char *where,
                                               struct plot_axis *axis, uint32_t *position,
                                               struct dse_error *err);

/* Read the metric that is shown, the first of the options'. DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status plot_data_metric(struct plot_data *data, const struct plot_options *options,
                                                struct dse_error *err);

/* Find an axis by any of its coordinates' names, or as a specification calls it. DSE_BAD_INPUT lists the
 * axes. */
DSE_MUST_CHECK enum dse_status plot_find_axis(const struct plot_data *data, const char *name,
                                              struct plot_axis *axis, struct dse_error *err);

/* Is a coordinate of that axis called `name`? */
bool plot_axis_has(const struct plot_data *data, size_t axis, const char *name);

/* A metric of the points, by name. DSE_BAD_INPUT with the nearest one. */
DSE_MUST_CHECK enum dse_status plot_find_metric(const struct plot_data *data, const char *name,
                                                const struct metric **found, struct dse_error *err);

/* Another metric of the points: its values (n_cell) as those of `data`. DSE_BAD_INPUT with the nearest
 * name. */
DSE_MUST_CHECK enum dse_status plot_read_metric(struct plot_data *data, const char *name,
                                                const struct metric **metric, double **value,
                                                struct dse_error *err);

/* Costs of different work are not compared: cells of different networks or batches are in different groups. A
 * cell's group is a number below n_cell; plot_n_group is how many there are in the slice. */
size_t plot_group(const struct plot_data *data, size_t cell);
size_t plot_n_group(const struct plot_data *data);

/* Choose x and y (the longest free axes, numeric ones first; `n_role` 1: x only); the other free axes become
 * facets. */
DSE_MUST_CHECK enum dse_status plot_choose_axes(struct plot_data *data, const struct plot_options *options,
                                                int n_role, struct dse_error *err);

/* The axis called `name` for a role; a NULL name leaves the role as it is. DSE_BAD_USAGE: it is fixed at one
 * of several values. */
DSE_MUST_CHECK enum dse_status plot_take_axis(const struct plot_data *data, const char *name,
                                              struct plot_axis *role, struct dse_error *err);

/* DSE_BAD_USAGE: the figure would have n panels or curves (`what`), more than `most`. */
DSE_MUST_CHECK enum dse_status plot_too_many(const struct plot_data *data, const char *what, size_t n,
                                             size_t most, struct dse_error *err);

/* Fix every free axis but those in `keep` (n_keep) at the cell with the best metric. DSE_BAD_INPUT: no cell
 * is ok. */
DSE_MUST_CHECK enum dse_status plot_fix_at_best(struct plot_data *data, const size_t *keep, size_t n_keep,
                                                struct dse_error *err);

/* Number of panels: the product of the facet axes' lengths. */
size_t plot_n_panel(const struct plot_data *data);

/* Position of a panel on facet `f`; the last facet runs fastest. */
size_t plot_facet_position(const struct plot_data *data, size_t panel, size_t f);

/* The cell at position (ix, iy) of panel `panel`; positions of axes that are not there are ignored. */
size_t plot_cell(const struct plot_data *data, size_t panel, size_t ix, size_t iy);

/* Whether the cell lies in the fixed slice. */
bool plot_in_slice(const struct plot_data *data, size_t cell);

/* Position on axis `axis` of a cell. */
uint32_t plot_position(const struct plot_data *data, size_t cell, size_t axis);

/* Length of an axis role; 1 when there is none. */
size_t plot_length(const struct plot_data *data, const struct plot_axis *axis);

/* "PE array 8x8, batch 4" of a panel, into `text`. */
void plot_panel_title(const struct plot_data *data, size_t panel, struct text_buffer *text);

/* "network ResNet-50, batch 1": what is the same everywhere, and the note. */
void plot_fixed_text(const struct plot_data *data, struct text_buffer *text);

/* Letters of that text: 0 when there is nothing to say, so that no line is kept free for it. */
size_t plot_fixed_letters(const struct plot_data *data);

/* "Global buffer 64 KiB, DRAM bandwidth 8 GB/s": where a cell is, without the fixed axes. */
void plot_cell_text(const struct plot_data *data, size_t cell, struct text_buffer *text);

/* Decimal prefix (bytes: binary) for values of that size: `*factor` makes the number, `unit` gets "ms", "mJ
 * s", "GB", "". */
void plot_scale(const double *value, size_t n, const char *unit_symbol, double *factor, char *unit,
                size_t size);

/* Ticks of an axis role: `label` (length) gets texts from the arena, and `title` the axis title with the unit
 * when all labels share one ("DRAM bandwidth (GB/s)"). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plot_ticks(struct plot_data *data, const struct plot_axis *axis,
                                          const char ***label, char *title, size_t size,
                                          struct dse_error *err);

#endif
