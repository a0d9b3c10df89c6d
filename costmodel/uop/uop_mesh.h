/* The mesh between the cores, for whoever sends messages over it: its directed links, the routes, and which
 * messages a schedule has. Core row * columns + column, row 0 at the top. */
#ifndef COSTMODEL_UOP_UOP_MESH_H
#define COSTMODEL_UOP_UOP_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/uop/uop_schedule.h"

enum uop_side { UOP_EAST, UOP_SOUTH, UOP_WEST, UOP_NORTH, UOP_SIDES };

/* What went over a directed link: that of core c to the neighbour at a side is number c * UOP_SIDES +
 * side. */
struct uop_link {
    uint64_t n_message, byte, busy_cycle;
};

/* The core that a link leads to; the core itself where the mesh ends. */
uint32_t uop_link_to(const struct kc_machine *machine, uint32_t link);

/* The links from core to core, along the row first or along the column. Writes `link` (columns + rows - 2
 * at most) and returns how many. */
uint32_t uop_route(const struct kc_machine *machine, uint32_t from, uint32_t to, bool row_first,
                   uint32_t *link);

/* Where uops are, and their consumers by core. */
struct uop_messages {
    const struct uop_graph *graph;
    uint32_t *core, *place; /* (n_uop) the core of a uop, and where it is in schedule.order */
    uint32_t *consumer;     /* as those of the graph, but each list by place: so those on a core together */
};

/* Memory from `scratch`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status uop_messages_of(const struct uop_graph *graph,
                                               const struct uop_schedule *schedule, struct arena *scratch,
                                               struct uop_messages *messages, struct dse_error *err);

/* Where in `consumer` the next core's begin, after those that begin at `at`, in the list that ends at
 * `end`. */
static inline uint32_t uop_messages_next(const struct uop_messages *m, uint32_t at, uint32_t end)
{
    const uint32_t core = m->core[m->consumer[at]];
    while (at < end && m->core[m->consumer[at]] == core)
        at++;
    return at;
}

/* Bytes that a uop sends to each other core that waits for it. */
static inline uint64_t uop_message_byte(const struct uop_graph *graph, const struct kc_machine *machine,
                                        uint32_t uop)
{
    return graph->uop[uop].output_word * machine->word_byte;
}

#endif
