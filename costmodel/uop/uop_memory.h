/* What a schedule's accelerators hold and when it comes from the DRAM or goes there, planned ahead from the
 * lists: steps (runs of uops, messages, reads, writes) that wait only for earlier ones, so that no network
 * can lock up. docs/klotski.md, "Weights from the DRAM". */
#ifndef COSTMODEL_UOP_UOP_MEMORY_H
#define COSTMODEL_UOP_UOP_MEMORY_H

#include "costmodel/uop/uop_mesh.h"
#include "costmodel/uop/uop_needs.h"

#define UOP_NONE UINT32_MAX

enum { UOP_AHEAD_MAX = 1024 }; /* how many uops ahead of its use an item comes, at most */

enum uop_step_kind {
    UOP_RUN,   /* a uop, on its core */
    UOP_SEND,  /* its output, from its core to others */
    UOP_READ,  /* an item, from the DRAM to cores */
    UOP_WRITE, /* an output, from a core to the DRAM */
};

/* There are millions of these: 16 bytes. */
struct uop_step {
    uint32_t item;                /* RUN and SEND: the uop; READ, WRITE: an item of uop_needs */
    uint32_t core;                /* of RUN, SEND, WRITE */
    uint32_t first_to;            /* SEND, READ: into uop_steps.to */
    uint32_t n_to : 30, kind : 2; /* kind: enum uop_step_kind */
};

/* A uop in slices has its words read and written in its RUN, which waits until what it reads is in the DRAM.
 * A RUN or WRITE that waits for a SEND or READ to its own core waits for the arrival there; all others wait
 * until a step is done: until all have it, or the DRAM. */
struct uop_steps {
    uint32_t n_step;
    struct uop_step *step;
    const uint64_t *word; /* by item; borrowed */
    /* (n_uop) of uops in slices what they pass to and from the DRAM while they run; NULL: there is none */
    const struct uop_stream *const *stream; /* borrowed */
    uint32_t *to;                           /* cores, ascending for each step */
    uint32_t *first_wait;                   /* (n_step + 1) into wait */
    uint32_t *wait;                         /* steps with smaller numbers */
};

/* The plan of a schedule that is run in its order (firing static); it borrows from `needs`. Memory from
 * `scratch`, which the caller resets. Errors of uop_run_ideal; DSE_BAD_INPUT: a uop needs more room than an
 * accelerator has; DSE_LIMIT: 2^32 steps. */
DSE_MUST_CHECK enum dse_status uop_memory_plan(const struct uop_graph *graph, const struct uop_needs *needs,
                                               const struct uop_schedule *schedule, struct arena *scratch,
                                               struct uop_steps *out, struct dse_error *err);

/* Cycles that no schedule of the same uops is below: uop_bound with the least that passes between DRAM and
 * mesh, segment by segment. UINT64_MAX: out of memory. */
uint64_t uop_memory_bound(const struct uop_graph *graph, const struct uop_needs *needs,
                          const struct kc_machine *machine, struct arena *scratch);

/* Cycles that no schedule of any partition is below: uop_partition_bound, and every weight, input and result
 * once through the DRAM. */
uint64_t uop_memory_partition_bound(const struct uop_network *network, const struct kc_machine *machine,
                                    uint32_t batch);

#endif
