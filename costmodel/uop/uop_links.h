/* When a schedule's uops run where messages take the time of the links on their way: at the end of a uop
 * one message sets out to each other core that waits for it. docs/klotski.md, "Messages that take time".
 * */
#ifndef COSTMODEL_UOP_UOP_LINKS_H
#define COSTMODEL_UOP_UOP_LINKS_H

#include "costmodel/uop/uop_mesh.h"

/* A message goes along its row, then its column, or the other way round, whichever brings it there
 * earlier (the row first where both do). Its head takes a cycle for each link and waits where one is
 * taken; the link is taken for as many cycles as the message has flits (machine->noc.flit_bit). It is
 * there when the last has come. Messages of one cycle set out by the numbers of their uops, then of the
 * cores that they go to. flit_bit 0: messages take no time. `link` (cores * UOP_SIDES) is filled.
 * `scratch` is reset by the caller. DSE_BAD_INPUT: as uop_run_ideal; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_run_links(const struct uop_graph *graph, const struct kc_machine *machine,
                                             const struct uop_schedule *schedule, struct arena *scratch,
                                             struct uop_times *out, struct uop_link *link,
                                             struct dse_error *err);

/* What uop_run_flits would say, guessed at the price of links: a multicast is a tree along rows first, in
 * packets with heads, that waits as a whole for the link or end of it that is taken longest, and takes them
 * until its tail has passed; of several that wait for a link the one that was sent first goes first. Exact
 * where no messages meet. `scratch` and errors as above. */
DSE_MUST_CHECK enum dse_status uop_run_trees(const struct uop_graph *graph, const struct kc_machine *machine,
                                             const struct uop_schedule *schedule, struct arena *scratch,
                                             struct uop_times *out, struct dse_error *err);

#endif
