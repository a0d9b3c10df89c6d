/* Execution graphs of schedules of uops as data blocks of a script. Internal to plot_timeline. */
#ifndef RESULTS_PLOT_PLOT_TIMELINE_CORES_H
#define RESULTS_PLOT_PLOT_TIMELINE_CORES_H

#include "results/plot/plot_timeline_rows.h"

/* Of all panels. */
double plot_cores_height(const struct drawing *d);

/* "4.81 ms, 1.4 J; ..." */
void plot_cores_note(const struct timeline *t, char *buffer, size_t size);

/* Append panels (feet, lanes) and the blocks $core, $line and $word of all panels (plotting/cores.gp).
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plot_cores_blocks(struct drawing *d, struct dse_error *err);

#endif
