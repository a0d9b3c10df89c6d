/* A network whose repeated blocks are searched once: what is found for one repetition is there in all, as a
 * schedule of the whole network. docs/klotski.md, "Repeated blocks". */
#ifndef ENGINES_KLOTSKI_BLOCK_FOLD_H
#define ENGINES_KLOTSKI_BLOCK_FOLD_H

#include "costmodel/model/network_fold.h"
#include "costmodel/uop/uop_schedule.h"

struct block_fold {
    const struct network_fold *of;
    struct uop_network once;  /* with each block once, by UOP_BLOCKS */
    struct uop_network whole; /* the whole network, by UOP_BLOCKS */
    const uint32_t *at;       /* (layers of the network) the layer of `whole` that it is, or UINT32_MAX */
    const uint32_t *times;    /* (once.n_all) how often each layer is there */
};

/* *fold NULL: there is nothing to fold (network_fold_new), or a pool or sum whose tiles would not be alike in
 * all repetitions. Memory from `arena`. Errors of uop_network_of. */
DSE_MUST_CHECK enum dse_status block_fold_new(const struct network *network, struct arena *arena,
                                              const struct block_fold **fold, struct dse_error *err);

/* The cuts of `once` (once.n_layer) for all repetitions: `whole` (whole.n_layer). */
void block_fold_cut(const struct block_fold *fold, const struct uop_cut *once, struct uop_cut *whole);

/* The lists of `once` as lists of the whole network: on each core what stands before a block, then the
 * block's uops in their order once for each repetition, then what stands behind it, and so on. `graph` is
 * that of `once`, `cut` (whole.n_layer) the whole network's. Memory from `arena`. DSE_LIMIT: more than
 * UOP_MAX uops. */
DSE_MUST_CHECK enum dse_status block_fold_lists(const struct block_fold *fold, const struct uop_graph *graph,
                                                const struct uop_cut *cut, const struct uop_schedule *once,
                                                struct arena *arena, struct uop_schedule *whole,
                                                struct dse_error *err);

/* How many uops of the whole network's graph are of repetitions behind the first. */
uint32_t block_fold_repeated(const struct block_fold *fold, const struct uop_graph *whole);

/* About what the whole network takes, for searches: from the end of what stands before a block to the end of
 * the block, or its work over `n_core` cores where that is more, as often as the block is there. Exact where
 * all of a repetition waits for all of the one before. `finish` (n_uop) of the uops of `once`. */
uint64_t block_fold_cycle(const struct block_fold *fold, const struct uop_graph *graph, uint32_t n_core,
                          const uint64_t *finish);

/* The same of starts (n_uop), where nothing but their cycles lies between these and the ends. */
uint64_t block_fold_cycle_of_starts(const struct block_fold *fold, const struct uop_graph *graph,
                                    uint32_t n_core, const uint64_t *start);

#endif
