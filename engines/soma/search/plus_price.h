/* What prefetching makes of an LFA with the whole buffer: the price that soma-plus searches by. */
#ifndef ENGINES_SOMA_SEARCH_PLUS_PRICE_H
#define ENGINES_SOMA_SEARCH_PLUS_PRICE_H

#include "base/random.h"
#include "engines/soma/search/search.h"

/* What else is known of an LFA. */
struct plus_limits {
    double bound;  /* what its tiles and tensors cost at least, in any DRAM order; INFINITY: not valid */
    uint32_t full; /* the layer of the first tile whose tensors do not fit; UINT32_MAX: none */
};

/* Parse an LFA and give it the DRAM order and living durations of soma_prefetcher_run: loads by first use,
 * weights so many tiles earlier as `lead` (by layer; NULL: none) says. price->cost INFINITY: not valid, or it
 * does not fit; `schedule` is then not to be used. What costs more than `limit` anyhow gets some price above
 * it, and no DRAM order. `limits` may be NULL. Memory from `arena`, which the caller resets. Errors of
 * soma_parse. */
DSE_MUST_CHECK enum dse_status plus_price(const struct soma_search *search, const struct soma_lfa *lfa,
                                          const int32_t *lead, double limit, struct arena *arena,
                                          struct fused_schedule *schedule, struct soma_price *price,
                                          struct plus_limits *limits, struct dse_error *err);

/* The same, but the best of that, double buffering, all rules of prefetching, and an annealing over the order
 * of the loads with `round_per_load` rounds per load (fewer for more than a few hundred) that starts from
 * `lead`. *left: schedules that it may look at besides the first, and then may still; NULL: any number. */
DSE_MUST_CHECK enum dse_status plus_polish(const struct soma_search *search, const struct soma_lfa *lfa,
                                           const int32_t *lead, double round_per_load, uint64_t *left,
                                           struct random_stream stream, struct arena *arena,
                                           struct fused_schedule *schedule, struct soma_price *price,
                                           struct dse_error *err);

#endif
