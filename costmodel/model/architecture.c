/* Look-ups, the check that every reader's architecture must pass (ranges, meshes that divide, names), and
 * the hash that goes into keys. */
#include "costmodel/model/architecture.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "costmodel/model/bank_group.h"
#include "costmodel/model/gpu_limits.h"
#include "costmodel/model/problem.h"

int architecture_find_level(const struct architecture *arch, const char *name)
{
    for (uint32_t l = 0; l < arch->n_level; l++)
        if (strcmp(arch->level[l].name, name) == 0)
            return (int)l;
    return -1;
}

int architecture_find_target(const struct architecture *arch, const char *name)
{
    static const char before[] = "inter_", after[] = "_spatial";
    const size_t length = strlen(name);
    int found = architecture_find_level(arch, name);
    for (uint32_t l = 0; l < arch->n_level && found < 0; l++) {
        const char *level = arch->level[l].name;
        if (arch->level[l].is_fanout && strncmp(level, before, sizeof before - 1) == 0 &&
            strncmp(level + sizeof before - 1, name, length) == 0 &&
            strcmp(level + sizeof before - 1 + length, after) == 0)
            found = (int)l;
    }
    return found;
}

bool architecture_keeps(const struct architecture *arch, uint32_t l, const struct tensor *tensor)
{
    if (arch->level[l].keep_role >> tensor->role & 1u)
        return true;
    for (uint32_t named = arch->level[l].keep_name; named; named &= named - 1)
        if (strcmp(arch->tensor_name[__builtin_ctz(named)], tensor->name) == 0)
            return true;
    return false;
}

enum dse_status architecture_suits(const struct architecture *arch, const struct problem *problem,
                                   struct dse_error *err)
{
    for (uint32_t l = 0; l < arch->n_level; l++) {
        uint32_t n = arch->level[l].keep_role != 0 || arch->level[l].is_fanout;
        for (uint32_t t = 0; t < problem->n_tensor; t++)
            n += architecture_keeps(arch, l, &problem->tensor[t]);
        if (n == 0)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s keeps %s by name, and problem %s has no such tensor; its first is %s",
                            arch->level[l].name, arch->tensor_name[__builtin_ctz(arch->level[l].keep_name)],
                            problem->name, problem->tensor[0].name);
    }
    return DSE_OK;
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

static enum dse_status out_of_range(const char *owner, const char *what, double value, double least,
                                    double most, struct dse_error *err)
{
    return dse_fail(err, DSE_BAD_INPUT, "%s: %s is %g, must lie between %g and %g", owner, what, value, least,
                    most);
}

/* A nan is out of every range. */
#define CHECK(owner, what, value, least, most)                                                               \
    if (!((double)(value) >= (least) && (double)(value) <= (most)))                                          \
        return out_of_range(owner, what, (double)(value), least, most, err);
#define CHECK_LEVEL(when, member, what, least, most) CHECK(level->name, what, level->member, least, most)
#define CHECK_CHIP(when, member, what, least, most) CHECK("architecture", what, arch->member, least, most)
#define CHECK_MAC(when, member, what, least, most) CHECK("architecture", what, arch->mac.member, least, most)

static enum dse_status check_level(const struct storage_level *level, struct dse_error *err)
{
    STORAGE_LEVEL_NUMBERS(CHECK_LEVEL)
    uint64_t size_word = 0;
    for (uint32_t i = 0; i < level->n_part; i++) {
        CHECK(level->name, "capacity in words", level->part[i].size_word, 1, ARCH_MOST)
        CHECK(level->name, "access energy", level->part[i].access_energy_j, 0, ARCH_MOST)
        size_word += level->part[i].size_word;
    }
    for (uint32_t r = 0; level->n_part && r < TENSOR_ROLE_COUNT; r++)
        CHECK(level->name, "memory of a tensor", level->part_of[r], 0, level->n_part - 1)
    if (level->n_part && size_word != level->size_word)
        return dse_fail(err, DSE_BAD_INPUT, "%s has %llu words, its memories together %llu", level->name,
                        (unsigned long long)level->size_word, (unsigned long long)size_word);
    if ((level->keep_role & ((1u << TENSOR_ROLE_COUNT) - 1)) == 0 && level->keep_name == 0 &&
        !level->is_fanout)
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
    if (arch->n_level < 1)
        return dse_fail(err, DSE_BAD_INPUT, "the architecture has no storage level");
    if (arch->n_level > ARCH_LEVEL_MAX)
        return dse_fail(err, DSE_LIMIT, "%u storage levels, at most %d are supported", arch->n_level,
                        ARCH_LEVEL_MAX);
    ARCHITECTURE_NUMBERS(CHECK_CHIP)
    MAC_ARRAY_NUMBERS(CHECK_MAC)
    DSE_TRY(check_names(arch, err));
    for (uint32_t l = 0; l < arch->n_level; l++)
        DSE_TRY(check_level(&arch->level[l], err));
    DSE_TRY(check_meshes(arch, err));
    DSE_TRY(bank_group_check(arch, err));
    if (arch->max_area_mm2 > 0 && isnan(architecture_area_mm2(arch)))
        return dse_fail(
            err, DSE_BAD_INPUT,
            "max_area is given, but no area to compare with it: write area (and area_per_byte) of "
            "storages, arrays and macs");
    return gpu_limits_check(arch, err);
}

static void hash_name(struct hash_state *state, bool named, const char *name)
{
    if (named)
        hash_text(state, name);
}

/* A number as it is, whole ones as such. HASHED: always; SET: with its name, where it is not 0. */
#define HASH_HASHED 0
#define HASH_SET 1
#define HASH(when, name, value)                                                                              \
    if (!HASH_##when || (double)(value) > 0 || (double)(value) < 0) {                                        \
        hash_name(state, HASH_##when, name);                                                                 \
        _Generic((value), double : hash_double, default : hash_u64)(state, value);                           \
    }
#define HASH_LEVEL(when, member, what, least, most) HASH(when, #member, level->member)
#define HASH_CHIP(when, member, what, least, most) HASH(when, #member, arch->member)
#define HASH_MAC(when, member, what, least, most) HASH(when, #member, arch->mac.member)

static void hash_level(struct hash_state *state, const struct architecture *arch, uint32_t l)
{
    const struct storage_level *level = &arch->level[l];
    hash_u64(state, level->is_dram);
    hash_u64(state, level->reduces);
    hash_u64(state, level->keep_role & ((1u << TENSOR_ROLE_COUNT) - 1));
    STORAGE_LEVEL_NUMBERS(HASH_LEVEL)
    for (uint32_t i = 0; i < level->n_part; i++) {
        hash_u64(state, level->part[i].size_word);
        hash_double(state, level->part[i].access_energy_j);
    }
    for (uint32_t r = 0; level->n_part && r < TENSOR_ROLE_COUNT; r++)
        hash_u64(state, level->part_of[r]);
    for (uint32_t named = level->keep_name; named; named &= named - 1)
        hash_text(state, arch->tensor_name[__builtin_ctz(named)]);
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

/* The constraints, without path and lines. */
static void hash_rules(struct hash_state *state, const char *rules)
{
    for (const char *line = strchr(rules, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        const char *rule = line + 1 + strcspn(line + 1, " ");
        hash_bytes(state, rule, strcspn(rule, "\n"));
    }
}

uint64_t architecture_hash(const struct architecture *arch)
{
    struct hash_state whole, *state = &whole;
    hash_begin(state);
    ARCHITECTURE_NUMBERS(HASH_CHIP)
    hash_u64(state, arch->n_level);
    for (uint32_t l = 0; l < arch->n_level; l++)
        hash_level(state, arch, l);
    for (uint32_t g = 0; g < arch->n_group; g++)
        hash_u64(state, arch->group[g].banks);
    MAC_ARRAY_NUMBERS(HASH_MAC)
    hash_gpu(state, &arch->gpu);
    hash_noc(state, arch->noc);
    hash_rules(state, arch->rules);
    return hash_end(state);
}
