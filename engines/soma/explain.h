/* What is left to do where a network does not fit with double buffering, and why it does not, in words. */
#ifndef ENGINES_SOMA_EXPLAIN_H
#define ENGINES_SOMA_EXPLAIN_H

#include "engines/driver/driver.h"
#include "engines/soma/task.h"
#include "engines/soma/unfused.h"

/* Where no start fits with double buffering: `lfa` is what soma_initial_lfa left, and gets as many tiles as
 * help (soma_finest_lfa), or where these are very many, groups of soma-plus. Offers it with loads that come
 * as late as they must, as soma-plus has them (`price` is that of plus_price), and else tells the driver why
 * there is none: the layer named is one that more tiles do not help. By the published rules nothing is
 * offered; it says so where soma-plus has a schedule. */
DSE_MUST_CHECK enum dse_status soma_late_start(struct engine_context *context, const struct soma_task *task,
                                               struct soma_lfa *lfa, struct soma_price *price,
                                               struct arena *scratch, struct dse_error *err);

/* The same from `unfused->start`, and the search ends there: converged, unless its time is over and more
 * might have been found. */
DSE_MUST_CHECK enum dse_status soma_late_end(struct engine_context *context, const struct soma_task *task,
                                             struct soma_unfused *unfused, struct arena *scratch,
                                             enum engine_stop *stop, struct dse_error *err);

#endif
