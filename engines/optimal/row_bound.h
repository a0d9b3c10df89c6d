/* Lower bounds of the row of any mapper, by the bounds of engine `optimal`: the least over all spreads of
 * the best bound that is known of each, no further than the row's own answer and the work allowed. */
#ifndef ENGINES_OPTIMAL_ROW_BOUND_H
#define ENGINES_OPTIMAL_ROW_BOUND_H

#include "base/arena.h"
#include "base/status.h"
#include "engines/driver/engine.h"

/* engine->strengthen (engines/driver/engine.h). */
DSE_MUST_CHECK enum dse_status row_bound(const struct bound_question *question, struct arena *arena,
                                         struct lower_bound *bound, enum bound_kind *kind,
                                         struct dse_error *err);

#endif
