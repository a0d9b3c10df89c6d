/* One storage of a native architecture file: sizes, bandwidths, memories side by side. */
#include <math.h>
#include <string.h>

#include "costmodel/model/problem.h"
#include "costmodel/native/storage_parts.h"

double storage_words_of(const struct arch_value *size, uint32_t word_bit)
{
    if (size->unit == UNIT_WORD || isinf(size->number))
        return floor(size->number);
    return floor(size->number * 8 / word_bit);
}

double storage_bytes_of(const struct arch_value *size, uint32_t word_bit)
{
    return size->unit == UNIT_WORD ? size->number * word_bit / 8 : size->number;
}

static double words_per_cycle(const struct arch_item *item, int field, uint32_t word_bit, double clock_hz)
{
    const struct arch_value *value = &item->value[field];
    if (value->origin == ARCH_UNSET || isinf(value->number))
        return INFINITY;
    if (value->unit == UNIT_WORD_PER_CYCLE)
        return value->number;
    return value->number * 8 / word_bit / clock_hz;
}

static enum dse_status set_capacity(const struct arch_spec *spec, const struct arch_item *item,
                                    struct storage_level *level, struct dse_error *err)
{
    const struct arch_value *capacity = &item->value[STORAGE_CAPACITY];
    const char *name = item->name;
    level->size_word = ARCH_UNLIMITED;
    if (!arch_is_set(item, STORAGE_CAPACITY)) {
        if (level->is_dram)
            return DSE_OK;
        return arch_spec_fail(
            spec, item, -1, err,
            "storage %s lacks its \"capacity\"; write a size such as 128 KiB or 64 word, or unlimited", name);
    }
    if (isinf(capacity->number))
        return DSE_OK;
    double words = storage_words_of(capacity, level->word_bit);
    if (words < 1)
        return arch_spec_fail(spec, item, STORAGE_CAPACITY, err,
                              "%s.capacity is %g bit, less than one word of %u bit", name,
                              storage_bytes_of(capacity, level->word_bit) * 8, level->word_bit);
    if (words < level->block_word)
        return arch_spec_fail(spec, item, STORAGE_CAPACITY, err,
                              "%s.capacity holds %.0f words, less than one block of %u words", name, words,
                              level->block_word);
    level->size_word = (uint64_t)words;
    if (architecture_usable_words(level) < 1)
        return arch_spec_fail(spec, item, STORAGE_CAPACITY, err,
                              "%s.capacity holds %.0f words, of which multiple_buffering %g leaves none",
                              name, words, level->multiple_buffering);
    return DSE_OK;
}

/* One shared limit, or one for each direction: an axis over one must not be silently capped by the other. */
static enum dse_status set_bandwidth(const struct arch_spec *spec, const struct arch_item *item,
                                     double clock_hz, struct storage_level *level, struct dse_error *err)
{
    static const int apart[] = {STORAGE_READ_BANDWIDTH, STORAGE_WRITE_BANDWIDTH};
    bool use_shared = arch_is_set(item, STORAGE_BANDWIDTH);
    for (int i = 0; i < 2; i++) {
        int field = apart[i];
        if (!arch_is_set(item, STORAGE_BANDWIDTH) || !arch_is_set(item, field))
            continue;
        if (arch_is_override(item, STORAGE_BANDWIDTH) && !arch_is_override(item, field))
            continue; /* the file's separate limits give way */
        return arch_spec_fail(
            spec, item, field, err,
            "%s has both \"bandwidth\" (shared by reads and writes) and \"%s\"; give the one or the other%s",
            item->name, architecture_schema()[field].key,
            arch_is_override(item, field) ? ", or set the shared one" : "");
    }
    level->shared_bandwidth_word_per_cycle =
        words_per_cycle(item, STORAGE_BANDWIDTH, level->word_bit, clock_hz);
    level->read_bandwidth_word_per_cycle = INFINITY;
    level->write_bandwidth_word_per_cycle = INFINITY;
    if (use_shared)
        return DSE_OK;
    level->read_bandwidth_word_per_cycle =
        words_per_cycle(item, STORAGE_READ_BANDWIDTH, level->word_bit, clock_hz);
    level->write_bandwidth_word_per_cycle =
        words_per_cycle(item, STORAGE_WRITE_BANDWIDTH, level->word_bit, clock_hz);
    return DSE_OK;
}

/* ---------------------------------------- memories side by side */

/* How many there are; their numbers have no gaps. */
static enum dse_status count_memories(const struct arch_spec *spec, const struct arch_item *item, uint32_t *n,
                                      struct dse_error *err)
{
    *n = 0;
    for (uint32_t i = TENSOR_ROLE_COUNT; i-- > 0;)
        for (int row = 0; row < ARCH_MEMORY_ROWS; row++) {
            bool given = arch_is_set(item, storage_memory_row(i, (enum arch_memory_row)row));
            if (given && *n == 0)
                *n = i + 1;
        }
    for (uint32_t i = 0; i < *n; i++)
        for (int row = 0; row < ARCH_MEMORY_ENERGY; row++)
            if (!arch_is_set(item, storage_memory_row(i, (enum arch_memory_row)row)))
                return arch_spec_fail(
                    spec, item, -1, err,
                    "%s.memory_%u lacks its \"%s\"; write memory_%u: {keeps: [Inputs], capacity: 32 B, "
                    "access_energy: 0.06 pJ}",
                    item->name, i + 1, row == ARCH_MEMORY_KEEPS ? "keeps" : "capacity", i + 1);
    return DSE_OK;
}

/* What a level has once, its memories have each. */
static enum dse_status check_own(const struct arch_spec *spec, const struct arch_item *item,
                                 struct dse_error *err)
{
    static const int of_memory[] = {STORAGE_KEEPS,         STORAGE_CAPACITY,     STORAGE_ACCESS_ENERGY,
                                    STORAGE_READ_ENERGY,   STORAGE_WRITE_ENERGY, STORAGE_UPDATE_ENERGY,
                                    STORAGE_RULE_REFERENCE};
    for (size_t i = 0; i < sizeof of_memory / sizeof of_memory[0]; i++)
        if (arch_is_set(item, of_memory[i]))
            return arch_spec_fail(spec, item, of_memory[i], err,
                                  "%s has \"%s\" and memories side by side; it is theirs: memory_1.keeps, "
                                  "memory_1.capacity, memory_1.access_energy",
                                  item->name, architecture_schema()[of_memory[i]].key);
    return DSE_OK;
}

static enum dse_status set_memory(const struct arch_spec *spec, const struct arch_item *item, uint32_t i,
                                  struct storage_level *level, struct dse_error *err)
{
    const int size = storage_memory_row(i, ARCH_MEMORY_CAPACITY), keeps = storage_memory_row(i, 0);
    const uint32_t role = (uint32_t)item->value[keeps].x;
    const double words = storage_words_of(&item->value[size], level->word_bit);
    if (role & level->keep_role)
        return arch_spec_fail(spec, item, keeps, err,
                              "%s.memory_%u.keeps has a tensor that an earlier memory keeps", item->name,
                              i + 1);
    if (words < level->block_word)
        return arch_spec_fail(spec, item, size, err,
                              "%s.memory_%u.capacity holds %.0f words, less than one block of %u words",
                              item->name, i + 1, words, level->block_word);
    level->keep_role |= role;
    level->part[i].size_word = (uint64_t)words;
    level->size_word += (uint64_t)words;
    for (uint32_t r = 0; r < TENSOR_ROLE_COUNT; r++)
        if (role >> r & 1u)
            level->part_of[r] = (uint8_t)i;
    return DSE_OK;
}

static enum dse_status set_memories(const struct arch_spec *spec, const struct arch_item *item,
                                    struct storage_level *level, struct dse_error *err)
{
    DSE_TRY(check_own(spec, item, err));
    level->keep_role = 0;
    level->size_word = 0;
    for (uint32_t i = 0; i < level->n_part; i++)
        DSE_TRY(set_memory(spec, item, i, level, err));
    return DSE_OK;
}

/* The number of a tensor's name among those of the machine, new or not. */
static enum dse_status name_tensor(const struct arch_spec *spec, const struct arch_item *item,
                                   const char *name, struct architecture *arch, uint32_t *number,
                                   struct dse_error *err)
{
    *number = 0;
    while (*number < arch->n_tensor_name && strcmp(arch->tensor_name[*number], name) != 0)
        ++*number;
    if (*number < arch->n_tensor_name)
        return DSE_OK;
    if (*number == ARCH_TENSOR_NAME_MAX)
        return arch_spec_fail(spec, item, STORAGE_KEEPS, err,
                              "%s.keeps: more than %d tensors by name in all are not supported", item->name,
                              ARCH_TENSOR_NAME_MAX);
    text_copy(arch->tensor_name[arch->n_tensor_name++], ARCH_NAME_MAX, name);
    return DSE_OK;
}

static enum dse_status set_keeps(const struct arch_spec *spec, const struct arch_item *item,
                                 struct architecture *arch, struct storage_level *level,
                                 struct dse_error *err)
{
    const struct arch_value *keeps = &item->value[STORAGE_KEEPS];
    char copy[ARCH_NAME_MAX];
    const char *name;
    level->keep_role = (1u << TENSOR_ROLE_COUNT) - 1;
    if (!arch_is_set(item, STORAGE_KEEPS))
        return DSE_OK;
    level->keep_role = (uint32_t)keeps->roles;
    for (size_t i = 0; (name = arch_value_tensor(keeps, i, copy)); i++) {
        uint32_t number;
        DSE_TRY(name_tensor(spec, item, name, arch, &number, err));
        level->keep_name = (uint16_t)(level->keep_name | 1u << number);
    }
    return DSE_OK;
}

enum dse_status arch_set_storage(const struct arch_spec *spec, const struct arch_item *item, uint64_t x,
                                 uint64_t y, struct architecture *arch, uint32_t l, struct dse_error *err)
{
    struct storage_level *level = &arch->level[l];
    text_copy(level->name, sizeof level->name, item->name);
    level->is_dram = item->value[STORAGE_KIND].number == ARCH_KIND_DRAM;
    level->reduces = arch_number_or(item, STORAGE_REDUCES, !level->is_dram) != 0;
    arch_set_numbers(spec, item, level);
    level->mesh_x = x;
    level->mesh_y = y;
    level->instances = x * y;
    if (level->instances % level->cluster_size != 0)
        return arch_spec_fail(spec, item, STORAGE_CLUSTER, err,
                              "%s.cluster is %u, which does not divide its %llu instances", item->name,
                              level->cluster_size, (unsigned long long)level->instances);
    const size_t n_fault = dse_faults_count(spec->faults);
    DSE_NOTE(spec->faults, count_memories(spec, item, &level->n_part, err));
    DSE_NOTE(spec->faults, set_keeps(spec, item, arch, level, err));
    if (arch_is_set(item, STORAGE_GROUP))
        DSE_NOTE(spec->faults, storage_join_group(spec, item, arch, level, err));
    else
        DSE_NOTE(spec->faults, (level->n_part ? set_memories : set_capacity)(spec, item, level, err));
    DSE_NOTE(spec->faults, set_bandwidth(spec, item, arch->clock_hz, level, err));
    if (dse_faults_count(spec->faults) > n_fault)
        return DSE_OK;
    DSE_NOTE(spec->faults, storage_set_energies(spec, item, level, err));
    return DSE_OK;
}
