/* Random graphs of at most nine uops, and their least makespan by trying all orders. */
#ifndef TESTS_SUPPORT_UOP_SMALL_H
#define TESTS_SUPPORT_UOP_SMALL_H

#include <stdbool.h>

#include "base/random.h"
#include "costmodel/uop/uop_graph.h"

enum { UOP_SMALL_MAX = 9, UOP_SMALL_CORE_MAX = 8 };

/* A graph of its own arrays, without a network. */
struct uop_small {
    struct uop_graph graph;
    struct uop uop[UOP_SMALL_MAX];
    uint32_t first_producer[UOP_SMALL_MAX + 1], producer[UOP_SMALL_MAX * UOP_SMALL_MAX],
        first_consumer[UOP_SMALL_MAX + 1], consumer[UOP_SMALL_MAX * UOP_SMALL_MAX];
    bool edge[UOP_SMALL_MAX][UOP_SMALL_MAX]; /* from, to */
};

/* Its lists, of n uops by their edges; other members of the uops stay. */
void uop_small_link(struct uop_small *s, uint32_t n);

/* One to nine uops of one to four latencies. */
void uop_small_random(struct random_stream *rng, struct uop_small *s);

/* One to nine uops of up to 12 cycles, so that list schedules are less often the best. */
void uop_small_uneven(struct random_stream *rng, struct uop_small *s);

/* The least makespan on `n_core` cores. */
uint64_t uop_small_best(const struct uop_small *s, uint32_t n_core);

#endif
