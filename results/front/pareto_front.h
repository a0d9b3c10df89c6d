/* Which of several results are not beaten: the Pareto front. */
#ifndef RESULTS_FRONT_PARETO_FRONT_H
#define RESULTS_FRONT_PARETO_FRONT_H

#include <stdbool.h>
#include <stddef.h>

/* Is `one` (n_axis) at least as good as `other` on every axis and better on one? direction[a] as
 * metric_direction has it: -1 less is better, 1 more is; 0: the axis does not count. NaN is worse
 * than all. */
bool pareto_dominates(const double *one, const double *other, const int *direction, size_t n_axis);

/* on[i] (n): no other row of value (n, n_axis) dominates row i. Equal rows are all on it; a row with a NaN or
 * an infinite value on an axis that counts is not. */
void pareto_front(const double *value, size_t n, const int *direction, size_t n_axis, bool *on);

#endif
