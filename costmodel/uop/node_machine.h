/* Any machine as the accelerator of a mesh's node: what uops need to know of it, and the machine inside its
 * DRAM, on which a mapper prices them. docs/klotski.md, "Any machine as a node". */
#ifndef COSTMODEL_UOP_NODE_MACHINE_H
#define COSTMODEL_UOP_NODE_MACHINE_H

#include "base/status.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/uop/kc_cost.h"

/* A mesh of accelerators: as kc_machine_of where it takes the architecture (then n_mac is 0 and `node` is not
 * set). Else each is the whole chip, columns x rows as noc.mesh says, one without it; or, where the outermost
 * level on the chip has several instances, one of these with its share of what is inside. Its shared memory
 * is the outermost level on the chip, or that of arch->fused, and holds all tensors. `node` is the machine
 * inside the DRAM (core_machine_split) for a pricer, which the caller adds. DSE_BAD_INPUT: a GPU; no DRAM
 * outside; no memory on the chip; a level that keeps tensors by name alone; errors of core_machine_split. */
DSE_MUST_CHECK enum dse_status node_machine_of(const struct architecture *arch, struct kc_machine *machine,
                                               struct core_split *node, struct dse_error *err);

#endif
