/* Boxes and words along the time of an execution graph. Internal to plot_timeline; lengths in points. */
#ifndef RESULTS_PLOT_PLOT_TIMELINE_BOXES_H
#define RESULTS_PLOT_PLOT_TIMELINE_BOXES_H

#include "results/plot/plot_timeline_rows.h"

#define PLOT_PIXEL_PT 0.36 /* of a PNG of 200 per inch */

enum { PLOT_LANE_LOOK_MAX = 32 };

/* Boxes beside each other go out as lines "x0 x1 y0 y1 look" into `out`. */
struct plot_lane {
    struct text_buffer *out;
    double high; /* what lies outside of 0 .. high is cut off */
    double y0, y1;
    /* of narrow boxes not yet written: where they begin, and how wide each look is */
    double from, share[PLOT_LANE_LOOK_MAX];
};

void plot_lane_begin(struct plot_lane *lane, double high, double y0, double y1, struct text_buffer *out);

/* Add a box behind all before it. `look` is below PLOT_LANE_LOOK_MAX. */
void plot_lane_add(struct plot_lane *lane, double x0, double x1, size_t look);

/* Write what is still narrow. */
void plot_lane_flush(struct plot_lane *lane);

/* Where a time lies: 0 to d->width is what is seen. */
double plot_x_of(const struct drawing *d, int64_t cycle);

/* The part of a box that is seen. */
void plot_clip(const struct drawing *d, double *x0, double *x1);

/* Whether all of a word has room in a box. */
bool plot_label_fits(double x0, double x1, const char *word);

/* A word in the middle of a box of a row, lying or standing, when there is room. */
void plot_label_box(struct drawing *d, double x0, double x1, double y0, double y1, const char *word);

/* The first of some words for which there is room above the rows. */
void plot_label_head(struct drawing *d, double x0, double x1, double y0, double y1, const char *const *word,
                     size_t n);

/* Append a block of labels, which may be none. */
void plot_put_words(struct text_buffer *script, const char *name, const struct text_buffer *line);

#endif
