/* The best mappings that a search has seen, for a price that is too slow for all of them. Of mappings with
 * equal cost, cycles and energy the first one stays: they differ in what the cost model does not see, and
 * often a simulator does not either. */
#ifndef ENGINES_DRIVER_SHORTLIST_H
#define ENGINES_DRIVER_SHORTLIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/mapping.h"

struct shortlist_entry {
    double cost; /* what they are sorted by; of equal ones the lower energy-delay product, then the first */
    struct mapping mapping;
    struct evaluation evaluation;
};

struct shortlist {
    uint32_t n, n_max;
    struct shortlist_entry **entry; /* (n) the best first; (n_max) all, in any order behind */
};

/* Room for n_max entries, in `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status shortlist_new(uint32_t n_max, struct arena *arena, struct shortlist **out,
                                             struct dse_error *err);

/* A mapping was priced: keep a copy if it is among the best. */
void shortlist_offer(struct shortlist *list, const struct mapping *mapping,
                     const struct evaluation *evaluation, double cost);

#endif
