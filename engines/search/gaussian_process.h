/* Gaussian-process regression (C. Rasmussen and C. Williams, "Gaussian Processes for Machine Learning", 2006:
 * equations by their numbers there) with a Matern 5/2 kernel (4.17) whose length differs from dimension to
 * dimension, over points in [0, 1]^d:
 *   k(x, y) = signal (1 + a + a^2 / 3) exp(-a),   a^2 = 5 sum over m of ((x_m - y_m) / length_m)^2
 * Observations are standardised: their mean is the process's mean, their standard deviation its unit. What is
 * worth observing next is told by an acquisition function; lower values are better ones.
 *
 * The algebra is GSL's over GSL's own CBLAS, which adds up in one order on every processor. So the same
 * observations give the same answers with AVX2 and with AVX-512, where OpenBLAS rounds even a sum of two
 * products in two ways, and on any number of threads. */
#ifndef ENGINES_SEARCH_GAUSSIAN_PROCESS_H
#define ENGINES_SEARCH_GAUSSIAN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"

enum { GAUSSIAN_PROCESS_DIM_MAX = 32 };

struct gaussian_process_hyper {
    double signal; /* variance of the function, of standardised observations */
    double noise;  /* variance of an observation beside it, as a share of `signal` */
    double length[GAUSSIAN_PROCESS_DIM_MAX]; /* (d) > 0 */
};

/* Where a fit looks for lengths and noise; all > 0. */
struct gaussian_process_range {
    double length_low, length_high, noise_low, noise_high;
};

struct gaussian_process;

/* A process over d dimensions for up to n_max observations; it has none yet, lengths of 0.5, a signal of 1
 * and noise of 0.001. It needs 24 n_max^2 bytes from `arena`. DSE_LIMIT: d of 0 or beyond
 * GAUSSIAN_PROCESS_DIM_MAX, n_max of 0; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status gaussian_process_new(uint32_t d, uint32_t n_max, struct arena *arena,
                                                    struct gaussian_process **made, struct dse_error *err);

/* Take these observations instead of what was known: point (n, d), value (n) finite; 1 <= n <= n_max. Where
 * all values are equal their unit is 1. To be followed by _set or _fit. */
void gaussian_process_observe(struct gaussian_process *gp, uint32_t n, const double *point,
                              const double *value);

/* Condition on the observations with these hyper-parameters. A covariance that rounding has made indefinite
 * gets up to 0.0001 of the signal added to its diagonal; DSE_INTERNAL: it is indefinite even so (points that
 * are no numbers). */
DSE_MUST_CHECK enum dse_status gaussian_process_set(struct gaussian_process *gp,
                                                    const struct gaussian_process_hyper *hyper,
                                                    struct dse_error *err);

/* Condition on the observations with the hyper-parameters of the largest marginal likelihood (2.30) that is
 * found: the signal in closed form, the others by descents along the gradient (5.9), from those at hand and
 * from the best of n_start random ones. Where all observations are equal nothing is learned from them: a
 * signal of 1, the others as they are. Errors as of _set. */
DSE_MUST_CHECK enum dse_status gaussian_process_fit(struct gaussian_process *gp,
                                                    const struct gaussian_process_range *range,
                                                    uint32_t n_start, struct random_stream *stream,
                                                    struct dse_error *err);

const struct gaussian_process_hyper *gaussian_process_hyper(const struct gaussian_process *gp);

/* -log of the marginal likelihood (2.30) of the standardised observations, and its gradient (d + 1), at
 * log_hyper (d + 1): log of the lengths and of the noise. The signal is the best one for these, u' C^-1 u / n
 * for observations u and covariance C without it. Not for observations that are all equal. */
DSE_MUST_CHECK enum dse_status gaussian_process_likelihood(struct gaussian_process *gp,
                                                           const double *log_hyper, double *gradient,
                                                           double *value, struct dse_error *err);

/* What is expected at point (n, d): mean (n) (2.25) and standard deviation (n) of the function (2.26),
 * without the noise, in the unit of the observations. */
void gaussian_process_predict(struct gaussian_process *gp, uint32_t n, const double *point, double *mean,
                              double *deviation);

enum acquisition {
    /* How far the mean less kappa standard deviations lies down (for larger values: the upper confidence
     * bound; N. Srinivas et al., "Gaussian Process Optimization in the Bandit Setting", ICML 2010). */
    ACQUISITION_BOUND,
    /* How far a value is expected to lie below the lowest observation, counting 0 where it does not (D. Jones
     * et al., "Efficient Global Optimization of Expensive Black-Box Functions", 1998, equation 15). */
    ACQUISITION_IMPROVEMENT,
};

/* What observing a point is worth, more being better. An expected improvement that no double holds any more
 * is (lowest - mean) / deviation instead, which is below 0 and still puts such points in order. */
double acquisition_worth(enum acquisition kind, double kappa, double lowest, double mean, double deviation);

/* Of candidate (n, d) the one that is worth most, but for those where `told` (n) says true: its index, the
 * first of equals; n when all are told. */
uint32_t gaussian_process_pick(struct gaussian_process *gp, enum acquisition kind, double kappa, uint32_t n,
                               const double *candidate, const bool *told);

#endif
