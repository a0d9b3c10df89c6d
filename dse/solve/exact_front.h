/* The exact front of each layer in energy and latency (`dse map --front`): every mapping that no other beats
 * in both. */
#ifndef DSE_SOLVE_EXACT_FRONT_H
#define DSE_SOLVE_EXACT_FRONT_H

#include "dse/solve/solve.h"

/* Find the front of each problem of the workload, on n_thread threads, by an engine that proves what it
 * finds. The workload then has a problem for each point (workload_repeat), and `*result` (n_problem, in
 * `arena`) their results, the fastest of each problem first; a problem without a mapping has one result,
 * which says why. A search that was not proved says so in its `stop`; the points beyond it are still of the
 * front that it leaves. DSE_BAD_USAGE: not an engine that proves; DSE_LIMIT; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status exact_front_solve(const struct solve_settings *settings,
                                                 struct workload *workload, const struct architecture *arch,
                                                 int n_thread, struct arena *arena,
                                                 struct solve_result **result, struct dse_error *err);

#endif
