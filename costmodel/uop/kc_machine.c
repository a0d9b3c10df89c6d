/* Reads a mesh of accelerators off an architecture and refuses, with the level and what would be right, each
 * quantity that the cost of uops has no term for. */
#include <math.h>

#include "costmodel/model/problem.h"
#include "costmodel/uop/kc_cost.h"

enum { BYTE_BIT = 8, N_LEVEL = 3, LEVEL_REGISTER = 0, LEVEL_SRAM, LEVEL_DRAM };

static enum dse_status refuse(const struct architecture *arch, const char *level, const char *what,
                              struct dse_error *err)
{
    return dse_fail(err, DSE_BAD_INPUT, "%s is no mesh of accelerators for uops: %s %s", arch->name, level,
                    what);
}

static enum dse_status check_level(const struct architecture *arch, const struct storage_level *level,
                                   struct dse_error *err)
{
    if (level->word_bit != arch->mac.word_bit || level->word_bit % BYTE_BIT)
        return refuse(arch, level->name, "needs the MACs' word, of whole bytes", err);
    if (level->block_word != 1 || level->cluster_size != 1)
        return refuse(arch, level->name, "needs accesses of one word and no cluster", err);
    if (level->min_utilization > 0 || level->bank_group || level->n_part)
        return refuse(arch, level->name, "is one memory, without a least utilization", err);
    if (level->router_energy_j > 0 || level->ingress_energy_j > 0 || level->fill_latency_cycle ||
        level->drain_latency_cycle || level->address_energy_j > 0)
        return refuse(arch, level->name,
                      "has energies or latencies of a network that uops do not know; hop_energy they do",
                      err);
    const uint32_t all = (1U << TENSOR_ROLE_COUNT) - 1;
    return (level->keep_role & all) == all ? DSE_OK : refuse(arch, level->name, "must keep all tensors", err);
}

/* Words per cycle of a level with one bandwidth for both ways, or none: then byte 0. */
static enum dse_status read_rate(const struct architecture *arch, const struct storage_level *level,
                                 struct byte_rate *rate, struct dse_error *err)
{
    if (isfinite(level->read_bandwidth_word_per_cycle) || isfinite(level->write_bandwidth_word_per_cycle))
        return refuse(arch, level->name, "needs one bandwidth for reads and writes together", err);
    *rate = (struct byte_rate){0, 1};
    if (!isfinite(level->shared_bandwidth_word_per_cycle) ||
        byte_rate_of(level->shared_bandwidth_word_per_cycle, arch->clock_hz, rate))
        return DSE_OK;
    return dse_fail(err, DSE_BAD_INPUT,
                    "%s is no mesh of accelerators for uops: %s.bandwidth is %g words a cycle; a word in %g "
                    "cycles is the least",
                    arch->name, level->name, level->shared_bandwidth_word_per_cycle, BYTE_RATE_SLOWEST);
}

static enum dse_status read_array(const struct architecture *arch, uint32_t level, uint32_t *columns,
                                  uint32_t *rows, struct dse_error *err)
{
    uint64_t x, y;
    architecture_fanout(arch, level, &x, &y);
    *columns = (uint32_t)x;
    *rows = (uint32_t)y;
    return x <= UINT16_MAX && y <= UINT16_MAX
               ? DSE_OK
               : refuse(arch, arch->level[level].name, "has an array of more than 65535 by 65535 below it",
                        err);
}

enum dse_status kc_machine_of(const struct architecture *arch, struct kc_machine *machine,
                              struct dse_error *err)
{
    const struct storage_level *l1 = &arch->level[LEVEL_REGISTER], *l2 = &arch->level[LEVEL_SRAM];
    const struct storage_level *dram = &arch->level[LEVEL_DRAM];
    uint32_t mac_x, mac_y;
    char reason[256];
    if (arch->gpu.present || arch->n_level != N_LEVEL || !dram->is_dram)
        return refuse(
            arch, "it",
            "needs a DRAM, an array of accelerators, a shared memory, an array of PEs, a register and a "
            "MAC in each",
            err);
    if (!architecture_leaks_always(arch, reason, sizeof reason))
        return dse_fail(err, DSE_BAD_INPUT, "%s is no mesh of accelerators for uops: %s", arch->name, reason);
    for (uint32_t l = 0; l < N_LEVEL; l++)
        DSE_TRY(check_level(arch, &arch->level[l], err));
    *machine = (struct kc_machine){
        .sram_word = architecture_usable_words(l2),
        .word_byte = arch->mac.word_bit / BYTE_BIT,
        .clock_hz = arch->clock_hz,
        .leakage_w = architecture_all_leakage_w(arch),
        .mac_energy_j = arch->mac.energy_j,
        .l1_read_energy_j = l1->read_energy_j,
        .l1_write_energy_j = l1->update_energy_j,
        .l2_read_energy_j = l2->read_energy_j,
        .l2_write_energy_j = l2->write_energy_j,
        .hop_energy_j = dram->hop_energy_j,
        .dram_read_energy_j = dram->read_energy_j,
        .dram_write_energy_j = dram->update_energy_j,
    };
    DSE_TRY(read_array(arch, LEVEL_DRAM, &machine->columns, &machine->rows, err));
    if (arch->noc[NOC_SET_COLUMNS])
        return refuse(arch, "noc.mesh", "says another mesh than that of the accelerators; leave it out", err);
    noc_config_cores_of(arch, machine->columns, machine->rows, &machine->noc);
    DSE_TRY(read_array(arch, LEVEL_SRAM, &machine->c_lane, &machine->k_lane, err));
    DSE_TRY(read_array(arch, LEVEL_REGISTER, &mac_x, &mac_y, err));
    if (mac_x != 1 || mac_y != 1)
        return refuse(arch, l1->name, "has an array of MACs below it; a PE has one", err);
    DSE_TRY(read_rate(arch, l2, &machine->delivery, err));
    if (!machine->delivery.byte)
        return refuse(arch, l2->name, "needs a bandwidth: what passes to the PEs in a cycle", err);
    if (isfinite(l1->shared_bandwidth_word_per_cycle) || isfinite(l1->read_bandwidth_word_per_cycle) ||
        isfinite(l1->write_bandwidth_word_per_cycle))
        return refuse(arch, l1->name, "has a bandwidth, which the cycles of uops do not know", err);
    return read_rate(arch, dram, &machine->dram, err);
}
