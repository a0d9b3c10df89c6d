/* When each uop starts: the best of list schedules by several priorities, segment by segment (uop_segments),
 * until a segment's bound is met or its share of tries is used up; before that by a program in slots, where
 * asked for. Messages take no time. */
#ifndef ENGINES_KLOTSKI_ORDER_ORDER_SEARCH_H
#define ENGINES_KLOTSKI_ORDER_ORDER_SEARCH_H

#include <stdatomic.h>

#include "engines/klotski/order/list_schedule.h"

enum order_rule {
    ORDER_FIFO,    /* layer after layer */
    ORDER_LIST,    /* b-level */
    ORDER_PERTURB, /* both, and changed priorities where a segment is above its bound */
    ORDER_ILP,     /* both, and there Eq. (18) in slots; after that changed priorities */
    ORDER_RELAXED, /* the same with Eq. (19) */
};

struct order_settings {
    enum order_rule rule;
    uint32_t n_core;
    uint32_t n_try;  /* list schedules of changed priorities, all segments together */
    uint32_t n_slot; /* of a segment's program, and its binaries and nodes at most: slot_program.h */
    uint32_t max_binaries;
    uint64_t max_nodes;
    const atomic_int *cancel; /* polled between tries; may be NULL */
    double deadline_s;        /* clock_wall_s at which tries end; INFINITY: none */
};

/* Start and core of each uop (n_uop), the caller's; totals. */
struct order_found {
    uint64_t *start;
    uint32_t *core;
    uint64_t cycle, bound_cycle; /* of the graph on so many cores */
    uint64_t n_list;             /* list schedules that were made */
    /* by ORDER_ILP and ORDER_RELAXED: segments that lists left above their bound; of these those whose
     * program was solved to the end, those where a limit came first, those that were too large */
    uint32_t n_open, n_proved, n_limited, n_large;
};

/* Memory from `scratch`. Draws from `random` only with ORDER_PERTURB and later rules. DSE_NO_MEMORY; errors
 * of milp_solve. */
DSE_MUST_CHECK enum dse_status order_search(const struct uop_graph *graph,
                                            const struct order_settings *settings,
                                            struct random_stream *random, struct arena *scratch,
                                            struct order_found *out, struct dse_error *err);

#endif
