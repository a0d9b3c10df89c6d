/* When a schedule's uops run on the cycle-exact simulator of the mesh (costmodel/noc): the judge of
 * schedules. docs/klotski.md, "Messages that take time". */
#ifndef COSTMODEL_UOP_UOP_FLITS_H
#define COSTMODEL_UOP_UOP_FLITS_H

#include "costmodel/uop/uop_steps.h"

/* A uop is a count of its cycles; what it makes is a unicast to the core that waits for it, or one
 * multicast to all of them, in packets, along rows first. Cores compute while they send. `link` (cores *
 * UOP_SIDES) is filled: bytes of messages, and cycles in which a flit passes. `scratch` is reset by the
 * caller. DSE_BAD_INPUT: as uop_run_ideal, or the simulator cannot hold the mesh, a uop's cycles or a
 * message (2^32). DSE_NO_MEMORY; DSE_INTERRUPTED soon after `cancel` (may be NULL) is set. */
DSE_MUST_CHECK enum dse_status uop_run_flits(const struct uop_graph *graph, const struct kc_machine *machine,
                                             const struct uop_schedule *schedule, const atomic_int *cancel,
                                             struct arena *scratch, struct uop_times *out,
                                             struct uop_link *link, struct dse_error *err);

/* The same of steps, as uop_steps_run. The DRAM's service is a count at the port at the west end of the first
 * row, after which the port of each row with cores that want it sends along that row; a write is a unicast
 * to the port of its row, then a count. Counts of a core keep their order by their waits alone. Errors as
 * above. */
DSE_MUST_CHECK enum dse_status uop_steps_flits(const struct uop_graph *graph,
                                               const struct kc_machine *machine,
                                               const struct uop_steps *steps, const atomic_int *cancel,
                                               struct arena *scratch, const struct uop_step_times *out,
                                               struct uop_link *link, struct dse_error *err);

#endif
