#include "engines/soma/lfa_group.h"

#include "costmodel/fused_rule.h"
#include "engines/soma/lfa_even.h"

/* The layers of the layer group, as an LFA of their own. */
static bool cut_out(const struct soma_lfa *lfa, uint32_t first, uint32_t past, struct arena *scratch,
                    struct soma_lfa *part)
{
    uint32_t begin = lfa->flc[first], end = past < lfa->n_flc ? lfa->flc[past] : lfa->n_layer;
    *part = (struct soma_lfa){.n_layer = end - begin, .order = lfa->order + begin, .n_flc = past - first};
    part->tiling = lfa->tiling + first;
    part->flc = arena_alloc(scratch, part->n_flc, sizeof *part->flc);
    part->dram_cut = arena_alloc(scratch, part->n_flc, sizeof *part->dram_cut);
    if (!part->flc || !part->dram_cut)
        return false;
    for (uint32_t g = first; g < past; g++)
        part->flc[g - first] = lfa->flc[g] - begin;
    part->dram_cut[0] = true;
    return true;
}

/* The tensors that are loaded before the first tile stand first in the DRAM order, weights before inputs. Returns how many. */
static uint32_t measure_head(const struct fused_schedule *schedule, const struct fused_machine *machine,
                             struct soma_group_times *times)
{
    uint32_t k = 0;
    for (; k < schedule->n_dram; k++) {
        const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
        if (tensor->start >= 0)
            break;
        times->head_byte += tensor->byte;
        times->dram_byte += tensor->dram_byte;
        *(tensor->kind == FUSED_WEIGHT ? &times->head_weight_cycle : &times->head_input_cycle) +=
            fused_transfer_cycle(tensor->dram_byte, machine);
    }
    return k;
}

/* For each tile how many tensors of the DRAM order are over before it starts; the last store is never one of them. */
static void find_barriers(const struct fused_schedule *schedule, uint32_t *barrier)
{
    uint32_t n = schedule->n_tile;
    for (uint32_t k = 0; k + 1 < schedule->n_dram; k++)
        barrier[fused_first_waiter(&schedule->tensor[schedule->dram_order[k]], n)] = k + 1;
    for (uint32_t p = 1; p < n; p++)
        if (barrier[p] < barrier[p - 1])
            barrier[p] = barrier[p - 1];
    barrier[n] = schedule->n_dram - 1;
}

/* The two engines (docs/fused-schedule.md) from the first tile on; `head` tensors are loaded. In a double-buffer order no tensor before a
 * tile's barrier waits for that tile, so this always ends. finish (n_tile + 1): of the tiles, counted from 1. */
static void run_engines(const struct fused_schedule *schedule, const struct fused_machine *machine,
                        uint32_t head, const uint32_t *barrier, uint64_t *finish,
                        struct soma_group_times *times)
{
    uint64_t moved = 0;
    for (uint32_t p = 0, k = head; p <= schedule->n_tile; p++) {
        for (; k < barrier[p]; k++) {
            const struct fused_tensor *tensor = &schedule->tensor[schedule->dram_order[k]];
            uint64_t ready = finish[fused_release(tensor)];
            moved = (ready > moved ? ready : moved) + fused_transfer_cycle(tensor->dram_byte, machine);
            times->dram_byte += tensor->dram_byte;
        }
        if (p < schedule->n_tile) {
            finish[p + 1] = (moved > finish[p] ? moved : finish[p]) + schedule->tile[p].cycle;
            times->core_energy_j += schedule->tile[p].energy_j;
        }
    }
    times->moved = moved;
}

/* Bytes alive at each tile. living (n_tile + 1): zero. */
static void sum_living(const struct fused_schedule *schedule, uint64_t *living,
                       struct soma_group_times *times)
{
    for (uint32_t i = 0; i < schedule->n_tensor; i++) { /* differences first; unsigned wrap cancels out */
        const struct fused_tensor *tensor = &schedule->tensor[i];
        living[fused_clip(tensor->start, schedule->n_tile)] += tensor->byte;
        living[fused_clip(tensor->end, schedule->n_tile)] -= tensor->byte;
    }
    for (uint32_t p = 0; p < schedule->n_tile; p++) {
        living[p] += p > 0 ? living[p - 1] : 0;
        if (living[p] > times->peak_byte)
            times->peak_byte = living[p];
    }
    times->last_byte = living[schedule->n_tile - 1];
}

static enum dse_status measure(const struct fused_machine *machine, const struct fused_schedule *schedule,
                               struct arena *scratch, struct soma_group_times *times, struct dse_error *err)
{
    size_t n = schedule->n_tile;
    uint32_t *barrier = arena_alloc(scratch, n + 1, sizeof *barrier);
    uint64_t *finish = arena_alloc(scratch, n + 1, sizeof *finish);
    uint64_t *living = arena_alloc(scratch, n + 1, sizeof *living);
    if (!barrier || !finish || !living)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a layer group of %zu tiles", n);
    const struct fused_tensor *store = &schedule->tensor[schedule->dram_order[schedule->n_dram - 1]];
    uint32_t head = measure_head(schedule, machine, times);
    find_barriers(schedule, barrier);
    run_engines(schedule, machine, head, barrier, finish, times);
    sum_living(schedule, living, times);
    times->before_last = finish[n - 1];
    times->last = finish[n];
    times->store_cycle = fused_transfer_cycle(store->dram_byte, machine);
    times->dram_byte += store->dram_byte;
    times->n_tile = n;
    times->n_tensor = schedule->n_tensor;
    for (size_t p = 0; p < n; p++)
        times->n_read += schedule->n_read[p];
    times->valid = true;
    return DSE_OK;
}

enum dse_status soma_group_times(const struct soma_search *search, const struct soma_lfa *lfa, uint32_t first,
                                 uint32_t past, struct soma_tile_memo *memo, struct arena *scratch,
                                 struct soma_group_times *times, struct dse_error *err)
{
    struct soma_lfa part;
    struct fused_schedule schedule;
    struct soma_fault_info fault;
    *times = (struct soma_group_times){0};
    if (!cut_out(lfa, first, past, scratch, &part))
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a layer group");
    for (uint32_t i = 0; search->context.compat && i < part.n_layer; i++)
        times->alone |= search->context.graph->classifier[part.order[i]];
    if (memo)
        return soma_even_times(search, &part, memo, scratch, times, err);
    enum dse_status status = soma_parse_part(&search->context, &part, scratch, &schedule, &fault, err);
    if (status == DSE_LIMIT || (status == DSE_OK && fault.what != SOMA_OK))
        return DSE_OK;
    if (status != DSE_OK)
        return status;
    return measure(&search->machine, &schedule, scratch, times, err);
}
