/* Which of several results are not beaten: the Pareto front. */
#ifndef RESULTS_FRONT_PARETO_FRONT_H
#define RESULTS_FRONT_PARETO_FRONT_H

#include <stddef.h>

#include "base/status.h"

enum { PARETO_AXIS_MAX = 32 };

/* What becomes of a row without a number (NaN) on an axis that counts. */
enum pareto_missing {
    PARETO_APART,    /* it is compared only with others that have none there, as by pareto_compare */
    PARETO_LEFT_OUT, /* it is not on the front */
};

/* Which of two rows (n_axis) beats the other: is at least as good on every axis and better on one? -1: one,
 * 1: other, 0: neither. direction[a] as metric_direction has it: -1 less is better, 1 more is; 0: the axis
 * does not count. A row without a number on an axis (NaN) is compared only with others that have none
 * there. */
int pareto_compare(const double *one, const double *other, const int *direction, size_t n_axis);

/* The rows of value (n, n_axis <= PARETO_AXIS_MAX) that no other beats: their numbers, ascending, into front
 * (n), and how many into *n_front. Equal rows are all on it; one with an infinite value on an axis that
 * counts is not. Where k axes count it takes n log n for k <= 3, n log^(k-2) n beyond, however large the
 * front is; memory: (8 k + 64) n bytes. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status pareto_front(const double *value, size_t n, const int *direction,
                                            size_t n_axis, enum pareto_missing missing, size_t *front,
                                            size_t *n_front, struct dse_error *err);

#endif
