/* Look-ups, the check that every reader's architecture must pass (ranges, meshes that divide, names), and
 * the hash that goes into keys. */
#include "costmodel/model/architecture.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "costmodel/model/gpu_limits.h"
#include "costmodel/model/problem.h"

int architecture_find_level(const struct architecture *arch, const char *name)
{
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (strcmp(arch->level[l].name, name) == 0)
            return (int)l;
    return -1;
}

uint64_t architecture_usable_words(const struct storage_level *level)
{
    if (level->size_word == ARCH_UNLIMITED)
        return ARCH_UNLIMITED;
    return (uint64_t)floor((double)level->size_word / level->multiple_buffering);
}

void architecture_fanout(const struct architecture *arch, uint32_t l, uint64_t *x, uint64_t *y)
{
    const struct storage_level *outer = &arch->level[l];
    uint64_t inner_x = l > 0 ? arch->level[l - 1].mesh_x : arch->mac.mesh_x;
    uint64_t inner_y = l > 0 ? arch->level[l - 1].mesh_y : arch->mac.mesh_y;
    *x = inner_x / outer->mesh_x;
    *y = inner_y / outer->mesh_y;
}

/* One number of a level with the range it must lie in. */
struct number_check {
    const char *what;
    double value;
    double lowest, highest;
};

static enum dse_status check_numbers(const char *owner, const struct number_check *check, size_t n_check,
                                     struct dse_error *err)
{
    for (size_t i = 0; i < n_check; i++) {
        if (check[i].value >= check[i].lowest && check[i].value <= check[i].highest)
            continue; /* a nan fails both */
        return dse_fail(err, DSE_BAD_INPUT, "%s: %s is %g, must lie between %g and %g", owner, check[i].what,
                        check[i].value, check[i].lowest, check[i].highest);
    }
    return DSE_OK;
}

static enum dse_status check_level(const struct storage_level *level, struct dse_error *err)
{
    const double big = 0x1p53;
    const double tiny = 0x1p-1000; /* "more than zero" */
    const struct number_check check[] = {
        {"word bits", level->word_bit, 1, 65536},
        {"words per access", level->block_word, 1, big},
        {"cluster size", level->cluster_size, 1,
         (double)level->instances}, /* else there would be no cluster */
        {"capacity in words", level->size_word == ARCH_UNLIMITED ? 1 : (double)level->size_word, 1, big},
        {"multiple buffering", level->multiple_buffering, tiny, big},
        {"minimum utilization", level->min_utilization, 0, 1},
        {"read bandwidth", level->read_bandwidth_word_per_cycle, tiny, INFINITY},
        {"write bandwidth", level->write_bandwidth_word_per_cycle, tiny, INFINITY},
        {"shared bandwidth", level->shared_bandwidth_word_per_cycle, tiny, INFINITY},
        {"read energy", level->read_energy_j, 0, big},
        {"write energy", level->write_energy_j, 0, big},
        {"update energy", level->update_energy_j, 0, big},
        {"address generation energy", level->address_energy_j, 0, big},
        {"energy per hop", level->hop_energy_j, 0, big},
        {"router energy", level->router_energy_j, 0, big},
        {"ingress energy", level->ingress_energy_j, 0, big},
        {"network fill latency", (double)level->fill_latency_cycle, 0, big},
        {"network drain latency", (double)level->drain_latency_cycle, 0, big},
    };
    DSE_TRY(check_numbers(level->name, check, sizeof check / sizeof check[0], err));
    if ((level->keep_role & ((1u << TENSOR_ROLE_COUNT) - 1)) == 0)
        return dse_fail(err, DSE_BAD_INPUT, "%s keeps no tensor; leave the level out or say what it keeps",
                        level->name);
    return DSE_OK;
}

/* `inner` below `outer` in one mesh direction: whole numbers of children. */
static enum dse_status check_mesh(const char *name, const char *outer_name, const char *axis, uint64_t inner,
                                  uint64_t outer, struct dse_error *err)
{
    if (inner == 0 || outer == 0)
        return dse_fail(err, DSE_BAD_INPUT, "%s: the mesh is empty along %s", name, axis);
    if (inner % outer != 0)
        return dse_fail(err, DSE_BAD_INPUT,
                        "%s has %llu instances along %s, which is no multiple of the %llu of %s around it",
                        name, (unsigned long long)inner, axis, (unsigned long long)outer, outer_name);
    return DSE_OK;
}

static enum dse_status check_instances(const char *name, uint64_t instances, uint64_t x, uint64_t y,
                                       struct dse_error *err)
{
    if (x == 0 || y == 0 || x > UINT64_MAX / y || x * y != instances)
        return dse_fail(err, DSE_BAD_INPUT, "%s: %llu instances do not form a mesh of %llu x %llu", name,
                        (unsigned long long)instances, (unsigned long long)x, (unsigned long long)y);
    return DSE_OK;
}

static enum dse_status check_meshes(const struct architecture *arch, struct dse_error *err)
{
    DSE_TRY(check_instances(arch->mac.name, arch->mac.instances, arch->mac.mesh_x, arch->mac.mesh_y, err));
    for (uint32_t l = 0; l < arch->n_level; l++) {
        const struct storage_level *level = &arch->level[l];
        const char *inner_name = l > 0 ? arch->level[l - 1].name : arch->mac.name;
        uint64_t inner_x = l > 0 ? arch->level[l - 1].mesh_x : arch->mac.mesh_x;
        uint64_t inner_y = l > 0 ? arch->level[l - 1].mesh_y : arch->mac.mesh_y;
        DSE_TRY(check_instances(level->name, level->instances, level->mesh_x, level->mesh_y, err));
        DSE_TRY(check_mesh(inner_name, level->name, "X", inner_x, level->mesh_x, err));
        DSE_TRY(check_mesh(inner_name, level->name, "Y", inner_y, level->mesh_y, err));
    }
    return DSE_OK;
}

static enum dse_status check_names(const struct architecture *arch, struct dse_error *err)
{
    for (uint32_t l = 0; l < arch->n_level; l++) {
        if (arch->level[l].name[0] == '\0')
            return dse_fail(err, DSE_BAD_INPUT, "storage level %u has no name", l);
        if (strcmp(arch->level[l].name, arch->mac.name) == 0)
            return dse_fail(err, DSE_BAD_INPUT, "a storage level and the MACs are both called '%s'",
                            arch->mac.name);
        for (uint32_t k = 0; k < l; k++)
            if (strcmp(arch->level[l].name, arch->level[k].name) == 0)
                return dse_fail(err, DSE_BAD_INPUT, "two storage levels are called '%s'",
                                arch->level[l].name);
    }
    return DSE_OK;
}

enum dse_status architecture_check(const struct architecture *arch, struct dse_error *err)
{
    const struct number_check whole[] = {
        {"clock in Hz", arch->clock_hz, 1e-3, 1e15},
        {"MAC word bits", arch->mac.word_bit, 1, 65536},
        {"MAC energy", arch->mac.energy_j, 0, 0x1p53},
    };
    if (arch->n_level < 1)
        return dse_fail(err, DSE_BAD_INPUT, "the architecture has no storage level");
    if (arch->n_level > ARCH_LEVEL_MAX)
        return dse_fail(err, DSE_LIMIT, "%u storage levels, at most %d are supported", arch->n_level,
                        ARCH_LEVEL_MAX);
    DSE_TRY(check_numbers("architecture", whole, sizeof whole / sizeof whole[0], err));
    DSE_TRY(check_names(arch, err));
    for (uint32_t l = 0; l < arch->n_level; l++)
        DSE_TRY(check_level(&arch->level[l], err));
    DSE_TRY(check_meshes(arch, err));
    return gpu_limits_check(arch, err);
}

static void hash_level(struct hash_state *state, const struct storage_level *level)
{
    hash_u64(state, level->is_dram);
    hash_u64(state, level->reduces);
    hash_u64(state, level->keep_role & ((1u << TENSOR_ROLE_COUNT) - 1));
    hash_u64(state, level->word_bit);
    hash_u64(state, level->block_word);
    hash_u64(state, level->cluster_size);
    hash_u64(state, level->size_word);
    hash_double(state, level->multiple_buffering);
    hash_double(state, level->min_utilization);
    hash_u64(state, level->mesh_x);
    hash_u64(state, level->mesh_y);
    hash_double(state, level->read_bandwidth_word_per_cycle);
    hash_double(state, level->write_bandwidth_word_per_cycle);
    hash_double(state, level->shared_bandwidth_word_per_cycle);
    hash_double(state, level->read_energy_j);
    hash_double(state, level->write_energy_j);
    hash_double(state, level->update_energy_j);
    hash_double(state, level->address_energy_j);
    hash_double(state, level->hop_energy_j);
    hash_double(state, level->router_energy_j);
    hash_double(state, level->ingress_energy_j);
    hash_u64(state, level->fill_latency_cycle);
    hash_u64(state, level->drain_latency_cycle);
}

/* Only where there is one: other machines keep the hash they always had. */
static void hash_gpu(struct hash_state *state, const struct gpu_limits *gpu)
{
    if (!gpu->present)
        return;
    hash_u64(state, gpu->level);
    hash_u64(state, gpu->threads_per_block);
    for (int axis = 0; axis < 3; axis++)
        hash_u64(state, gpu->thread_dim[axis]);
    hash_u64(state, gpu->register_bit);
}

/* Only what is set, for the same reason. */
static void hash_noc(struct hash_state *state, const uint32_t setting[NOC_SET_COUNT])
{
    for (uint32_t i = 0; i < NOC_SET_COUNT; i++)
        if (setting[i]) {
            hash_text(state, "noc");
            hash_u64(state, i);
            hash_u64(state, setting[i]);
        }
}

uint64_t architecture_hash(const struct architecture *arch)
{
    struct hash_state state;
    if (!hash_begin(&state))
        return 0;
    hash_double(&state, arch->clock_hz);
    hash_u64(&state, arch->link_transfers);
    hash_u64(&state, arch->strict_fanout);
    hash_u64(&state, arch->n_level);
    for (uint32_t l = 0; l < arch->n_level; l++)
        hash_level(&state, &arch->level[l]);
    hash_u64(&state, arch->mac.word_bit);
    hash_u64(&state, arch->mac.mesh_x);
    hash_u64(&state, arch->mac.mesh_y);
    hash_double(&state, arch->mac.energy_j);
    hash_gpu(&state, &arch->gpu);
    hash_noc(&state, arch->noc);
    return hash_end(&state);
}
