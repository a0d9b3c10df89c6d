/* A good DLSA of an LFA without a search: list scheduling of the DRAM (docs/soma-search.md,
 * "Prefetching"). */
#ifndef ENGINES_SOMA_SEARCH_PREFETCH_H
#define ENGINES_SOMA_SEARCH_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused/fused_schedule.h"
#include "engines/soma/search/search.h"

/* When a store goes on the DRAM. */
enum soma_store_rule {
    SOMA_STORE_SOON, /* before any load that could start only later or at the same time */
    SOMA_STORE_LATE  /* where the DRAM would wait, or where room or another tensor needs it */
};

/* Which load from further back may go on the DRAM where it would wait for the next one's room or data. */
enum soma_fill_rule {
    SOMA_FILL_FIT, /* one that is over when the wait is, or is needed as early as what it holds up */
    SOMA_FILL_ANY  /* any */
};

struct soma_prefetch_options {
    enum soma_store_rule store_rule;
    enum soma_fill_rule fill_rule;
    uint32_t look_ahead; /* so many loads behind the next one are looked at; 0: none */
};

/* Prepared for many runs over one LFA's tiles and tensors. */
struct soma_prefetcher;

/* `schedule` as soma_parse made it (only while this call runs are its ends of stores read; tiles and the rest
 * of the tensors must outlive the prefetcher); of `search`, which outlives it, the machine and when it is
 * over count. *made NULL: the tensors of tile *full, the first such, do not fit by themselves, or
 * of many tiles the time is over (search->context). Memory from
 * `arena`. Linear in tiles and tensors. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status soma_prefetcher_new(const struct fused_schedule *schedule,
                                                   const struct soma_search *search, struct arena *arena,
                                                   struct soma_prefetcher **made, uint32_t *full,
                                                   struct dse_error *err);

/* Place all transfers: loads in the order `load_order` (all of them; NULL: by first use), each as early as
 * the DRAM and the buffer let it; stores by the rule. What the order makes impossible is moved: a load that
 * tiles have to run for waits for theirs. Gives the cycles, which are those of fused_evaluate;
 * FUSED_NEVER, with nothing to save and no times of loads (soma_prefetcher_order), when these are certain to
 * be more than `most`, or when the search was over long before the end. Linear in tiles and tensors but for
 * the positions by which loads come early (living.h). */
uint64_t soma_prefetcher_run(struct soma_prefetcher *prefetcher, const struct soma_prefetch_options *options,
                             const uint32_t *load_order, uint64_t most);

/* Put the DRAM order and living durations of the last run into the schedule (or one of the same tensors). */
void soma_prefetcher_save(const struct soma_prefetcher *prefetcher, struct fused_schedule *schedule);

/* The loads by first use. */
const uint32_t *soma_prefetcher_loads(const struct soma_prefetcher *prefetcher, uint32_t *n);

/* An order for a run: by first use, weights so many tiles earlier as `lead` (by layer) says. `order` and
 * `key` (n_load); `key` is working memory. */
void soma_prefetcher_lead(const struct soma_prefetcher *prefetcher, const int32_t *lead, uint32_t *order,
                          double *key);

/* An order for a run: by the time at which a load was needed in the last run less `weight` times its own
 * duration. `order` and `key` (n_load); `key` is working memory. */
void soma_prefetcher_order(const struct soma_prefetcher *prefetcher, double weight, uint32_t *order,
                           double *key);

#endif
