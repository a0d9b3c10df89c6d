/* The orders that both of Klotski's baselines give the uops of a partition, offered to the driver. */
#ifndef ENGINES_KLOTSKI_BASELINE_OFFER_H
#define ENGINES_KLOTSKI_BASELINE_OFFER_H

#include "engines/klotski/klotski_task.h"

/* Uop after uop on the next accelerator in zig-zag order. `graph` is the plan's, whose schedule is set,
 * but for its firing. Memory from `scratch`. Errors of klotski_offer. */
DSE_MUST_CHECK enum dse_status baseline_offer_tangram(struct engine_context *context,
                                                      const struct klotski_task *task,
                                                      const struct uop_graph *graph, struct uop_plan *plan,
                                                      struct arena *scratch, struct dse_error *err);

/* The same of atomic_order.h, in rounds where the plan fires so. */
DSE_MUST_CHECK enum dse_status baseline_offer_atomic(struct engine_context *context,
                                                     const struct klotski_task *task,
                                                     const struct uop_graph *graph, struct uop_plan *plan,
                                                     struct arena *scratch, struct dse_error *err);

#endif
