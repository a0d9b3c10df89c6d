/* Which cut each layer should have: simulated annealing over partitions, each priced by cut_price. Of uops in
 * lists a move gives one layer, or all layers of its sizes, a tile of another latency. Of uops in blocks it
 * changes into how many parts the layer is cut along one or two dimensions, or takes the numbers of parts of
 * the layer before or behind, as maps that are cut alike need few messages. Where that makes too many uops
 * some other layers get larger tiles. */
#ifndef ENGINES_KLOTSKI_CUT_SEARCH_H
#define ENGINES_KLOTSKI_CUT_SEARCH_H

#include "engines/klotski/cut_price.h"

struct cut_search;

/* Start at `cut` (n_layer), which takes `cycle` cycles and must keep the rules. With `by_map` layers whose
 * maps have one size have one tile size, clipped to each, as `cut` has. Pricer and lists are borrowed; memory
 * from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cut_search_new(struct cut_pricer *pricer, const struct tile_lists *lists,
                                              const struct uop_cut *cut, uint64_t cycle, bool by_map,
                                              uint64_t n_round, struct random_stream stream,
                                              struct arena *arena, struct cut_search **made,
                                              struct dse_error *err);

/* Up to n moves; *is_over: all rounds are done. Errors of cut_price. */
DSE_MUST_CHECK enum dse_status cut_search_step(struct cut_search *search, uint64_t n, bool *is_over,
                                               struct dse_error *err);

/* The best partition so far (n_layer), and its cycles; with `i` the one before that was, the one before that,
 * and so on. NULL: there is none, or it is not remembered. */
enum { CUT_SEARCH_BESTS = 16 };
const struct uop_cut *cut_search_best(const struct cut_search *search, uint32_t i, uint64_t *cycle);

#endif
