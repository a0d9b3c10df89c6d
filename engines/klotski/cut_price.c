/* All memory is scratch, so a price leaves nothing behind. */
#include "engines/klotski/cut_price.h"

#include "engines/klotski/list_schedule.h"
#include "engines/klotski/placing.h"

static enum dse_status price_list(const struct cut_pricer *pricer, const struct uop_graph *graph,
                                  uint64_t limit, uint64_t *cycle, struct dse_error *err)
{
    uint64_t *priority = arena_alloc_unset(pricer->scratch, graph->n_uop, sizeof *priority);
    uint64_t *start = arena_alloc_unset(pricer->scratch, graph->n_uop, sizeof *start);
    uint32_t *core = arena_alloc_unset(pricer->scratch, graph->n_uop, sizeof *core);
    struct list_scheduler *list = list_scheduler_new(graph, pricer->task->n_core, pricer->scratch);
    DSE_TRY(arena_check(pricer->scratch, "a list schedule", err));
    list_b_level(graph, 0, graph->n_uop, priority);
    *cycle = list_schedule(list, 0, graph->n_uop, priority, limit, start, core);
    return DSE_OK;
}

enum dse_status cut_price(struct cut_pricer *pricer, const struct uop_cut *cut, uint64_t limit,
                          uint64_t *cycle, struct dse_error *err)
{
    const struct klotski_task *task = pricer->task;
    struct uop_graph graph;
    struct placing placing;
    arena_reset(pricer->scratch);
    DSE_TRY(uop_graph_of(&task->network, &task->machine, cut, pricer->rules->sums, pricer->rules->batch,
                         pricer->scratch, &graph, err));
    if (pricer->plan.transport == UOP_IDEAL && pricer->plan.memory == UOP_FREE)
        return price_list(pricer, &graph, limit, cycle, err);
    DSE_TRY(placing_new(task, &graph, pricer->scratch, &placing, err));
    placing_blocks(&placing);
    const enum dse_status status = placing_guess(&placing, &pricer->plan, pricer->scratch, cycle, err);
    if (status != DSE_OK && status != DSE_BAD_INPUT)
        return status;
    *cycle = status == DSE_OK && *cycle < limit ? *cycle : UINT64_MAX; /* else: what it needs does not fit */
    return DSE_OK;
}
