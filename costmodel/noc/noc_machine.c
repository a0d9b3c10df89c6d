/* The configuration of the mesh from an architecture: which level's array it is, its columns and rows, and
 * the settings that the file has. */
#include <math.h>

#include "costmodel/model/byte_rate.h"
#include "costmodel/noc/noc.h"

/* Reads are asked for so far ahead that opening a row and the first data cost no bandwidth. */
enum { READ_AHEAD = 4, BYTE_BIT = 8, FLIT_BIT = 64 };

int noc_level_of(const struct architecture *arch)
{
    uint64_t x, y;
    for (uint32_t l = arch->n_level - 1; l-- > 0;) {
        architecture_fanout(arch, l, &x, &y);
        if (x * y > 1)
            return (int)l;
    }
    architecture_fanout(arch, arch->n_level - 1, &x, &y);
    return x * y > 1 ? (int)arch->n_level - 1 : -1;
}

static void replace(uint32_t *value, uint32_t setting)
{
    if (setting)
        *value = setting;
}

/* What `word_per_cycle` lets through, in accesses of one packet's data. */
static bool limit_of(const struct architecture *arch, double word_per_cycle, uint32_t burst_byte,
                     struct noc_limit *limit)
{
    struct byte_rate rate;
    double byte_per_cycle = word_per_cycle * arch->level[arch->n_level - 1].word_bit / BYTE_BIT;
    *limit = (struct noc_limit){0, 0};
    if (byte_per_cycle > BYTE_RATE_FASTEST)
        return true;
    if (!byte_rate_of(byte_per_cycle, arch->clock_hz, &rate))
        return false;
    *limit = (struct noc_limit){rate.byte, rate.cycle * burst_byte};
    return true;
}

/* The memory of the architecture: its bandwidth is what arrives, so no refresh takes anything off. */
static enum dse_status apply_memory(const struct architecture *arch, struct noc_dram *dram,
                                    struct dse_error *err)
{
    const struct storage_level *memory = &arch->level[arch->n_level - 1];
    const double rate[NOC_LIMITS] = {[NOC_ALL] = memory->shared_bandwidth_word_per_cycle,
                                     [NOC_READS] = memory->read_bandwidth_word_per_cycle,
                                     [NOC_WRITES] = memory->write_bandwidth_word_per_cycle};
    dram->burst_cycle = 1;
    dram->refresh_interval_cycle = 0;
    dram->read_ahead = READ_AHEAD;
    for (uint32_t k = 0; k < NOC_LIMITS; k++)
        if (!limit_of(arch, rate[k], dram->burst_byte, &dram->limit[k]))
            return dse_fail(
                err, DSE_BAD_USAGE,
                "%s of architecture %s moves %g words per cycle; a byte in %g cycles is the least",
                memory->name, arch->name, rate[k], BYTE_RATE_SLOWEST);
    return DSE_OK;
}

/* Where a packet has another size the rest follows: a queue holds a packet and two flits. */
static void apply_flits(const struct architecture *arch, struct noc_config *config)
{
    replace(&config->flit_bit, arch->noc[NOC_SET_FLIT_BIT]);
    replace(&config->data_flits, arch->noc[NOC_SET_DATA_FLITS]);
    config->queue_flits = config->data_flits + 3;
    replace(&config->queue_flits, arch->noc[NOC_SET_QUEUE_FLITS]);
}

void noc_config_cores_of(const struct architecture *arch, uint32_t columns, uint32_t rows,
                         struct noc_config *config)
{
    noc_config_cores(config, columns, rows, FLIT_BIT);
    apply_flits(arch, config);
}

/* As apply_flits, and an access of the DRAM holds a packet's data. */
static enum dse_status apply_settings(const struct architecture *arch, struct noc_config *config,
                                      struct dse_error *err)
{
    const uint32_t *setting = arch->noc;
    struct noc_dram *dram = &config->dram;
    apply_flits(arch, config);
    dram->burst_byte = config->flit_bit * config->data_flits / 8;
    config->compat = setting[NOC_SET_COMPAT] != 0;
    config->resend_windows = setting[NOC_SET_RESEND_WINDOWS] != 0;
    if (!config->compat)
        DSE_TRY(apply_memory(arch, dram, err));
    replace(&dram->n_bank, setting[NOC_SET_DRAM_BANKS]);
    replace(&dram->row_byte, setting[NOC_SET_DRAM_ROW_BYTE]);
    replace(&dram->burst_cycle, setting[NOC_SET_DRAM_BURST_CYCLE]);
    replace(&dram->activate_cycle, setting[NOC_SET_DRAM_ACTIVATE_CYCLE]);
    replace(&dram->precharge_cycle, setting[NOC_SET_DRAM_PRECHARGE_CYCLE]);
    replace(&dram->read_cycle, setting[NOC_SET_DRAM_READ_CYCLE]);
    replace(&dram->write_cycle, setting[NOC_SET_DRAM_WRITE_CYCLE]);
    replace(&dram->queue_length, setting[NOC_SET_DRAM_QUEUE]);
    replace(&dram->read_ahead, setting[NOC_SET_DRAM_READ_AHEAD]);
    return DSE_OK;
}

/* Columns and rows of PEs; a single row in the file is no statement about the floor plan, so it becomes as
 * square as possible. */
static enum dse_status choose_mesh(const struct architecture *arch, uint32_t level, uint64_t *x, uint64_t *y,
                                   struct dse_error *err)
{
    architecture_fanout(arch, level, x, y);
    uint64_t n_pe = *x * *y;
    if (*x > NOC_ROUTER_MAX || *y > NOC_ROUTER_MAX || n_pe > NOC_ROUTER_MAX)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "architecture %s has %llu PEs below %s; a mesh of at most %d routers can be simulated",
            arch->name, (unsigned long long)n_pe, arch->level[level].name, NOC_ROUTER_MAX);
    if (*x == 1 || *y == 1) {
        for (*y = (uint64_t)sqrt((double)n_pe); n_pe % *y != 0;)
            --*y;
        *x = n_pe / *y;
    }
    if (arch->noc[NOC_SET_COLUMNS]) {
        *x = arch->noc[NOC_SET_COLUMNS];
        *y = arch->noc[NOC_SET_PE_ROWS];
        if (*x * *y < n_pe)
            return dse_fail(err, DSE_BAD_USAGE,
                            "noc.mesh of architecture %s is %llux%llu, too small for its %llu PEs below %s",
                            arch->name, (unsigned long long)*x, (unsigned long long)*y,
                            (unsigned long long)n_pe, arch->level[level].name);
    }
    if (*x * (*y + 1) > NOC_ROUTER_MAX)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "architecture %s needs %llu routers for a mesh of %llux%llu PEs and one more row; at most "
            "%d can be simulated",
            arch->name, (unsigned long long)(*x * (*y + 1)), (unsigned long long)*x, (unsigned long long)*y,
            NOC_ROUTER_MAX);
    return DSE_OK;
}

enum dse_status noc_config_of(const struct architecture *arch, struct noc_config *config, uint32_t *noc_level,
                              struct dse_error *err)
{
    static const struct noc_program nothing;
    struct dse_error inner;
    int level = noc_level_of(arch);
    uint64_t x, y;
    if (level < 0)
        return dse_fail(
            err, DSE_BAD_USAGE,
            "architecture %s has no PE array, that is, no level with a fan-out: there is no mesh to simulate",
            arch->name);
    DSE_TRY(choose_mesh(arch, (uint32_t)level, &x, &y, err));
    noc_config_init(config, (uint32_t)x, (uint32_t)y);
    DSE_TRY(apply_settings(arch, config, err));
    if (noc_check(config, &nothing, NULL, &inner) != DSE_OK)
        return dse_fail(err, DSE_BAD_USAGE, "the part noc of architecture %s: %s", arch->name, inner.text);
    *noc_level = (uint32_t)level;
    return DSE_OK;
}
