/* Memory of a scheme, and the price of one: parse, default order, evaluate. */
#include "engines/soma/search/search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"

/* Per part, at about 3 GHz: parsing, pricing, writing, reading back, placing. Measured on 800 layers that
 * read all before them; on DenseNet-161 it is 2.5e-7. And what the last schedule may take of the time behind
 * the limit. */
static const double making_s = 4e-7, over_s = 0.15;

/* What follows the search, in times of making a schedule and handing it over: the last one found is made (2),
 * and the best is read, parsed, priced and placed (4). Measured on the same layers. */
static const double closing_share = 6;

double soma_search_layers(const struct soma_search *search)
{
    double n_layer = search->context.network->n_layer;
    return search->layer_share > 0 ? n_layer * search->layer_share : n_layer;
}

bool soma_search_is_large(const struct soma_search *search)
{
    return search->context.graph->streams != 0 || (search->layer_share > 0 && search->layer_share < 1);
}

bool soma_search_is_vast(const struct soma_search *search, uint64_t n_part)
{
    return search->part_max > 0 && n_part > search->part_max && soma_search_is_large(search);
}

double soma_search_end(const struct soma_search *search)
{
    if (search->stop_at_s <= 0 || !search->reserved_s)
        return search->stop_at_s;
    return fmax(search->stop_at_s - *search->reserved_s, DBL_MIN);
}

bool soma_search_is_over(const struct soma_search *search)
{
    return (search->cancel && atomic_load_explicit(search->cancel, memory_order_relaxed)) ||
           (search->stop_at_s > 0 && clock_wall_s() >= soma_search_end(search));
}

double soma_search_last_end(double stop_at_s)
{
    return stop_at_s > 0 ? stop_at_s + over_s : 0;
}

double soma_search_reserve(double made_s)
{
    return fmax(closing_share * made_s - over_s, 0);
}

/* Of a long schedule, repetitions of a block are evaluated once. */
static double n_made(const struct soma_search *search, const struct soma_price *price)
{
    const struct network_fold *fold = search->context.graph->fold;
    const double share = price->is_long && fold ? (double)fold->network.n_layer / fold->whole->n_layer : 1;
    return share * (double)price->n_part;
}

bool soma_search_can_make(const struct soma_search *search, const struct soma_price *price)
{
    bool cancelled = search->cancel && atomic_load_explicit(search->cancel, memory_order_relaxed);
    if (!cancelled && search->stop_at_s <= 0)
        return true;
    double left_s = cancelled ? 0 : fmax(search->stop_at_s - clock_wall_s(), 0);
    return n_made(search, price) * making_s <= left_s + over_s;
}

double soma_leakage_j(const struct soma_search *search, double cycle)
{
    return search->leakage_w * cycle / search->clock_hz;
}

double soma_cost(const struct soma_search *search, double energy_j, uint64_t cycle)
{
    return objective_cost_of(&search->objective, energy_j + soma_leakage_j(search, (double)cycle),
                             (double)cycle / search->clock_hz);
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

uint64_t soma_lfa_tiles(const struct soma_lfa *lfa)
{
    uint64_t n = 0;
    for (uint32_t g = 0; g < lfa->n_flc; g++)
        n += (uint64_t)lfa->tiling[g] * (soma_group_stop(lfa, g) - lfa->flc[g]);
    return n;
}

static uint64_t n_read(const struct fused_schedule *schedule)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < schedule->n_tile; i++)
        n += schedule->n_read[i];
    return n;
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
    if (fault.what != SOMA_OK || soma_context_gives_up(&search->context, schedule->n_tile))
        return DSE_OK;
    machine.buffer_byte = buffer_limit;
    DSE_TRY(fused_evaluate(schedule, &machine, arena, NULL, &result, err));
    price->energy_j = result.energy_j;
    price->cycle = result.cycle;
    price->buffer_max_byte = result.buffer_max_byte;
    price->n_part = (uint64_t)schedule->n_tile + schedule->n_tensor + n_read(schedule);
    if (result.fault == FUSED_OK)
        price->cost = soma_cost(search, result.energy_j, result.cycle);
    return DSE_OK;
}
