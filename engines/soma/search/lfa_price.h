/* Prices of many LFAs that have layer groups in common. With the double-buffer DLSA a layer group's tiles,
 * tensors and times, counted from its first tile, do not depend on the layer groups around it
 * (docs/soma-search.md, "Stage 1"): each is evaluated once and kept, and an LFA's price is put together from
 * those of its layer groups. */
#ifndef ENGINES_SOMA_SEARCH_LFA_PRICE_H
#define ENGINES_SOMA_SEARCH_LFA_PRICE_H

#include "engines/soma/search/lfa_group.h"

struct soma_lfa_prices;

/* `search` is borrowed. The store grows to some 10 MB; results do not depend on what is in it. One thread at
 * a time. Release with soma_lfa_prices_free (NULL is fine). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_lfa_prices_new(const struct soma_search *search,
                                                   struct soma_lfa_prices **made, struct dse_error *err);
void soma_lfa_prices_free(struct soma_lfa_prices *prices);

/* What soma_price_lfa says of an LFA whose order is valid (of a folded network: of the whole one with the LFA
 * unrolled, where all repetitions read from outside as the first one does): equal cycles and bytes, energy
 * but for the rounding of its sum. When cost is INFINITY the rest is not set; it is so, too, where a layer
 * group would have to be looked at and the time is over (soma_search_is_over). DSE_NO_MEMORY; errors of the
 * core scheduler other than DSE_BAD_INPUT; an LFA beyond the parser's limits (DSE_LIMIT) counts as one that
 * does not fit. */
DSE_MUST_CHECK enum dse_status soma_lfa_price(struct soma_lfa_prices *prices, const struct soma_lfa *lfa,
                                              uint64_t buffer_limit, struct soma_price *price,
                                              struct dse_error *err);

/* The times of groups first .. past-1 of the LFA, which are a layer group. Errors as above. */
DSE_MUST_CHECK enum dse_status soma_lfa_group(struct soma_lfa_prices *prices, const struct soma_lfa *lfa,
                                              uint32_t first, uint32_t past, struct soma_group_times *times,
                                              struct dse_error *err);

#endif
