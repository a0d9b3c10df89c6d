/* Tensors that go past the buffer, as a mapper sees them: what it must keep where, and how often a mapping
 * moves them over the chip's border. docs/fused-machines.md, "What streams". */
#ifndef ENGINES_SOMA_MACHINE_MAPPER_STREAM_H
#define ENGINES_SOMA_MACHINE_MAPPER_STREAM_H

#include <stdbool.h>

#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/fused/core_array.h"
#include "engines/mapspace/mapspace_constraints.h"

struct mapper_core; /* engines/soma/machine/mapper_core.h */

/* Which mappings of a tile are looked at, where one tensor streams; all do where several tensors do. */
enum stream_way {
    STREAM_ANY,
    /* Each word moves once, but for halos: no loop outside the buffer; of those between the buffer and the
     * tensor's own level the ones that index it at the buffer alone, around those that do not. */
    STREAM_ONCE,
    /* And all of it is in its own level from the tile's begin to its end: none that index it between. So it
     * is still there for the next tile of this shape. */
    STREAM_WHOLE
};

/* STREAM_WHOLE may cost a tile so many times what STREAM_ONCE does (energy x time), since the tiles behind it
 * need not load. */
#define STREAM_WHOLE_WORTH 1.1

/* Whether the weights are few enough for STREAM_WHOLE. */
bool mapper_stream_may_stay(const struct mapper_core *core, const struct problem *problem);

/* A tile's constraints on core_machine_split's core: the buffer and the DRAM keep what is theirs. */
void mapper_stream_constraints(const struct mapper_core *core, const struct problem *problem,
                               enum stream_way way, struct mapspace_constraints *constraints);

/* Fill in stream_times and stream_share of a tile whose mapping was priced in full. */
void mapper_stream_measure(const struct mapper_core *core, const struct problem *problem,
                           const struct mapping *mapping, const struct evaluation_detail *detail,
                           struct core_cost *cost);

#endif
