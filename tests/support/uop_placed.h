/* Small graphs of uops with a schedule on a mesh of cores. */
#ifndef TESTS_SUPPORT_UOP_PLACED_H
#define TESTS_SUPPORT_UOP_PLACED_H

#include "costmodel/uop/uop_mesh.h"
#include "tests/support/uop_small.h"

enum { UOP_PLACED_CORE_MAX = 12 };

struct uop_placed {
    struct uop_small small;
    struct kc_machine machine;
    struct uop_schedule schedule;
    uint32_t first[UOP_PLACED_CORE_MAX + 1], order[UOP_SMALL_MAX];
    uint64_t start[UOP_SMALL_MAX], finish[UOP_SMALL_MAX];
    struct uop_times times;
    struct uop_link link[UOP_PLACED_CORE_MAX * UOP_SIDES];
    struct arena arena; /* the caller frees it */
};

/* No uops yet; words of 4 bytes. */
void uop_placed_init(struct uop_placed *p, uint32_t columns, uint32_t rows, uint32_t flit_bit);

/* Link n uops by their edges, each on its core (n); those of a core in the order of their numbers. */
void uop_placed_put(struct uop_placed *p, uint32_t n, const uint32_t *core);

/* uop_small_random on random cores, with outputs of 1 to 200 words. `core` (UOP_SMALL_MAX) or NULL. */
void uop_placed_random(struct random_stream *rng, struct uop_placed *p, uint32_t *core);

#endif
