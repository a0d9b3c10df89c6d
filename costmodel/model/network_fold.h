/* A network whose repeated blocks stand in it once, for searches that look at a block once and repeat what
 * they find. */
#ifndef COSTMODEL_MODEL_NETWORK_FOLD_H
#define COSTMODEL_MODEL_NETWORK_FOLD_H

#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/network.h"

/* Segments are what stands before a block, the block, what needs it, the next block, ...: layers of a segment
 * need nothing of those behind it, so all of a segment can come before all of the next. */
struct network_segment {
    uint32_t times;  /* 1, or how often the block is there */
    uint32_t stride; /* from a layer of the block to the same one of its next repetition; else 0 */
};

struct network_fold {
    const struct network *whole; /* borrowed */
    struct network network;      /* as `whole` without repetitions behind the first; borrows from it */
    const uint32_t *layer;       /* (network.n_layer) number in `whole`, of blocks in the first repetition */
    const uint32_t *segment;     /* (network.n_layer) */
    uint32_t n_segment;
    const struct network_segment *of; /* (n_segment) */
};

/* *fold NULL: there is nothing to fold: no blocks, `unroll`, or blocks that are not alike or need one
 * another in a ring. Who reads several repetitions reads the one block several times. Memory from `arena`.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status network_fold_new(const struct network *whole, struct arena *arena,
                                                const struct network_fold **fold, struct dse_error *err);

#endif
