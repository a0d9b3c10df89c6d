/* Local search over mappings of uops to cores. A move takes a uop and a second core, and exchanges what the
 * two cores run during the shortest piece of time around the uop in which no uop of theirs is cut (a Kempe
 * chain of the graph of uops that overlap). So all starts stay as they are. */
#ifndef ENGINES_KLOTSKI_ORDER_CORE_LOCAL_H
#define ENGINES_KLOTSKI_ORDER_CORE_LOCAL_H

#include "engines/klotski/order/core_mapping.h"

/* Improve the mapping that `traffic` holds. `step` (n_uop) is the number of each uop's start among all
 * different starts, `end_step` (n_uop) that of the first start not before its end, `n_step` how many there
 * are. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status core_local(struct core_traffic *traffic, const uint32_t *step,
                                          const uint32_t *end_step, uint32_t n_step,
                                          const struct core_settings *settings, struct random_stream *random,
                                          struct arena *scratch, struct dse_error *err);

#endif
