/* Which core runs which uop, when it is known when each starts: messages are to be short (Klotski's second
 * stage, section IV-D). Starts are kept: uops that run at the same time are on different cores.
 * docs/klotski.md, "Where they run". */
#ifndef ENGINES_KLOTSKI_ORDER_CORE_MAPPING_H
#define ENGINES_KLOTSKI_ORDER_CORE_MAPPING_H

#include <stdatomic.h>

#include "base/random.h"
#include "engines/klotski/order/core_traffic.h"

enum core_rule {
    CORE_ZIGZAG, /* the first core in zig-zag order that is free */
    CORE_SWEEP,  /* uops that start together: the assignment to free cores of the least cost of inputs */
    CORE_LOCAL,  /* from there, exchange of pieces of time between two cores: annealing, then descent */
    CORE_MIP,    /* from the sweep, programs of windows of the schedule: core_program.h */
};

struct core_settings {
    enum core_rule rule;
    struct core_mesh mesh;
    bool unweighted;    /* hops are counted, not words times hops */
    uint32_t n_move;    /* CORE_LOCAL: exchanges tried for each uop, by annealing; as many again by descent */
    uint64_t max_nodes; /* CORE_MIP: of each program */
    const atomic_int *cancel; /* polled between exchanges; may be NULL */
    double deadline_s;        /* clock_wall_s at which exchanges end; INFINITY: none */
};

/* What programs did: windows, and those of them that were solved to the end. */
struct core_programs {
    uint64_t n_window, n_proved;
};

/* Give each uop its core, `core` (n_uop). `start` (n_uop) keeps the order of the graph, and never do more
 * uops run than there are cores: else DSE_INTERNAL. Draws from `random` only with CORE_LOCAL. Memory from
 * `scratch`. `programs`: set with CORE_MIP, else zero. DSE_NO_MEMORY; errors of milp_solve. */
DSE_MUST_CHECK enum dse_status core_mapping(const struct uop_graph *graph, const uint64_t *start,
                                            const struct core_settings *settings,
                                            struct random_stream *random, struct arena *scratch,
                                            uint32_t *core, struct core_programs *programs,
                                            struct dse_error *err);

#endif
