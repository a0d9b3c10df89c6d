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
 * of `arch`, of 8 bit words: outside a DRAM; inside it the global buffer, with a read bandwidth; below that a
 * mesh of PEs, each with a buffer for inputs, weights and outputs; in each PE a mesh of input by output
 * channel lanes; further in only registers of one word. Bandwidths become exact ratios (byte_rate_of).
 * DSE_BAD_INPUT names the level and quantity that does not fit, also where the model's
 * own L1 sizes and energies differ from the file's: nothing of the file is passed over. */
DSE_MUST_CHECK enum dse_status core_machine_of(const struct architecture *arch, struct core_array_size *size,
                                               struct fused_machine *machine, struct dse_error *err);

/* An architecture cut below its DRAM. */
struct core_split {
    struct fused_machine machine;
    uint32_t word_bit; /* of an element: a word of the DRAM */
    uint32_t buffer;   /* level of the architecture that is the schedule's buffer */
    /* bit r set: tensors of role r are not kept there but stream between the DRAM and a level of their own */
    uint32_t streams;
    /* The levels inside the DRAM; level `home`, the buffer, is unlimited. Where anything streams a further,
     * outermost level, the DRAM without bandwidth limits, keeps just that. */
    struct architecture core;
    uint32_t home;
    uint32_t halved; /* bit l set: level l has half of its words, so that the next of a stream fits beside */
    /* So many words of streamed weights at most are in their own level as a whole, in all its instances, and
     * stay there for the next tile; 0: they do not stream, or something else shares the level. */
    uint64_t stay_word;
};

/* Cut any architecture with one DRAM outside and a level on the chip that all PEs share: the buffer, the
 * outermost such level or the one of arch->fused, which keeps what the file says or all
 * (docs/fused-machines.md). In `core` the buffer is where all that it keeps is from the start, so a mapping
 * on it has the cycles and energy of a tile without the DRAM: reads and updates of the buffer and all that is
 * inside, and, as reads and updates of the outermost level, the traffic of what streams. Its capacity is
 * left to the fused schedule (machine.buffer_byte, the usable one; of a group of banks all but the others'
 * one each). machine has what a byte costs each way and the DRAM's bandwidths. DSE_BAD_INPUT names the level
 * that does not fit: a GPU; no DRAM outside, or one further in; a
 * bandwidth beyond byte_rate_of; a buffer of several instances, of unlimited capacity, or with a least
 * utilization; a level that keeps tensors by name alone. */
DSE_MUST_CHECK enum dse_status core_machine_split(const struct architecture *arch, struct core_split *split,
                                                  struct dse_error *err);

#endif
