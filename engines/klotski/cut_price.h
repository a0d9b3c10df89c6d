/* What a partition takes, about: its uops in a list schedule or in blocks (placing.h), and where messages
 * take time or weights come from a DRAM the guess of that (uop_run_guess). */
#ifndef ENGINES_KLOTSKI_CUT_PRICE_H
#define ENGINES_KLOTSKI_CUT_PRICE_H

#include "engines/klotski/klotski_task.h"

struct cut_pricer {
    const struct klotski_task *task;
    const struct tile_rules *rules;
    struct uop_plan plan; /* how it is run; cut and lists are the pricer's */
    bool in_blocks;       /* else by list schedules */
    struct arena *scratch;
};

/* The cycles of that partition (n_layer), or UINT64_MAX where they are not below `limit` or it cannot be run.
 * `scratch` is reset. Errors of uop_graph_of and uop_run_guess; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cut_price(struct cut_pricer *pricer, const struct uop_cut *cut, uint64_t limit,
                                         uint64_t *cycle, struct dse_error *err);

#endif
