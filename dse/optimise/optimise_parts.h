/* What the files of the optimiser share: the optima of machines, which bound those of others. */
#ifndef DSE_OPTIMISE_OPTIMISE_PARTS_H
#define DSE_OPTIMISE_OPTIMISE_PARTS_H

#include "dse/optimise/optimise.h"

/* Bounds are sums and products of many numbers; what is that close counts as equal. */
#define OPTIMISE_SLACK (1 - 1e-9)

/* The optima of one machine. */
struct cut_row {
    uint32_t group;
    struct architecture arch;
    bool *known;                             /* (n_problem) the energies of */
    double *least_j, *fixed_j, *innermost_j; /* (n_problem) */
    bool *timed;                             /* (n_problem) the least time of; relaxed machines */
    double *least_cycle;                     /* (n_problem) */
};

struct optimise_cuts {
    uint32_t n, capacity;
    struct cut_row **row;                   /* (n) */
    bool *any_dataflow[1 << SIZE_AXIS_MAX]; /* [group](n_problem) the dataflow has no mapping of this layer */
    struct cut_row *root[1 << SIZE_AXIS_MAX]; /* [group] the relaxed machine */
};

/* Search these problems (n) on a row's machine, by all threads: for the least energy, into the row and
 * `price` (n_problem; NULL: it is a relaxed machine), or for the least time, into the row of a relaxed one.
 * Errors as optimise_find. */
DSE_MUST_CHECK enum dse_status optimise_search(struct optimise *o, const uint32_t *problem, uint32_t n,
                                               struct cut_row *row, struct layer_price *price, bool time,
                                               struct dse_error *err);

/* A new row for a machine, without any optimum yet. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimise_add_row(struct optimise *o, const struct architecture *arch,
                                                uint32_t group, struct cut_row **out, struct dse_error *err);

/* Search the relaxed machine of each group for the problems of the goal. Errors as optimise_find. */
DSE_MUST_CHECK enum dse_status optimise_relaxed(struct optimise *o, const struct optimise_goal *goal,
                                                struct dse_error *err);

/* What no mapping of the goal's problems on a hierarchy is below; exact where all are priced. */
struct hierarchy_bound {
    double energy_j, latency_s; /* the time: with FRONT_LATENCY */
};

/* That, and each problem's share of the energy in `share` (n_problem; may be NULL). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimise_bound(const struct optimise *o, const struct optimise_goal *goal,
                                              uint32_t h, double *share, struct hierarchy_bound *bound,
                                              struct dse_error *err);

#endif
