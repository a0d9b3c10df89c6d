/* A core array and its DRAM out of an ordinary architecture: no file of its own, and buffer capacities and bandwidths are
 * overridden and swept as everywhere else. */
#ifndef COSTMODEL_CORE_MACHINE_H
#define COSTMODEL_CORE_MACHINE_H

#include "base/status.h"
#include "costmodel/architecture.h"
#include "costmodel/core_array.h"
#include "costmodel/fused_schedule.h"

/* What the core-array model and the rule of the two engines (docs/core-array.md, docs/fused-schedule.md) need of `arch`, of 8 bit
 * words: outside a DRAM of one bandwidth for both ways; inside it the global buffer, with a read bandwidth; below that a mesh
 * of PEs, each with a buffer for inputs, weights and outputs; in each PE a mesh of input by output channel lanes; further in
 * only registers of one word. Bandwidths are whole bytes per cycle. DSE_BAD_INPUT names the level and quantity that does not
 * fit, also where the model's own L1 sizes and energies differ from the file's: nothing of the file is passed over. */
DSE_MUST_CHECK enum dse_status core_machine_of(const struct architecture *arch, struct core_array_size *size,
                                               struct fused_machine *machine, struct dse_error *err);

#endif
