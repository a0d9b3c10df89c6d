/* With the same seed and key the other engine draws what it draws alone. */
#include "engines/klotski/klotski_others.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Options of the other engine: ours where the names are equal. */
static double *options_for(const struct engine_context *context, const struct engine *other,
                           const struct engine_option *option, size_t first, size_t end, struct arena *arena)
{
    double *value = arena_alloc(arena, other->n_option, sizeof *value);
    if (!value)
        return NULL;
    engine_option_defaults(other, value);
    for (size_t i = 0; i < other->n_option; i++)
        for (size_t k = first; k < end; k++)
            if (strcmp(other->option[i].name, option[k].name) == 0)
                value[i] = engine_context_option(context, k);
    return value;
}

/* Do all tiles of its partition fit, and are they few enough? Those that are larger than a memory do where it
 * runs them in slices, too. */
static enum dse_status keeps_rules(const struct engine_task *task, const struct engine_schedule *schedule,
                                   const struct tile_rules *rules, struct arena *arena, bool *keeps,
                                   struct dse_error *err)
{
    struct klotski_task made;
    struct uop_plan plan = {.sram = rules->sram};
    enum uop_vector vector;
    char reason[ENGINE_REASON_MAX];
    uint64_t n = 0;
    enum dse_status status =
        klotski_task_of(task, UOP_FUSED, arena, &made, err); /* pools and sums have no tiles */
    if (status == DSE_OK && rules->sram == UOP_SRAM_SLICES)
        status =
            uop_options_read("schedule", schedule->text, schedule->text_length, &vector, &plan.sram, err);
    if (rules->sram == UOP_SRAM_SLICES && plan.sram != UOP_SRAM_SLICES)
        plan.sram = UOP_SRAM_ALL;
    if (status == DSE_OK)
        status = uop_partition_read("schedule", schedule->text, schedule->text_length, &made.network, arena,
                                    &plan.cut, err);
    for (uint32_t l = 0; status == DSE_OK && l < made.network.n_layer; l++)
        n += uop_cut_count(&made.network.layer[l].whole, plan.cut[l]);
    *keeps = status == DSE_OK && n * made.batch <= rules->max_uops &&
             uop_plan_fits(&made.network, &made.machine, &plan, reason, sizeof reason);
    klotski_task_free(&made);
    return status;
}

enum dse_status klotski_offer_other(struct engine_context *context, const struct engine *other,
                                    const struct engine_option *option, size_t first, size_t end,
                                    const struct tile_rules *rules, double start_s, struct dse_error *err)
{
    struct arena *arena = engine_context_arena(context);
    struct engine_task task = *engine_context_task(context);
    struct engine_result result;
    bool keeps = false;
    task.option = options_for(context, other, option, first, end, arena);
    DSE_TRY(arena_check(arena, "an engine's options", err));
    if (task.budget.max_evaluations) {
        task.budget.max_evaluations = engine_context_left(context);
        if (task.budget.max_evaluations == 0)
            return DSE_OK;
    }
    if (task.budget.max_seconds > 0)
        task.budget.max_seconds = fmax(1e-9, task.budget.max_seconds - (clock_wall_s() - start_s));
    DSE_TRY(engine_solve(other, &task, arena, &result, err));
    engine_context_count(context, result.n_evaluation);
    if (result.feasible)
        DSE_TRY(keeps_rules(&task, &result.schedule, rules, arena, &keeps, err));
    return keeps ? engine_context_offer(context, &result.schedule, err) : DSE_OK;
}
