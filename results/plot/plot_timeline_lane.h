/* Boxes of a row of an execution graph: what is narrower than a pixel is put together. Internal to
 * plot_timeline. */
#ifndef RESULTS_PLOT_PLOT_TIMELINE_LANE_H
#define RESULTS_PLOT_PLOT_TIMELINE_LANE_H

#include <stddef.h>

#include "base/text.h"

enum { LANE_LOOK_MAX = 32 };

/* Boxes go out as lines "x0 x1 y0 y1 look" into `out`. Lengths in points. */
struct lane {
    struct text_buffer *out;
    double high; /* what lies outside of 0 .. high is cut off */
    double y0, y1;
    double pixel;
    /* of narrow boxes not yet written: where they begin, and how wide each look is */
    double from, share[LANE_LOOK_MAX];
    size_t n_box; /* written so far */
};

void lane_begin(struct lane *lane, double high, double y0, double y1, struct text_buffer *out);

/* Add a box behind all before it. `look` is below LANE_LOOK_MAX. */
void lane_add(struct lane *lane, double x0, double x1, size_t look);

/* Write what is left. */
void lane_end(struct lane *lane);

#endif
