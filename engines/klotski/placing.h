/* Uops in one order and on cores, for searches that change these and ask what the network makes of it: each
 * core runs its uops in that order. */
#ifndef ENGINES_KLOTSKI_PLACING_H
#define ENGINES_KLOTSKI_PLACING_H

#include "engines/klotski/klotski_task.h"

struct placing {
    const struct klotski_task *task;
    const struct uop_graph *graph;
    uint32_t *order;        /* (n_uop) producers come first */
    uint32_t *core;         /* (n_uop) of each uop */
    uint32_t *first, *list; /* (n_core + 1), (n_uop): lists of cores as placing_lists has made them */
    struct uop_times times; /* (n_uop) as placing_guess has left them */
    struct uop_link *link;
    struct placing_key *key; /* (n_uop) scratch */
};

/* In no order yet and on no cores. Task and graph are borrowed; memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status placing_new(const struct klotski_task *task, const struct uop_graph *graph,
                                           struct arena *arena, struct placing *out, struct dse_error *err);

/* The list schedule by b-levels without a network: its cores and starts; `*cycle`: its cycles, or UINT64_MAX
 * where they are not below `limit`, and then nothing is placed. The order is placing_by_starts's to set.
 * Memory from `scratch`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status placing_list(struct placing *placing, uint64_t limit, struct arena *scratch,
                                            uint64_t *cycle, struct dse_error *err);

/* Put uops in the order of the starts that they have. */
void placing_by_starts(struct placing *placing);

/* Put uops on cores by their places in the maps: each layer's, in the order of their numbers, in as many
 * blocks of about equal work as there are cores, block after block in zig-zag order. So what is near in a map
 * is on one core or on neighbours, layer after layer, and where layers are cut alike most of what a uop reads
 * is there already. Cores run theirs by falling b-level. */
void placing_blocks(struct placing *placing);

/* Set the lists of `schedule`, which borrows them. */
void placing_lists(struct placing *placing, struct uop_schedule *schedule);

/* The cycles that the plan's network makes of it (uop_run_guess); sets the lists of `plan`. Memory from
 * `scratch`. Errors of uop_run_guess. */
DSE_MUST_CHECK enum dse_status placing_guess(struct placing *placing, struct uop_plan *plan,
                                             struct arena *scratch, uint64_t *cycle, struct dse_error *err);

#endif
