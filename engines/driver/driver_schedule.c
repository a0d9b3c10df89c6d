/* The driver's part for schedulers: offers, bounds, and the check of the best. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engines/driver/driver_private.h"

void engine_context_count(struct engine_context *context, uint64_t n)
{
    context->result->n_evaluation += n;
    context->result->n_draw += n;
}

void engine_context_bound(struct engine_context *context, double cost)
{
    if (!(cost > context->result->bound) || !isfinite(cost))
        return;
    context->result->bound = cost;
    context->good_enough = cost * (1 + 1e-12);
}

static const struct metric bound_metric[] = {
    {.name = "bound_cost_ratio",
     .unit = "1",
     .sentence = "Cost of the objective over the engine's own lower bound",
     .better = METRIC_LESS},
};

const struct metric_group schedule_group = {"schedule", bound_metric, 1};

void engine_schedule_init(struct engine_schedule *schedule)
{
    *schedule = (struct engine_schedule){.text = NULL};
    metrics_init(&schedule->metrics);
    memset(schedule->own, 0xff, sizeof schedule->own);
}

static bool is_sound(const struct engine *engine, const struct engine_schedule *s)
{
    size_t n;
    const struct metric *metric = metric_all(&n);
    for (size_t i = 0; i < n; i++)
        if (!metric_is_sound(&metric[i], (const char *)&s->metrics + metric[i].offset))
            return false;
    for (size_t i = 0; engine->group && i < engine->group->n; i++)
        if (!metric_is_sound(&engine->group->metric[i], &s->own[i]))
            return false;
    return s->text && s->text_length > 0 && s->accounting && s->latency_cycle > 0 &&
           s->latency_cycle != METRIC_U64_MISSING && s->latency_s > 0 && s->energy_j >= 0;
}

enum dse_status engine_context_offer(struct engine_context *context, const struct engine_schedule *schedule,
                                     struct dse_error *err)
{
    struct engine_result *result = context->result;
    if (!is_sound(context->engine, schedule))
        return dse_fail(err, DSE_INTERNAL,
                        "engine %s offers a schedule without text or with numbers that cannot be: %" PRIu64
                        " cycles, %g J",
                        context->engine->name, schedule->latency_cycle, schedule->energy_j);
    double cost = objective_cost_of(&context->task->objective, schedule->energy_j, schedule->latency_s);
    if (result->feasible && !(cost < result->cost))
        return DSE_OK;
    text_clear(&context->text);
    text_append_bytes(&context->text, schedule->text, schedule->text_length);
    if (context->text.failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a schedule of %zu bytes",
                        schedule->text_length);
    driver_improve(context, cost);
    result->schedule = *schedule;
    result->schedule.text = context->text.data;
    result->schedule.edp_js = schedule->energy_j * schedule->latency_s;
    return DSE_OK;
}

/* Everything that the second evaluation knows is what the first one said. */
static enum dse_status compare(const struct engine *engine, const struct engine_schedule *found,
                               const struct engine_schedule *again, struct dse_error *err)
{
    static const char who[] = "its schedule, read back,";
    size_t n;
    const struct metric *metric = metric_all(&n);
    for (size_t i = 0; i < n; i++) {
        const struct driver_compared one = {
            metric[i].name, metric_number(&metric[i], (const char *)&found->metrics + metric[i].offset),
            metric_number(&metric[i], (const char *)&again->metrics + metric[i].offset)};
        if (!isnan(one.again))
            DSE_TRY(driver_compare(&one, 1, who, err));
    }
    for (size_t i = 0; engine->group && i < engine->group->n; i++) {
        const struct driver_compared one = {engine->group->metric[i].name,
                                            metric_number(&engine->group->metric[i], &found->own[i]),
                                            metric_number(&engine->group->metric[i], &again->own[i])};
        if (!isnan(one.again))
            DSE_TRY(driver_compare(&one, 1, who, err));
    }
    return DSE_OK;
}

/* Does the schedule say that it was priced by the accounting of this search, or by a variant of it such as
 * "soma-descent"? */
static enum dse_status check_accounting(const struct engine_context *context, const char *said,
                                        struct dse_error *err)
{
    const struct accounting *accounting =
        engine_accounting(context->engine, context->task->option, context->arch);
    size_t length = accounting ? strlen(accounting->name) : 0;
    if (!accounting || strcmp(said, accounting->name) == 0 ||
        (strncmp(said, accounting->name, length) == 0 && said[length] == '-' && !accounting_find(said)))
        return DSE_OK;
    return driver_refuse(err, "it says that its schedule is priced by %.60s, and the search is by %s", said,
                         accounting->name);
}

enum dse_status driver_confirm_schedule(struct engine_context *context, struct dse_error *err)
{
    struct engine_schedule *found = &context->result->schedule, again;
    engine_schedule_init(&again);
    found->text = arena_copy_text(context->arena, found->text, found->text_length);
    DSE_TRY(arena_check(context->arena, "a schedule", err));
    DSE_TRY(check_accounting(context, found->accounting, err));
    struct dse_error inner = {0};
    char text[DSE_ERROR_TEXT_MAX + DSE_ERROR_FILE_MAX + 32];
    enum dse_status status = context->engine->verify(context->task, found, context->arena, &again, &inner);
    if (status == DSE_NO_MEMORY)
        return dse_fail(err, status, "%s", inner.text);
    if (status != DSE_OK)
        return driver_refuse(err, "its schedule does not read back: %s",
                             dse_error_print(&inner, text, sizeof text));
    again.edp_js = again.energy_j * again.latency_s;
    DSE_TRY(compare(context->engine, found, &again, err));
    double cost = objective_cost_of(&context->task->objective, found->energy_j, found->latency_s);
    return driver_check_cost(context, cost, true, err);
}
