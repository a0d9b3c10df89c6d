/* Where soma-plus starts: as much fused as fits, layer by layer in computing order. */
#ifndef ENGINES_SOMA_SEARCH_PLUS_START_H
#define ENGINES_SOMA_SEARCH_PLUS_START_H

#include "engines/soma/search/search.h"

/* Layer groups of one fine-grained group each, every one as long as it fits with at most `tiling_max` tiles
 * (powers of two, the least that fit). price->cost INFINITY: a layer does not fit, or the whole does not.
 * `lfa` from soma_lfa_new; `scratch` is reset. Errors of soma_parse. */
DSE_MUST_CHECK enum dse_status plus_start(const struct soma_search *search, uint32_t tiling_max,
                                          struct arena *scratch, struct soma_lfa *lfa,
                                          struct soma_price *price, struct dse_error *err);

#endif
