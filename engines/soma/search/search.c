/* Memory of a scheme, and the price of one: parse, default order, evaluate. */
#include "engines/soma/search/search.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

bool soma_search_is_over(const struct soma_search *search)
{
    return (search->cancel && atomic_load_explicit(search->cancel, memory_order_relaxed)) ||
           (search->stop_at_s > 0 && clock_wall_s() >= search->stop_at_s);
}

double soma_cost(const struct soma_search *search, double energy_j, uint64_t cycle)
{
    return objective_cost_of(&search->objective, energy_j, (double)cycle / search->clock_hz);
}

void soma_lfa_new(uint32_t n_layer, struct arena *arena, struct soma_lfa *lfa)
{
    *lfa = (struct soma_lfa){.n_layer = n_layer};
    lfa->order = arena_alloc(arena, n_layer, sizeof *lfa->order);
    lfa->flc = arena_alloc(arena, n_layer, sizeof *lfa->flc);
    lfa->tiling = arena_alloc(arena, n_layer, sizeof *lfa->tiling);
    lfa->dram_cut = arena_alloc(arena, n_layer, sizeof *lfa->dram_cut);
}

void soma_lfa_copy(const struct soma_lfa *from, struct soma_lfa *to)
{
    to->n_layer = from->n_layer;
    to->n_flc = from->n_flc;
    memcpy(to->order, from->order, from->n_layer * sizeof *to->order);
    memcpy(to->flc, from->flc, from->n_flc * sizeof *to->flc);
    memcpy(to->tiling, from->tiling, from->n_flc * sizeof *to->tiling);
    memcpy(to->dram_cut, from->dram_cut, from->n_flc * sizeof *to->dram_cut);
}

enum dse_status soma_price_lfa(const struct soma_search *search, const struct soma_lfa *lfa,
                               uint64_t buffer_limit, struct arena *arena, struct fused_schedule *schedule,
                               struct soma_price *price, struct dse_error *err)
{
    struct fused_schedule own;
    struct fused_machine machine = search->machine;
    struct soma_fault_info fault;
    struct fused_result result;
    if (!schedule)
        schedule = &own;
    *price = (struct soma_price){.cost = INFINITY};
    DSE_TRY(soma_parse(&search->context, lfa, arena, schedule, &fault, err));
    if (fault.what != SOMA_OK)
        return DSE_OK;
    machine.buffer_byte = buffer_limit;
    DSE_TRY(fused_evaluate(schedule, &machine, arena, NULL, &result, err));
    price->energy_j = result.energy_j;
    price->cycle = result.cycle;
    price->buffer_max_byte = result.buffer_max_byte;
    if (result.fault == FUSED_OK)
        price->cost = soma_cost(search, result.energy_j, result.cycle);
    return DSE_OK;
}
