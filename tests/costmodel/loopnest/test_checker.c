/* The checker by hand and against the evaluator's own validity test. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/support/random_case.h"

enum { N_RANDOM = 20000, SEED = 99, REASON_MAX = 400 };

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    char reason[REASON_MAX];
};

/* A 1-D convolution K=4 C=8 P=8 R=3 on DRAM - Buffer - 4 x 4 register files of one MAC each, 16-bit words.
 * The buffer holds C=8 R=3 P=8 K=4 in all: weights 96, inputs 8 * 10, outputs 32 words. */
static void set_up(struct fixture *f)
{
    const uint32_t bound[] = {4, 8, 8, 3};
    random_case_dims(&f->problem, "conv1d", "KCPR", bound);
    random_case_tensor(&f->problem, "Weights", TENSOR_WEIGHT, "K C R");
    random_case_tensor(&f->problem, "Inputs", TENSOR_INPUT, "C P+R");
    random_case_tensor(&f->problem, "Outputs", TENSOR_OUTPUT, "K P");
    memset(&f->arch, 0, sizeof f->arch);
    f->arch.clock_hz = 1e9;
    f->arch.n_level = 3;
    for (uint32_t l = 0; l < 3; l++) {
        static const char *const name[] = {"RegisterFile", "Buffer", "DRAM"};
        struct storage_level *level = &f->arch.level[l];
        (void)snprintf(level->name, sizeof level->name, "%s", name[l]);
        level->keep_role = 7;
        level->word_bit = 16;
        level->block_word = level->cluster_size = 1;
        level->size_word = ARCH_UNLIMITED;
        level->multiple_buffering = 1;
        level->instances = level->mesh_x = level->mesh_y = 1;
        level->read_bandwidth_word_per_cycle = INFINITY;
        level->write_bandwidth_word_per_cycle = INFINITY;
        level->shared_bandwidth_word_per_cycle = INFINITY;
    }
    f->arch.level[0].instances = 16;
    f->arch.level[0].mesh_x = f->arch.level[0].mesh_y = 4;
    f->arch.level[1].size_word = 208;
    f->arch.mac = (struct mac_array){
        .name = "MAC", .word_bit = 16, .instances = 16, .mesh_x = 4, .mesh_y = 4, .energy_j = 1e-12};
    memset(&f->mapping, 0, sizeof f->mapping);
    f->mapping.n_level = 3;
    f->mapping.n_dim = 4;
    for (uint32_t l = 0; l < 3; l++) {
        struct mapping_level *level = &f->mapping.level[l];
        for (uint8_t d = 0; d < 4; d++) {
            level->temporal[d] = level->spatial[d] = 1;
            level->temporal_order[d] = level->spatial_order[d] = d;
        }
        level->split = 1; /* K on X, C P R on Y */
        level->keep = 7;
    }
    f->mapping.level[1].spatial[0] = 4;
    f->mapping.level[1].spatial[1] = 4;
    f->mapping.level[1].temporal[1] = 2;
    f->mapping.level[1].temporal[2] = 8;
    f->mapping.level[1].temporal[3] = 3;
}

static void expect_refused(struct fixture *f, const char *reason)
{
    assert_false(checker_accepts(&f->problem, &f->arch, &f->mapping, f->reason, sizeof f->reason));
    assert_string_equal(f->reason, reason);
}

static void expect_accepted(struct fixture *f)
{
    assert_true(checker_accepts(&f->problem, &f->arch, &f->mapping, f->reason, sizeof f->reason));
    assert_string_equal(f->reason, "");
}

static void test_checker_counts_capacity_with_halo(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    expect_accepted(&f); /* 96 + 80 + 32 = 208 words, by hand */
    f.arch.level[1].size_word = 207;
    expect_refused(&f, "Buffer needs 416 B for Weights+Inputs+Outputs, has 414 B");
    f.mapping.level[1].keep = 5;
    expect_accepted(&f);
    f.mapping.level[1].keep = 7;
    f.arch.level[1].size_word = 2 * 208 + 1;
    f.arch.level[1].multiple_buffering = 2;
    expect_accepted(&f);
    f.arch.level[1].size_word = 2 * 208 - 1;
    expect_refused(&f, "Buffer needs 416 B for Weights+Inputs+Outputs, has 414 B");
}

static void test_checker_wants_minimum_utilisation(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.arch.level[1].size_word = 416;
    f.arch.level[1].min_utilization = 0.5; /* 208 of 416 */
    expect_accepted(&f);
    f.arch.level[1].size_word = 418;
    expect_refused(&f,
                   "Buffer holds 416 B of Weights+Inputs+Outputs, its minimum utilisation asks for 418 B");
}

static void test_checker_wants_whole_coverage(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.mapping.level[0].temporal[2] = 2;
    expect_refused(&f, "the factors of P multiply to 16, its bound is 8");
    f.mapping.level[0].temporal[2] = 0;
    expect_refused(&f, "the factors of P multiply to 0, its bound is 8");
    /* 2^32 * 2^32 wraps to 0 in 64 bits, and 8 * 2^64 would be 8 again */
    for (uint32_t l = 0; l < 3; l++)
        f.mapping.level[l].temporal[2] = f.mapping.level[l].spatial[2] = 1u << 31;
    assert_false(checker_accepts(&f.problem, &f.arch, &f.mapping, f.reason, sizeof f.reason));
}

static void test_checker_wants_permutations_and_sizes(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.mapping.level[2].temporal_order[3] = 0;
    expect_refused(&f, "DRAM: the temporal order is not a permutation of the dimensions");
    set_up(&f);
    f.mapping.level[1].spatial_order[0] = 200;
    expect_refused(&f, "Buffer: the spatial order is not a permutation of the dimensions");
    set_up(&f);
    f.mapping.level[0].split = 5;
    expect_refused(&f, "RegisterFile: the X/Y split is at 5, there are 4 dimensions");
    set_up(&f);
    f.mapping.n_level = 2;
    expect_refused(&f, "the mapping has 2 levels, the architecture has 3");
    set_up(&f);
    f.mapping.n_dim = 3;
    expect_refused(&f, "the mapping has 3 dimensions, the problem has 4");
}

static void test_checker_looks_at_keeps_and_roles(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    for (uint32_t l = 0; l < 3; l++)
        f.mapping.level[l].keep = 6;
    expect_refused(&f, "Weights is kept on no level");
    set_up(&f);
    f.arch.level[0].keep_role = 1u << TENSOR_WEIGHT;
    expect_refused(&f, "RegisterFile cannot hold Inputs (it holds no inputs)");
    f.mapping.level[0].keep = 1;
    expect_accepted(&f);
}

static void test_checker_looks_at_meshes(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.mapping.level[1].split = 2; /* K and C on X: 16 columns */
    expect_refused(&f, "RegisterFile needs 16 columns for its spatial loops on X, has 4");
    f.mapping.level[1].split = 0;
    expect_refused(&f, "RegisterFile needs 16 rows for its spatial loops on Y, has 4");
    set_up(&f);
    f.mapping.level[1].spatial[0] = 1;
    f.mapping.level[2].spatial[0] = 4;
    expect_refused(&f, "Buffer needs 4 columns for its spatial loops on X, has 1");
    set_up(&f);
    f.mapping.level[1].spatial[0] = 1;
    f.mapping.level[0].spatial[0] = 4;
    expect_refused(&f, "RegisterFile has a spatial loop over K, but only 1 instance inside it");
}

/* Only strict machines hold each level to its own fan-out (docs/cost-model.md, "Time and fit": Timeloop
 * checks cumulative meshes). */
static void test_checker_holds_strict_machines_to_their_fanout(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.arch.level[0].instances = 8;
    f.arch.level[0].mesh_x = 2;
    f.mapping.level[1].spatial[0] = 1;
    f.mapping.level[0].spatial[0] = 4; /* 4 wide below a fan-out of 2; the MACs have 4 columns */
    f.arch.level[1].size_word = ARCH_UNLIMITED;
    expect_accepted(&f);
    f.arch.strict_fanout = true;
    expect_refused(&f, "RegisterFile spreads over 4 x 1 instances, its own fan-out is 2 x 1");
}

/* Spoil a mapping in one place, sometimes. */
static void spoil(struct random_stream *stream, const struct problem *problem, struct mapping *mapping)
{
    struct mapping_level *level = &mapping->level[random_below(stream, mapping->n_level)];
    uint32_t d = random_below(stream, problem->n_dim), e = random_below(stream, problem->n_dim);
    switch (random_below(stream, 10)) {
    case 0:
        level->temporal[d] = 1 + random_below(stream, 4);
        break;
    case 1:
        level->keep = (uint8_t)random_below(stream, 1u << problem->n_tensor);
        break;
    case 2:
        level->split = (uint8_t)random_below(stream, problem->n_dim + 2);
        break;
    case 3:
        level->temporal_order[d] = level->temporal_order[e];
        break;
    case 4: { /* the temporal factor becomes spatial: still covers, may not fit the array */
        uint32_t factor = level->temporal[d];
        level->temporal[d] = level->spatial[d];
        level->spatial[d] = factor;
        break;
    }
    case 5:
        level->spatial_order[d] = (uint8_t)e;
        break;
    default:
        break;
    }
}

/* A GPU whose threads are the 4 x 4 register files: 16 threads, each with the box of one K, one C: weights 1,
 * inputs 1, outputs 1 word of 16 bit, so 16 * 48 = 768 bit. The limits are those of CUDA in small. */
static void test_checker_holds_blocks_to_the_limits_of_a_gpu(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.arch.gpu = (struct gpu_limits){
        .present = true, .level = 1, .threads_per_block = 16, .thread_dim = {16, 16, 4}, .register_bit = 768};
    expect_accepted(&f);
    f.arch.gpu.threads_per_block = 15;
    expect_refused(&f, "a thread block has 16 threads, at most 15 are possible");
    f.arch.gpu.threads_per_block = 1024;
    f.arch.gpu.register_bit = 767;
    expect_refused(&f, "the registers of a thread block hold 767 bit, its 16 threads need 48 bit each");
    f.arch.gpu.register_bit = 768;
    f.arch.gpu.thread_dim[0] = 3; /* 2 * 8 * 1 */
    expect_accepted(&f);
    f.arch.gpu.thread_dim[1] = 2; /* 2 * 2 * 4 */
    expect_accepted(&f);
    f.arch.gpu.thread_dim[2] = 3; /* 2 * 2 * 3 is the most that divides */
    expect_refused(&f, "no thread block of 16 threads lies within 3 x 2 x 3");
}

/* A register file holds a weight, an input and an output, 3 words: 2 banks of 2 words. */
static void test_checker_deals_banks_out(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.arch.n_group = 1;
    f.arch.group[0] = (struct bank_group){.name = "Shared", .banks = 4};
    f.arch.level[0].bank_group = 1; /* 3 words of three tensors: 2 banks of 2 words */
    f.arch.level[0].bank_word = 2;
    f.arch.level[0].size_word = 8;
    expect_accepted(&f);
    f.arch.group[0].banks = 1;
    expect_refused(&f, "the storages of Shared need 2 or more banks together, it has 1");
}

/* Two independent opinions agree, on mappings of which many are spoilt. */
static void test_checker_agrees_with_evaluator(void **state)
{
    (void)state;
    long n_accepted = 0, n_refused[MISFIT_ORDER + 1] = {0};
    struct arena arena;
    arena_init(&arena);
    for (uint64_t i = 0; i < N_RANDOM; i++) {
        struct random_stream stream = random_stream_make(SEED, i, RANDOM_TEST);
        struct random_case_options options = {.limits = true, .roles = i % 2};
        struct fixture f;
        struct evaluator *evaluator;
        struct eval_workspace *workspace;
        struct evaluation_detail detail;
        struct evaluation fast;
        struct dse_error err;
        random_case_problem(&stream, 4000, &f.problem);
        random_case_architecture(&stream, &options, &f.arch);
        if (i % 4 == 0)
            random_case_gpu(&stream, &f.arch);
        if (i % 8 == 5)
            random_case_banks(&stream, &f.problem, &f.arch);
        for (uint32_t l = 0; l < f.arch.n_level; l++)
            if (random_below(&stream, 8) == 0 && !f.arch.level[l].bank_group)
                f.arch.level[l].min_utilization = 0.05 * random_below(&stream, 8);
        random_case_mapping(&stream, &f.problem, &f.arch, true, &f.mapping);
        spoil(&stream, &f.problem, &f.mapping);
        assert_int_equal(evaluator_new(&accounting_timeloop, &f.problem, &f.arch, &evaluator, &err), DSE_OK);
        assert_int_equal(evaluator_detail(evaluator, &f.mapping, &arena, &detail, &err), DSE_OK);
        bool accepted = checker_accepts(&f.problem, &f.arch, &f.mapping, f.reason, sizeof f.reason);
        if (accepted != (detail.total.fit.what == FITS)) {
            char other[REASON_MAX];
            fail_msg("case %d: checker '%s', evaluator '%s'", (int)i, f.reason,
                     misfit_print(&detail.total.fit, &f.problem, &f.arch, other, sizeof other));
        }
        assert_int_equal(accepted, f.reason[0] == '\0');
        assert_int_equal(eval_workspace_new(evaluator, &workspace, &err), DSE_OK);
        if (detail.total.fit.what != MISFIT_ORDER) /* the fast version asks for permutations */
            assert_int_equal(evaluator_run(evaluator, workspace, &f.mapping, &fast), accepted);
        eval_workspace_delete(workspace);
        n_accepted += accepted;
        n_refused[detail.total.fit.what]++;
        evaluator_delete(evaluator);
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_accepted > N_RANDOM / 4);
    for (int what = MISFIT_FACTORS; what <= MISFIT_ORDER; what++)
        if (what != MISFIT_INSTANCES) /* instances are mesh_x * mesh_y here, so X or Y is named first */
            assert_true(n_refused[what] > 0);
}

/* No buffer, or one that is too small, is no reason to crash. */
static void test_checker_does_without_a_reason_buffer(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    f.mapping.n_dim = 3;
    assert_false(checker_accepts(&f.problem, &f.arch, &f.mapping, NULL, 0));
    char small[8];
    assert_false(checker_accepts(&f.problem, &f.arch, &f.mapping, small, sizeof small));
    assert_string_equal(small, "the map");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checker_counts_capacity_with_halo),
        cmocka_unit_test(test_checker_wants_minimum_utilisation),
        cmocka_unit_test(test_checker_wants_whole_coverage),
        cmocka_unit_test(test_checker_wants_permutations_and_sizes),
        cmocka_unit_test(test_checker_looks_at_keeps_and_roles),
        cmocka_unit_test(test_checker_looks_at_meshes),
        cmocka_unit_test(test_checker_holds_strict_machines_to_their_fanout),
        cmocka_unit_test(test_checker_holds_blocks_to_the_limits_of_a_gpu),
        cmocka_unit_test(test_checker_deals_banks_out),
        cmocka_unit_test(test_checker_agrees_with_evaluator),
        cmocka_unit_test(test_checker_does_without_a_reason_buffer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
