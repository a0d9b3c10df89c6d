/* One node is cut out of the architecture, its shared memory holds what a uop needs, and the mapper's machine
 * is what lies inside the DRAM. */
#include "costmodel/uop/node_machine.h"

#include <math.h>

enum { BYTE_BIT = 8, ALL_ROLES = (1 << TENSOR_ROLE_COUNT) - 1, LANES_LEAST = 4, LANES_MOST = 16 };

/* More than any uop needs: stands for a memory without a limit, which core_machine_split wants to know. */
static const uint64_t unlimited_word = UINT64_C(1) << 40;

static enum dse_status refuse(const struct architecture *arch, const char *level, const char *what,
                              struct dse_error *err)
{
    return dse_fail(err, DSE_BAD_INPUT, "%s is no accelerator of a mesh for uops: %s %s", arch->name, level,
                    what);
}

/* What no file can be changed to fit; the rest is for core_machine_split to say. */
static enum dse_status check(const struct architecture *arch, struct dse_error *err)
{
    if (arch->gpu.present)
        return refuse(arch, "it", "is a GPU", err);
    if (arch->n_level < 2 || !arch->level[arch->n_level - 1].is_dram)
        return refuse(arch, "it", "needs a DRAM outside and a memory on the chip", err);
    if (arch->level[arch->n_level - 1].word_bit % BYTE_BIT != 0)
        return refuse(arch, arch->level[arch->n_level - 1].name,
                      "needs words of whole bytes, in which uops count: take 8 bit", err);
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        if (!(arch->level[l].keep_role & ALL_ROLES))
            return refuse(
                arch, arch->level[l].name,
                arch->level[l].is_fanout
                    ? "is only an array's fan-out (of Timeloop v4), no memory"
                    : "keeps tensors by name alone, and layers of a network have none of such names",
                err);
    return DSE_OK;
}

/* The mesh, and one of its nodes: of several chips one, with its share of all that is inside. */
static enum dse_status cut_out(const struct architecture *arch, uint32_t home, struct kc_machine *machine,
                               struct architecture *node, struct dse_error *err)
{
    const struct storage_level *outermost = &arch->level[home];
    const uint64_t x = outermost->mesh_x, y = outermost->mesh_y;
    const bool said = arch->noc[NOC_SET_COLUMNS] != 0;
    *node = *arch;
    if (x * y == 1) {
        machine->columns = said ? arch->noc[NOC_SET_COLUMNS] : 1;
        machine->rows = said ? arch->noc[NOC_SET_PE_ROWS] : 1;
        return DSE_OK;
    }
    if (said)
        return refuse(arch, "noc.mesh", "says another mesh than that of its outermost level; leave it out",
                      err);
    if (x > UINT16_MAX || y > UINT16_MAX)
        return refuse(arch, outermost->name, "stands in an array of more than 65535 by 65535", err);
    machine->columns = (uint32_t)x;
    machine->rows = (uint32_t)y;
    for (uint32_t l = 0; l <= home; l++) {
        node->level[l].mesh_x /= x;
        node->level[l].mesh_y /= y;
        node->level[l].instances /= x * y;
    }
    node->mac.mesh_x /= x;
    node->mac.mesh_y /= y;
    node->mac.instances /= x * y;
    return DSE_OK;
}

static double access_j(const struct storage_level *level, double energy_j)
{
    return energy_j / level->block_word + level->address_energy_j;
}

static void set_energies(const struct architecture *arch, const struct storage_level *home,
                         struct kc_machine *machine)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    const double network_j = dram->router_energy_j + dram->ingress_energy_j;
    machine->mac_energy_j = arch->mac.energy_j;
    machine->hop_energy_j = dram->hop_energy_j;
    machine->dram_read_energy_j = access_j(dram, dram->read_energy_j) + network_j;
    machine->dram_write_energy_j = access_j(dram, dram->update_energy_j) + network_j;
    machine->send_energy_j = machine->l2_read_energy_j = access_j(home, home->read_energy_j);
    machine->receive_energy_j = access_j(home, home->write_energy_j);
    machine->l2_write_energy_j = access_j(home, home->update_energy_j);
}

/* A bandwidth of the DRAM in words; none: words take no cycles. */
static enum dse_status read_rate(const struct architecture *arch, double own, struct byte_rate *rate,
                                 struct dse_error *err)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    const double word_per_cycle = fmin(own, dram->shared_bandwidth_word_per_cycle);
    *rate = (struct byte_rate){1, 0};
    if (!isfinite(word_per_cycle) || byte_rate_of(word_per_cycle, arch->clock_hz, rate))
        return DSE_OK;
    return dse_fail(
        err, DSE_BAD_INPUT,
        "%s is no accelerator of a mesh for uops: %s has a bandwidth of %g words a cycle; a word in "
        "%g cycles is the least",
        arch->name, dram->name, word_per_cycle, BYTE_RATE_SLOWEST);
}

/* Channels of which tiles have multiples: a power of 2 near the side of a square of all MAC units. */
static uint32_t lanes_of(uint64_t n_mac)
{
    uint32_t lanes = LANES_LEAST;
    while (lanes < LANES_MOST && (uint64_t)(2 * lanes) * (2 * lanes) <= n_mac)
        lanes *= 2;
    return lanes;
}

/* Of so many nodes, which the machine has all, or is one of, and of its DRAM. */
static double leakage_w(const struct architecture *arch, double n_node)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1], *outermost = dram - 1;
    const double dram_w = (double)dram->instances * dram->leakage_w;
    return dram_w + (architecture_all_leakage_w(arch) - dram_w) * n_node / (double)outermost->instances;
}

static enum dse_status make_node(const struct architecture *arch, struct kc_machine *machine,
                                 struct core_split *split, struct dse_error *err)
{
    struct architecture node;
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    const uint32_t outermost = arch->n_level - 2;
    DSE_TRY(check(arch, err));
    *machine = (struct kc_machine){.clock_hz = arch->clock_hz};
    DSE_TRY(read_rate(arch, dram->read_bandwidth_word_per_cycle, &machine->dram, err));
    DSE_TRY(read_rate(arch, dram->write_bandwidth_word_per_cycle, &machine->dram_write, err));
    DSE_TRY(cut_out(arch, outermost, machine, &node, err));
    struct storage_level *home = &node.level[arch->fused.buffer ? arch->fused.buffer - 1 : outermost];
    const bool is_unlimited = home->size_word == ARCH_UNLIMITED;
    if (is_unlimited)
        home->size_word = unlimited_word;
    node.fused.keeps_all = true;
    DSE_TRY(core_machine_split(&node, split, err));
    machine->word_byte = split->word_bit / BYTE_BIT;
    machine->sram_word = is_unlimited ? ARCH_UNLIMITED : architecture_usable_words(home);
    machine->n_mac = node.mac.instances;
    machine->c_lane = machine->k_lane = lanes_of(machine->n_mac);
    set_energies(arch, home, machine);
    machine->leakage_w = leakage_w(arch, (double)machine->columns * machine->rows);
    noc_config_cores_of(arch, machine->columns, machine->rows, &machine->noc);
    return DSE_OK;
}

enum dse_status node_machine_of(const struct architecture *arch, struct kc_machine *machine,
                                struct core_split *node, struct dse_error *err)
{
    struct dse_error ignored = {0};
    return kc_machine_of(arch, machine, &ignored) == DSE_OK ? DSE_OK : make_node(arch, machine, node, err);
}
