/* From a fused schedule to instructions (SoMa, HPCA 2025, figure 5; docs/instructions.md). */
#ifndef ENGINES_SOMA_MACHINE_LOWER_H
#define ENGINES_SOMA_MACHINE_LOWER_H

#include "costmodel/fused/fused_schedule.h"
#include "engines/soma/machine/buffer_allocate.h"
#include "engines/soma/machine/buffer_split.h"
#include "engines/soma/machine/instructions.h"
#include "engines/soma/notation/graph.h"

/* Why there are no instructions, or none that can run. */
enum lower_fault {
    LOWER_OK,
    LOWER_SCHEDULE, /* the evaluator finds a fault */
    LOWER_READ,     /* a tile reads a tensor of the buffer that is not made yet, or not alive any more */
    LOWER_ROOM /* even split tensors do not fit the buffer, with this alignment; the instructions are there
                     * all the same */
};

struct lowered {
    enum lower_fault fault;
    uint32_t tensor,
        tile; /* LOWER_READ: tensor and position; LOWER_ROOM: the tensor that reaches furthest beyond */
    /* durations are shorter than the schedule's, at the same times; for LOWER_OK and LOWER_ROOM */
    bool is_tightened;
    struct fused_result result;          /* of the schedule */
    struct buffer_allocation allocation; /* for LOWER_OK and LOWER_ROOM: of whole tensors */
    struct buffer_split split;           /* fits: it did not, and some tensors are in several pieces */
    struct instruction_program program;  /* likewise */
};

/* Lower a schedule that soma_parse made of `graph`'s network (its DLSA may be another). What tiles read in
 * the buffer follows from the graph: of a producer in the same fine-grained group the tile of the same index,
 * of one in an earlier group of the layer group all tiles. When no allocation of whole tensors fits,
 * durations are tightened to the positions in which a tensor is in use by the schedule's own times; when that
 * is not enough, a few tensors are split. `options->buffer_byte` is not used: the machine's is. Memory from
 * `arena`; names are the network's. A fault is a finding. DSE_LIMIT: tiles that read 2^25 tensors or more in
 * all; DSE_NO_MEMORY; errors of fused_evaluate and buffer_allocate. */
DSE_MUST_CHECK enum dse_status instruction_lower(const struct fused_schedule *schedule,
                                                 const struct soma_graph *graph,
                                                 const struct fused_machine *machine,
                                                 const struct buffer_allocate_options *options,
                                                 struct arena *arena, struct lowered *lowered,
                                                 struct dse_error *err);

/* Find where every tensor lies by the same rules, but make no instructions: lowered->program is empty. */
DSE_MUST_CHECK enum dse_status instruction_place(const struct fused_schedule *schedule,
                                                 const struct soma_graph *graph,
                                                 const struct fused_machine *machine,
                                                 const struct buffer_allocate_options *options,
                                                 struct arena *arena, struct lowered *lowered,
                                                 struct dse_error *err);

#endif
