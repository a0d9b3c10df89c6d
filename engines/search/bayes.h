/* Bayesian optimisation over a list of candidates, by questions and answers: the loop names a candidate, the
 * caller finds out what it costs and tells. The first few are random, spread out; then a Gaussian process is
 * fitted to all that was told, and the candidate of the best acquisition comes next. It minimises. */
#ifndef ENGINES_SEARCH_BAYES_H
#define ENGINES_SEARCH_BAYES_H

#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "engines/search/gaussian_process.h"

struct bayes_options {
    uint32_t n_first; /* candidates before the process has a say, at least 1 */
    uint32_t n_max;   /* most that are told, at least 1; time grows with its cube, memory with its square */
    enum acquisition acquisition;
    double kappa; /* of ACQUISITION_BOUND, >= 0 */
};

struct bayes;

/* A loop over candidate (n, d), each value in [0, 1]; the list is borrowed. Memory from `arena`; the stream
 * is copied. DSE_BAD_INPUT: no candidate, a value outside [0, 1], options out of range; DSE_LIMIT: more than
 * GAUSSIAN_PROCESS_DIM_MAX dimensions; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status bayes_new(const double *candidate, uint32_t n, uint32_t d,
                                         const struct bayes_options *options, struct random_stream stream,
                                         struct arena *arena, struct bayes **made, struct dse_error *err);

#define BAYES_END UINT32_MAX

/* The candidate that is to be told next, the same one until something is told; BAYES_END: all candidates, or
 * n_max of them, have been told. DSE_INTERNAL: no Gaussian process fits what was told. */
DSE_MUST_CHECK enum dse_status bayes_next(struct bayes *bayes, uint32_t *index, struct dse_error *err);

/* Candidate `index` costs `cost`; it need not be the one asked for, so the caller may tell what it knows
 * beforehand. A cost that is not finite says that the candidate is infeasible: it counts as the worst of the
 * finite ones told. DSE_INTERNAL: no such candidate, told already, or n_max have been told. */
DSE_MUST_CHECK enum dse_status bayes_tell(struct bayes *bayes, uint32_t index, double cost,
                                          struct dse_error *err);

#endif
