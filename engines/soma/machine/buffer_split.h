/* Rooms of several pieces: where no place is found for every tensor as a whole, some are split over the bytes
 * that are free when they begin to live. Whatever fits by bytes then fits (docs/instructions.md). */
#ifndef ENGINES_SOMA_MACHINE_BUFFER_SPLIT_H
#define ENGINES_SOMA_MACHINE_BUFFER_SPLIT_H

#include "engines/soma/machine/buffer_allocate.h"

struct buffer_piece {
    uint64_t offset, byte;
};

struct buffer_split {
    uint32_t *first; /* (n_tensor + 1) into piece: those of a tensor, in the order of its bytes */
    struct buffer_piece
        *piece;         /* offsets are multiples of the alignment; a tensor's bytes add up to its own */
    uint32_t n_split;   /* tensors of more than one piece */
    uint64_t peak_byte; /* one past the last byte that any tensor has, rounded up to the alignment */
    bool fits;          /* else nothing but this is set: more is in use at one time than the buffer holds */
};

/* Place every tensor of a schedule without a fault, in the order in which they begin to live, as a whole
 * where a gap is wide enough: by a few rules, of which that with the fewest split tensors counts. It fits if
 * and only if the need_byte of buffer_allocate is at most options->buffer_byte (below 16 pieces a tensor on
 * average); the effort is not used, the alignment is at least 1. Memory from `arena`. Linear in tensors times
 * the gaps between those that live. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status buffer_split(const struct fused_schedule *schedule,
                                            const struct buffer_allocate_options *options,
                                            struct arena *arena, struct buffer_split *split,
                                            struct dse_error *err);

#endif
