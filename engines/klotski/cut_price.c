/* All memory is scratch, so a price leaves nothing behind. */
#include "engines/klotski/cut_price.h"

#include "engines/klotski/placing.h"

enum dse_status cut_price(struct cut_pricer *pricer, const struct uop_cut *cut, uint64_t limit,
                          uint64_t *cycle, struct dse_error *err)
{
    const struct klotski_task *task = pricer->task;
    const bool is_free = pricer->plan.transport == UOP_IDEAL && pricer->plan.memory == UOP_FREE;
    struct uop_graph graph;
    struct placing placing;
    *cycle = 0;
    arena_reset(pricer->scratch);
    DSE_TRY(uop_graph_of(&task->network, &task->rough, cut, pricer->rules->sums, pricer->rules->batch,
                         pricer->scratch, &graph, err));
    DSE_TRY(placing_new(task, &graph, pricer->scratch, &placing, err));
    if (pricer->in_blocks) {
        placing_blocks(&placing);
    } else {
        DSE_TRY(placing_list(&placing, is_free ? limit : UINT64_MAX, pricer->scratch, cycle, err));
        if (is_free) {
            if (task->fold && *cycle != UINT64_MAX)
                *cycle = block_fold_cycle_of_starts(task->fold, &graph, task->n_core, placing.times.start);
            *cycle = *cycle < limit ? *cycle : UINT64_MAX;
            return DSE_OK;
        }
        placing_by_starts(&placing);
    }
    const enum dse_status status = placing_guess(&placing, &pricer->plan, pricer->scratch, cycle, err);
    if (status != DSE_OK && status != DSE_BAD_INPUT && status != DSE_LIMIT)
        return status;
    if (status == DSE_OK && task->fold)
        *cycle = block_fold_cycle(task->fold, &graph, task->n_core, placing.times.finish);
    *cycle = status == DSE_OK && *cycle < limit ? *cycle : UINT64_MAX; /* else: what it needs does not fit */
    return DSE_OK;
}
