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

/* Turns a cost just evaluated into the one to keep. */
typedef double price_memo_guide(void *self, double cost);

struct price_memo {
    struct price_memo_entry *entry; /* (PRICE_MEMO_SIZE) */
    struct engine_context *context; /* borrowed */
    price_memo_guide *guide;        /* NULL, as price_memo_new leaves it: costs are kept as they are */
    void *guide_self;
};

/* Memory from `arena`, 1.5 MiB. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status price_memo_new(struct price_memo *memo, struct engine_context *context,
                                              struct arena *arena, struct dse_error *err);

/* A hash of factors, orders of the non-unit loops, dimensions of the array of the non-unit spatial loops and
 * keeps; with `orders_spatial` (of the accounting) also of the places of loops that are only spatial. Never
 * 0. */
uint64_t price_memo_hash(const struct mapping *mapping, bool orders_spatial);

/* The place of a hash; its entry has that hash when the mapping is known, else it may be overwritten.
 * Different mappings share a hash with a chance of about 2^-64 a pair: good enough to guide a search, not to
 * report a cost. */
struct price_memo_entry *price_memo_at(struct price_memo *memo, uint64_t hash);

/* Cost and tie (energy-delay product) of a mapping, which is evaluated when it is not known. False when it
 * does not fit or the budget is used up. `memo` is a struct price_memo: with it this is a descent_price. */
bool price_memo_price(void *memo, const struct mapping *mapping, double *cost, double *tie);

#endif
