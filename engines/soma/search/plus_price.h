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

/* An LFA with its tiles, tensors and what prefetching prepares, for many leads. */
struct plus_fusion;

/* Of no LFA yet. Memory from `arena`, and from `scratch`, which it resets for each LFA. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_fusion_new(const struct soma_search *search, struct arena *arena,
                                               struct arena *scratch, struct plus_fusion **made,
                                               struct dse_error *err);

/* Make it of another LFA. Errors of soma_parse. */
DSE_MUST_CHECK enum dse_status plus_fusion_set(struct plus_fusion *fusion, const struct soma_lfa *lfa,
                                               struct dse_error *err);

/* Whether it is of this LFA. */
bool plus_fusion_is(const struct plus_fusion *fusion, const struct soma_lfa *lfa);

/* What plus_price gives, but for the schedule. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status plus_fusion_price(struct plus_fusion *fusion, const int32_t *lead,
                                                 double limit, struct soma_price *price,
                                                 struct plus_limits *limits, struct dse_error *err);

/* The same as plus_price, but the best of that, double buffering, all rules of prefetching, and an annealing
 * over the order of the loads with `round_per_load` rounds per load (fewer for more than a few hundred, none
 * where the bound of dlsa_bound.h is reached) that starts from `lead`. *left: schedules that it may look at
 * besides the first, and then may still; NULL: any number. */
DSE_MUST_CHECK enum dse_status plus_polish(const struct soma_search *search, const struct soma_lfa *lfa,
                                           const int32_t *lead, double round_per_load, uint64_t *left,
                                           struct random_stream stream, struct arena *arena,
                                           struct fused_schedule *schedule, struct soma_price *price,
                                           struct dse_error *err);

#endif
