/* CoSA on the K80: the limits of section V-D of the paper on every layer of ResNet-50, other limits, other
 * problems. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/loopnest/gpu_schedule.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "engines/cosa/cosa.h"
#include "engines/mapspace/mapspace.h"
#include "tests/support/random_case.h"

enum { REASON_MAX = 400 };

/* The K80 with up to two values replaced. */
static struct architecture k80(const struct arch_override *override, size_t n_override)
{
    struct yaml_doc doc;
    struct architecture arch = {0};
    struct dse_error err;
    if (yaml_read(&doc, "experiments/architectures/k80.yaml", &err) != DSE_OK ||
        architecture_build(&doc, override, n_override, &arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
    return arch;
}

static void map(const struct problem *problem, const struct architecture *arch,
                const struct mapspace_constraints *constraints, struct cosa_solution *solution)
{
    struct cosa_settings settings;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    cosa_settings_init(&settings);
    if (cosa_map(problem, arch, constraints, &settings, &arena, solution, &err) != DSE_OK)
        fail_msg("%s: %s", problem->name, err.text);
    arena_free(&arena);
}

/* Map and hold the launch to every limit; the checker knows the same limits by itself. */
static struct gpu_schedule launch_of(const struct problem *problem, const struct architecture *arch,
                                     struct cosa_solution *solution)
{
    struct gpu_schedule schedule;
    char reason[REASON_MAX];
    map(problem, arch, NULL, solution);
    if (!solution->feasible)
        fail_msg("%s: %s", problem->name, solution->reason);
    if (!checker_accepts(problem, arch, &solution->mapping, reason, sizeof reason))
        fail_msg("%s: %s", problem->name, reason);
    gpu_schedule_of(problem, arch, &solution->mapping, &schedule);
    if (!gpu_schedule_check(arch, &schedule, reason, sizeof reason))
        fail_msg("%s: %s", problem->name, reason);
    return schedule;
}

static void gemm(uint32_t m, uint32_t n, uint32_t k, struct problem *problem)
{
    const uint32_t bound[] = {m, n, k};
    random_case_dims(problem, "gemm", "MNK", bound);
    random_case_tensor(problem, "Weights", TENSOR_WEIGHT, "K N");
    random_case_tensor(problem, "Inputs", TENSOR_INPUT, "M K");
    random_case_tensor(problem, "Outputs", TENSOR_OUTPUT, "M N");
}

/* Section V-D, every layer: (1024, 1024, 64), 1024 threads, 48 KB, 64 KB. Written out here, not read from the
 * file. A launch finishes its sums: blocks do not meet in an output. */
static void test_gpu_every_layer_of_resnet50_keeps_the_papers_limits(void **state)
{
    (void)state;
    struct architecture arch = k80(NULL, 0);
    struct network network;
    struct dse_error err;
    uint32_t n_mapped = 0;
    if (network_read("experiments/cosa/networks/resnet50_cosa.yaml", &network, &err) != DSE_OK)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < network.n_layer; i++) {
        struct problem problem;
        struct cosa_solution solution;
        if (layer_problem(&network.layer[i], 1, &problem, &err) != DSE_OK)
            continue;
        struct gpu_schedule s = launch_of(&problem, &arch, &solution);
        assert_true(s.block.size[0] <= 1024 && s.block.size[1] <= 1024 && s.block.size[2] <= 64);
        assert_true(s.threads <= 1024);
        assert_true(s.shared_byte <= 48 * 1024);
        assert_true(s.register_words * 4 * s.threads <= 64 * 1024);
        assert_int_equal(s.shared_by_blocks, 0);
        assert_false(s.unfinished);
        assert_true(s.threads >= 512); /* the objective is threads above all; the worst has 7 * 7 * 16 */
        assert_true(solution.cpu_s < 2);
        n_mapped++;
    }
    network_free(&network);
    assert_int_equal(n_mapped, 24); /* unique layers of ResNet-50 */
}

/* 2^30 multiplications are enough for everything: 1024 threads and 8 of 13 multiprocessors; sums get half of
 * the registers: 8 words a thread. */
static void test_gpu_uses_all_threads_and_their_registers(void **state)
{
    (void)state;
    struct architecture arch = k80(NULL, 0);
    struct problem problem;
    struct cosa_solution solution;
    gemm(1024, 1024, 1024, &problem);
    struct gpu_schedule s = launch_of(&problem, &arch, &solution);
    assert_int_equal(s.threads, 1024);
    assert_true(s.blocks >= 8);
    assert_true(s.register_word[2] <= 8 && s.register_word[2] >= 4);
    assert_int_equal(s.shared_by_threads, 0);
}

/* The pool is shared: fewer threads leave more registers to each. 64 KB of 64 threads are 256 words, sums get
 * 128. */
static void test_gpu_registers_are_a_pool_of_the_block(void **state)
{
    (void)state;
    const struct arch_override fewer[] = {{"gpu.threads_per_block", "64"}};
    const struct arch_override smaller[] = {{"gpu.registers_per_block", "16 KiB"}};
    struct architecture arch = k80(fewer, 1);
    struct problem problem;
    struct cosa_solution solution;
    gemm(1024, 1024, 1024, &problem);
    struct gpu_schedule s = launch_of(&problem, &arch, &solution);
    assert_int_equal(s.threads, 64);
    assert_true(s.register_words > 16); /* what 1024 threads would leave */
    arch = k80(smaller, 1);             /* 4096 words: 1024 threads of 4, sums 2 */
    s = launch_of(&problem, &arch, &solution);
    assert_true(s.threads * s.register_words <= 4096);
}

/* Other largest blocks: only where x is shorter than a block are x, y, z rows of the model. */
static void test_gpu_keeps_each_axis(void **state)
{
    (void)state;
    static const char *const dims[] = {"[8, 8, 4]", "[7, 3, 5]", "[1, 1, 64]", "[32, 32, 1]"};
    static const uint64_t most[] = {256, 105, 64, 1024};
    struct problem problem;
    gemm(1050, 1024, 1024, &problem); /* 2 3 5^2 7, 2^10, 2^10 */
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        const struct arch_override override = {"gpu.thread_dims", dims[i]};
        struct architecture arch = k80(&override, 1);
        struct cosa_solution solution;
        struct gpu_schedule s = launch_of(&problem, &arch, &solution);
        assert_true(s.threads <= most[i]);
        assert_true(s.threads * 3 > most[i]); /* and not far below: 7 x 2 x 5 = 70 of 105 */
    }
}

/* More threads than outputs: threads share sums (1000 outputs, 1024 threads), blocks still do not. */
static void test_gpu_spreads_sums_over_threads_only_without_outputs_for_them(void **state)
{
    (void)state;
    struct architecture arch = k80(NULL, 0);
    struct problem problem;
    struct cosa_solution solution;
    gemm(1, 1000, 2048, &problem);
    struct gpu_schedule s = launch_of(&problem, &arch, &solution);
    assert_int_equal(s.shared_by_threads, 1u << 2); /* K */
    assert_int_equal(s.shared_by_blocks, 0);
    gemm(1, 1024, 2048, &problem);
    s = launch_of(&problem, &arch, &solution);
    assert_int_equal(s.shared_by_threads, 0);
}

/* What the user fixes holds, also sums over blocks. */
static void test_gpu_obeys_the_users_constraints(void **state)
{
    (void)state;
    struct architecture arch = k80(NULL, 0);
    struct mapspace_constraints constraints;
    struct cosa_solution solution;
    struct problem problem;
    struct gpu_schedule s;
    gemm(64, 64, 64, &problem);
    mapspace_constraints_init(&constraints, &problem, &arch);
    constraints.level[2].spatial.fixed[2] = 4; /* L2: K over four multiprocessors */
    map(&problem, &arch, &constraints, &solution);
    assert_true(solution.feasible);
    gpu_schedule_of(&problem, &arch, &solution.mapping, &s);
    assert_int_equal(s.shared_by_blocks, 1u << 2);
    assert_int_equal(solution.mapping.level[2].spatial[2], 4);
}

/* A window that one level of tiles cannot hold whole, and a sum of two dimensions with three operands. */
static void test_gpu_maps_other_problems(void **state)
{
    (void)state;
    struct architecture arch = k80(NULL, 0);
    struct cosa_solution solution;
    struct problem problem;
    const uint32_t mttkrp[] = {128, 512, 128, 96}, big[] = {1, 64, 112, 112, 113, 113};
    random_case_dims(&problem, "mttkrp", "IJKL", mttkrp);
    random_case_tensor(&problem, "A", TENSOR_INPUT, "I K L");
    random_case_tensor(&problem, "B", TENSOR_INPUT, "K J");
    random_case_tensor(&problem, "C", TENSOR_INPUT, "L J");
    random_case_tensor(&problem, "Out", TENSOR_OUTPUT, "I J");
    struct gpu_schedule s = launch_of(&problem, &arch, &solution);
    assert_false(s.unfinished);
    random_case_dims(&problem, "window", "KCPQRS", big);
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "C K R S");
    random_case_tensor(&problem, "Inputs", TENSOR_INPUT, "C P*2+R Q*2+S");
    random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "K P Q");
    (void)launch_of(&problem, &arch, &solution);
}

/* The map space refuses what the block cannot hold, so that no engine leaves it: 1024 threads of 17 words. */
static void test_gpu_map_space_keeps_the_pool(void **state)
{
    (void)state;
    struct architecture arch = k80(NULL, 0);
    const struct mapspace *space;
    struct problem problem;
    struct mapping mapping;
    struct misfit_info fit;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    gemm(64, 64, 17, &problem);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    mapping_init(&mapping, &problem, &arch);
    mapping.level[3].temporal[0] = mapping.level[3].temporal[1] = 2;
    mapping.level[1].spatial[0] = mapping.level[1].spatial[1] = 32;
    assert_true(mapspace_contains(space, &mapping, &fit)); /* 3 words */
    mapping.level[3].temporal[2] = 1;
    mapping.level[0].temporal[2] = 17; /* 17 + 17 + 1 */
    assert_false(mapspace_contains(space, &mapping, &fit));
    assert_int_equal(fit.what, MISFIT_REGISTERS);
    assert_int_equal(fit.needed, 1024 * 35 * 4);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_every_layer_of_resnet50_keeps_the_papers_limits),
        cmocka_unit_test(test_gpu_uses_all_threads_and_their_registers),
        cmocka_unit_test(test_gpu_registers_are_a_pool_of_the_block),
        cmocka_unit_test(test_gpu_keeps_each_axis),
        cmocka_unit_test(test_gpu_spreads_sums_over_threads_only_without_outputs_for_them),
        cmocka_unit_test(test_gpu_obeys_the_users_constraints),
        cmocka_unit_test(test_gpu_maps_other_problems),
        cmocka_unit_test(test_gpu_map_space_keeps_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
