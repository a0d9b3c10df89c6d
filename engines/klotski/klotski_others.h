/* What the other engines of the family find at a task's point, offered besides an engine's own: so that is
 * never worse. */
#ifndef ENGINES_KLOTSKI_KLOTSKI_OTHERS_H
#define ENGINES_KLOTSKI_KLOTSKI_OTHERS_H

#include "engines/klotski/klotski_task.h"

/* Let `other` solve the task and offer its answer; its evaluations count. Options number `first` to `end` - 1
 * of the running engine's table `option` hold for it where it has one of that name, the others are its own
 * defaults. What is left of the budget is its budget; `start_s` (clock_wall_s) is when the task began. An
 * answer that breaks the rules of memories or uops is left out (tangram passes over them). Nothing is offered
 * where it finds nothing. Memory from the context. Errors of engine_solve. */
DSE_MUST_CHECK enum dse_status klotski_offer_other(struct engine_context *context, const struct engine *other,
                                                   const struct engine_option *option, size_t first,
                                                   size_t end, const struct tile_rules *rules, double start_s,
                                                   struct dse_error *err);

#endif
