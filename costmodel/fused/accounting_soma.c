/* SoMa's accountings as constant structs: the machines that they price, tiles on the core array behind a
 * cache, and the timing of fused_evaluate. */
#include "costmodel/fused/accounting_soma.h"

#include "costmodel/fused/core_machine.h"
#include "costmodel/fused/schedule_pricer.h"

/* Of the built-in core array; its parts point to each other. */
struct soma_pricer {
    struct schedule_pricer base;
    struct core_array_search array;
    struct core_cached cached;
};

/* Tiles may be priced by a mapper, for which nearly every machine will do. */
static enum dse_status has_buffer(const struct architecture *arch, struct dse_error *err)
{
    struct core_split split;
    return core_machine_split(arch, &split, err);
}

/* The published rules go with the core array that its program models. */
static enum dse_status has_core_array(const struct architecture *arch, struct dse_error *err)
{
    struct core_array_size size;
    struct fused_machine machine;
    return core_machine_of(arch, &size, &machine, err);
}

static enum dse_status compile_array(struct soma_pricer *own, struct dse_error *err)
{
    struct schedule_pricer *pricer = &own->base;
    struct core_array_size size;
    DSE_TRY(core_machine_of(pricer->task.arch, &size, &pricer->machine, err));
    DSE_TRY(core_array_init(&size, &pricer->array, err));
    own->array.core = pricer->array;
    own->array.compat = pricer->accounting->schedule->as_published;
    DSE_TRY(core_cache_join_array(pricer->task.cache, &own->array, &own->cached, err));
    pricer->word_bit = 8;
    pricer->buffer = pricer->task.arch->n_level - 2;
    pricer->tile = core_cached_scheduler(&own->cached);
    return DSE_OK;
}

static enum dse_status compile(struct schedule_pricer *pricer, struct dse_error *err)
{
    struct core_split split;
    if (!pricer->task.tile.cost)
        return compile_array((struct soma_pricer *)pricer, err);
    DSE_TRY(core_machine_split(pricer->task.arch, &split, err));
    pricer->machine = split.machine;
    pricer->word_bit = split.word_bit;
    pricer->streams = split.streams;
    pricer->stay_word = split.stay_word;
    pricer->buffer = split.buffer;
    pricer->tile = pricer->task.tile;
    return DSE_OK;
}

static enum dse_status evaluate(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                                struct arena *scratch, struct fused_trace *trace, struct fused_result *result,
                                struct dse_error *err)
{
    return fused_evaluate(schedule, &pricer->machine, scratch, trace, result, err);
}

/* The search has asked for each of them before: the cache knows them. */
static enum dse_status sum_tiles(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                                 struct core_cost *sum, struct dse_error *err)
{
    *sum = (struct core_cost){0};
    for (uint32_t i = 0; i < schedule->n_tile; i++) {
        const struct fused_tile *tile = &schedule->tile[i];
        const struct core_tile asked =
            core_tile_of(&pricer->task.network->layer[tile->layer], tile->b, tile->k, tile->h, tile->w);
        struct core_cost cost;
        DSE_TRY(pricer->tile.cost(pricer->tile.self, &asked, &cost, err));
        sum->cycle += cost.cycle;
        sum->buffer_energy_j += cost.buffer_energy_j;
        sum->local_energy_j += cost.local_energy_j;
        sum->bus_energy_j += cost.bus_energy_j;
        sum->mac_energy_j += cost.mac_energy_j;
        sum->energy_j += cost.energy_j;
    }
    return DSE_OK;
}

/* The larger of what either engine has to do. */
static uint64_t bound_cycle(const struct schedule_pricer *pricer, const struct fused_result *result)
{
    (void)pricer;
    return result->compute_cycle > result->dram_cycle ? result->compute_cycle : result->dram_cycle;
}

static const struct schedule_accounting sound = {
    .pricer_byte = sizeof(struct soma_pricer),
    .compile = compile,
    .evaluate = evaluate,
    .tiles = sum_tiles,
    .bound_cycle = bound_cycle,
};

static const struct schedule_accounting published = {
    .as_published = true,
    .own_tiles = true,
    .pricer_byte = sizeof(struct soma_pricer),
    .compile = compile,
    .evaluate = evaluate,
    .tiles = sum_tiles,
    .bound_cycle = bound_cycle,
};

const struct accounting accounting_soma = {
    .name = "soma",
    .summary = "fused schedules on SoMa's core array or a mapper in its place, with physically sound counts",
    .kind = ACCOUNTING_SCHEDULE,
    .accepts = has_buffer,
    .schedule = &sound,
};

const struct accounting accounting_soma_compat = {
    .name = "soma-compat",
    .summary = "fused schedules by the rules of the published SoMa program, bit by bit",
    .kind = ACCOUNTING_SCHEDULE,
    .accepts = has_core_array,
    .schedule = &published,
};
