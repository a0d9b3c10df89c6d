/* The rows of the execution graph of a fused schedule as data blocks of a script. Internal to
 * plot_timeline. */
#ifndef RESULTS_PLOT_PLOT_TIMELINE_ROWS_H
#define RESULTS_PLOT_PLOT_TIMELINE_ROWS_H

#include <stddef.h>

#include "base/text.h"
#include "results/plot/plot_timeline.h"

/* Where the rows of a panel lie: points from its foot upwards. */
enum {
    BUFFER_LOW = 0,
    BUFFER_HIGH = 76,
    CORE_LOW = 84,
    CORE_HIGH = 138,
    DRAM_LOW = 145,
    DRAM_HIGH = 187,
    TILING_LOW = 192,
    TILING_HIGH = 205,
    CUT_LOW = 205,
    CUT_HIGH = 218
};

/* A figure being made. Lengths in points. */
struct drawing {
    const struct timeline *timeline; /* (n) */
    size_t n;
    const struct plot_timeline_options *options;
    double low, high;                       /* cycles */
    double width, height;                   /* of the plotting area */
    double gap;                             /* between panels */
    double top_byte;                        /* at the upper edge of the buffer row; of fused schedules */
    double foot;                            /* of the panel at hand */
    struct text_buffer *script;             /* borrowed */
    struct text_buffer word, word_up, head; /* labels, lines "x y word"; owned */
};

/* "4.56 ms" of 4.56e-3. */
const char *plot_si_text(double value, const char *unit, char *buffer, size_t size);

/* Height of the foot of a panel over that of the last one. */
double plot_timeline_foot(const struct drawing *d, size_t panel);

/* Append the blocks $dram, $core, $stall, $buffer, $line, $word, $word_up and $head of all panels
 * (plotting/timeline.gp). */
void plot_timeline_blocks(struct drawing *d);

#endif
