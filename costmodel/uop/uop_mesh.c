/* Links and routes by arithmetic; consumers by core in one pass over the schedule. */
#include "costmodel/uop/uop_mesh.h"

#include <string.h>

uint32_t uop_link_to(const struct kc_machine *machine, uint32_t link)
{
    const uint32_t core = link / UOP_SIDES, column = core % machine->columns, row = core / machine->columns;
    switch ((enum uop_side)(link % UOP_SIDES)) {
    case UOP_EAST:
        return column + 1 < machine->columns ? core + 1 : core;
    case UOP_SOUTH:
        return row + 1 < machine->rows ? core + machine->columns : core;
    case UOP_WEST:
        return column > 0 ? core - 1 : core;
    case UOP_NORTH:
        return row > 0 ? core - machine->columns : core;
    case UOP_SIDES:
        break;
    }
    return core;
}

uint32_t uop_route(const struct kc_machine *machine, uint32_t from, uint32_t to, bool row_first,
                   uint32_t *link)
{
    uint32_t n = 0, at = from;
    for (int leg = 0; leg < 2; leg++) {
        const bool along_row = (leg == 0) == row_first;
        const uint32_t step = along_row ? 1 : machine->columns;
        const uint32_t here = along_row ? from % machine->columns : from / machine->columns;
        const uint32_t there = along_row ? to % machine->columns : to / machine->columns;
        const uint32_t hops = there > here ? there - here : here - there;
        const enum uop_side side =
            along_row ? (there > here ? UOP_EAST : UOP_WEST) : (there > here ? UOP_SOUTH : UOP_NORTH);
        for (uint32_t i = 0; i < hops; i++) {
            link[n++] = at * UOP_SIDES + (uint32_t)side;
            at = there > here ? at + step : at - step;
        }
    }
    return n;
}

enum dse_status uop_messages_of(const struct uop_graph *graph, const struct uop_schedule *schedule,
                                struct arena *scratch, struct uop_messages *m, struct dse_error *err)
{
    const uint32_t n_uop = graph->n_uop;
    uint32_t *next = arena_alloc_unset(scratch, n_uop, sizeof *next);
    m->graph = graph;
    m->core = arena_alloc_unset(scratch, n_uop, sizeof *m->core);
    m->place = arena_alloc_unset(scratch, n_uop, sizeof *m->place);
    m->consumer = arena_alloc_unset(scratch, graph->first_consumer[n_uop] + (size_t)1, sizeof *m->consumer);
    DSE_TRY(arena_check(scratch, "the messages of a schedule", err));
    memcpy(next, graph->first_consumer, n_uop * sizeof *next);
    for (uint32_t c = 0; c < schedule->n_core; c++)
        for (uint32_t i = schedule->first[c]; i < schedule->first[c + 1]; i++) {
            const uint32_t u = schedule->order[i];
            m->core[u] = c;
            m->place[u] = i;
            for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
                m->consumer[next[graph->producer[k]]++] = u;
        }
    return DSE_OK;
}
