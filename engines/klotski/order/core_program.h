/* Cores of uops by mixed-integer programs: the rows and columns of the mesh that a uop is on are linear in
 * the binaries that say on which core it is, and so are the distances between uops (the linear form of
 * Klotski's Eqs. 20 to 28). The uops of a window of the schedule choose, all others stay where they are;
 * windows roll over the schedule. */
#ifndef ENGINES_KLOTSKI_ORDER_CORE_PROGRAM_H
#define ENGINES_KLOTSKI_ORDER_CORE_PROGRAM_H

#include "engines/klotski/order/core_mapping.h"

/* Improve the mapping that `traffic` holds, never making it worse. `order` (n_uop): the uops by their starts;
 * `step`, `end_step`, `n_step` as for core_local. Memory from `scratch`. Errors of milp_solve. */
DSE_MUST_CHECK enum dse_status core_program(struct core_traffic *traffic, const uint32_t *order,
                                            const uint32_t *step, const uint32_t *end_step, uint32_t n_step,
                                            const struct core_settings *settings, struct arena *scratch,
                                            struct core_programs *out, struct dse_error *err);

#endif
