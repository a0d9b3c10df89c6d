/* The smallest accounting of schedules: it borrows what it does not do differently. */
#include "tests/support/accounting_two_loads.h"

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/fused/core_machine.h"
#include "costmodel/fused/schedule_pricer.h"

struct two_loads {
    struct schedule_pricer base;
    struct core_array_search search;
};

static enum dse_status accepts(const struct architecture *arch, struct dse_error *err)
{
    return accounting_soma.accepts(arch, err);
}

static enum dse_status compile(struct schedule_pricer *pricer, struct dse_error *err)
{
    struct two_loads *own = (struct two_loads *)pricer;
    struct core_array_size size;
    struct core_split split;
    if (pricer->task.tile.cost) {
        DSE_TRY(core_machine_split(pricer->task.arch, &split, err));
        pricer->machine = split.machine;
        pricer->word_bit = split.word_bit;
        pricer->streams = split.streams;
        pricer->tile = pricer->task.tile;
    } else {
        DSE_TRY(core_machine_of(pricer->task.arch, &size, &pricer->machine, err));
        DSE_TRY(core_array_init(&size, &pricer->array, err));
        own->search.core = pricer->array;
        pricer->word_bit = 8;
        pricer->tile = core_array_scheduler(&own->search);
    }
    pricer->machine.dram_energy_j *= 2;
    for (int way = 0; way < FUSED_N_WAY; way++)
        pricer->machine.way_energy_j[way] *= 2;
    return DSE_OK;
}

static enum dse_status evaluate(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                                struct arena *scratch, struct fused_trace *trace, struct fused_result *result,
                                struct dse_error *err)
{
    return fused_evaluate(schedule, &pricer->machine, scratch, trace, result, err);
}

static enum dse_status tiles(const struct schedule_pricer *pricer, const struct fused_schedule *schedule,
                             struct core_cost *sum, struct dse_error *err)
{
    return accounting_soma.schedule->tiles(pricer, schedule, sum, err);
}

static const struct schedule_accounting hooks = {
    .pricer_byte = sizeof(struct two_loads),
    .compile = compile,
    .evaluate = evaluate,
    .tiles = tiles,
};

const struct accounting accounting_two_loads = {
    .name = "two-loads",
    .summary = "every byte of the DRAM costs its energy twice, for tests",
    .kind = ACCOUNTING_SCHEDULE,
    .accepts = accepts,
    .schedule = &hooks,
};
