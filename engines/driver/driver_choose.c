/* The slow price of a task: which mappings are kept for it while the search runs, and the choice at its
 * end. */
#include <math.h>

#include "base/clock.h"
#include "engines/driver/driver_private.h"

/* The cost where an execution takes so many cycles. */
static double cost_of(const struct engine_context *context, const struct evaluation *evaluation, double cycle)
{
    return objective_cost_of(&context->task->objective, evaluation->energy_j,
                             cycle / context->arch->clock_hz);
}

void driver_list(struct engine_context *context, const struct mapping *mapping)
{
    const struct engine_slow_price *slow = context->task->slow;
    double cycle = slow->guess ? slow->guess(slow->self, context->problem, mapping)
                               : (double)context->last.latency_cycle;
    if (cycle > 0)
        shortlist_offer(context->shortlist, mapping, &context->last, cost_of(context, &context->last, cycle));
}

static void take(struct engine_context *context, const struct shortlist_entry *entry, uint64_t cycle)
{
    struct engine_result *result = context->result;
    result->mapping = entry->mapping;
    result->evaluation = entry->evaluation;
    result->cost = objective_cost(&context->task->objective, &entry->evaluation);
    result->slow_cycle = cycle;
}

enum dse_status driver_choose(struct engine_context *context, double start_s, struct dse_error *err)
{
    struct engine_result *result = context->result;
    const struct engine_slow_price *slow = context->task->slow;
    const struct shortlist *list = context->shortlist;
    double max_seconds = context->task->budget.max_seconds, least = INFINITY;
    if (result->stop == STOP_OPTIMAL) /* by the quick price */
        result->stop = STOP_CONVERGED;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct shortlist_entry *entry = list->entry[i];
        uint64_t cycle = 0;
        if (i > 0 && max_seconds > 0 && clock_wall_s() - start_s >= max_seconds) {
            result->stop = STOP_MAX_SECONDS;
            break;
        }
        DSE_TRY(slow->cycles(slow->self, context->problem, &entry->mapping, &cycle, err));
        result->n_slow++;
        if (cycle == 0)
            continue;
        double cost = cost_of(context, &entry->evaluation, (double)cycle);
        if (cost < least || (cost == least && cycle < result->slow_cycle)) {
            least = cost;
            take(context, entry, cycle);
        }
    }
    return DSE_OK;
}
