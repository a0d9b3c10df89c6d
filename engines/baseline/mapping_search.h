/* Mappings as a search space: joins a map space and the driver's context behind
 * engines/search/search_space.h. */
#ifndef ENGINES_BASELINE_MAPPING_SEARCH_H
#define ENGINES_BASELINE_MAPPING_SEARCH_H

#include "engines/driver/driver.h"
#include "engines/search/search_space.h"

struct mapping_search {
    struct engine_context *context;
    const struct mapspace *space;
    /* points are struct mapping; `self` is this struct, which must stay where it is */
    struct search_space hooks;
};

/* Compile the task's map space and fill in the hooks. */
DSE_MUST_CHECK enum dse_status mapping_search_init(struct mapping_search *search,
                                                   struct engine_context *context, bool search_bypass,
                                                   struct dse_error *err);

#endif
