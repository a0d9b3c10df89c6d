/* The execution graph of schedules with gnuplot (docs/execution-graph.md): DRAM, core array and buffer over
 * time, or what runs on each accelerator. */
#ifndef RESULTS_PLOT_PLOT_TIMELINE_H
#define RESULTS_PLOT_PLOT_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/timeline/timeline.h"

enum { PLOT_TIMELINE_MAX = 8 }; /* panels of a figure */

struct plot_timeline_options {
    const char *title;        /* NULL: network, batch and architecture */
    int64_t from, to;         /* cycles shown; to 0: the end of the longest */
    const char *template_dir; /* as in struct plot_options */
    bool keep_script;
};

/* Draw `n` timelines one above the other on one time axis into `figure_path`. What is narrower than a pixel
 * is put together, so that many tiles are drawn as fast as few. DSE_BAD_USAGE: no or more than
 * PLOT_TIMELINE_MAX timelines, two kinds, nothing between `from` and `to`, unknown ending; DSE_IO: gnuplot
 * is missing or failed; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plot_timelines(const struct timeline *timeline, size_t n,
                                              const char *figure_path,
                                              const struct plot_timeline_options *options,
                                              struct dse_error *err);

#endif
