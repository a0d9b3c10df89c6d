/* What one tensor must cost at least, before the machine is looked at; part of the lower bound
 * (docs/lower-bounds.md). */
#ifndef COSTMODEL_LOOPNEST_LOWER_BOUND_NEED_H
#define COSTMODEL_LOOPNEST_LOWER_BOUND_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/problem.h"

struct tensor_need {
    uint64_t box_word;      /* its bounding box */
    uint64_t touched_word;  /* at least this many words are touched (exact up to two terms a rank) */
    uint64_t anchored_word; /* product of its anchors: one dimension per rank, the longest */
    uint32_t sharing_dims;  /* bit d: not an anchor; iterations that differ only here may use the same word */
    uint64_t sharing;       /* product of the bounds of those */
    bool plain;             /* every rank is one dimension with coefficient 1, no dimension twice */
};

/* Of tensor `t` of a checked problem. */
struct tensor_need bound_tensor_need(const struct problem *problem, uint32_t t);

#endif
