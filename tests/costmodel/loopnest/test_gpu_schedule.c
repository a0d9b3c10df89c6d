/* Launches of mappings, by hand on the shipped K80, and for random machines and mappings against plain
 * counting.
 * Tests: gpu_schedule_write.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/gpu_schedule.h"
#include "costmodel/model/gpu_limits.h"
#include "costmodel/readers/readers.h"
#include "tests/support/random_case.h"

enum { N_RANDOM = 1500, SEED = 7, MACS_MAX = 2000, DRAM = 3, L2 = 2, SHARED = 1, REGISTERS = 0 };
enum { K, C, P, Q, R, S };

struct fixture {
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct gpu_schedule schedule;
};

static void put(struct fixture *f, uint32_t l, uint32_t d, uint32_t temporal, uint32_t spatial)
{
    f->mapping.level[l].temporal[d] = temporal;
    f->mapping.level[l].spatial[d] = spatial;
}

/* ResNet-50's 3x3 layer on 28x28 (K = C = 128): grid K 4, P 4 (2 over multiprocessors), Q 2; block K 16, P 7,
 * Q 7 (784 threads); a thread K 2, Q 2; sums over C 8 and R 3 fill the shared memory, over C 16 and S 3 run
 * in it. */
static void set_up(struct fixture *f)
{
    const uint32_t bound[] = {128, 128, 28, 28, 3, 3};
    struct dse_error err;
    memset(f, 0, sizeof *f);
    random_case_dims(&f->problem, "3_28_128_128_1", "KCPQRS", bound);
    random_case_tensor(&f->problem, "Weights", TENSOR_WEIGHT, "C K R S");
    random_case_tensor(&f->problem, "Inputs", TENSOR_INPUT, "C P+R Q+S");
    random_case_tensor(&f->problem, "Outputs", TENSOR_OUTPUT, "K P Q");
    assert_int_equal(architecture_read("experiments/architectures/k80.yaml", &f->arch, &err), DSE_OK);
    mapping_init(&f->mapping, &f->problem, &f->arch);
    for (uint32_t d = 0; d < 6; d++)
        put(f, DRAM, d, 1, 1);
    put(f, DRAM, K, 4, 1);
    put(f, L2, P, 2, 2);
    put(f, L2, Q, 2, 1);
    put(f, L2, C, 8, 1);
    put(f, L2, R, 3, 1);
    put(f, SHARED, K, 1, 16);
    put(f, SHARED, P, 1, 7);
    put(f, SHARED, Q, 1, 7);
    put(f, SHARED, C, 16, 1);
    put(f, SHARED, S, 3, 1);
    put(f, REGISTERS, K, 2, 1);
    put(f, REGISTERS, Q, 2, 1);
}

static void expect_axes(const struct gpu_axes *axes, uint64_t x, uint64_t y, uint64_t z)
{
    assert_int_equal(axes->size[0], x);
    assert_int_equal(axes->size[1], y);
    assert_int_equal(axes->size[2], z);
}

/* Weights in shared memory: 16 C x 32 K x 3 S; inputs: 16 C x 7 P x (14 + 2) columns. In registers: 2
 * weights, 2 inputs, 4 sums. */
static void test_launch_has_the_sizes_of_the_mapping(void **state)
{
    (void)state;
    struct fixture f;
    char reason[128];
    set_up(&f);
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    expect_axes(&f.schedule.grid, 2, 4, 4);   /* Q, P, K */
    expect_axes(&f.schedule.block, 7, 7, 16); /* Q, P, K */
    assert_int_equal(f.schedule.blocks, 32);
    assert_int_equal(f.schedule.threads, 784);
    assert_int_equal(f.schedule.shared_word[0], 16 * 32 * 3);
    assert_int_equal(f.schedule.shared_word[1], 16 * 7 * 16);
    assert_int_equal(f.schedule.shared_byte, (1536 + 1792) * 4);
    assert_int_equal(f.schedule.register_words, 2 + 2 + 4);
    assert_int_equal(f.schedule.register_byte, 784 * 8 * 4);
    assert_false(f.schedule.unfinished);
    assert_int_equal(f.schedule.shared_by_blocks | f.schedule.shared_by_threads, 0);
    assert_true(gpu_schedule_check(&f.arch, &f.schedule, reason, sizeof reason));
}

static void test_launch_is_written_for_people(void **state)
{
    (void)state;
    static const char expected[] =
        "  gridDim    (2, 4, 4), 32 blocks  x: Q 2  y: P 4  z: K 4\n"
        "  blockDim   (7, 7, 16), 784 of 1,024 threads in (1024, 1024, 64)  x: Q 7  y: P 7  z: K 16\n"
        "  shared     Weights 1,536 + Inputs 1,792 words, 13,312 B of 49,152 B\n"
        "  registers  Weights 2 + Inputs 2 + Outputs 4 = 8 words of a thread, 25,088 B of 65,536 B of a "
        "block\n"
        "  loops      for r2 < 3, c2 < 8  (filling the shared memory)\n"
        "               for s1 < 3, c1 < 16  (in shared memory)\n"
        "                 for q0 < 2, k0 < 2  (in registers)\n"
        "  indices    K = 32 * blockIdx.z + 2 * threadIdx.z + k0\n"
        "             C = 16 * c2 + c1\n"
        "             P = 7 * blockIdx.y + threadIdx.y\n"
        "             Q = 14 * blockIdx.x + 2 * threadIdx.x + q0\n"
        "             R = r2\n"
        "             S = s1\n";
    struct fixture f;
    struct text_buffer out;
    set_up(&f);
    text_init(&out);
    mapping_text_gpu.write(&f.mapping, &f.problem, &f.arch, &out);
    assert_string_equal(out.data, expected);
    text_free(&out);
}

/* A mapping of a padded problem (28 for 27) guards the index. */
static void test_launch_guards_padded_indices(void **state)
{
    (void)state;
    struct fixture f;
    struct text_buffer out;
    set_up(&f);
    f.problem.bound[Q] = 27;
    text_init(&out);
    mapping_text_gpu.write(&f.mapping, &f.problem, &f.arch, &out);
    assert_non_null(strstr(out.data, "Q = 14 * blockIdx.x + 2 * threadIdx.x + q0, while < 27\n"));
    text_free(&out);
}

static void test_launch_is_a_row_of_a_table(void **state)
{
    (void)state;
    struct fixture f;
    struct text_buffer out;
    uint32_t n_name = 0, n_value = 0;
    set_up(&f);
    text_init(&out);
    mapping_text_gpu.csv_header(&out);
    for (const char *c = out.data; *c; c++)
        n_name += *c == ',';
    text_free(&out);
    text_init(&out);
    mapping_text_gpu.csv_row(&f.mapping, &f.problem, &f.arch, &out);
    for (const char *c = out.data; *c; c++)
        n_value += *c == ',';
    assert_int_equal(n_name, n_value);
    assert_string_equal(
        out.data, "2,4,4,7,7,16,32,784,Q=2,P=4,K=4,Q=7,P=7,K=16,13312,8,25088,R=3 C=8,S=3 C=16,Q=2 K=2");
    text_free(&out);
}

/* 128 threads along one dimension do not fit z (64): the loop moves to y; with four loops two share an
 * axis. */
static void test_launch_arranges_loops_within_each_axis(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    put(&f, SHARED, K, 1, 128);
    put(&f, SHARED, P, 7, 1);
    put(&f, DRAM, K, 1, 1);
    put(&f, REGISTERS, K, 1, 1);
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    expect_axes(&f.schedule.block, 7, 128, 1);
    put(&f, SHARED, P, 1, 4); /* three loops, of which K is too long for z */
    put(&f, SHARED, Q, 1, 2);
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    assert_int_equal(f.schedule.threads, 1024);
    assert_true(f.schedule.block.size[2] <= 64);
    assert_true(gpu_schedule_check(&f.arch, &f.schedule, NULL, 0));
    set_up(&f);
    put(&f, SHARED, C, 8, 2); /* Q, P, K, and then C beside one of them */
    put(&f, SHARED, K, 1, 8);
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    expect_axes(&f.schedule.block, 7, 7, 16);
    assert_int_equal(f.schedule.block.n_part, 4);
    assert_int_equal(f.schedule.block.part[3].dim, C);
    assert_int_equal(f.schedule.block.part[3].stride, 8);
    assert_int_equal(f.schedule.shared_by_threads, 1u << C);
    f.arch.gpu.thread_dim[0] =
        4; /* no 7 fits x, and only one of the two fits y = 10: 7 of z = 64, 16 over the three */
    f.arch.gpu.thread_dim[1] = 10;
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    assert_int_equal(f.schedule.threads, 784);
    assert_true(gpu_schedule_check(&f.arch, &f.schedule, NULL, 0));
}

static void expect_refused(struct fixture *f, const char *text)
{
    char reason[128];
    assert_false(gpu_schedule_check(&f->arch, &f->schedule, reason, sizeof reason));
    assert_string_equal(reason, text);
}

/* Each limit of section V-D by itself. */
static void test_launch_check_names_the_broken_limit(void **state)
{
    (void)state;
    struct fixture f;
    set_up(&f);
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    const struct gpu_schedule good = f.schedule;
    f.schedule.block.size[2] = 128;
    expect_refused(&f, "z has 128 threads, at most 64");
    f.schedule = good;
    f.schedule.block.size[0] = 2048;
    expect_refused(&f, "x has 2,048 threads, at most 1,024");
    f.schedule = good;
    f.schedule.threads = 1025;
    expect_refused(&f, "a block has 1,025 threads, at most 1,024");
    f.schedule = good;
    f.schedule.grid.size[1] = 65536;
    expect_refused(&f, "y of the grid has 65,536 blocks, at most 65,535");
    f.schedule = good;
    f.schedule.shared_byte = 49153;
    expect_refused(&f, "the tiles in shared memory have 49,153 B, at most 49,152");
    f.schedule = good;
    f.schedule.register_words = 256;
    expect_refused(&f, "a thread has 256 words of registers, at most 255");
    f.schedule = good;
    f.schedule.register_byte = 65537;
    expect_refused(&f, "a block has 65,537 B of registers, at most 65,536");
}

/* Who adds into the same outputs, and whether sums are left: C over 2 multiprocessors; a loop over outputs
 * inside one of sums. */
static void test_launch_notes_sums_that_are_shared_or_left(void **state)
{
    (void)state;
    struct fixture f;
    struct text_buffer out;
    set_up(&f);
    put(&f, L2, C, 4, 2);
    put(&f, SHARED, K, 2, 16);
    put(&f, DRAM, K, 2, 1);
    gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
    assert_int_equal(f.schedule.blocks, 32); /* K 2, P 4, Q 2, C 2 */
    assert_int_equal(f.schedule.shared_by_blocks, 1u << C);
    assert_true(f.schedule.unfinished); /* k1 inside c2 */
    text_init(&out);
    mapping_text_gpu.write(&f.mapping, &f.problem, &f.arch, &out);
    assert_non_null(strstr(out.data, "C = 32 * c2 + 16 * blockIdx.z + c1") ||
                    strstr(out.data, "C = 32 * c2 + 16 * ("));
    assert_non_null(strstr(out.data, "2 blocks along C add into the same outputs"));
    assert_non_null(strstr(out.data, "come back to sums that they left"));
    text_free(&out);
}

/* ---------------------------------------- every index */

/* The value that the printed formula gives for dimension d: grid and block parts at these indices of their
 * axes. */
static uint64_t parts_value(const struct gpu_axes *axes, uint32_t d, const uint64_t *index)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < axes->n_part; i++)
        if (axes->part[i].dim == d)
            value +=
                index[axes->part[i].axis] / axes->part[i].stride % axes->part[i].factor * axes->part[i].step;
    return value;
}

/* The index along one axis each of a linear number: x fastest. */
static void axis_index(const struct gpu_axes *axes, uint64_t linear, uint64_t *index)
{
    index[0] = linear % axes->size[0];
    index[1] = linear / axes->size[0] % axes->size[1];
    index[2] = linear / axes->size[0] / axes->size[1];
}

/* What the serial loops add to the index of d in their step number `serial`, counted from the innermost level
 * out. */
static uint64_t serial_value(const struct fixture *f, uint32_t d, uint64_t serial)
{
    uint64_t value = 0;
    for (uint32_t l = 0; l < f->arch.n_level; l++)
        for (uint32_t e = 0; e < f->problem.n_dim; e++) {
            uint32_t factor = f->mapping.level[l].temporal[e];
            uint64_t step = f->mapping.level[l].spatial[e];
            if (!gpu_loop_is_serial(&f->problem, &f->arch, l, e))
                continue;
            for (uint32_t k = 0; k < l; k++)
                step *= (uint64_t)f->mapping.level[k].temporal[e] * f->mapping.level[k].spatial[e];
            value += e == d ? serial % factor * step : 0;
            serial /= factor;
        }
    return value;
}

/* Run the launch: every thread of every block with all its serial steps meets every iteration of the problem
 * exactly once. */
static void expect_every_iteration_once(const struct fixture *f)
{
    uint8_t seen[MACS_MAX] = {0};
    uint64_t n = problem_macs(&f->problem), serial = n / f->schedule.blocks / f->schedule.threads;
    uint64_t block[3], thread[3];
    assert_int_equal(f->schedule.blocks * f->schedule.threads * serial, n);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t code = 0;
        axis_index(&f->schedule.grid, i / serial / f->schedule.threads, block);
        axis_index(&f->schedule.block, i / serial % f->schedule.threads, thread);
        for (uint32_t d = 0; d < f->problem.n_dim; d++) {
            uint64_t value = parts_value(&f->schedule.grid, d, block) +
                             parts_value(&f->schedule.block, d, thread) + serial_value(f, d, i % serial);
            assert_true(value < f->problem.bound[d]);
            code = code * f->problem.bound[d] + value;
        }
        seen[code]++;
    }
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(seen[i], 1);
}

/* Wherever the evaluator's rule accepts a block, the launch is one within the limits, with the same threads
 * and registers. */
static void test_launch_exists_for_every_mapping_that_fits(void **state)
{
    (void)state;
    uint32_t n_gpu = 0, n_split = 0;
    for (uint64_t i = 0; i < N_RANDOM; i++) {
        struct random_stream stream = random_stream_make(SEED, i, RANDOM_TEST);
        struct random_case_options options = {.limits = false};
        struct fixture f;
        struct misfit_info fit;
        memset(&f, 0, sizeof f);
        random_case_problem(&stream, MACS_MAX, &f.problem);
        random_case_architecture(&stream, &options, &f.arch);
        random_case_gpu(&stream, &f.arch);
        random_case_mapping(&stream, &f.problem, &f.arch, false, &f.mapping);
        if (!f.arch.gpu.present || (f.arch.n_level > 3 && i % 2))
            continue;
        uint64_t threads = 1;
        for (uint32_t d = 0; d < f.problem.n_dim; d++)
            threads *= f.mapping.level[f.arch.gpu.level].spatial[d];
        gpu_schedule_of(&f.problem, &f.arch, &f.mapping, &f.schedule);
        assert_int_equal(f.schedule.threads, threads);
        if (threads > f.arch.gpu.threads_per_block || !gpu_has_shape(&f.arch.gpu, threads))
            continue;
        n_gpu++;
        for (int axis = 0; axis < 3; axis++)
            assert_true(f.schedule.block.size[axis] <= f.arch.gpu.thread_dim[axis]);
        bool fits = gpu_block_fits(&f.arch.gpu, threads, f.schedule.register_byte * 8 / threads, 0, &fit);
        assert_int_equal(fits, f.schedule.register_byte * 8 <= f.arch.gpu.register_bit);
        expect_every_iteration_once(&f);
        uint32_t loops = 0;
        for (uint32_t d = 0; d < f.problem.n_dim; d++)
            loops += f.mapping.level[f.arch.gpu.level].spatial[d] > 1;
        n_split += f.schedule.block.n_part > loops;
    }
    assert_true(n_gpu > 200 && n_split > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launch_has_the_sizes_of_the_mapping),
        cmocka_unit_test(test_launch_is_written_for_people),
        cmocka_unit_test(test_launch_guards_padded_indices),
        cmocka_unit_test(test_launch_is_a_row_of_a_table),
        cmocka_unit_test(test_launch_arranges_loops_within_each_axis),
        cmocka_unit_test(test_launch_check_names_the_broken_limit),
        cmocka_unit_test(test_launch_notes_sums_that_are_shared_or_left),
        cmocka_unit_test(test_launch_exists_for_every_mapping_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
