/* The best tiling numbers of a network that is computed layer by layer. */
#ifndef ENGINES_SOMA_SEARCH_LAYERWISE_H
#define ENGINES_SOMA_SEARCH_LAYERWISE_H

#include "engines/soma/search/lfa_price.h"

/* Tune the tiling numbers of `lfa`, a start of soma_initial_lfa or soma_cheap_lfa whose price is `*price`:
 * the groups stay, each a layer group of its own. It begins with the cheapest of this start and of the same
 * power of two of tiles everywhere, and then gives one group after the other the number with which the
 * whole is cheapest, until that changes nothing: never worse than the start or than any of those that fits.
 * `*n_priced`: schedules that were priced, at most n_max of them. Where the time is over it leaves off with
 * the best so far. Errors of soma_lfa_price. */
DSE_MUST_CHECK enum dse_status soma_layerwise(const struct soma_search *search,
                                              struct soma_lfa_prices *prices, uint64_t n_max,
                                              struct soma_lfa *lfa, struct soma_price *price,
                                              uint64_t *n_priced, struct dse_error *err);

/* The same for schedules of so many layer groups that it would take too long: layers of the same shape, as
 * parts of a layer are, have the same number, and each number is looked for once. */
DSE_MUST_CHECK enum dse_status soma_layerwise_alike(const struct soma_search *search,
                                                    struct soma_lfa_prices *prices, uint64_t n_max,
                                                    struct soma_lfa *lfa, struct soma_price *price,
                                                    uint64_t *n_priced, struct dse_error *err);

#endif
