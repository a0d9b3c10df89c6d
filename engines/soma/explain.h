/* Why a scheme is no schedule of a machine, in words. */
#ifndef ENGINES_SOMA_EXPLAIN_H
#define ENGINES_SOMA_EXPLAIN_H

#include "engines/driver/driver.h"
#include "engines/soma/search/search.h"

/* Tell the driver why there is no start: `lfa` is what soma_initial_lfa left, and gets as many tiles as help
 * (soma_finest_lfa), so that the layer named is one that more tiles do not help. Says so where soma-plus has
 * a schedule. */
DSE_MUST_CHECK enum dse_status soma_explain_start(struct engine_context *context,
                                                  const struct soma_search *search, struct soma_lfa *lfa,
                                                  struct arena *scratch, struct dse_error *err);

#endif
