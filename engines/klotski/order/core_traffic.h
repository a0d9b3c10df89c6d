/* What a mapping of uops to cores costs in messages, kept up to date as uops move: a message from a uop to
 * each other core that waits for it, its words (or 1) times the hops between the two. As uop_plan_evaluate
 * counts byte_hop, but with flits. */
#ifndef ENGINES_KLOTSKI_ORDER_CORE_TRAFFIC_H
#define ENGINES_KLOTSKI_ORDER_CORE_TRAFFIC_H

#include "base/arena.h"
#include "costmodel/uop/uop_graph.h"

enum { CORE_NONE = UINT32_MAX };

/* A mesh; cores are counted by rows. */
struct core_mesh {
    uint32_t columns, rows;
};

/* Number i of the cores, along the first row, back along the second, and so on. */
uint32_t core_zigzag(const struct core_mesh *mesh, uint32_t i);

struct core_traffic {
    const struct uop_graph *graph; /* borrowed */
    uint32_t n_core;
    const uint32_t *hops;  /* (n_core, n_core) */
    const double *message; /* (n_uop) what one message costs for each hop */
    uint32_t *core;        /* (n_uop) where each runs; CORE_NONE: not yet */
    uint32_t *n_reader;    /* (n_uop, n_core) consumers of a uop on a core */
    uint64_t *seen, tick;  /* (n_core) scratch: the tick at which a core was seen */
};

/* No uop has a core yet. `unweighted`: every message costs 1 a hop. Memory from `arena`: 4 B a uop and core,
 * 4 B a pair of cores. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status core_traffic_init(struct core_traffic *traffic, const struct uop_graph *graph,
                                                 const struct core_mesh *mesh, bool unweighted,
                                                 struct arena *arena, struct dse_error *err);

/* Set all anew; `core` (n_uop), all on a core. */
void core_traffic_set(struct core_traffic *traffic, const uint32_t *core);

/* Put a uop, which is on no core and whose producers are, on one; its consumers are on none. */
void core_traffic_place(struct core_traffic *traffic, uint32_t uop, uint32_t core);

/* What the messages to a uop would cost more with it on each core: `cost` (n_core), as for place. */
void core_traffic_price(const struct core_traffic *traffic, uint32_t uop, double *cost);

/* Move a uop, with all of them on cores; returns by how much the cost changes. */
double core_traffic_move(struct core_traffic *traffic, uint32_t uop, uint32_t to);

/* The cost of all messages, counted anew. */
double core_traffic_cost(const struct core_traffic *traffic);

#endif
