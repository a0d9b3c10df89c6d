/* The transactions of mappings against those of a second generator, which was written from the reference page's description
 * alone: tests/known/cosa_noc/README.md. Every id, size, destination and dependency must agree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/noc.h"
#include "costmodel/readers.h"

#define KNOWN "tests/known/cosa_noc/second/"
#define TABLE_V "experiments/architectures/simba_tablev.yaml"

/* The program of the problem and mapping in NAME.yaml on Table V's machine, as CSV. */
static void write_program(const char *name, struct text_buffer *out)
{
    char path[128];
    struct yaml_doc doc;
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct noc_config config;
    struct noc_program program;
    struct arena arena;
    struct dse_error err;
    snprintf(path, sizeof path, KNOWN "%s.yaml", name);
    arena_init(&arena);
    noc_config_init(&config, 4, 4);
    if (architecture_read(TABLE_V, &arch, &err) != DSE_OK || yaml_read(&doc, path, &err) != DSE_OK)
        fail_msg("%s: %s", name, err.text);
    if (problem_build(&doc, &problem, &err) != DSE_OK ||
        mapping_build(&doc, &problem, &arch, &mapping, &err) != DSE_OK ||
        noc_program_of(&problem, &arch, &mapping, (uint32_t)noc_level_of(&arch), &config, 0, &arena, &program,
                       NULL, &err) != DSE_OK ||
        noc_check(&config, &program, &err) != DSE_OK)
        fail_msg("%s: %s", name, err.text);
    noc_program_write_csv(&program, out);
    yaml_doc_free(&doc);
    arena_free(&arena);
}

/* Line by line, so that a failure names the row. */
static void assert_transactions(const char *name)
{
    char path[128], line[1024];
    struct text_buffer got;
    text_init(&got);
    write_program(name, &got);
    snprintf(path, sizeof path, KNOWN "%s.csv", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const char *at = got.data;
    while (fgets(line, sizeof line, file)) {
        size_t length = strlen(line);
        if (strncmp(at, line, length) != 0)
            fail_msg("%s: want %sgot %.200s", name, line, at);
        at += length;
    }
    fclose(file);
    assert_int_equal(*at, '\0');
    text_free(&got);
}

/* K2 x S2 at the global buffer: outputs leave each step and come back for the second row of the window; windows also
 * over PEs, whose sums are added up. */
static void test_noc_second_reloads_sums_from_the_buffer(void **state)
{
    (void)state;
    assert_transactions("sums_reloaded_from_buffer");
}

/* Q2 inside C2 at the DRAM, C2 over PEs. */
static void test_noc_second_reloads_sums_from_dram(void **state)
{
    (void)state;
    assert_transactions("sums_reloaded_from_dram");
}

/* R2 at the DRAM, K2 at the global buffer: a reduction that the loops between buffer and PEs do not see. */
static void test_noc_second_keeps_buffer_and_dram_apart(void **state)
{
    (void)state;
    assert_transactions("reduction_sums_across_dram");
}

/* Q2 x C8 on all 16 PEs: chains along rows, then down two columns. */
static void test_noc_second_sums_over_all_pes(void **state)
{
    (void)state;
    assert_transactions("all_pes_two_columns_sum");
}

/* P3 x K2 in each of two DRAM steps: what waits for step s - 2, in which stores and chains took outputs away. */
static void test_noc_second_double_buffers(void **state)
{
    (void)state;
    assert_transactions("stores_double_buffered");
}

/* Weights of both levels' loops; K5 in the input buffer enlarges a PE's share of weights and outputs. */
static void test_noc_second_sends_weights_each_step(void **state)
{
    (void)state;
    assert_transactions("weights_each_step");
}

/* R2 over PEs: they share their inputs, not their weights. */
static void test_noc_second_shares_inputs_between_windows(void **state)
{
    (void)state;
    assert_transactions("window_over_pes");
}

/* Stride 3 and dilation 2 in one direction only. */
static void test_noc_second_sizes_strided_tiles(void **state)
{
    (void)state;
    assert_transactions("stride_dilation_halo");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_second_reloads_sums_from_the_buffer),
        cmocka_unit_test(test_noc_second_reloads_sums_from_dram),
        cmocka_unit_test(test_noc_second_keeps_buffer_and_dram_apart),
        cmocka_unit_test(test_noc_second_sums_over_all_pes),
        cmocka_unit_test(test_noc_second_double_buffers),
        cmocka_unit_test(test_noc_second_sends_weights_each_step),
        cmocka_unit_test(test_noc_second_shares_inputs_between_windows),
        cmocka_unit_test(test_noc_second_sizes_strided_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
