/* The rows of one point from the results of its tasks: what `dse run` writes and `dse rerun` compares. */
#ifndef DSE_RUN_POINT_ROWS_H
#define DSE_RUN_POINT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/spec/sweep.h"
#include "results/record/schema.h"

/* The most layer rows and the most tasks that a point of the sweep has; both at least 1. */
void point_rows_most(const struct sweep *sweep, size_t *n_layer, size_t *n_task);

/* Rows of a point whose tasks (sweep_point_n_task) ended with `result`. `record` is set whole, its index is
 * borrowed from `point`; its n_layer rows go to `layer`. Texts and level values are in `arena` or borrowed
 * from `result`. DSE_NO_MEMORY, DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status point_rows_make(const struct sweep *sweep, const struct sweep_point *point,
                                               const struct architecture *arch,
                                               const struct solve_result *const *result, uint64_t key,
                                               struct arena *arena, struct point_record *record,
                                               struct layer_record *layer, struct dse_error *err);

/* The row of a point whose machine cannot be built: failed, for the reason `why`, without layers.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status point_rows_unbuilt(const struct sweep_point *point,
                                                  const struct dse_error *why, uint64_t key,
                                                  struct arena *arena, struct point_record *record,
                                                  struct dse_error *err);

#endif
