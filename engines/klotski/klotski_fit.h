/* How many uops a task needs at least for the accelerators' memories: what is refused before a search, how
 * many a search may make, and whether repeated blocks are searched once. docs/klotski.md, "Repeated
 * blocks". */
#ifndef ENGINES_KLOTSKI_KLOTSKI_FIT_H
#define ENGINES_KLOTSKI_KLOTSKI_FIT_H

#include "engines/klotski/klotski_task.h"

/* The engines' hook takes_task. Errors of uop_setting_check and uop_network_for; DSE_BAD_USAGE: no tile of a
 * layer, which is named, fits the memories; there are more layers with MACs than max_uops or UOP_MAX; where
 * no uop may run in slices the fewest uops are more than these; or with memory=dram read more tiles than
 * UOP_USE_MAX. What the sentence then says to take has been tried: the task is taken so. */
DSE_MUST_CHECK enum dse_status klotski_takes_task(const struct engine_question *question,
                                                  struct dse_error *err);

/* What an engine searches, and by which rules: the options KLOTSKI_OPTIONS_RULES from number `first` on.
 * Where memories ask for more uops than there may be, these run in slices (rules.sram, task.machine.slices),
 * but with sram=output, with memory=dram and messages that take time, or where `given` (a partition is).
 * Where max_uops is its default and the whole network needs more, its sums that leave a block are uops of
 * their own (UOP_BLOCKS) and, with `folds`, blocks are searched once (task.fold, rules.times); not with
 * `unroll: true`, nor where `given`. Memory from `arena`. Errors of klotski_task_of. */
DSE_MUST_CHECK enum dse_status klotski_search_of(const struct engine_context *context, size_t first,
                                                 bool folds, bool given, struct arena *arena,
                                                 struct klotski_task *task, struct tile_rules *rules,
                                                 struct dse_error *err);

/* Where no candidate of an engine fits: the fewest uops, with a tile for each layer
 * (network.n_layer). NULL: not even that. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status klotski_fewest_cut(const struct klotski_task *task,
                                                  const struct tile_rules *rules, struct arena *arena,
                                                  const struct uop_cut **cut, struct dse_error *err);

/* Offers the fewest uops where memories could be planned for no candidate: for these they can
 * (klotski_takes_task). `plan` as klotski_plan makes it. Memory from `scratch`. Errors of klotski_offer. */
DSE_MUST_CHECK enum dse_status klotski_offer_fewest(struct engine_context *context,
                                                    const struct klotski_task *task,
                                                    const struct tile_rules *rules, struct uop_plan *plan,
                                                    struct arena *scratch, struct dse_error *err);

/* May sums that leave a block be uops of their own (UOP_BLOCKS)? */
bool klotski_has_blocks(const struct network *network, enum uop_vector vector);

/* Doubles max_uops where nothing has fitted; false: it is a limit. */
bool klotski_more_uops(struct tile_rules *rules);

#endif
