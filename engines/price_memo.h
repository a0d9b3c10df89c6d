/* Prices of mappings that were looked at before: a local search meets the same ones again and again. A table of fixed size
 * in which a new entry overwrites an old one; which is kept depends on the calls alone. */
#ifndef ENGINES_PRICE_MEMO_H
#define ENGINES_PRICE_MEMO_H

#include <stdint.h>

#include "base/arena.h"
#include "costmodel/mapping.h"

enum { PRICE_MEMO_SIZE = 1 << 16 };

struct price_memo_entry {
    uint64_t hash; /* 0: empty */
    double cost, tie;
};

struct price_memo {
    struct price_memo_entry *entry; /* (PRICE_MEMO_SIZE) */
};

/* Memory from `arena`, 1.5 MiB. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status price_memo_new(struct price_memo *memo, struct arena *arena,
                                              struct dse_error *err);

/* A hash of what mapping_same compares, switches apart: equal mappings have equal hashes, never 0. */
uint64_t price_memo_hash(const struct mapping *mapping);

/* The place of a hash; its entry has that hash when the mapping is known, else it may be overwritten. Different mappings
 * share a hash with a chance of about 2^-64 a pair: good enough to guide a search, not to report a cost. */
struct price_memo_entry *price_memo_at(struct price_memo *memo, uint64_t hash);

#endif
