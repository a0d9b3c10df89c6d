/* Small problems and machines for the engine tests; header only, as each test program is one file. */
#ifndef TESTS_ENGINES_SMALL_CASES_H
#define TESTS_ENGINES_SMALL_CASES_H

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/architecture.h"
#include "engines/driver/engine.h"
#include "tests/support/random_case.h"

/* C[m,n] += A[m,k] B[k,n] */
static inline void small_gemm(struct problem *problem, uint32_t m, uint32_t n, uint32_t k)
{
    const uint32_t bound[] = {m, n, k};
    random_case_dims(problem, "gemm", "MNK", bound);
    random_case_tensor(problem, "A", TENSOR_WEIGHT, "M K");
    random_case_tensor(problem, "B", TENSOR_INPUT, "K N");
    random_case_tensor(problem, "Z", TENSOR_OUTPUT, "M N");
}

/* A 2-D convolution with window and stride. */
static inline void small_conv(struct problem *problem, uint32_t r, uint32_t p, uint32_t c, uint32_t k)
{
    const uint32_t bound[] = {r, p, p, c, k};
    random_case_dims(problem, "conv", "RPQCK", bound);
    random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "C K R");
    random_case_tensor(problem, "Inputs", TENSOR_INPUT, "C P*2+R Q*2");
    random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "K P Q");
}

static inline void small_level(struct storage_level *level, const char *name, uint64_t size_word, uint64_t x,
                               uint64_t y, double energy_j)
{
    *level = (struct storage_level){.keep_role = 7,
                                    .word_bit = 8,
                                    .block_word = 1,
                                    .cluster_size = 1,
                                    .size_word = size_word,
                                    .multiple_buffering = 1,
                                    .instances = x * y,
                                    .mesh_x = x,
                                    .mesh_y = y,
                                    .read_bandwidth_word_per_cycle = INFINITY,
                                    .write_bandwidth_word_per_cycle = INFINITY,
                                    .shared_bandwidth_word_per_cycle = INFINITY,
                                    .read_energy_j = energy_j,
                                    .write_energy_j = energy_j,
                                    .update_energy_j = energy_j};
    (void)text_copy(level->name, sizeof level->name, name);
}

/* Registers (`register_word`) in 2 x 2 lanes with one MAC each, a buffer (`buffer_word`), a DRAM of 4
 * words/cycle. */
static inline void small_machine(struct architecture *arch, uint64_t register_word, uint64_t buffer_word)
{
    *arch = (struct architecture){.name = "small", .clock_hz = 1e9, .n_level = 3};
    small_level(&arch->level[0], "Registers", register_word, 2, 2, 1e-12);
    small_level(&arch->level[1], "Buffer", buffer_word, 1, 1, 6e-12);
    small_level(&arch->level[2], "DRAM", ARCH_UNLIMITED, 1, 1, 200e-12);
    arch->level[2].is_dram = true;
    arch->level[2].shared_bandwidth_word_per_cycle = 4;
    arch->mac = (struct mac_array){
        .name = "MAC", .word_bit = 8, .instances = 4, .mesh_x = 2, .mesh_y = 2, .energy_j = 1e-12};
}

/* Let two or more storages of one number of instances share banks, if there are so many below the outermost
 * one, and let one keep a tensor of the problem by name alone. */
static inline void small_banks(struct random_stream *stream, const struct problem *problem,
                               struct architecture *arch)
{
    const uint32_t first = random_below(stream, arch->n_level - 1);
    struct storage_level *named = &arch->level[random_below(stream, arch->n_level - 1)];
    uint32_t n = 0, member[ARCH_LEVEL_MAX];
    for (uint32_t l = 0; l + 1 < arch->n_level; l++)
        if (arch->level[l].instances == arch->level[first].instances && random_below(stream, 4))
            member[n++] = l;
    if (random_below(stream, 3) == 0) {
        named->keep_role = 0;
        named->keep_name = 1;
        arch->n_tensor_name = 1;
        (void)text_copy(arch->tensor_name[0], ARCH_NAME_MAX,
                        problem->tensor[random_below(stream, problem->n_tensor)].name);
    }
    if (n < 2)
        return;
    arch->n_group = 1;
    (void)text_copy(arch->group[0].name, ARCH_NAME_MAX, "Group");
    arch->group[0].banks = n + random_below(stream, 9);
    for (uint32_t i = 0; i < n; i++) {
        struct storage_level *level = &arch->level[member[i]];
        level->bank_group = 1;
        level->bank_word = 1 + random_below(stream, 2 + 4 * member[i]);
        level->size_word = (uint64_t)(arch->group[0].banks - (n - 1)) * level->bank_word;
    }
}

#endif
