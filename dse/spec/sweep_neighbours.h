/* Which cells of a sweep are neighbours: points of a scheduler that differ in capacities and bandwidths
 * alone, where one has at least the other's of each, and none lies between the two. They exchange schedules
 * (dse/exchange/exchange.h). */
#ifndef DSE_SPEC_SWEEP_NEIGHBOURS_H
#define DSE_SPEC_SWEEP_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dse/spec/sweep.h"

struct sweep_neighbours {
    size_t n;
    uint32_t *point; /* (n) numbers of the points that have neighbours, ascending; owned */
    size_t *first;   /* (n + 1) those of point[i] are other[first[i] ... first[i + 1] - 1]; owned */
    uint32_t *other; /* places in `point`, ascending; owned */
};

/* Whether a variable is a capacity or a bandwidth of the machine. */
bool sweep_exchanges(const struct sweep *sweep, size_t v);

/* None where the specification turns the exchange off. Release with sweep_neighbours_free, also after a
 * failure. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status sweep_neighbours_init(struct sweep_neighbours *neighbours,
                                                     const struct sweep *sweep, struct dse_error *err);
void sweep_neighbours_free(struct sweep_neighbours *neighbours);

/* Where the point is in `point`; SIZE_MAX: it has no neighbours. */
size_t sweep_neighbours_find(const struct sweep_neighbours *neighbours, size_t p);

/* "GBUF.capacity_byte=8388608 DRAM.bandwidth_byte_per_s=16000000000": what tells point p from all that it may
 * exchange with, by the columns of result files and as they write values. */
void sweep_exchange_place(const struct sweep *sweep, size_t p, struct text_buffer *out);

/* The point of that place which point p may exchange with; SIZE_MAX: there is none. */
size_t sweep_exchange_find(const struct sweep *sweep, size_t p, const char *place);

#endif
