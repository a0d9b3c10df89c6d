/* Where in the global buffer each tensor of a fused schedule lies: offline allocation, since all living
 * durations are known (docs/instructions.md). */
#ifndef ENGINES_SOMA_MACHINE_BUFFER_ALLOCATE_H
#define ENGINES_SOMA_MACHINE_BUFFER_ALLOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/fused/fused_schedule.h"

struct buffer_allocate_options {
    uint64_t alignment;   /* offsets and rooms are multiples of it; bytes, at least 1 */
    uint64_t buffer_byte; /* what the buffer holds */
    /* comparisons of two tensors that the search may spend after the plain orders; 0: none. Where more pairs
     * of tensors live together than that, nothing is tried: peak_byte is UINT64_MAX, and it does not fit. */
    uint64_t effort;
};

enum { BUFFER_ALLOCATE_EFFORT = 100000000 }; /* about half a second */

/* Bytes are those of rooms, rounded up to the alignment. */
struct buffer_allocation {
    uint64_t *offset;     /* (n_tensor) the first byte of each tensor */
    uint64_t peak_byte;   /* one past the last byte that any tensor has */
    uint64_t living_byte; /* the most that lives at one position: struct fused_result's buffer_max_byte */
    uint64_t need_byte;   /* the most that is in use at one time: no allocation has a lower peak */
    double fragmentation; /* (peak_byte - living_byte) / living_byte; 0 when nothing lives */
    bool fits;            /* peak_byte <= buffer_byte */
    /* pairs of a store and a load that may not share bytes though their durations do not meet */
    uint32_t n_hazard;
    uint32_t n_outside; /* tensors that reach beyond the buffer */
    uint32_t outside;   /* the one of them that reaches furthest, the first of several */
};

/* Whether two tensors may never share a byte. `place` (n_tensor): place in the DRAM order. They may not when
 * they live at one position; nor when one is stored with end = e, the other is loaded with start = e and
 * stands before that store: the load may begin when tile e-1 is over, while the store is only over when tile
 * e begins (docs/instructions.md). */
bool buffer_conflict(const struct fused_tensor *a, uint32_t place_a, const struct fused_tensor *b,
                     uint32_t place_b);

/* Give every tensor of a schedule without a fault (FUSED_BUFFER is fine) an offset. First fit and best fit by
 * several orders; then, when the best is above need_byte, a search over orders with a stream of its own: the
 * result is a function of schedule and options. That it does not fit is a finding. Memory from `arena`.
 * DSE_BAD_USAGE: alignment 0; DSE_LIMIT: bytes beyond 2^62; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status buffer_allocate(const struct fused_schedule *schedule,
                                               const struct buffer_allocate_options *options,
                                               struct arena *arena, struct buffer_allocation *allocation,
                                               struct dse_error *err);

#endif
