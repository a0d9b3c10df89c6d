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

/* A tile's constraints on core_machine_split's core: the buffer and the DRAM keep what is theirs. `once`:
 * where one tensor streams, only mappings that move each word once, but for halos: no loop outside the
 * buffer; of those between the buffer and the tensor's own level the ones that index it at the buffer alone,
 * around those that do not. */
void mapper_stream_constraints(const struct mapper_core *core, const struct problem *problem, bool once,
                               struct mapspace_constraints *constraints);

/* Fill in stream_times and stream_share of a tile whose mapping was priced in full. */
void mapper_stream_measure(const struct mapper_core *core, const struct problem *problem,
                           const struct mapping *mapping, const struct evaluation_detail *detail,
                           struct core_cost *cost);

#endif
