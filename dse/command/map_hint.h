/* What `dse map` says when another engine than the one asked for would have done much better. */
#ifndef DSE_COMMAND_MAP_HINT_H
#define DSE_COMMAND_MAP_HINT_H

#include <stddef.h>

#include "costmodel/model/architecture.h"
#include "dse/solve/solve.h"
#include "dse/solve/workload.h"

/* One sentence into `text` (size), "" when there is nothing to say: on which layer the engine's successor
 * (engine.better) is how many times better at least, from a short try on every layer that has a mapping in
 * `result` (n_problem). The same for any number of threads. As solve_settings_init. */
DSE_MUST_CHECK enum dse_status map_hint(const struct solve_settings *settings,
                                        const struct workload *workload, const struct architecture *arch,
                                        const struct solve_result *result, int n_thread, char *text,
                                        size_t size, struct dse_error *err);

#endif
