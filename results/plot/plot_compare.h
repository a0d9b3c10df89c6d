/* Values of an axis compared with one another in each cell: over one of them, or which is the best. */
#ifndef RESULTS_PLOT_PLOT_COMPARE_H
#define RESULTS_PLOT_PLOT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "results/plot/plot_data.h"

enum plot_comparison { PLOT_PLAIN, PLOT_RELATIVE, PLOT_WINNER };

/* Cells are those of the changed data; memory is the arena's of the data. */
struct plot_compare {
    enum plot_comparison how;
    int direction;      /* of the metric: -1 less is better, 1 more, 0 neither */
    const char *words;  /* the axis, and of PLOT_RELATIVE the value: "engine", "engine cocco" */
    bool *unmatched;    /* (n_cell) of PLOT_RELATIVE: it has a value, and what it is compared with has none */
    size_t n_value;     /* of PLOT_WINNER: values of the axis */
    const char **label; /* (n_value) what people read */
    bool is_number;     /* they are numbers */
    size_t *best;       /* (n_cell) the best value; n_value: several are equally good */
    bool *alone;        /* (n_cell) no other has a value */
};

/* Change what is shown as options->relative ("axis=value") or options->winner ("axis") ask; without either
 * nothing happens. Relative: values become ratios, and the axis loses the value. Winner: values become what
 * the second best is over the best (of metrics where more is better the best over the second), at least 1; 1
 * where no other has a value; the axis goes. Other metrics and texts of the cube no longer fit then.
 * DSE_BAD_USAGE, DSE_BAD_INPUT: there is nothing to compare; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plot_compare(struct plot_data *data, const struct plot_options *options,
                                            struct plot_compare *compare, struct dse_error *err);

#endif
