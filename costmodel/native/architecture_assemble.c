/* From the values of a native architecture file to the struct the cost model works on. */
#include <math.h>
#include <string.h>

#include "costmodel/model/problem.h"
#include "costmodel/native/architecture_native.h"

/* Keeps every product of meshes, sizes and counts far inside 64 bits. */
#define INSTANCE_MAX (UINT64_C(1) << 32)

void arch_set_numbers(const struct arch_spec *spec, const struct arch_item *item, void *out)
{
    const struct arch_field *schema = architecture_schema();
    for (unsigned i = 0; i < spec->placed->n[item->section]; i++) {
        const int f = spec->placed->row[item->section][i];
        const struct arch_place *place = &schema[f].place;
        const double number = arch_number_or(item, f, place->standard);
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

/* The network below `outer`; multiplies the meshes of everything inside. */
static enum dse_status set_array(const struct arch_spec *spec, const struct arch_item *item,
                                 struct storage_level *outer, uint64_t *x, uint64_t *y, struct dse_error *err)
{
    text_copy(outer->array, sizeof outer->array, item->name);
    arch_set_numbers(spec, item, outer);
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
    if (!arch_is_set(top, TOP_GPU_THREADS)) {
        for (int i = 0; i < 3; i++)
            if (arch_is_set(top, limit[i]))
                return arch_spec_fail(spec, top, limit[i], err,
                                      "%s is a limit of a GPU, but gpu.threads does not name the array whose "
                                      "instances are its threads",
                                      architecture_schema()[limit[i]].key);
        return DSE_OK;
    }
    if (!arch_is_set(top, TOP_GPU_REGISTERS))
        return arch_spec_fail(spec, top, TOP_GPU_THREADS, err,
                              "gpu lacks its \"registers_per_block\"; write a size such as 64 KiB");
    DSE_TRY(find_threads(spec, arch, &gpu->level, err));
    gpu->present = true;
    gpu->threads_per_block = (uint32_t)arch_number_or(top, TOP_GPU_THREADS_PER_BLOCK, 1024);
    gpu->thread_dim[0] = arch_is_set(top, TOP_GPU_THREAD_DIMS) ? (uint32_t)dims->x : 1024;
    gpu->thread_dim[1] = arch_is_set(top, TOP_GPU_THREAD_DIMS) ? (uint32_t)dims->y : 1024;
    gpu->thread_dim[2] = arch_is_set(top, TOP_GPU_THREAD_DIMS) ? (uint32_t)dims->z : 64;
    gpu->register_bit = (uint64_t)floor(top->value[TOP_GPU_REGISTERS].number * 8);
    if (gpu->register_bit < arch->level[0].word_bit)
        return arch_spec_fail(spec, top, TOP_GPU_REGISTERS, err,
                              "gpu.registers_per_block is %g bit, less than one word of %s",
                              top->value[TOP_GPU_REGISTERS].number * 8, arch->level[0].name);
    return DSE_OK;
}

/* The buffer of fused schedules: a storage inside the outermost one, of one instance. */
static enum dse_status set_fused(const struct arch_spec *spec, struct architecture *arch,
                                 struct dse_error *err)
{
    const char *storage[ARCH_LEVEL_MAX];
    size_t n_storage = 0;
    if (!arch_is_set(spec->top, TOP_FUSED_BUFFER))
        return DSE_OK;
    const char *name = spec->top->value[TOP_FUSED_BUFFER].text;
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        if (arch->level[l].instances == 1)
            storage[n_storage++] = arch->level[l].name;
    const int l = architecture_find_level(arch, name);
    if (l < 0) {
        const char *near = text_nearest(name, storage, n_storage);
        return arch_spec_fail(spec, spec->top, TOP_FUSED_BUFFER, err,
                              "fused.buffer: the hierarchy has no storage \"%.60s\"%s%s%s", name,
                              near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    if ((uint32_t)l + 1 == arch->n_level || arch->level[l].instances != 1)
        return arch_spec_fail(
            spec, spec->top, TOP_FUSED_BUFFER, err,
            "fused.buffer: %s %s; a storage on the chip that all PEs share can be the buffer", name,
            (uint32_t)l + 1 == arch->n_level ? "is the outermost storage" : "has several instances");
    arch->fused.buffer = (uint32_t)l + 1;
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
    arch->no_replication = !arch_number_or(spec->top, TOP_REPLICATION, 1);
    arch_set_numbers(spec, spec->top, arch);
    arch_begin_groups(spec, arch);
    for (size_t i = 0; i < spec->n_item; i++)
        arch->n_level += spec->item[i]->section == ARCH_STORAGE;
    l = arch->n_level;
    for (size_t i = 0; i < spec->n_item; i++) {
        const struct arch_item *item = spec->item[i];
        if (item->is_bad)
            l -= item->section == ARCH_STORAGE; /* said where it was read */
        else if (item->section == ARCH_STORAGE)
            DSE_NOTE(spec->faults, arch_set_storage(spec, item, x, y, arch, --l, err));
        else if (item->section == ARCH_ARRAY)
            DSE_TRY(set_array(spec, item, &arch->level[l], &x, &y, err));
        else
            DSE_NOTE(spec->faults, arch_set_macs(spec, item, &arch->mac, err));
    }
    arch->mac.mesh_x = x;
    arch->mac.mesh_y = y;
    arch->mac.instances = x * y;
    text_copy(arch->mac.name, sizeof arch->mac.name, spec->item[spec->n_item - 1]->name);
    if (arch_is_set(spec->top, TOP_NOC_MESH)) {
        arch->noc[NOC_SET_COLUMNS] = (uint32_t)spec->top->value[TOP_NOC_MESH].x;
        arch->noc[NOC_SET_PE_ROWS] = (uint32_t)spec->top->value[TOP_NOC_MESH].y;
    }
    if (dse_faults_count(spec->faults) > 0)
        return DSE_OK; /* what the whole has to be may only follow from that */
    DSE_TRY(check_outermost(spec, arch, err));
    DSE_TRY(arch_set_groups(spec, arch, err));
    DSE_TRY(set_gpu(spec, arch, err));
    DSE_TRY(set_fused(spec, arch, err));
    if (architecture_check(arch, &inner) != DSE_OK)
        return dse_fail_at(err, inner.status, spec->path, 0, "%s", inner.text);
    return DSE_OK;
}
