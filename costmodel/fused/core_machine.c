/* Reads the sizes of a core array off an architecture's levels and refuses, with the level and what would
 * be right, each quantity that the core-array model has no term for. */
#include "costmodel/fused/core_machine.h"

#include <math.h>
#include <string.h>

#include "costmodel/model/problem.h"

enum { BYTE_BIT = 8 };

static const double tolerance = 1e-6; /* files write their numbers with fewer digits */

static bool differs(double a, double b)
{
    return fabs(a - b) > tolerance * fmax(fabs(a), fabs(b));
}

/* One sentence for all refusals: the level, what is wrong, what would be right. */
static enum dse_status refuse(const struct architecture *arch, const char *level, const char *what,
                              struct dse_error *err)
{
    return dse_fail(err, DSE_BAD_INPUT, "%s is no machine for fused schedules: %s %s", arch->name, level,
                    what);
}

static enum dse_status read_rate(const struct architecture *arch, const struct storage_level *level,
                                 const char *quantity, double word_per_cycle, struct byte_rate *rate,
                                 struct dse_error *err)
{
    double byte_per_cycle = word_per_cycle * level->word_bit / BYTE_BIT;
    if (!isfinite(byte_per_cycle))
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s is no machine for fused schedules: %s.%s is not limited; give one", arch->name,
                        level->name, quantity);
    if (!byte_rate_of(byte_per_cycle, arch->clock_hz, rate))
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s is no machine for fused schedules: %s.%s is %g bytes per cycle; a byte in %g "
                        "cycles (%g GB/s at this clock) is the least, %g bytes per cycle the most",
                        arch->name, level->name, quantity, byte_per_cycle, BYTE_RATE_SLOWEST,
                        arch->clock_hz * 1e-9 / BYTE_RATE_SLOWEST, BYTE_RATE_FASTEST);
    return DSE_OK;
}

static enum dse_status check_common(const struct architecture *arch, struct dse_error *err)
{
    if (arch->n_level < 5)
        return refuse(arch, "it", "needs a DRAM, a global buffer and three L1 buffers in each PE", err);
    if (arch->fused.buffer && arch->fused.buffer != arch->n_level - 1)
        return refuse(arch, arch->level[arch->fused.buffer - 1].name,
                      "is the buffer by fused.buffer; the core-array model has that next to the DRAM", err);
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        if (level->word_bit != BYTE_BIT || level->block_word != 1)
            return refuse(arch, level->name, "needs accesses of one word of 8 bits", err);
        if (level->min_utilization > 0)
            return refuse(arch, level->name, "has a least utilization, which a fused schedule does not know",
                          err);
        if (level->bank_group)
            return refuse(arch, level->name, "shares banks, which buffers of the core-array model do not",
                          err);
        if (level->hop_energy_j > 0 || level->router_energy_j > 0 || level->ingress_energy_j > 0 ||
            level->address_energy_j > 0)
            return refuse(
                arch, level->name,
                "has energies of a network or of addresses, which the core-array model does not know", err);
    }
    return DSE_OK;
}

/* ---- the DRAM of either ---- */

static enum dse_status check_ends(const struct architecture *arch, struct dse_error *err)
{
    if (arch->gpu.present)
        return refuse(arch, "it", "is a GPU", err);
    if (arch->n_level < 2)
        return refuse(arch, "it", "needs a DRAM and a global buffer inside it", err);
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        if (arch->level[l].is_dram)
            return refuse(arch, arch->level[l].name, "is a DRAM inside; only the outermost level can be one",
                          err);
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    if (!dram->is_dram || dram->instances != 1)
        return refuse(arch, dram->name, "is outermost; that must be one DRAM (kind: dram)", err);
    return DSE_OK;
}

static enum dse_status check_leakage(const struct architecture *arch, struct dse_error *err)
{
    char reason[256];
    if (architecture_leaks_always(arch, reason, sizeof reason))
        return DSE_OK;
    return dse_fail(err, DSE_BAD_INPUT, "%s is no machine for fused schedules: %s", arch->name, reason);
}

/* Loads and stores share `bandwidth`, and each has its own limit besides; none at all is a ratio of 0
 * cycles. */
static enum dse_status read_way(const struct architecture *arch, bool store, struct byte_rate *rate,
                                struct dse_error *err)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    double own = store ? dram->write_bandwidth_word_per_cycle : dram->read_bandwidth_word_per_cycle;
    double shared = dram->shared_bandwidth_word_per_cycle;
    *rate = (struct byte_rate){1, 0};
    if (!isfinite(fmin(own, shared)))
        return DSE_OK;
    return read_rate(arch, dram,
                     shared <= own ? "bandwidth"
                     : store       ? "write_bandwidth"
                                   : "read_bandwidth",
                     fmin(own, shared), rate, err);
}

static enum dse_status read_rates(const struct architecture *arch, struct fused_machine *machine,
                                  struct dse_error *err)
{
    DSE_TRY(read_way(arch, false, &machine->dram_rate, err));
    DSE_TRY(read_way(arch, true, &machine->store_rate, err));
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    machine->differs = machine->dram_rate.byte != machine->store_rate.byte ||
                       machine->dram_rate.cycle != machine->store_rate.cycle ||
                       differs(dram->read_energy_j, dram->update_energy_j);
    return DSE_OK;
}

/* ---- the built-in core array ---- */

static enum dse_status read_buffer(const struct architecture *arch, struct core_array_size *size,
                                   struct fused_machine *machine, struct dse_error *err)
{
    const struct storage_level *buffer = &arch->level[arch->n_level - 2];
    if (buffer->size_word == ARCH_UNLIMITED || buffer->instances != 1 || buffer->keep_role != 7)
        return refuse(
            arch, buffer->name,
            "stands inside the DRAM; that must be one global buffer for all tensors, with a capacity", err);
    if (isfinite(buffer->write_bandwidth_word_per_cycle) || isfinite(buffer->shared_bandwidth_word_per_cycle))
        return refuse(arch, buffer->name,
                      "must have a read_bandwidth alone: writes of the core-array model never stall", err);
    machine->buffer_byte = size->buffer_byte = architecture_usable_words(buffer);
    return read_rate(arch, buffer, "read_bandwidth", buffer->read_bandwidth_word_per_cycle,
                     &size->buffer_read, err);
}

/* The mesh of PEs below the buffer and that of the lanes below a PE. */
static enum dse_status read_meshes(const struct architecture *arch, struct core_array_size *size,
                                   uint32_t *lane_c, uint32_t *lane_k, struct dse_error *err)
{
    const struct storage_level *pe = &arch->level[arch->n_level - 3];
    uint64_t c = arch->mac.mesh_x / pe->mesh_x, k = arch->mac.mesh_y / pe->mesh_y;
    if (pe->mesh_x > UINT32_MAX || pe->mesh_y > UINT32_MAX || c > UINT16_MAX || k > UINT16_MAX)
        return refuse(arch, pe->name, "has too large a mesh", err);
    size->pe_columns = (uint32_t)pe->mesh_x;
    size->pe_rows = (uint32_t)pe->mesh_y;
    size->mac_per_pe = (uint32_t)(c * k);
    *lane_c = (uint32_t)c;
    *lane_k = (uint32_t)k;
    return DSE_OK;
}

/* What the model has of an L1 buffer, by the role of the tensors that it keeps. */
struct local_buffer {
    const char *what;
    uint64_t byte;
    double read_j, write_j;
};

static enum dse_status check_local(const struct architecture *arch, const struct storage_level *level,
                                   const struct local_buffer *local, struct dse_error *err)
{
    uint64_t has = architecture_usable_words(level);
    if (isfinite(level->read_bandwidth_word_per_cycle) || isfinite(level->write_bandwidth_word_per_cycle) ||
        isfinite(level->shared_bandwidth_word_per_cycle))
        return refuse(arch, level->name, "has a bandwidth, which L1 buffers of the core-array model do not",
                      err);
    if (has != local->byte)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s is no machine for fused schedules: %s.capacity is %llu bytes; the core-array model has "
            "%llu for the %s of such a PE",
            arch->name, level->name, (unsigned long long)has, (unsigned long long)local->byte, local->what);
    if (differs(level->read_energy_j, local->read_j) || differs(level->write_energy_j, local->write_j))
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s is no machine for fused schedules: %s takes %g pJ to read and %g to write; the "
                        "core-array model has %g and %g for the %s of such a PE",
                        arch->name, level->name, level->read_energy_j * 1e12, level->write_energy_j * 1e12,
                        local->read_j * 1e12, local->write_j * 1e12, local->what);
    return DSE_OK;
}

/* The three buffers of a PE in any order, then registers of one word that cost nothing. */
static enum dse_status check_locals(const struct architecture *arch, const struct core_array *core,
                                    struct dse_error *err)
{
    const struct storage_level *pe = &arch->level[arch->n_level - 3];
    const struct local_buffer local[TENSOR_ROLE_COUNT] = {
        [TENSOR_WEIGHT] = {"weights", core->weight_byte, core->weight_read_j, core->weight_write_j},
        [TENSOR_INPUT] = {"inputs", core->input_byte, core->input_read_j, core->input_write_j},
        [TENSOR_OUTPUT] = {"outputs", core->output_byte, core->output_read_j, core->output_write_j},
    };
    uint32_t seen = 0;
    for (uint32_t i = 3; i < 6; i++) {
        const struct storage_level *level = &arch->level[arch->n_level - i];
        int role = level->keep_role == 1u << TENSOR_WEIGHT   ? TENSOR_WEIGHT
                   : level->keep_role == 1u << TENSOR_INPUT  ? TENSOR_INPUT
                   : level->keep_role == 1u << TENSOR_OUTPUT ? TENSOR_OUTPUT
                                                             : -1;
        if (role < 0 || (seen >> role & 1) || level->mesh_x != pe->mesh_x || level->mesh_y != pe->mesh_y)
            return refuse(arch, level->name,
                          "must be a buffer of each PE for one of inputs, weights and outputs, each once",
                          err);
        seen |= 1u << role;
        DSE_TRY(check_local(arch, level, &local[role], err));
    }
    for (uint32_t l = 0; l + 5 < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        if (level->size_word != 1 || level->read_energy_j > 0 || level->write_energy_j > 0 ||
            level->update_energy_j > 0)
            return refuse(arch, level->name,
                          "stands inside the L1 buffers; there only free registers of one word have a place",
                          err);
    }
    return DSE_OK;
}

/* The model's energies follow from capacity and lanes. Bytes from the DRAM are written free of charge; an
 * output passes the accumulation buffer OL2 on its way into the global one. */
static enum dse_status check_energies(const struct architecture *arch, const struct core_array *core,
                                      struct dse_error *err)
{
    const struct storage_level *buffer = &arch->level[arch->n_level - 2];
    double update_j = core->buffer_write_j + core->collect_read_j + core->collect_write_j;
    if (differs(buffer->read_energy_j, core->buffer_read_j) || buffer->write_energy_j > 0 ||
        differs(buffer->update_energy_j, update_j))
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s is no machine for fused schedules: %s takes %g, %g and %g pJ to read, write and update; "
            "the core-array model has %g, 0 and %g for its capacity",
            arch->name, buffer->name, buffer->read_energy_j * 1e12, buffer->write_energy_j * 1e12,
            buffer->update_energy_j * 1e12, core->buffer_read_j * 1e12, update_j * 1e12);
    if (differs(arch->mac.energy_j, core->mac_j))
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s is no machine for fused schedules: %s.energy is %g pJ; the core-array model has %g",
            arch->name, arch->mac.name, arch->mac.energy_j * 1e12, core->mac_j * 1e12);
    return DSE_OK;
}

enum dse_status core_machine_of(const struct architecture *arch, struct core_array_size *size,
                                struct fused_machine *machine, struct dse_error *err)
{
    struct core_array core;
    struct dse_error inner = {0};
    uint32_t lane_c = 0, lane_k = 0;
    *size = (struct core_array_size){0};
    *machine = (struct fused_machine){0};
    DSE_TRY(check_ends(arch, err));
    DSE_TRY(check_common(arch, err));
    DSE_TRY(check_leakage(arch, err));
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    machine->way_energy_j[FUSED_LOADED] = machine->dram_energy_j = dram->read_energy_j;
    machine->way_energy_j[FUSED_STORED] = dram->update_energy_j;
    DSE_TRY(read_rates(arch, machine, err));
    DSE_TRY(read_buffer(arch, size, machine, err));
    DSE_TRY(read_meshes(arch, size, &lane_c, &lane_k, err));
    enum dse_status status = core_array_init(size, &core, &inner);
    if (status != DSE_OK)
        return dse_fail(err, status, "%s is no machine for fused schedules: %.900s", arch->name, inner.text);
    if (core.lane_c != lane_c || core.lane_k != lane_k)
        return dse_fail(
            err, DSE_BAD_INPUT,
            "%s is no machine for fused schedules: %s stands %u x %u in a PE; the core-array model has "
            "%u input by %u output channels",
            arch->name, arch->mac.name, lane_c, lane_k, core.lane_c, core.lane_k);
    DSE_TRY(check_locals(arch, &core, err));
    return check_energies(arch, &core, err);
}

/* ---- any architecture ---- */

enum { ALL_ROLES = (1 << TENSOR_ROLE_COUNT) - 1 };

static uint32_t roles_of(const struct storage_level *level)
{
    return level->keep_role & ALL_ROLES;
}

static double access_j(const struct storage_level *level, double energy_j)
{
    return energy_j / level->block_word + level->address_energy_j;
}

/* The level that the file names, else the outermost one inside the DRAM. */
static enum dse_status find_home(const struct architecture *arch, uint32_t *found, struct dse_error *err)
{
    *found = arch->fused.buffer ? arch->fused.buffer - 1 : arch->n_level - 2;
    const struct storage_level *home = &arch->level[*found];
    if (home->instances != 1)
        return refuse(
            arch, home->name,
            "has several instances; a fused schedule needs one buffer on the chip that all PEs share", err);
    if (home->size_word == ARCH_UNLIMITED)
        return refuse(arch, home->name, "has no capacity; a fused schedule needs to know it", err);
    for (uint32_t l = 0; l + 1 < arch->n_level; l++) {
        if (arch->level[l].min_utilization > 0)
            return refuse(arch, arch->level[l].name,
                          "has a least utilization, which small tiles of a schedule do not reach; set its "
                          "min_utilization to 0",
                          err);
        if (arch->level[l].is_fanout)
            return refuse(arch, arch->level[l].name, "is only an array's fan-out (of Timeloop v4), no memory",
                          err);
        if (!roles_of(&arch->level[l]))
            return refuse(arch, arch->level[l].name,
                          "keeps tensors by name alone, and layers of a network have none of such names",
                          err);
    }
    return DSE_OK;
}

/* What a byte (words may have any number of bits) costs each way: the DRAM's access and its network, which
 * has no hops above one buffer; of a tensor in the buffer also the buffer's write, both ways. A streamed
 * output that comes back as a partial sum is read, too. */
static void set_energies(const struct architecture *arch, const struct storage_level *home,
                         struct core_split *split)
{
    const struct storage_level *dram = &arch->level[arch->n_level - 1];
    struct fused_machine *machine = &split->machine;
    double network_j = dram->router_energy_j + dram->ingress_energy_j, write_j = home->write_energy_j;
    double read_j = access_j(dram, dram->read_energy_j), update_j = access_j(dram, dram->update_energy_j);
    double buffer_j = access_j(home, write_j) + network_j, word_byte = (double)split->word_bit / BYTE_BIT;
    machine->way_energy_j[FUSED_LOADED] = machine->dram_energy_j = (read_j + buffer_j) / word_byte;
    machine->way_energy_j[FUSED_STORED] = (update_j + buffer_j) / word_byte;
    machine->way_energy_j[FUSED_STREAMED_IN] = read_j / word_byte;
    machine->way_energy_j[FUSED_STREAMED_OUT] = fmax(read_j, update_j) / word_byte;
}

/* The buffer of the core: all that it keeps is in it from the start, of any size. Who shares its banks has
 * the one each that its capacity leaves. */
static void open_home(struct architecture *core, uint32_t home, uint32_t keeps)
{
    struct storage_level *level = &core->level[home];
    for (uint32_t l = 0; level->bank_group && l < core->n_level; l++) {
        struct storage_level *other = &core->level[l];
        if (l == home || other->bank_group != level->bank_group)
            continue;
        other->size_word = other->bank_word;
        other->bank_group = 0;
        other->bank_word = 0;
    }
    if (level->bank_group) {
        for (uint32_t l = 0; l < core->n_level; l++)
            if (core->level[l].bank_group > level->bank_group)
                core->level[l].bank_group--;
        memmove(&core->group[level->bank_group - 1], &core->group[level->bank_group],
                (core->n_group - level->bank_group) * sizeof *core->group);
        core->n_group--;
    }
    level->bank_group = 0;
    level->bank_word = 0;
    level->n_part = 0;
    level->size_word = ARCH_UNLIMITED;
    level->multiple_buffering = 1;
    level->keep_role = keeps;
}

/* Leave out a level of one instance that holds nothing any more; its network has nothing to spread either. */
static void drop_level(struct architecture *core, uint32_t l)
{
    memmove(&core->level[l], &core->level[l + 1], (core->n_level - l - 1) * sizeof *core->level);
    core->n_level--;
    core->level[core->n_level] = (struct storage_level){0};
}

/* What takes in one streamed tensor has half of its words for a tile; the other half fills meanwhile. */
static void halve_own(struct core_split *split)
{
    uint32_t left = split->streams;
    for (uint32_t l = split->core.n_level; l-- > 0;) {
        struct storage_level *level = &split->core.level[l];
        uint32_t takes = roles_of(level) & left;
        left &= ~takes;
        if (l == split->home || !takes || roles_of(level) & ~split->streams || level->bank_group ||
            level->n_part || level->size_word == ARCH_UNLIMITED || architecture_usable_words(level) < 2)
            continue;
        level->multiple_buffering *= 2;
        split->halved |= 1u << l;
    }
}

static void set_stay(struct core_split *split)
{
    uint32_t l = split->core.n_level;
    if (!(split->streams >> TENSOR_WEIGHT & 1u))
        return;
    while (l > 0 && (l - 1 == split->home || !(roles_of(&split->core.level[l - 1]) >> TENSOR_WEIGHT & 1u)))
        l--;
    if (l > 0 && split->halved >> (l - 1) & 1u)
        split->stay_word =
            architecture_usable_words(&split->core.level[l - 1]) * split->core.level[l - 1].instances;
}

/* Where streamed tensors come from and go to: the DRAM as it is, but for its bandwidth, which the schedule's
 * transfers have. */
static void add_source(const struct architecture *arch, uint32_t streams, struct architecture *core)
{
    struct storage_level *source = &core->level[core->n_level++];
    *source = arch->level[arch->n_level - 1];
    source->keep_role = streams;
    source->read_bandwidth_word_per_cycle = INFINITY;
    source->write_bandwidth_word_per_cycle = INFINITY;
    source->shared_bandwidth_word_per_cycle = INFINITY;
}

enum dse_status core_machine_split(const struct architecture *arch, struct core_split *split,
                                   struct dse_error *err)
{
    uint32_t home = 0;
    *split = (struct core_split){.core = *arch};
    struct architecture *core = &split->core;
    struct fused_machine *machine = &split->machine;
    DSE_TRY(check_ends(arch, err));
    DSE_TRY(find_home(arch, &home, err));
    DSE_TRY(check_leakage(arch, err));
    const struct storage_level *dram = &arch->level[arch->n_level - 1], *level = &arch->level[home];
    uint32_t keeps = arch->fused.keeps_all ? ALL_ROLES : roles_of(level);
    if (level->size_word > UINT64_MAX / 4 / dram->word_bit)
        return refuse(arch, level->name, "is too large", err);
    split->buffer = home;
    split->streams = ALL_ROLES & ~keeps;
    split->word_bit = dram->word_bit;
    machine->buffer_byte = architecture_usable_words(level) * split->word_bit / BYTE_BIT;
    DSE_TRY(read_rates(arch, machine, err));
    machine->differs |= split->streams != 0;
    set_energies(arch, level, split);
    core->fused = (struct fused_setting){0};
    core->level[--core->n_level] = (struct storage_level){0};
    open_home(core, home, keeps);
    core->level[home].fill_latency_cycle += dram->fill_latency_cycle;
    core->level[home].drain_latency_cycle += dram->drain_latency_cycle;
    for (uint32_t l = core->n_level - 1; l > home; l--) {
        core->level[l].keep_role &= ~keeps;
        if (!roles_of(&core->level[l]) && !core->level[l].keep_name)
            drop_level(core, l);
    }
    split->home = home;
    halve_own(split);
    set_stay(split);
    if (split->streams)
        add_source(arch, split->streams, core);
    architecture_stop_leakage(core); /* it is the schedule's */
    return DSE_OK;
}
