/* The transactions of mappings against those of the authors' generator (the worked example) and of a second
 * one, which was written from the reference page's description alone: tests/known/cosa_noc/README.md. Every
 * id, size, destination and dependency must agree.
 * Tests: noc_plan.c, noc_program.c, noc_program_csv.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "base/yaml.h"
#include "costmodel/noc/noc.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

#define KNOWN "tests/known/cosa_noc/"
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
        noc_check(&config, &program, NULL, &err) != DSE_OK)
        fail_msg("%s: %s", name, err.text);
    noc_program_write_csv(&program, out);
    yaml_doc_free(&doc);
    arena_free(&arena);
}

/* Spell out the ranges of the compacted file: "3-5 9" is "3 4 5 9". */
static void expand(const char *line, struct text_buffer *out)
{
    text_clear(out);
    for (const char *p = line; *p;) {
        char *after;
        if (*p < '0' || *p > '9') {
            text_append_bytes(out, p++, 1);
            continue;
        }
        unsigned long first = strtoul(p, &after, 10), last = first;
        if (*after == '-')
            last = strtoul(after + 1, &after, 10);
        for (unsigned long i = first; i <= last; i++)
            text_append(out, i > first ? " %lu" : "%lu", i);
        p = after;
    }
}

/* Line by line, so that a failure names the row. */
static void assert_transactions(const char *name)
{
    char path[128], line[2048];
    struct text_buffer got, want;
    text_init(&got);
    text_init(&want);
    write_program(name, &got);
    snprintf(path, sizeof path, KNOWN "%s.csv", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const char *at = got.data;
    while (fgets(line, sizeof line, file)) {
        expand(line, &want);
        if (strncmp(at, want.data, want.length) != 0)
            fail_msg("%s: want %sgot %.200s", name, want.data, at);
        at += want.length;
    }
    fclose(file);
    assert_int_equal(*at, '\0');
    text_free(&got);
    text_free(&want);
}

static void test_noc_program_is_the_worked_example(void **state)
{
    (void)state;
    assert_transactions("worked_example");
}

/* K2 x S2 at the global buffer: outputs leave each step and come back for the second row of the window;
 * windows also over PEs, whose sums are added up. */
static void test_noc_program_reloads_sums_from_the_buffer(void **state)
{
    (void)state;
    assert_transactions("second/sums_reloaded_from_buffer");
}

/* Q2 inside C2 at the DRAM, C2 over PEs. */
static void test_noc_program_reloads_sums_from_dram(void **state)
{
    (void)state;
    assert_transactions("second/sums_reloaded_from_dram");
}

/* R2 at the DRAM, K2 at the global buffer: a reduction that the loops between buffer and PEs do not see. */
static void test_noc_program_keeps_buffer_and_dram_apart(void **state)
{
    (void)state;
    assert_transactions("second/reduction_sums_across_dram");
}

/* Q2 x C8 on all 16 PEs: chains along rows, then down two columns. */
static void test_noc_program_sums_over_all_pes(void **state)
{
    (void)state;
    assert_transactions("second/all_pes_two_columns_sum");
}

/* P3 x K2 in each of two DRAM steps: what waits for step s - 2, in which stores and chains took outputs
 * away. */
static void test_noc_program_double_buffers(void **state)
{
    (void)state;
    assert_transactions("second/stores_double_buffered");
}

/* Weights of both levels' loops; K5 in the input buffer enlarges a PE's share of weights and outputs. */
static void test_noc_program_sends_weights_each_step(void **state)
{
    (void)state;
    assert_transactions("second/weights_each_step");
}

/* R2 over PEs: they share their inputs, not their weights. */
static void test_noc_program_shares_inputs_between_windows(void **state)
{
    (void)state;
    assert_transactions("second/window_over_pes");
}

/* Stride 3 and dilation 2 in one direction only. */
static void test_noc_program_sizes_strided_tiles(void **state)
{
    (void)state;
    assert_transactions("second/stride_dilation_halo");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_program_is_the_worked_example),
        cmocka_unit_test(test_noc_program_reloads_sums_from_the_buffer),
        cmocka_unit_test(test_noc_program_reloads_sums_from_dram),
        cmocka_unit_test(test_noc_program_keeps_buffer_and_dram_apart),
        cmocka_unit_test(test_noc_program_sums_over_all_pes),
        cmocka_unit_test(test_noc_program_double_buffers),
        cmocka_unit_test(test_noc_program_sends_weights_each_step),
        cmocka_unit_test(test_noc_program_shares_inputs_between_windows),
        cmocka_unit_test(test_noc_program_sizes_strided_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
