/* Costs of tiles that were asked for before, kept across schemes, sweep points and threads: a search asks for
 * the same tiles again and again. Costs are the scheduler's own, whatever was asked before and on however
 * many threads. */
#ifndef COSTMODEL_FUSED_CORE_CACHE_H
#define COSTMODEL_FUSED_CORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/fused/core_array.h"

struct core_cache;

/* An empty cache of at most `entry_max` costs, rounded down to a multiple of 64 (128 bytes each and room to
 * grow, taken as they come); what comes later is computed and not kept. Release with core_cache_free (NULL is
 * fine). DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status core_cache_new(uint32_t entry_max, struct core_cache **cache,
                                              struct dse_error *err);
void core_cache_free(struct core_cache *cache);

/* A scheduler seen through a cache. */
struct core_cached {
    struct core_cache *cache;
    struct core_scheduler inner;
    uint32_t owner; /* of the entries */
};

/* Put `cache` before `inner`. Schedulers that give the same costs share entries by having the same `identity`
 * (compared byte by byte, so no padding; at most 2^16 bytes). The cache and what `inner` points to outlive
 * `cached`. Thread-safe. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status core_cache_join(struct core_cache *cache, struct core_scheduler inner,
                                               const void *identity, size_t length,
                                               struct core_cached *cached, struct dse_error *err);

/* The same for the built-in scheduler: equal parameters and equal `compat` share. `search` must outlive
 * `cached`. */
DSE_MUST_CHECK enum dse_status core_cache_join_array(struct core_cache *cache,
                                                     const struct core_array_search *search,
                                                     struct core_cached *cached, struct dse_error *err);

/* Whatever else a scheduler keeps for later: bytes without padding, by its identity and a key of bytes.
 * Recall returns whether they were there, and are at most `room`; remember leaves what is there already, and
 * keeps nothing without memory, beyond CORE_CACHE_NOTE_MAX of them or CORE_CACHE_NOTE_BYTE_MAX bytes in all.
 * Thread-safe. */
enum { CORE_CACHE_NOTE_MAX = 1 << 15, CORE_CACHE_NOTE_BYTE_MAX = 64 << 20 };
bool core_cache_recall(const struct core_cached *cached, const void *key, size_t key_length, void *bytes,
                       size_t room);
void core_cache_remember(const struct core_cached *cached, const void *key, size_t key_length,
                         const void *bytes, size_t length);

/* To ask it; may be used by several threads at once when `inner` may. A failure is not kept. */
struct core_scheduler core_cached_scheduler(const struct core_cached *cached);

#endif
