/* Small placed graphs of uops with tiles out of a DRAM: a second planner of memories, with plain lists and
 * sets, and a second simulation of its steps, cycle by cycle. Both follow docs/klotski.md. */
#ifndef TESTS_SUPPORT_UOP_FED_H
#define TESTS_SUPPORT_UOP_FED_H

#include "costmodel/uop/uop_steps.h"
#include "tests/support/uop_placed.h"

enum {
    UOP_FED_TILE_MAX = 8,
    UOP_FED_ITEM_MAX = UOP_SMALL_MAX + UOP_FED_TILE_MAX,
    UOP_FED_STEP_MAX = 256,
    UOP_FED_WORDS = UOP_FED_STEP_MAX / 64
};

/* A placed graph with needs of its own. */
struct uop_fed {
    struct uop_placed placed;
    struct uop_needs needs;
    uint64_t word[UOP_FED_ITEM_MAX], held[UOP_FED_ITEM_MAX], room[UOP_SMALL_MAX];
    uint32_t first[UOP_SMALL_MAX + 1], item[UOP_SMALL_MAX * UOP_FED_TILE_MAX];
    bool is_result[UOP_SMALL_MAX];
    uint32_t n_tile;
};

/* n_tile items out of the DRAM; `uses[u]`: bits of those that uop u reads. All takes room; outputs that no
 * uop reads are results. */
void uop_fed_put(struct uop_fed *f, uint32_t n_tile, const uint64_t *tile_word, const uint32_t *uses,
                 uint64_t capacity);

/* uop_placed_random with random tiles, a DRAM of 1 to 8 words a cycle and hardly more room than the largest
 * uop takes, some more, or no end of it. */
void uop_fed_random(struct random_stream *rng, struct uop_fed *f);

/* A step as the second planner has it: sets of cores and of steps. */
struct uop_plain_step {
    enum uop_step_kind kind;
    uint32_t item, core, to;
    uint64_t wait[UOP_FED_WORDS];
};

struct uop_plain_steps {
    uint32_t n;
    struct uop_plain_step step[UOP_FED_STEP_MAX];
};

void uop_plain_plan(const struct uop_fed *f, const uint64_t *ideal_start, struct uop_plain_steps *out);

/* When each step begins and is done where messages take no time. */
void uop_plain_times(const struct uop_fed *f, const struct uop_plain_steps *steps, uint64_t *start,
                     uint64_t *finish);

#endif
