/* GPUs: the part `gpu` of an architecture file, the limits of a thread block, the shipped K80. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/gpu_limits.h"
#include "costmodel/readers/readers.h"

/* Two lines, then `middle` (what stands in its first line is line 3), then a hierarchy with 4 x 2 register
 * files in an array PE. */
static void make_doc(struct yaml_doc *doc, const char *middle)
{
    struct text_buffer text;
    struct dse_error err;
    text_init(&text);
    text_append(&text, "architecture: tiny\nclock: 1 GHz\n%s\n", middle);
    if (!strstr(middle, "hierarchy:"))
        text_append(&text, "hierarchy:\n");
    text_append(&text, "- {storage: DRAM, kind: dram, word: 8 bit, access_energy: 1 pJ}\n"
                       "- {storage: Buffer, word: 16 bit, capacity: 1 KiB, access_energy: 1 pJ}\n"
                       "- {array: PE, mesh: 4x2}\n"
                       "- {storage: RegFile, word: 16 bit, capacity: 64 B, access_energy: 1 pJ}\n"
                       "- {macs: MAC, word: 16 bit, energy: 1 pJ}\n");
    if (yaml_parse(doc, "tiny.yaml", text.data, text.length, &err) != DSE_OK)
        fail_msg("%s", err.text);
    text_free(&text);
}

static struct architecture build(const char *middle, const struct arch_override *override, size_t n_override)
{
    struct yaml_doc doc;
    struct architecture arch;
    struct dse_error err;
    make_doc(&doc, middle);
    if (architecture_build(&doc, override, n_override, &arch, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    yaml_doc_free(&doc);
    return arch;
}

#define GPU "gpu: {threads: PE, registers_per_block: 1.5 KiB}"

/* CUDA's limits unless said. */
static void test_gpu_is_read_with_cudas_limits(void **state)
{
    (void)state;
    struct architecture arch = build(GPU, NULL, 0);
    assert_true(arch.gpu.present);
    assert_int_equal(arch.gpu.level, 1);
    assert_int_equal(arch.gpu.threads_per_block, 1024);
    assert_int_equal(arch.gpu.thread_dim[0], 1024);
    assert_int_equal(arch.gpu.thread_dim[1], 1024);
    assert_int_equal(arch.gpu.thread_dim[2], 64);
    assert_int_equal(arch.gpu.register_bit, 1536 * 8);
}

static void test_gpu_limits_are_quantities_of_the_machine(void **state)
{
    (void)state;
    const struct arch_override set[] = {
        {"gpu.threads_per_block", "4"}, {"gpu.thread_dims", "[4,2,1]"}, {"gpu.registers_per_block", "1 KiB"}};
    struct architecture arch = build(GPU, NULL, 0);
    uint64_t hash = architecture_hash(&arch);
    for (int i = 0; i < 3; i++) {
        arch = build(GPU, &set[i], 1);
        assert_int_not_equal(architecture_hash(&arch), hash);
    }
    arch = build(GPU, set, 3);
    assert_int_equal(arch.gpu.threads_per_block, 4);
    assert_int_equal(arch.gpu.thread_dim[0], 4);
    assert_int_equal(arch.gpu.thread_dim[1], 2);
    assert_int_equal(arch.gpu.thread_dim[2], 1);
    assert_int_equal(arch.gpu.register_bit, 8192);
}

/* Results of machines without the part stay valid: their hash has nothing of it. */
static void test_gpu_changes_no_hash_of_other_machines(void **state)
{
    (void)state;
    struct architecture arch = build("link_transfers: off", NULL, 0);
    uint64_t hash = architecture_hash(&arch);
    assert_false(arch.gpu.present);
    arch.gpu.register_bit = 1;
    assert_int_equal(architecture_hash(&arch), hash);
    arch = build(GPU, NULL, 0);
    assert_int_not_equal(architecture_hash(&arch), hash);
}

/* A part that is refused; the message blames `line` and has all of `words` in it. */
static const struct {
    const char *text;
    int line;
    const char *word[3];
} bad[] = {
    {"gpu: {threads: PE}", 3, {"gpu", "registers_per_block", "64 KiB"}},
    {"gpu: {threads: PF, registers_per_block: 1 KiB}", 3, {"gpu.threads", "\"PF\"", "did you mean \"PE\""}},
    {"gpu: {threads: Buffer, registers_per_block: 1 KiB}", 3, {"gpu.threads", "no array \"Buffer\""}},
    {"gpu: {registers_per_block: 1 KiB}", 3, {"gpu.registers_per_block", "gpu.threads does not name"}},
    {"gpu:\n  thread_dims: [8, 8, 8]", 4, {"gpu.thread_dims", "gpu.threads does not name"}},
    {"gpu: {threads: PE, registers_per_block: 1024}", 3, {"gpu.registers_per_block", "no unit"}},
    {"gpu: {threads: PE, registers_per_block: 0 KiB}", 3, {"gpu.registers_per_block", "more than 0"}},
    {"gpu: {threads: PE, registers_per_block: 1 B}", 3, {"gpu.registers_per_block", "one word of RegFile"}},
    {"gpu: {threads: PE, registers_per_block: 16 word}", 3, {"gpu.registers_per_block", "word", "KiB"}},
    {"gpu:\n  threads: PE\n  threads_per_block: 0", 5, {"gpu.threads_per_block", "0"}},
    {"gpu:\n  threads: PE\n  threads_per_block: 1.5", 5, {"gpu.threads_per_block", "whole"}},
    {"gpu:\n  threads: PE\n  threads_per_block: 1 KiB", 5, {"gpu.threads_per_block", "plain"}},
    {"gpu:\n  threads: PE\n  thread_dims: [8, 8]", 5, {"gpu.thread_dims", "2 sizes", "[1024, 1024, 64]"}},
    {"gpu:\n  threads: PE\n  thread_dims: [8, 8, 8, 8]", 5, {"gpu.thread_dims", "4 sizes"}},
    {"gpu:\n  threads: PE\n  thread_dims: [8, 0, 8]", 5, {"gpu.thread_dims", "\"0\"", "from 1"}},
    {"gpu:\n  threads: PE\n  thread_dims: [8, x, 8]", 5, {"gpu.thread_dims", "\"x\"", "whole"}},
    {"gpu:\n  threads: PE\n  thread_dims: 8x8x8", 5, {"gpu.thread_dims", "must be a list"}},
    {"gpu: {thread: PE}", 3, {"gpu", "thread", "did you mean \"threads\""}},
    {"gpu: {}", 3, {"gpu", "empty"}},
    {"gpu: PE", 3, {"gpu", "mapping"}},
    {"gpus: {threads: PE}", 3, {"gpus", "did you mean \"gpu\""}},
};

static void test_gpu_explains_bad_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct yaml_doc doc;
        struct architecture arch;
        struct dse_error err = {0};
        make_doc(&doc, bad[i].text);
        if (architecture_build(&doc, NULL, 0, &arch, &err) != DSE_BAD_INPUT || err.line != bad[i].line)
            fail_msg("case %zu (%s): line %d: %s", i, bad[i].text, err.line, err.text);
        for (int w = 0; w < 3 && bad[i].word[w]; w++)
            if (!strstr(err.text, bad[i].word[w]))
                fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, bad[i].word[w]);
        yaml_doc_free(&doc);
    }
}

static void test_gpu_threads_are_not_divided(void **state)
{
    (void)state;
    struct yaml_doc doc;
    struct architecture arch;
    struct dse_error err;
    make_doc(&doc, "gpu: {threads: PE, registers_per_block: 1 KiB}");
    const struct arch_override wide = {"PE.mesh", "1x1"};
    assert_int_equal(architecture_build(&doc, &wide, 1, &arch, &err), DSE_OK); /* one thread is a GPU, too */
    yaml_doc_free(&doc);
    make_doc(&doc,
             "gpu: {threads: Wide, registers_per_block: 1 KiB}\nhierarchy:\n"
             "- {storage: Top, kind: dram, word: 8 bit, access_energy: 1 pJ}\n- {array: Wide, mesh: 2x1}");
    assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "array PE is inside the threads of Wide"));
    assert_int_equal(err.line, 3);
    yaml_doc_free(&doc);
    arch = build(GPU, NULL, 0);
    arch.mac.mesh_x *= 2;
    arch.mac.instances *= 2;
    assert_int_equal(architecture_check(&arch, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "a thread is not divided"));
}

/* Against trying every x and y, for all numbers of threads up to 1024 and odd limits. */
static void test_gpu_has_a_shape_wherever_there_is_one(void **state)
{
    (void)state;
    static const uint32_t dims[][3] = {{1024, 1024, 64}, {32, 32, 64}, {12, 5, 3}, {1, 1, 64}, {7, 1, 2}};
    for (size_t i = 0; i < sizeof dims / sizeof dims[0]; i++) {
        struct gpu_limits gpu = {.present = true, .thread_dim = {dims[i][0], dims[i][1], dims[i][2]}};
        for (uint64_t n = 1; n <= 1024; n++) {
            bool exists = false;
            for (uint64_t x = 1; x <= n && x <= dims[i][0]; x++)
                for (uint64_t y = 1; x * y <= n && y <= dims[i][1]; y++)
                    exists |= n % (x * y) == 0 && n / x / y <= dims[i][2];
            assert_int_equal(gpu_has_shape(&gpu, n), exists);
        }
    }
}

static void expect_misfit(const struct architecture *arch, uint64_t threads, uint64_t bit, const char *text)
{
    struct misfit_info fit;
    struct problem problem = {.n_tensor = 2, .tensor = {{.name = "Weights"}, {.name = "Outputs"}}};
    char buffer[256];
    assert_false(gpu_block_fits(&arch->gpu, threads, bit, 3, &fit));
    assert_string_equal(misfit_print(&fit, &problem, arch, buffer, sizeof buffer), text);
}

/* The limits of section V-D: 1024 threads, (1024, 1024, 64), 64 KB: 16 words of 32 bit for each of 1024
 * threads, 17 for 963. */
static void test_gpu_block_keeps_the_papers_limits(void **state)
{
    (void)state;
    struct architecture arch;
    struct dse_error err;
    assert_int_equal(architecture_read("experiments/architectures/k80.yaml", &arch, &err), DSE_OK);
    assert_true(gpu_block_fits(&arch.gpu, 1024, 16 * 32, 3, NULL));
    assert_true(gpu_block_fits(&arch.gpu, 963, 17 * 32, 3, NULL)); /* 65484 B */
    assert_true(gpu_block_fits(&arch.gpu, 1, 65536 * 8, 3, NULL));
    expect_misfit(&arch, 1025, 32, "a block has 1,025 threads, at most 1,024");
    expect_misfit(
        &arch, 1024, 17 * 32,
        "the threads of a block need 69,632 B of registers for Weights+Outputs, the block has 65,536 B");
    expect_misfit(
        &arch, 964, 17 * 32,
        "the threads of a block need 65,552 B of registers for Weights+Outputs, the block has 65,536 B");
    arch.gpu.thread_dim[0] = arch.gpu.thread_dim[1] = 4; /* 4 * 4 * 64 */
    assert_true(gpu_block_fits(&arch.gpu, 1024, 32, 3, NULL));
    expect_misfit(&arch, 1000, 32, "a block has 1,000 threads, which no x, y, z up to 4, 4, 64 multiply to");
    assert_false(gpu_block_fits(&arch.gpu, 1024, UINT64_MAX, 3, NULL)); /* nothing wraps */
}

/* Section V-D: 2496 cores = 13 x 192, 1.5 MB L2, 48 KB shared memory, 64 KB registers, 1024 threads; 240 GB/s
 * are half of the board's 480; 2496 cores * 560 MHz = 13 * 1024 * 105 MHz multiply-accumulates per second. */
static void test_gpu_k80_has_the_numbers_of_the_paper(void **state)
{
    (void)state;
    struct architecture arch;
    struct dse_error err;
    uint64_t x, y;
    assert_int_equal(architecture_read("experiments/architectures/k80.yaml", &arch, &err), DSE_OK);
    assert_int_equal(arch.n_level, 4);
    assert_int_equal(arch.gpu.level, architecture_find_level(&arch, "SharedMemory"));
    assert_int_equal(arch.gpu.threads_per_block, 1024);
    assert_int_equal(arch.gpu.thread_dim[0], 1024);
    assert_int_equal(arch.gpu.thread_dim[1], 1024);
    assert_int_equal(arch.gpu.thread_dim[2], 64);
    assert_int_equal(arch.gpu.register_bit, 64 * 1024 * 8);
    architecture_fanout(&arch, arch.gpu.level, &x, &y);
    assert_int_equal(x * y, 1024);
    int l2 = architecture_find_level(&arch, "L2");
    architecture_fanout(&arch, (uint32_t)l2, &x, &y);
    assert_int_equal(x * y, 2496 / 192);
    assert_int_equal(arch.level[l2].size_word, 3 * 512 * 1024 / 4);
    assert_int_equal(arch.level[arch.gpu.level].size_word, 48 * 1024 / 4);
    assert_int_equal(arch.level[0].size_word, 255);
    assert_true(fabs((double)arch.mac.instances * arch.clock_hz - 2496 * 560e6) < 1);
    assert_true(fabs(arch.level[3].shared_bandwidth_word_per_cycle * 4 * arch.clock_hz - 240e9) < 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gpu_is_read_with_cudas_limits),
        cmocka_unit_test(test_gpu_limits_are_quantities_of_the_machine),
        cmocka_unit_test(test_gpu_changes_no_hash_of_other_machines),
        cmocka_unit_test(test_gpu_explains_bad_files),
        cmocka_unit_test(test_gpu_threads_are_not_divided),
        cmocka_unit_test(test_gpu_has_a_shape_wherever_there_is_one),
        cmocka_unit_test(test_gpu_block_keeps_the_papers_limits),
        cmocka_unit_test(test_gpu_k80_has_the_numbers_of_the_paper),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
