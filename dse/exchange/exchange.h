/* When a sweep is complete, its cells exchange schedules: each is offered those of its neighbours
 * (dse/spec/sweep_neighbours.h), priced on its own machine, and takes the best that is better than its own,
 * until nothing changes. What comes of it is a function of what the searches have found, and of nothing
 * else. */
#ifndef DSE_EXCHANGE_EXCHANGE_H
#define DSE_EXCHANGE_EXCHANGE_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dse/spec/sweep.h"
#include "results/journal/journal.h"

struct core_cache; /* costmodel/fused/core_cache.h */

/* A cell has taken another's schedule: the lines of its exchanged row, for the end of both tables. */
typedef enum dse_status exchange_take(void *user, uint64_t cell, const struct journal_lines *lines,
                                      struct dse_error *err);

struct exchange_options {
    const char *tables;                 /* the journal with the rows of all points, as of journal_scan_open */
    const struct result_schema *schema; /* of the journal */
    struct core_cache *core_cache;      /* costs of tiles; may be NULL */
    int n_thread;
    const atomic_int *cancel; /* may be NULL */
    exchange_take *take;      /* called in the order of the points */
    void *user;
};

struct exchange_summary {
    size_t n_offered;   /* schedules that were priced */
    size_t n_exchanged; /* cells that have another's schedule, also those whose rows were there */
};

/* Whether cells of the sweep exchange at all. */
bool exchange_is_wanted(const struct sweep *sweep);

/* All of it; rows that are there already are not made again. DSE_INTERRUPTED: `cancel` was set, and nothing
 * was taken. Errors of journal_scan_next; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status exchange_run(const struct sweep *sweep, const struct exchange_options *options,
                                            struct exchange_summary *summary, struct dse_error *err);

#endif
