/* Which of several results are not beaten: the Pareto front. */
#ifndef RESULTS_FRONT_PARETO_FRONT_H
#define RESULTS_FRONT_PARETO_FRONT_H

#include <stddef.h>

/* Which of two rows (n_axis) beats the other: is at least as good on every axis and better on one? -1: one,
 * 1: other, 0: neither. direction[a] as metric_direction has it: -1 less is better, 1 more is; 0: the axis
 * does not count. A row without a number on an axis (NaN) is compared only with others that have none
 * there. */
int pareto_compare(const double *one, const double *other, const int *direction, size_t n_axis);

/* The rows of value (n, n_axis) that no other beats into front (n), in order; returns how many. Equal rows
 * are all on it; one with an infinite value on an axis that counts is not. */
size_t pareto_front(const double *value, size_t n, const int *direction, size_t n_axis, size_t *front);

#endif
