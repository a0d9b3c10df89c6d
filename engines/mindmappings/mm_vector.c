/* Vectors of numbers, mappings of the space, and mappings that accountings price: from each to the others. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "costmodel/model/bank_group.h"
#include "engines/mindmappings/mm_space_private.h"

/* The level whose loops a block is. */
static uint32_t block_level(const struct mm_machine *machine, enum mm_block block)
{
    const uint32_t last = machine->algorithm->n_tensor - 1;
    switch (block) {
    case MM_DRAM:
        return machine->dram;
    case MM_SHARED:
        return machine->level[MM_MEMORY_SHARED][0];
    case MM_SPATIAL:
        return machine->level[MM_MEMORY_SHARED][last];
    default:
        return machine->level[MM_MEMORY_PRIVATE][machine->algorithm->loops_innermost ? last : 0];
    }
}

static const enum mm_block nest_block[MM_NEST_COUNT] = {MM_DRAM, MM_SHARED, MM_PRIVATE};

__attribute__((format(printf, 3, 4))) static bool refuse(char *reason, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, size, format, args);
    va_end(args);
    return false;
}

/* ---------------------------------------- numbers */

void mm_space_vector(const struct mm_space *space, const struct mm_mapping *mapping, double *vector)
{
    const struct mm_algorithm *algorithm = space->machine->algorithm;
    for (uint32_t d = 0; d < algorithm->n_dim; d++)
        *vector++ = space->size[d];
    for (int b = 0; b < MM_BLOCK_COUNT; b++)
        for (uint32_t d = 0; d < algorithm->n_dim; d++)
            *vector++ = mapping->factor[b][d];
    for (int n = 0; n < MM_NEST_COUNT; n++)
        for (uint32_t d = 0; d < algorithm->n_dim; d++)
            *vector++ = mapping->place[n][d];
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        for (uint32_t i = 0; i < algorithm->n_tensor; i++)
            *vector++ = mapping->banks[m][i];
}

/* A whole number from `least` to 2^32 - 1; `i` counts from 0. */
static bool whole(const double *vector, uint32_t i, uint32_t least, const char *what, uint32_t *out,
                  char *reason, size_t size)
{
    const double value = vector[i];
    if (!(value >= least && value <= UINT32_MAX && floor(value) >= value))
        return refuse(reason, size,
                      "value %" PRIu32 ", %s, is %g; it must be a whole number of %" PRIu32 " or more", i + 1,
                      what, value, least);
    *out = (uint32_t)value;
    return true;
}

static bool check_products(const struct mm_algorithm *algorithm, const uint32_t *size,
                           const struct mm_mapping *mapping, char *reason, size_t reason_size)
{
    for (uint32_t d = 0; d < algorithm->n_dim; d++) {
        double product = 1;
        for (int b = 0; b < MM_BLOCK_COUNT; b++)
            product *= mapping->factor[b][d];
        if (product < size[d] || product > size[d])
            return refuse(reason, reason_size, "the factors of %s multiply to %.0f, its size is %" PRIu32,
                          algorithm->dim[d], product, size[d]);
    }
    return true;
}

bool mm_vector_sizes(const struct mm_algorithm *algorithm, const double *vector, uint32_t *size, char *reason,
                     size_t reason_size)
{
    for (uint32_t d = 0; d < algorithm->n_dim; d++)
        if (!whole(vector, d, 1, "a size", &size[d], reason, reason_size))
            return false;
    return true;
}

bool mm_vector_read(const struct mm_algorithm *algorithm, const double *vector, uint32_t *size,
                    struct mm_mapping *mapping, char *reason, size_t reason_size)
{
    const uint32_t n_dim = algorithm->n_dim;
    uint32_t i = n_dim, place;
    if (!mm_vector_sizes(algorithm, vector, size, reason, reason_size))
        return false;
    for (int b = 0; b < MM_BLOCK_COUNT; b++)
        for (uint32_t d = 0; d < n_dim; d++)
            if (!whole(vector, i++, 1, "a factor", &mapping->factor[b][d], reason, reason_size))
                return false;
    for (int n = 0; n < MM_NEST_COUNT; n++)
        for (uint32_t d = 0; d < n_dim; d++) {
            if (!whole(vector, i++, 0, "a place in an order", &place, reason, reason_size))
                return false;
            mapping->place[n][d] = (uint8_t)(place < n_dim ? place : n_dim); /* too far: no permutation */
        }
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        for (uint32_t t = 0; t < algorithm->n_tensor; t++)
            if (!whole(vector, i++, 0, "a number of banks", &mapping->banks[m][t], reason, reason_size))
                return false;
    return check_products(algorithm, size, mapping, reason, reason_size);
}

/* ---------------------------------------- mappings of a loop nest */

void mm_space_decode_onto(const struct mm_space *space, const struct mm_mapping *mapping, struct mapping *out)
{
    const struct mm_machine *machine = space->machine;
    const struct mm_algorithm *algorithm = machine->algorithm;
    uint32_t factor[MM_BLOCK_COUNT][MM_DIM_MAX];
    uint64_t word[MM_MEMORY_COUNT][MM_TENSOR_MAX];
    struct mapping_level *spatial = &out->level[block_level(machine, MM_SPATIAL)];
    for (int n = 0; n < MM_NEST_COUNT; n++) {
        struct mapping_level *level = &out->level[block_level(machine, nest_block[n])];
        for (uint32_t d = 0; d < algorithm->n_dim; d++) {
            level->temporal[space->dim[d]] = mapping->factor[nest_block[n]][d];
            level->temporal_order[mapping->place[n][d]] = (uint8_t)space->dim[d];
        }
    }
    for (uint32_t d = 0; d < algorithm->n_dim; d++)
        spatial->spatial[space->dim[d]] = mapping->factor[MM_SPATIAL][d];
    memcpy(factor, mapping->factor, sizeof factor);
    mm_space_tiles(space, factor, word);
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        for (uint32_t i = 0; i < algorithm->n_tensor; i++) {
            const bool fits = word[m][i] <= mapping->banks[m][i] * machine->bank_word[m][i];
            out->level[machine->level[m][i]].keep = (uint8_t)((uint32_t)fits << machine->tensor[m][i]);
        }
}

void mm_space_decode(const struct mm_space *space, const struct mm_mapping *mapping, struct mapping *out)
{
    mapping_init(out, &space->problem, space->machine->arch);
    mm_space_decode_onto(space, mapping, out);
}

/* Loops where no block stands. */
static bool check_places(const struct mm_space *space, const struct mapping *mapping, char *reason,
                         size_t size)
{
    const struct mm_machine *machine = space->machine;
    for (uint32_t l = 0; l < mapping->n_level; l++) {
        bool temporal = false;
        for (int n = 0; n < MM_NEST_COUNT; n++)
            temporal = temporal || l == block_level(machine, nest_block[n]);
        for (uint32_t d = 0; d < mapping->n_dim; d++)
            if (!temporal && mapping->level[l].temporal[d] > 1)
                return refuse(reason, size, "it has a loop over %s at %s, where a vector has none",
                              space->problem.dim_name[d], machine->arch->level[l].name);
    }
    return true;
}

/* The least and the most banks with which buffer i of a memory keeps its tile, or does not, as the mapping
 * says. */
static bool bank_range(const struct mm_space *space, const struct mapping *mapping, int memory, uint32_t i,
                       uint64_t words, uint32_t *least, uint32_t *most, char *reason, size_t size)
{
    const struct mm_machine *machine = space->machine;
    const uint32_t l = machine->level[memory][i], all = machine->banks[memory];
    const uint64_t need = bank_group_need(words, machine->bank_word[memory][i]);
    const bool kept = mapping->level[l].keep >> machine->tensor[memory][i] & 1u;
    const char *name = machine->arch->level[l].name;
    if (!kept && space->mode == MM_MUSTFIT)
        return refuse(reason, size, "it bypasses %s, and in mode mustfit every tile is kept", name);
    if (!kept && need <= 1)
        return refuse(reason, size, "it bypasses %s, and a vector keeps a tile that one bank can hold", name);
    *least = kept ? (uint32_t)(need <= all ? need : all + 1) : 1;
    *most = kept || need > all ? all : (uint32_t)need - 1;
    return true;
}

static bool find_banks(const struct mm_space *space, const struct mapping *mapping, int memory,
                       const uint64_t *word, uint32_t *banks, char *reason, size_t size)
{
    const struct mm_machine *machine = space->machine;
    const uint32_t n = machine->algorithm->n_tensor;
    uint32_t most[MM_TENSOR_MAX];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!bank_range(space, mapping, memory, i, word[i], &banks[i], &most[i], reason, size))
            return false;
        sum += banks[i];
    }
    for (uint32_t i = 0; i < n && sum < machine->banks[memory]; i++)
        for (; banks[i] < most[i] && sum < machine->banks[memory]; sum++)
            banks[i]++;
    return sum == machine->banks[memory] ||
           refuse(reason, size,
                  "no share of all %" PRIu32 " banks keeps and bypasses what it keeps and bypasses at %s",
                  machine->banks[memory], machine->arch->level[machine->level[memory][0]].name);
}

bool mm_space_encode(const struct mm_space *space, const struct mapping *mapping, struct mm_mapping *out,
                     char *reason, size_t size)
{
    const struct mm_machine *machine = space->machine;
    const struct mm_algorithm *algorithm = machine->algorithm;
    const struct mapping_level *spatial = &mapping->level[block_level(machine, MM_SPATIAL)];
    uint64_t word[MM_MEMORY_COUNT][MM_TENSOR_MAX];
    if (!check_places(space, mapping, reason, size))
        return false;
    for (int n = 0; n < MM_NEST_COUNT; n++) {
        const struct mapping_level *level = &mapping->level[block_level(machine, nest_block[n])];
        for (uint32_t d = 0; d < algorithm->n_dim; d++) {
            out->factor[nest_block[n]][d] = level->temporal[space->dim[d]];
            for (uint8_t i = 0; i < mapping->n_dim; i++)
                if (level->temporal_order[i] == space->dim[d])
                    out->place[n][d] = i;
        }
    }
    for (uint32_t d = 0; d < algorithm->n_dim; d++)
        out->factor[MM_SPATIAL][d] = spatial->spatial[space->dim[d]];
    mm_space_tiles(space, out->factor, word);
    for (int m = 0; m < MM_MEMORY_COUNT; m++)
        if (!find_banks(space, mapping, m, word[m], out->banks[m], reason, size))
            return false;
    return mm_space_contains(space, out, reason, size);
}
