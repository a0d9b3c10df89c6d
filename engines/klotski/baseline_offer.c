/* The engines tangram and atomic make no more of a partition than this; klotski tries it where messages take
 * time. */
#include "engines/klotski/baseline_offer.h"

#include "engines/klotski/atomic_order.h"
#include "engines/klotski/order/core_traffic.h"

/* When each uop starts and where (n_uop each), as `order` fills them. */
struct dealt {
    uint64_t *start;
    uint32_t *core;
};

static enum dse_status dealt_init(struct dealt *dealt, const struct uop_graph *graph, struct arena *scratch,
                                  struct dse_error *err)
{
    dealt->start = arena_alloc_unset(scratch, graph->n_uop, sizeof *dealt->start);
    dealt->core = arena_alloc_unset(scratch, graph->n_uop, sizeof *dealt->core);
    return arena_check(scratch, "an order of uops", err);
}

static enum dse_status offer(struct engine_context *context, const struct klotski_task *task,
                             const struct uop_graph *graph, const struct dealt *dealt, struct uop_plan *plan,
                             struct arena *scratch, struct dse_error *err)
{
    DSE_TRY(
        klotski_lists(dealt->start, dealt->core, graph->n_uop, task->n_core, scratch, &plan->schedule, err));
    return klotski_offer(context, task, graph, plan, scratch, err);
}

enum dse_status baseline_offer_tangram(struct engine_context *context, const struct klotski_task *task,
                                       const struct uop_graph *graph, struct uop_plan *plan,
                                       struct arena *scratch, struct dse_error *err)
{
    const struct core_mesh mesh = {task->machine.columns, task->machine.rows};
    struct dealt dealt;
    DSE_TRY(dealt_init(&dealt, graph, scratch, err));
    for (uint32_t u = 0; u < graph->n_uop; u++) {
        dealt.start[u] = u; /* layer after layer */
        dealt.core[u] = core_zigzag(&mesh, u % task->n_core);
    }
    return offer(context, task, graph, &dealt, plan, scratch, err);
}

enum dse_status baseline_offer_atomic(struct engine_context *context, const struct klotski_task *task,
                                      const struct uop_graph *graph, struct uop_plan *plan,
                                      struct arena *scratch, struct dse_error *err)
{
    struct dealt dealt;
    uint64_t cycle;
    DSE_TRY(dealt_init(&dealt, graph, scratch, err));
    DSE_TRY(atomic_order(graph, &task->machine, plan->schedule.firing == UOP_ROUNDS, scratch, dealt.start,
                         dealt.core, &cycle, err));
    return offer(context, task, graph, &dealt, plan, scratch, err);
}
