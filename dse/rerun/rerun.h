/* Computing points of a result file again, from the file alone, and comparing them with what stands there. */
#ifndef DSE_RERUN_RERUN_H
#define DSE_RERUN_RERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "dse/spec/sweep.h"

enum {
    RERUN_SAMPLE = 10,     /* points that are taken when nobody says which */
    RERUN_LIST_MAX = 1000, /* with more points, those that are equal get no line */
};

/* Which points; at most one of the ways of choosing. */
struct rerun_options {
    const char *h5;
    size_t n_point;
    const char *const
        *point; /* (n_point) "K", counted from 1, or "AXIS=VALUE,AXIS=VALUE": all points there */
    bool all;
    uint64_t n_random; /* so many at random; 0: not */
    uint64_t seed;     /* of that choice */
    int n_thread;
};

struct rerun_summary {
    size_t n_equal;
    size_t n_different;     /* points of which a value differs */
    size_t n_timed;         /* points that the clock ended, so that they need not repeat, and did not */
    size_t n_specification; /* differences in what the file says about itself: specification, inputs, axes */
};

/* Read specification and inputs from the file, compute the points, and write a line for each to `out`, with
 * what differs below it. DSE_BAD_INPUT: the file does not hold its inputs, or is damaged; DSE_BAD_USAGE: no
 * such point, or it is not in the file; DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status rerun(const struct rerun_options *options, FILE *out,
                                     struct rerun_summary *summary, struct dse_error *err);

/* The numbers of the chosen points, ascending, each once: `*list` (*n) is the caller's to free. `there`
 * (sweep->n_point) tells which are in the file (rerun_select.c). DSE_BAD_USAGE, DSE_BAD_INPUT: none is there;
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status rerun_select(const struct sweep *sweep, const struct rerun_options *options,
                                            const bool *there, size_t **list, size_t *n,
                                            struct dse_error *err);

#endif
