/* Prices of mappings that were looked at before: a local search meets the same ones again and again. A table
 * of fixed size in which a new entry overwrites an old one; which is kept depends on the calls alone. */
#ifndef ENGINES_DRIVER_PRICE_MEMO_H
#define ENGINES_DRIVER_PRICE_MEMO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "costmodel/model/mapping.h"
#include "engines/driver/driver.h"

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

/* A hash of factors, orders of the non-unit loops, dimensions of the array of the non-unit spatial loops and
 * keeps; with `orders_spatial` (of the accounting) also of the places of loops that are only spatial. Never
 * 0. */
uint64_t price_memo_hash(const struct mapping *mapping, bool orders_spatial);

/* The place of a hash; its entry has that hash when the mapping is known, else it may be overwritten.
 * Different mappings share a hash with a chance of about 2^-64 a pair: good enough to guide a search, not to
 * report a cost. */
struct price_memo_entry *price_memo_at(struct price_memo *memo, uint64_t hash);

/* The entry of a mapping, which is evaluated when it is not known. `guide` (NULL: none) turns a cost just
 * evaluated into the one to keep. NULL when it does not fit or the budget is used up. */
typedef double price_memo_guide(void *self, double cost);
const struct price_memo_entry *price_memo_look(struct price_memo *memo, struct engine_context *context,
                                               const struct mapping *mapping, price_memo_guide *guide,
                                               void *self);

#endif
