/* The calls on a pricer of schedules, handed to the accounting that it was compiled by. */
#include "costmodel/fused/schedule_pricer.h"

#include <inttypes.h>
#include <string.h>

enum dse_status schedule_pricer_new(const struct accounting *accounting, const struct schedule_task *task,
                                    struct arena *arena, struct schedule_pricer **out, struct dse_error *err)
{
    *out = NULL;
    if (!accounting->schedule)
        return dse_fail(err, DSE_BAD_USAGE, "accounting %s prices no fused schedules of a network",
                        accounting->name);
    const struct schedule_accounting *hooks = accounting->schedule;
    if (hooks->own_tiles && task->tile.cost)
        return dse_fail(err, DSE_BAD_USAGE, "accounting %s prices tiles by its own core array alone",
                        accounting->name);
    struct schedule_pricer *pricer = arena_alloc(arena, 1, hooks->pricer_byte);
    DSE_TRY(arena_check(arena, "an accounting of schedules", err));
    memset(pricer, 0, hooks->pricer_byte);
    pricer->accounting = accounting;
    pricer->task = *task;
    DSE_TRY(hooks->compile(pricer, err));
    *out = pricer;
    return DSE_OK;
}

static uint64_t bound_of(const struct schedule_pricer *pricer, const struct fused_result *result)
{
    const struct schedule_accounting *hooks = pricer->accounting->schedule;
    return hooks->bound_cycle ? hooks->bound_cycle(pricer, result) : 0;
}

enum dse_status schedule_bound(const struct schedule_pricer *pricer, const struct fused_result *result,
                               uint64_t *bound_cycle, struct dse_error *err)
{
    *bound_cycle = bound_of(pricer, result);
    if (result->cycle >= *bound_cycle)
        return DSE_OK;
    return dse_fail(err, DSE_INTERNAL,
                    "accounting %s: a schedule of %" PRIu64 " cycles is below its bound of %" PRIu64,
                    pricer->accounting->name, result->cycle, *bound_cycle);
}

static enum dse_status price(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                             struct arena *scratch, struct fused_trace *trace, struct fused_result *result,
                             struct dse_error *err)
{
    uint64_t bound_cycle;
    DSE_TRY(pricer->accounting->schedule->evaluate(pricer, schedule, scratch, trace, result, err));
    return result->fault == FUSED_OK ? schedule_bound(pricer, result, &bound_cycle, err) : DSE_OK;
}

enum dse_status schedule_price(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                               struct arena *scratch, struct fused_result *result, struct dse_error *err)
{
    return price(pricer, schedule, scratch, NULL, result, err);
}

enum dse_status schedule_price_detail(const struct schedule_pricer *pricer,
                                      const struct fused_schedule *schedule, struct arena *arena,
                                      struct schedule_detail *out, struct dse_error *err)
{
    uint32_t n_tile = schedule->n_tile, n_tensor = schedule->n_tensor;
    struct fused_trace *t = &out->trace;
    *out = (struct schedule_detail){.bound_cycle = 0};
    t->tile_start = arena_alloc(arena, n_tile, sizeof *t->tile_start);
    t->tile_finish = arena_alloc(arena, n_tile, sizeof *t->tile_finish);
    t->tile_stall = arena_alloc(arena, n_tile, sizeof *t->tile_stall);
    t->tensor_start = arena_alloc(arena, n_tensor, sizeof *t->tensor_start);
    t->tensor_finish = arena_alloc(arena, n_tensor, sizeof *t->tensor_finish);
    t->living_byte = arena_alloc(arena, (size_t)n_tile + 1, sizeof *t->living_byte);
    DSE_TRY(arena_check(arena, "a schedule", err));
    DSE_TRY(price(pricer, schedule, arena, t, &out->result, err));
    if (out->result.fault != FUSED_OK)
        return DSE_OK;
    out->bound_cycle = bound_of(pricer, &out->result);
    return pricer->accounting->schedule->tiles(pricer, schedule, &out->tiles, err);
}

void schedule_metrics_of(const struct schedule_pricer *pricer, const struct fused_result *result,
                         const struct core_cost *tiles, struct metrics *out)
{
    const struct architecture *arch = pricer->task.arch;
    metrics_init(out);
    out->latency_cycle = result->cycle;
    out->latency_s = (double)result->cycle / arch->clock_hz;
    out->energy_leakage_j = architecture_all_leakage_j(arch, (double)result->cycle);
    out->energy_j = result->energy_j + out->energy_leakage_j;
    out->energy_mac_j = tiles->mac_energy_j;
    out->energy_buffer_j = tiles->buffer_energy_j + tiles->local_energy_j;
    out->energy_noc_j = tiles->bus_energy_j;
    out->energy_dram_j = result->dram_energy_j;
    out->dram_byte = (double)result->dram_byte;
    out->n_mac = network_macs(pricer->task.network, pricer->task.batch);
    out->utilization = (double)out->n_mac / ((double)arch->mac.instances * (double)out->latency_cycle);
}

enum dse_status schedule_metrics(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                                 const struct fused_result *result, struct metrics *out,
                                 struct dse_error *err)
{
    struct core_cost tiles;
    DSE_TRY(pricer->accounting->schedule->tiles(pricer, schedule, &tiles, err));
    schedule_metrics_of(pricer, result, &tiles, out);
    return DSE_OK;
}
