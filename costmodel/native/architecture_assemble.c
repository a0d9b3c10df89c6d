/* From the values of a native architecture file to the struct the cost model works on. */
#include <math.h>
#include <string.h>

#include "costmodel/model/problem.h"
#include "costmodel/native/architecture_native.h"

/* Keeps every product of meshes, sizes and counts far inside 64 bits. */
#define INSTANCE_MAX (UINT64_C(1) << 32)

static bool is_set(const struct arch_item *item, int field)
{
    return item->value[field].origin != ARCH_UNSET;
}

static bool is_override(const struct arch_item *item, int field)
{
    return item->value[field].origin == ARCH_FROM_OVERRIDE;
}

static double number_or(const struct arch_item *item, int field, double fallback)
{
    return is_set(item, field) ? item->value[field].number : fallback;
}

/* The numbers of an entry whose place is a member of `out`: the struct of its section. */
static void set_numbers(const struct arch_spec *spec, const struct arch_item *item, void *out)
{
    const struct arch_field *schema = architecture_schema();
    for (unsigned i = 0; i < spec->placed->n[item->section]; i++) {
        const int f = spec->placed->row[item->section][i];
        const struct arch_place *place = &schema[f].place;
        const double number = number_or(item, f, place->standard);
        char *at = (char *)out + place->offset;
        switch (place->type) {
        case ARCH_PLACE_DOUBLE:
            memcpy(at, &number, sizeof number);
            break;
        case ARCH_PLACE_U32:
            memcpy(at, &(uint32_t){(uint32_t)number}, sizeof(uint32_t));
            break;
        case ARCH_PLACE_U64:
            memcpy(at, &(uint64_t){(uint64_t)number}, sizeof(uint64_t));
            break;
        case ARCH_PLACE_BOOL:
            memcpy(at, &(bool){number != 0}, sizeof(bool));
            break;
        case ARCH_PLACE_NONE:
            break;
        }
    }
}

/* Words in a size written in bytes or words; whole words only. */
static double words_of(const struct arch_value *size, uint32_t word_bit)
{
    if (size->unit == UNIT_WORD || isinf(size->number))
        return floor(size->number);
    return floor(size->number * 8 / word_bit);
}

static double bytes_of(const struct arch_value *size, uint32_t word_bit)
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
    if (!is_set(item, STORAGE_CAPACITY)) {
        if (level->is_dram)
            return DSE_OK;
        return arch_spec_fail(
            spec, item, -1, err,
            "storage %s lacks its \"capacity\"; write a size such as 128 KiB or 64 word, or unlimited", name);
    }
    if (isinf(capacity->number))
        return DSE_OK;
    double words = words_of(capacity, level->word_bit);
    if (words < 1)
        return arch_spec_fail(spec, item, STORAGE_CAPACITY, err,
                              "%s.capacity is %g bit, less than one word of %u bit", name,
                              bytes_of(capacity, level->word_bit) * 8, level->word_bit);
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
    bool use_shared = is_set(item, STORAGE_BANDWIDTH);
    for (int i = 0; i < 2; i++) {
        int field = apart[i];
        if (!is_set(item, STORAGE_BANDWIDTH) || !is_set(item, field))
            continue;
        if (is_override(item, STORAGE_BANDWIDTH) && !is_override(item, field))
            continue; /* the file's separate limits give way */
        return arch_spec_fail(
            spec, item, field, err,
            "%s has both \"bandwidth\" (shared by reads and writes) and \"%s\"; give the one or the other%s",
            item->name, architecture_schema()[field].key,
            is_override(item, field) ? ", or set the shared one" : "");
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

/* The energy under `field`, unless it is the file's and access_energy was overridden: then that holds for
 * all. */
static bool own_energy(const struct arch_item *item, int field)
{
    return is_set(item, field) && (is_override(item, field) || !is_override(item, STORAGE_ACCESS_ENERGY));
}

static enum dse_status set_energy(const struct arch_spec *spec, const struct arch_item *item,
                                  struct storage_level *level, struct dse_error *err)
{
    bool has_read = own_energy(item, STORAGE_READ_ENERGY), has_write = own_energy(item, STORAGE_WRITE_ENERGY);
    bool has_update = own_energy(item, STORAGE_UPDATE_ENERGY);
    double access = item->value[STORAGE_ACCESS_ENERGY].number;
    if (!is_set(item, STORAGE_ACCESS_ENERGY) && !(has_read && has_write))
        return arch_spec_fail(
            spec, item, -1, err,
            "storage %s lacks the energy of %s; write \"access_energy: 0.8 pJ\", or read_energy and "
            "write_energy",
            item->name,
            has_read    ? "a write"
            : has_write ? "a read"
                        : "an access");
    level->read_energy_j = has_read ? item->value[STORAGE_READ_ENERGY].number : access;
    level->write_energy_j = has_write ? item->value[STORAGE_WRITE_ENERGY].number : access;
    level->update_energy_j = has_update ? item->value[STORAGE_UPDATE_ENERGY].number : level->write_energy_j;
    return DSE_OK;
}

/* Exactly one of the two forms of energy_rule, complete. `*has_rule` is false when there is none. */
static enum dse_status check_rule(const struct arch_spec *spec, const struct arch_item *item, bool *has_rule,
                                  struct dse_error *err)
{
    bool power = is_set(item, STORAGE_RULE_EXPONENT) || is_set(item, STORAGE_RULE_FIXED);
    bool step = is_set(item, STORAGE_RULE_STEP) || is_set(item, STORAGE_RULE_FACTOR);
    const char *name = item->name;
    *has_rule = power || step || is_set(item, STORAGE_RULE_REFERENCE);
    if (!*has_rule)
        return DSE_OK;
    int blame = is_set(item, STORAGE_RULE_REFERENCE)  ? STORAGE_RULE_REFERENCE
                : is_set(item, STORAGE_RULE_EXPONENT) ? STORAGE_RULE_EXPONENT
                                                      : -1;
    if (!is_set(item, STORAGE_RULE_REFERENCE))
        return arch_spec_fail(
            spec, item, blame, err,
            "%s.energy_rule lacks the required key \"reference\", the capacity at which the energies hold",
            name);
    if (power && step)
        return arch_spec_fail(spec, item, blame, err,
                              "%s.energy_rule mixes exponent/fixed with step/factor; give one form", name);
    if (step ? !is_set(item, STORAGE_RULE_STEP) || !is_set(item, STORAGE_RULE_FACTOR)
             : !is_set(item, STORAGE_RULE_EXPONENT))
        return arch_spec_fail(spec, item, blame, err,
                              "%s.energy_rule needs \"exponent\", or both \"step\" and \"factor\"", name);
    return DSE_OK;
}

/* fixed + (1 - fixed) * (c/c0)^exponent, or factor^(floor(c/step) - floor(c0/step)). 1 at the reference
 * capacity. */
static double rule_scale(const struct arch_item *item, uint32_t word_bit)
{
    double capacity = bytes_of(&item->value[STORAGE_CAPACITY], word_bit);
    double reference = bytes_of(&item->value[STORAGE_RULE_REFERENCE], word_bit);
    if (capacity == reference)
        return 1;
    if (is_set(item, STORAGE_RULE_STEP)) {
        double step = bytes_of(&item->value[STORAGE_RULE_STEP], word_bit);
        return pow(item->value[STORAGE_RULE_FACTOR].number, floor(capacity / step) - floor(reference / step));
    }
    double fixed = number_or(item, STORAGE_RULE_FIXED, 0);
    return fixed + (1 - fixed) * pow(capacity / reference, item->value[STORAGE_RULE_EXPONENT].number);
}

static enum dse_status apply_rule(const struct arch_spec *spec, const struct arch_item *item,
                                  struct storage_level *level, struct dse_error *err)
{
    bool has_rule = false;
    DSE_TRY(check_rule(spec, item, &has_rule, err));
    if (!has_rule)
        return DSE_OK;
    if (level->size_word == ARCH_UNLIMITED)
        return arch_spec_fail(spec, item, STORAGE_RULE_REFERENCE, err,
                              "%s.energy_rule scales with the capacity, but the capacity is unlimited",
                              item->name);
    double scale = rule_scale(item, level->word_bit);
    if (!isfinite(scale))
        return arch_spec_fail(spec, item, STORAGE_CAPACITY, err, "%s.energy_rule overflows at this capacity",
                              item->name);
    level->read_energy_j *= scale;
    level->write_energy_j *= scale;
    level->update_energy_j *= scale;
    return DSE_OK;
}

static enum dse_status set_storage(const struct arch_spec *spec, const struct arch_item *item,
                                   double clock_hz, uint64_t x, uint64_t y, struct storage_level *level,
                                   struct dse_error *err)
{
    text_copy(level->name, sizeof level->name, item->name);
    level->is_dram = item->value[STORAGE_KIND].number == 1; /* the second of sram, dram, register */
    level->reduces = number_or(item, STORAGE_REDUCES, !level->is_dram) != 0;
    level->keep_role =
        is_set(item, STORAGE_KEEPS) ? (uint32_t)item->value[STORAGE_KEEPS].x : (1u << TENSOR_ROLE_COUNT) - 1;
    set_numbers(spec, item, level);
    level->mesh_x = x;
    level->mesh_y = y;
    level->instances = x * y;
    if (level->instances % level->cluster_size != 0)
        return arch_spec_fail(spec, item, STORAGE_CLUSTER, err,
                              "%s.cluster is %u, which does not divide its %llu instances", item->name,
                              level->cluster_size, (unsigned long long)level->instances);
    const size_t n_fault = dse_faults_count(spec->faults);
    DSE_NOTE(spec->faults, set_capacity(spec, item, level, err));
    DSE_NOTE(spec->faults, set_bandwidth(spec, item, clock_hz, level, err));
    DSE_NOTE(spec->faults, set_energy(spec, item, level, err));
    return dse_faults_count(spec->faults) == n_fault ? apply_rule(spec, item, level, err) : DSE_OK;
}

/* The network below `outer`; multiplies the meshes of everything inside. */
static enum dse_status set_array(const struct arch_spec *spec, const struct arch_item *item,
                                 struct storage_level *outer, uint64_t *x, uint64_t *y, struct dse_error *err)
{
    text_copy(outer->array, sizeof outer->array, item->name);
    set_numbers(spec, item, outer);
    *x *= item->value[ARRAY_MESH].x;
    *y *= item->value[ARRAY_MESH].y;
    if (*x > INSTANCE_MAX / *y)
        return arch_spec_fail(spec, item, ARRAY_MESH, err,
                              "%s.mesh makes more than %llu instances, the largest number supported",
                              item->name, (unsigned long long)INSTANCE_MAX);
    return DSE_OK;
}

static enum dse_status check_outermost(const struct arch_spec *spec, const struct architecture *arch,
                                       struct dse_error *err)
{
    const struct storage_level *outermost = &arch->level[arch->n_level - 1];
    if (outermost->keep_role == (1u << TENSOR_ROLE_COUNT) - 1)
        return DSE_OK;
    return arch_spec_fail(spec, spec->item[0], STORAGE_KEEPS, err,
                          "%s is the outermost storage and must keep Weights, Inputs and Outputs",
                          outermost->name);
}

/* The storage above the array that gpu.threads names; what lies inside a thread must be one of everything. */
static enum dse_status find_threads(const struct arch_spec *spec, const struct architecture *arch,
                                    uint32_t *level, struct dse_error *err)
{
    const char *name = spec->top->value[TOP_GPU_THREADS].text;
    const char *array[ARCH_LEVEL_MAX];
    size_t n_array = 0;
    int found = -1;
    for (uint32_t l = 0; l < arch->n_level; l++) {
        if (arch->level[l].array[0])
            array[n_array++] = arch->level[l].array;
        if (strcmp(arch->level[l].array, name) == 0)
            found = (int)l;
    }
    if (found < 0) {
        const char *near = text_nearest(name, array, n_array);
        return arch_spec_fail(spec, spec->top, TOP_GPU_THREADS, err,
                              "gpu.threads: the hierarchy has no array \"%.60s\"%s%s%s", name,
                              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    *level = (uint32_t)found;
    for (int l = 0; l < found; l++)
        if (arch->level[l].array[0])
            return arch_spec_fail(
                spec, spec->top, TOP_GPU_THREADS, err,
                "gpu.threads: array %s is inside the threads of %s; a thread is not divided",
                arch->level[l].array, name);
    if (found == 0)
        return arch_spec_fail(spec, spec->top, TOP_GPU_THREADS, err,
                              "gpu.threads: %s has no storage inside; a thread needs its registers", name);
    return DSE_OK;
}

/* The part gpu: nothing, or the array of the threads and the registers they share; CUDA's limits
 * otherwise. */
static enum dse_status set_gpu(const struct arch_spec *spec, struct architecture *arch, struct dse_error *err)
{
    static const int limit[] = {TOP_GPU_THREADS_PER_BLOCK, TOP_GPU_THREAD_DIMS, TOP_GPU_REGISTERS};
    const struct arch_item *top = spec->top;
    const struct arch_value *dims = &top->value[TOP_GPU_THREAD_DIMS];
    struct gpu_limits *gpu = &arch->gpu;
    if (!is_set(top, TOP_GPU_THREADS)) {
        for (int i = 0; i < 3; i++)
            if (is_set(top, limit[i]))
                return arch_spec_fail(spec, top, limit[i], err,
                                      "%s is a limit of a GPU, but gpu.threads does not name the array whose "
                                      "instances are its threads",
                                      architecture_schema()[limit[i]].key);
        return DSE_OK;
    }
    if (!is_set(top, TOP_GPU_REGISTERS))
        return arch_spec_fail(spec, top, TOP_GPU_THREADS, err,
                              "gpu lacks its \"registers_per_block\"; write a size such as 64 KiB");
    DSE_TRY(find_threads(spec, arch, &gpu->level, err));
    gpu->present = true;
    gpu->threads_per_block = (uint32_t)number_or(top, TOP_GPU_THREADS_PER_BLOCK, 1024);
    gpu->thread_dim[0] = is_set(top, TOP_GPU_THREAD_DIMS) ? (uint32_t)dims->x : 1024;
    gpu->thread_dim[1] = is_set(top, TOP_GPU_THREAD_DIMS) ? (uint32_t)dims->y : 1024;
    gpu->thread_dim[2] = is_set(top, TOP_GPU_THREAD_DIMS) ? (uint32_t)dims->z : 64;
    gpu->register_bit = (uint64_t)floor(top->value[TOP_GPU_REGISTERS].number * 8);
    if (gpu->register_bit < arch->level[0].word_bit)
        return arch_spec_fail(spec, top, TOP_GPU_REGISTERS, err,
                              "gpu.registers_per_block is %g bit, less than one word of %s",
                              top->value[TOP_GPU_REGISTERS].number * 8, arch->level[0].name);
    return DSE_OK;
}

enum dse_status arch_spec_assemble(const struct arch_spec *spec, struct architecture *arch,
                                   struct dse_error *err)
{
    struct dse_error inner;
    uint64_t x = 1, y = 1;
    uint32_t l = 0;
    memset(arch, 0, sizeof *arch);
    text_copy(arch->name, sizeof arch->name, spec->top->name);
    arch->strict_fanout = true;
    set_numbers(spec, spec->top, arch);
    for (size_t i = 0; i < spec->n_item; i++)
        arch->n_level += spec->item[i]->section == ARCH_STORAGE;
    l = arch->n_level;
    for (size_t i = 0; i < spec->n_item; i++) {
        const struct arch_item *item = spec->item[i];
        if (item->is_bad)
            l -= item->section == ARCH_STORAGE; /* said where it was read */
        else if (item->section == ARCH_STORAGE)
            DSE_NOTE(spec->faults, set_storage(spec, item, arch->clock_hz, x, y, &arch->level[--l], err));
        else if (item->section == ARCH_ARRAY)
            DSE_TRY(set_array(spec, item, &arch->level[l], &x, &y, err));
        else
            set_numbers(spec, item, &arch->mac);
    }
    arch->mac.mesh_x = x;
    arch->mac.mesh_y = y;
    arch->mac.instances = x * y;
    text_copy(arch->mac.name, sizeof arch->mac.name, spec->item[spec->n_item - 1]->name);
    if (is_set(spec->top, TOP_NOC_MESH)) {
        arch->noc[NOC_SET_COLUMNS] = (uint32_t)spec->top->value[TOP_NOC_MESH].x;
        arch->noc[NOC_SET_PE_ROWS] = (uint32_t)spec->top->value[TOP_NOC_MESH].y;
    }
    if (dse_faults_count(spec->faults) > 0)
        return DSE_OK; /* what the whole has to be may only follow from that */
    DSE_TRY(check_outermost(spec, arch, err));
    DSE_TRY(set_gpu(spec, arch, err));
    if (architecture_check(arch, &inner) != DSE_OK)
        return dse_fail_at(err, inner.status, spec->path, 0, "%s", inner.text);
    return DSE_OK;
}
