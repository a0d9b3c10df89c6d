/* The machine of fused schedules out of an ordinary architecture: no file of its own, and buffer capacities
 * and bandwidths are overridden and swept as everywhere else. For the built-in core array the architecture
 * must be one that it models; for a mapper as the core array's scheduler (engines/soma/machine/mapper_core.h)
 * nearly any will do. */
#ifndef COSTMODEL_FUSED_CORE_MACHINE_H
#define COSTMODEL_FUSED_CORE_MACHINE_H

#include "base/status.h"
#include "costmodel/fused/core_array.h"
#include "costmodel/fused/fused_schedule.h"
#include "costmodel/model/architecture.h"

/* What the core-array model and the rule of the two engines (docs/core-array.md, docs/fused-schedule.md) need
 * of `arch`, of 8 bit words: outside a DRAM of one bandwidth for both ways; inside it the global buffer, with
 * a read bandwidth; below that a mesh of PEs, each with a buffer for inputs, weights and outputs; in each PE
 * a mesh of input by output channel lanes; further in only registers of one word. Bandwidths become exact
 * ratios (byte_rate_of). DSE_BAD_INPUT names the level and quantity that does not fit, also where the model's
 * own L1 sizes and energies differ from the file's: nothing of the file is passed over. */
DSE_MUST_CHECK enum dse_status core_machine_of(const struct architecture *arch, struct core_array_size *size,
                                               struct fused_machine *machine, struct dse_error *err);

/* An architecture cut below its DRAM. */
struct core_split {
    struct fused_machine machine;
    uint32_t word_byte;       /* bytes of an element: a word of DRAM and buffer */
    struct architecture core; /* the levels inside the DRAM; the buffer is the outermost one, unlimited */
};

/* Cut any architecture with one DRAM outside and, next to it, one buffer that keeps all tensors. In `core`
 * that buffer is where all tensors of a tile are from the start, so a mapping on it has the cycles and energy
 * of a tile without the DRAM: reads and updates of the buffer and all that is inside. Its capacity is left to
 * the fused schedule (machine.buffer_byte, the usable one). machine.dram_energy_j is what a byte costs on its
 * way in: an access of the DRAM and the write into the buffer; the same is taken on the way out.
 * DSE_BAD_INPUT names the level that does not fit: a GPU; no DRAM outside, or one further in; a DRAM with two
 * bandwidths, none, or one beyond byte_rate_of, with different energies of reads and writes, or with a
 * network of energies or latencies; a buffer of several instances, of no or unlimited capacity, that does not
 * keep every tensor, has a least utilization, or words that are not the DRAM's or not whole bytes. */
DSE_MUST_CHECK enum dse_status core_machine_split(const struct architecture *arch, struct core_split *split,
                                                  struct dse_error *err);

#endif
