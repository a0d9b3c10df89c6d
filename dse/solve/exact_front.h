/* The exact front of a layer in energy and latency, the objective pareto: every mapping that no other beats
 * in both. */
#ifndef DSE_SOLVE_EXACT_FRONT_H
#define DSE_SOLVE_EXACT_FRONT_H

#include "dse/solve/solve.h"

/* Energies that differ less than by this part are equal: proofs are no closer. */
#define EXACT_FRONT_SAME 1e-11

/* As solve_task_shared, by settings->front: an engine that proves what it finds searches several times,
 * within the limits of settings all together. A result that is ok has a front. Where its `stop` is not
 * optimal points may be missing, and one whose own `stop` is not may not be the best of its latency. */
DSE_MUST_CHECK enum dse_status exact_front_solve(const struct solve_settings *settings,
                                                 const struct problem *problem,
                                                 const struct architecture *arch,
                                                 const struct solve_shared *shared, const atomic_int *cancel,
                                                 struct arena *arena, struct solve_result *result);

/* A result for each point in place of one for each problem of the workload (result, n_problem): the workload
 * then has a problem for each point (workload_repeat), and `*out` (n_problem, in `arena`, its items borrowed
 * from `result`) their results, the fastest of each problem first; a problem without a front keeps its
 * result. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status exact_front_spread(struct workload *workload,
                                                  const struct solve_result *result, struct arena *arena,
                                                  struct solve_result **out, struct dse_error *err);

#endif
