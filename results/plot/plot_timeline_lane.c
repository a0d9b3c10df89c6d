/* Boxes wait until they are as wide as a pixel together; then one box is written with the look of most of
 * them. */
#include "results/plot/plot_timeline_lane.h"

#include <string.h>

static const double pixel_pt = 0.36; /* of a PNG of 200 per inch */

void lane_begin(struct lane *lane, double high, double y0, double y1, struct text_buffer *out)
{
    memset(lane, 0, sizeof *lane);
    lane->out = out;
    lane->high = high;
    lane->y0 = y0;
    lane->y1 = y1;
    lane->pixel = pixel_pt;
}

static void put(struct lane *lane, double x0, double x1, size_t look)
{
    text_append(lane->out, "%.3f %.3f %.3f %.3f %zu\n", x0, x1, lane->y0, lane->y1, look);
    lane->n_box++;
}

/* The narrow ones become one box, as wide as they are together, with the look of most of them. */
static void flush(struct lane *lane)
{
    double sum = 0;
    size_t most = 0;
    for (size_t i = 0; i < LANE_LOOK_MAX; i++) {
        sum += lane->share[i];
        if (lane->share[i] > lane->share[most])
            most = i;
    }
    if (sum > 0)
        put(lane, lane->from, lane->from + sum, most);
    memset(lane->share, 0, sizeof lane->share);
}

void lane_add(struct lane *lane, double x0, double x1, size_t look)
{
    x0 = x0 < 0 ? 0 : x0;
    x1 = x1 > lane->high ? lane->high : x1;
    if (x1 <= x0 || look >= LANE_LOOK_MAX)
        return;
    if (x1 - x0 >= lane->pixel) {
        flush(lane);
        put(lane, x0, x1, look);
        lane->from = x1;
        return;
    }
    if (x1 - lane->from > lane->pixel) { /* which is so for the first one, too, wherever it lies */
        flush(lane);
        lane->from = x0;
    }
    lane->share[look] += x1 - x0;
}

void lane_end(struct lane *lane)
{
    flush(lane);
}
