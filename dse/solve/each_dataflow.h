/* The best mapping of every dataflow of each layer (`dse map --each-dataflow`). */
#ifndef DSE_SOLVE_EACH_DATAFLOW_H
#define DSE_SOLVE_EACH_DATAFLOW_H

#include "dse/solve/solve.h"

/* Search each dataflow that the engine lists for a problem of the workload, on n_thread threads; those
 * without a valid mapping are left out, unless a problem has no other, when one such stays. The workload then
 * has a problem for each of them (workload_repeat), and `*result` (n_problem, in `arena`) their results, in
 * the order of the list. DSE_BAD_USAGE and others of solve_dataflows. */
DSE_MUST_CHECK enum dse_status each_dataflow_solve(const struct solve_settings *settings,
                                                   struct workload *workload, const struct architecture *arch,
                                                   int n_thread, struct arena *arena,
                                                   struct solve_result **result, struct dse_error *err);

#endif
