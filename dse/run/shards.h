/* Which points belong to shard K of N: the same on every node and after every interruption, as it follows
 * from the specification alone. Balanced by the static estimate of cost (dse/run/search_time_prior.h): points
 * of equal estimate are dealt in blocks of N, one to each shard, by a hash of class and block, so that no
 * length of an axis resonates with N; what is left over goes, dear ones first, to the shards that have least.
 * So no shard has more than another by more than one largest point. Searches that several points share are
 * not looked for: that two points share one shows only when their machines are built. */
#ifndef DSE_RUN_SHARDS_H
#define DSE_RUN_SHARDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "base/status.h"
#include "dse/spec/sweep.h"

/* Set the bits of the points of shard `shard` (1 .. n_shard) in `mine` (n_point of the sweep, all clear).
 * DSE_BAD_USAGE, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status shards_mark(const struct sweep *sweep, uint32_t shard, uint32_t n_shard,
                                           struct bits *mine, struct dse_error *err);

/* The same for any points: `class_of(user, p)` is below n_class, and class c costs second[c] (n_class), >= 0.
 * It is asked twice for each p, in order. */
DSE_MUST_CHECK enum dse_status shards_deal(uint32_t n_class, const double *second,
                                           uint32_t (*class_of)(const void *user, size_t p), const void *user,
                                           uint32_t shard, uint32_t n_shard, struct bits *mine,
                                           struct dse_error *err);

#endif
