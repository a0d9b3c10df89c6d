/* The driver's part for schedulers: offers, bounds, and the check of the best. */
#include <inttypes.h>
#include <math.h>

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

static bool is_sound(const struct engine_schedule *s)
{
    const double value[] = {s->latency_s,       s->energy_j,           s->energy_mac_j, s->energy_buffer_j,
                            s->energy_noc_j,    s->energy_dram_j,      s->dram_byte,    s->utilization,
                            s->buffer_max_byte, s->buffer_average_byte};
    for (size_t i = 0; i < sizeof value / sizeof value[0]; i++)
        if (!isfinite(value[i]) || value[i] < 0)
            return false;
    return s->text && s->text_length > 0 && s->accounting && s->cycle > 0 && s->latency_s > 0;
}

enum dse_status engine_context_offer(struct engine_context *context, const struct engine_schedule *schedule,
                                     struct dse_error *err)
{
    struct engine_result *result = context->result;
    if (!is_sound(schedule))
        return dse_fail(err, DSE_INTERNAL,
                        "engine %s offers a schedule without text or with numbers that cannot be: %" PRIu64
                        " cycles, %g J",
                        context->engine->name, schedule->cycle, schedule->energy_j);
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
    return DSE_OK;
}

enum dse_status driver_confirm_schedule(struct engine_context *context, struct dse_error *err)
{
    struct engine_schedule *found = &context->result->schedule, again = {0};
    found->text = arena_copy_text(context->arena, found->text, found->text_length);
    DSE_TRY(arena_check(context->arena, "a schedule", err));
    struct dse_error inner = {0};
    char text[DSE_ERROR_TEXT_MAX + DSE_ERROR_FILE_MAX + 32];
    enum dse_status status = context->engine->verify(context->task, found, context->arena, &again, &inner);
    if (status == DSE_NO_MEMORY)
        return dse_fail(err, status, "%s", inner.text);
    if (status != DSE_OK)
        return driver_refuse(err, "its schedule does not read back: %s",
                             dse_error_print(&inner, text, sizeof text));
    const struct driver_compared all[] = {
        {"cycles", (double)found->cycle, (double)again.cycle},
        {"J", found->energy_j, again.energy_j},
        {"J of MACs", found->energy_mac_j, again.energy_mac_j},
        {"J of buffers", found->energy_buffer_j, again.energy_buffer_j},
        {"J of the network-on-chip", found->energy_noc_j, again.energy_noc_j},
        {"J of the DRAM", found->energy_dram_j, again.energy_dram_j},
        {"bytes of DRAM traffic", found->dram_byte, again.dram_byte},
        {"bytes of the buffer", found->buffer_max_byte, again.buffer_max_byte},
        {"s", found->latency_s, again.latency_s},
    };
    DSE_TRY(driver_compare(all, sizeof all / sizeof all[0], "its schedule, read back,", err));
    double cost = objective_cost_of(&context->task->objective, found->energy_j, found->latency_s);
    return driver_check_cost(context, cost, true, err);
}
