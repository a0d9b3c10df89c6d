/* What a search costs, learnt from the searches that have finished: log(seconds) = static estimate
 * (dse/run/search_time_prior.h) + a constant + an effect of each value of each axis + an effect of each two
 * values of short axes together (an objective that one engine minds and another does not) + an effect of the
 * loop nest. Only the order of work may depend on it, never a result.
 *
 * Every effect is a Gaussian with a mean and a variance, 0 at first, and each finished search is one step of
 * a Kalman filter (R. E. Kalman, "A new approach to linear filtering and prediction problems", 1960) that
 * keeps the variances and leaves out the covariances: effects that have been seen seldom move much, the
 * others little, and what has not been seen stays at the estimate. Values of a numeric axis have a common
 * slope over the logarithm of the value, and neighbours share what is learnt. Residuals beyond 2.5 standard
 * deviations are cut there (P. J. Huber, "Robust estimation of a location parameter", 1964).
 *
 * The same calls in the same order give the same numbers. Not for several threads at once: the caller
 * locks. */
#ifndef DSE_RUN_SEARCH_TIME_H
#define DSE_RUN_SEARCH_TIME_H

#include <stdint.h>

#include "base/status.h"
#include "dse/spec/sweep.h"

struct cost_model;

/* Knows nothing but the static estimate. Memory is in proportion to the sum of the axis lengths, the loop
 * nests of all workloads, and the classes of the estimate; 32 pairs of axes of at most 1024 combinations each
 * come on top. `sweep` is borrowed for this call only. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cost_model_new(const struct sweep *sweep, struct cost_model **out,
                                              struct dse_error *err);
void cost_model_free(struct cost_model *model);

/* Search number `task` of the point at `index` (spec->n_dimension) took so long, in CPU or wall seconds.
 * `point` is not used beyond its coordinates and may be NULL. Seconds that are no number or negative are
 * passed over. */
void cost_model_learn(struct cost_model *model, const uint32_t *index, const struct sweep_point *point,
                      uint32_t task, double seconds);

/* All searches of a point, one after the other: by the static estimate, and by what is known now. */
double cost_model_prior_s(const struct cost_model *model, const struct sweep_point *point);
double cost_model_predict_s(const struct cost_model *model, const struct sweep_point *point);

/* The same from the coordinates alone: some tens of nanoseconds. */
double cost_model_predict_index(const struct cost_model *model, const uint32_t *index);

/* One search of it. */
double cost_model_predict_task(const struct cost_model *model, const uint32_t *index, uint32_t task);

/* How many searches it has learnt from. */
uint64_t cost_model_count(const struct cost_model *model);

#endif
