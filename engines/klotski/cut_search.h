/* Which cut each layer should have: simulated annealing over partitions, each priced by one list schedule. A
 * move gives one layer, or all layers of its sizes, a tile of another latency, and where that makes too many
 * uops some other layers larger tiles. */
#ifndef ENGINES_KLOTSKI_CUT_SEARCH_H
#define ENGINES_KLOTSKI_CUT_SEARCH_H

#include "engines/klotski/klotski_task.h"
#include "engines/klotski/tile_list.h"

/* The list schedule of that partition by b-levels: its cycles, or UINT64_MAX where they are not below
 * `limit`. `scratch` is reset. Errors of uop_graph_of; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cut_price(const struct klotski_task *task, const struct tile_rules *rules,
                                         const struct uop_cut *cut, uint64_t limit, struct arena *scratch,
                                         uint64_t *cycle, struct dse_error *err);

struct cut_search;

/* Start at `cut` (n_layer), which takes `cycle` cycles and must keep the rules. With `by_map` layers whose
 * maps have one size have one tile size, clipped to each, as `cut` has. Task, rules, lists and scratch are
 * borrowed; memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cut_search_new(const struct klotski_task *task, const struct tile_rules *rules,
                                              const struct tile_lists *lists, const struct uop_cut *cut,
                                              uint64_t cycle, bool by_map, uint64_t n_round,
                                              struct random_stream stream, struct arena *arena,
                                              struct arena *scratch, struct cut_search **made,
                                              struct dse_error *err);

/* Up to n moves; *is_over: all rounds are done. Errors of cut_price. */
DSE_MUST_CHECK enum dse_status cut_search_step(struct cut_search *search, uint64_t n, bool *is_over,
                                               struct dse_error *err);

/* The best partition so far (n_layer), and its cycles. */
const struct uop_cut *cut_search_best(const struct cut_search *search, uint64_t *cycle);

#endif
