/* What a search costs, from the searches that have finished: the static estimate
 * (dse/run/search_time_prior.h) times the seconds taken over the seconds estimated, of this engine on this
 * network and batch so far; as long as there are none, of this engine, and then of all. Only the order of
 * work may depend on it, never a result. How good the order is: docs/performance.md.
 *
 * Not for several threads at once: the caller locks. */
#ifndef DSE_RUN_SEARCH_TIME_H
#define DSE_RUN_SEARCH_TIME_H

#include <stdint.h>

#include "base/status.h"
#include "dse/spec/sweep.h"

struct search_time;

/* Knows nothing but the static estimate. `sweep` is borrowed until search_time_free. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status search_time_new(const struct sweep *sweep, struct search_time **out,
                                               struct dse_error *err);
void search_time_free(struct search_time *time);

/* Search number `task` of the point at `index` (spec->n_dimension) took so long, in processor or wall
 * seconds; all searches of it did. Seconds that are no number or negative are passed over. */
void search_time_learn(struct search_time *time, const uint32_t *index, uint32_t task, double seconds);
void search_time_learn_point(struct search_time *time, const uint32_t *index, double seconds);

/* All searches of a point, one after the other. Some tens of nanoseconds. */
double search_time_of_point(const struct search_time *time, const uint32_t *index);

#endif
