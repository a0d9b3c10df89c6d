/* Timeloop mappings: directives, spellings, refusals. Expected values are those written in the mappings.
 * Tests: timeloop_loops.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "tests/support/mapping_same.h"

#define KNOWN "tests/known/timeloop/"

/* A matrix product on two levels, M: 8, N: 4, K: 6; tensors A, B, Z. */
static void small_machine(struct problem *problem, struct architecture *arch)
{
    static const char text[] = "architecture:\n"
                               "  subtree:\n"
                               "  - name: chip\n"
                               "    local:\n"
                               "    - {name: DRAM, class: DRAM}\n"
                               "    - {name: Buf, class: SRAM, attributes: {entries: 64}}\n"
                               "    - {name: 'MAC[0..7]', class: mac, attributes: {meshX: 4}}\n"
                               "problem:\n"
                               "  shape:\n"
                               "    dimensions: [M, N, K]\n"
                               "    data-spaces:\n"
                               "    - {name: A, projection: [M, K]}\n"
                               "    - {name: B, projection: [K, N]}\n"
                               "    - {name: Z, projection: [M, N], read-write: true}\n"
                               "  instance: {M: 8, N: 4, K: 6}\n";
    struct yaml_doc doc;
    struct dse_error err;

    assert_int_equal(yaml_parse(&doc, "all.yaml", text, strlen(text), &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, NULL, 0, arch, &err), DSE_OK);
    assert_int_equal(problem_build(&doc, problem, &err), DSE_OK);
    yaml_doc_free(&doc);
}

static enum dse_status build(const char *text, struct mapping *mapping, struct dse_error *err)
{
    struct problem problem;
    struct architecture arch;
    struct yaml_doc doc;
    enum dse_status status;

    small_machine(&problem, &arch);
    memset(err, 0, sizeof *err);
    status = yaml_parse(&doc, "map.yaml", text, strlen(text), err);
    if (status != DSE_OK)
        return status;
    status = mapping_build(&doc, &problem, &arch, mapping, err);
    yaml_doc_free(&doc);
    return status;
}

static struct mapping good(const char *text)
{
    struct mapping mapping;
    struct dse_error err;

    if (build(text, &mapping, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
    return mapping;
}

static void test_timeloop_mapping_reads_a_case(void **state)
{
    struct problem problem;
    struct architecture arch;
    struct mapping m;
    struct dse_error err;
    const struct mapping_level *level;

    (void)state;
    assert_int_equal(architecture_read(KNOWN "archs/simba16.yaml", &arch, &err), DSE_OK);
    assert_int_equal(problem_read(KNOWN "problems/fc-4096x1000-n16.yaml", &problem, &err), DSE_OK);
    assert_int_equal(mapping_read(KNOWN "maps/001_simba16_fc-4096x1000-n16.yaml", &problem, &arch, &m, &err),
                     DSE_OK);
    /* dimensions are C K R S N P Q = 0..6, tensors Weights Inputs Outputs = bits 0..2 */
    level =
        &m.level[5]; /* DRAM: C=2 K=5, PNSQKCR, no_temporal_reuse [Weights, Inputs], no bypass directive */
    assert_int_equal(level->temporal[0], 2);
    assert_int_equal(level->temporal[1], 5);
    assert_memory_equal(level->temporal_order, ((const uint8_t[]){5, 4, 3, 6, 1, 0, 2}), 7);
    assert_int_equal(level->no_temporal_reuse, 3);
    assert_int_equal(level->keep, 7);
    level =
        &m.level[4]; /* GlobalBuffer spatial: C=2 K=2, NQRCPKS, split 4, no_link_transfer [Weights, Inputs] */
    assert_int_equal(level->spatial[0], 2);
    assert_memory_equal(level->spatial_order, ((const uint8_t[]){4, 6, 2, 0, 5, 1, 3}), 7);
    assert_int_equal(level->split, 4);
    assert_int_equal(level->no_link_transfer, 3);
    assert_int_equal(level->keep, 6);
    assert_int_equal(m.level[0].keep, 1); /* Registers keep Weights */
    assert_int_equal(m.level[1].spatial[4], 4);
}

static void test_timeloop_mapping_reads_every_known_case(void **state)
{
    char line[1024], name[256], path[512];
    FILE *file = fopen(KNOWN "cases.csv", "r");
    int n_read = 0, n_refused = 0;

    (void)state;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        struct problem problem;
        struct architecture arch;
        struct mapping m;
        struct dse_error err;
        char *field[4], *rest = line;

        for (int i = 0; i < 4; i++)
            field[i] = strsep(&rest, ",");
        snprintf(name, sizeof name, "%s", field[0]);
        snprintf(path, sizeof path, KNOWN "%s", field[1]);
        enum dse_status status = architecture_read(path, &arch, &err);
        snprintf(path, sizeof path, KNOWN "%s", field[2]);
        if (status == DSE_OK)
            status = problem_read(path, &problem, &err);
        snprintf(path, sizeof path, KNOWN "%s", field[3]);
        if (status == DSE_OK)
            status = mapping_read(path, &problem, &arch, &m, &err);
        /* the two of the 15 limit cases that are refused on reading; the others are for the evaluator */
        bool refused = strcmp(name, "limits_10_factor_product_mismatch") == 0 ||
                       strcmp(name, "limits_13_fractional_mac_energy") == 0;
        if ((status == DSE_OK) == refused)
            fail_msg("%s: %s", name, err.text);
        n_read++;
        n_refused += status != DSE_OK;
    }
    fclose(file);
    assert_int_equal(n_read, 145);
    assert_int_equal(n_refused, 2);
}

static void test_timeloop_mapping_defaults(void **state)
{
    struct mapping m = good("mapping:\n- {target: DRAM, type: temporal, factors: M=8 N=4 K=6}\n");

    (void)state;
    assert_int_equal(m.n_level, 2);
    assert_int_equal(m.level[0].temporal[0], 1);
    assert_int_equal(m.level[0].split, 3);
    assert_int_equal(m.level[0].keep, 7);
    assert_memory_equal(m.level[1].temporal_order, ((const uint8_t[]){0, 1, 2}), 3);
}

static void test_timeloop_mapping_spellings_are_equal(void **state)
{
    static const char *const factors[] = {"M=2 N=4 K=3",       "M2 N4 K3",        "'M=2,N=4,K=3'",
                                          "M = 2 N == 4 K 3",  "[M=2, N=4, K=3]", "[M2, N4, 'K = 3']",
                                          "{M: 2, N: 4, K: 3}"};
    static const char *const order[] = {"KMN", "'K,M,N'", "K M N", "[K, M, N]", "KM", "K,M", "[KM]"};
    struct mapping first, m;
    char text[512];

    (void)state;
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) {
        snprintf(text, sizeof text,
                 "mapping:\n- {target: DRAM, type: temporal, factors: M=4 K=2}\n- target: Buf[0..0]\n  type: "
                 "temporal\n"
                 "  factors: %s\n  permutation: %s\n",
                 factors[i], order[i]);
        m = good(text);
        if (i == 0)
            first = m;
        assert_int_equal(m.level[0].temporal[0], 2);
        assert_int_equal(m.level[0].temporal[1], 4);
        assert_int_equal(m.level[0].temporal[2], 3);
        assert_memory_equal(m.level[0].temporal_order, ((const uint8_t[]){2, 0, 1}), 3);
        assert_true(mapping_same(&m, &first));
    }
}

static void test_timeloop_mapping_spatial_and_bypass(void **state)
{
    struct mapping m = good("mapping:\n"
                            "- {target: DRAM, type: temporal, factors: K=6 M=2}\n"
                            "- {target: Buf, type: spatial, factors: M=4 N=4, permutation: NM, split: 1,\n"
                            "   no_link_transfer: [A, Z], no_multicast_no_reduction: [B]}\n"
                            "- {target: Buf, type: bypass, keep: [A], bypass: [Z]}\n"
                            "- {target: Buf, type: datatype, bypass: B}\n"
                            "- {target: DRAM, type: bypass, keep: null, bypass: []}\n");

    (void)state;
    assert_int_equal(m.level[0].split, 1);
    assert_int_equal(m.level[0].spatial[0], 4);
    assert_memory_equal(m.level[0].spatial_order, ((const uint8_t[]){1, 0, 2}), 3);
    assert_int_equal(m.level[0].no_link_transfer, 5);
    assert_int_equal(m.level[0].no_multicast, 2);
    assert_int_equal(m.level[0].keep, 1);
    assert_int_equal(m.level[1].keep, 7);
    m = good("mapping:\n- {target: DRAM, type: temporal, factors: M8 N4 K6}\n"
             "- {target: Buf, type: spatial, split: 999}\n");
    assert_int_equal(m.level[0].split, 3); /* beyond the last position: all on X */
}

static void test_timeloop_mapping_reads_long_names(void **state)
{
    static const char text[] =
        "architecture:\n"
        "  subtree:\n"
        "  - {name: c, local: [{name: DRAM, class: DRAM}, {name: MAC, class: mac}]}\n"
        "problem:\n"
        "  shape:\n"
        "    dimensions: [row, P1, k]\n"
        "    data-spaces: [{name: A, projection: [row, k]}, {name: Z, projection: [row, P1], "
        "read-write: yes}]\n"
        "  instance: {row: 6, P1: 5, k: 7}\n"
        "mapping:\n"
        "- {target: DRAM, type: temporal, factors: row6 P1=5 k 7, permutation: 'P1,k,row'}\n";
    struct problem problem;
    struct architecture arch;
    struct mapping m;
    struct yaml_doc doc;
    struct dse_error err;

    (void)state;
    assert_int_equal(yaml_parse(&doc, "all.yaml", text, strlen(text), &err), DSE_OK);
    assert_int_equal(architecture_build(&doc, NULL, 0, &arch, &err), DSE_OK);
    assert_int_equal(problem_build(&doc, &problem, &err), DSE_OK);
    if (mapping_build(&doc, &problem, &arch, &m, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
    assert_memory_equal(m.level[0].temporal_order, ((const uint8_t[]){1, 2, 0}), 3);
    assert_int_equal(m.level[0].temporal[0], 6);
}

#define TEMPORAL "mapping:\n- {target: DRAM, type: temporal, factors: M=8 N=4 K=6}\n"

static void test_timeloop_mapping_refuses_by_name_and_line(void **state)
{
    static const struct {
        const char *yaml;
        int line;
        const char *text;
    } cases[] = {
        {"problem: {}\n", 1, "mapping"},
        {"mapping: {}\n", 1, "list"},
        {"mapping: []\n", 1, "factors of dimension M multiply to 1, the problem has 8"},
        {"mapping:\n- {target: DRAM, type: temporal, factors: M=8 N=4 K=3}\n", 2,
         "factors of dimension K multiply to 3, the problem has 6"},
        {TEMPORAL "- {target: Buf, type: spatial, factors: M=2}\n", 2,
         "dimension M multiply to 16, the problem has 8 (--pad"},
        {TEMPORAL "- {target: Buff, type: temporal}\n", 3, "did you mean \"Buf\""},
        {TEMPORAL "- {target: MAC, type: temporal}\n", 3, "storage levels"},
        {TEMPORAL "- {type: temporal}\n", 3, "target"},
        {TEMPORAL "- {target: Buf}\n", 3, "type"},
        {TEMPORAL "- {target: Buf, type: tempral}\n", 3, "temporal"},
        {TEMPORAL "- {target: DRAM, type: temporal}\n", 3,
         "second temporal directive (the first is on line 2)"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: L=2}\n", 3, "unknown dimension \"L\""},
        {TEMPORAL "- {target: Buf, type: temporal, factors: 'M=3,2'}\n", 3, "imperfect"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: {M: '3,2'}}\n", 3, "imperfect"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M=0}\n", 3, "at least 1"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M=-1}\n", 3, "cannot be read at"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M=2.5}\n", 3, "cannot be read at"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M=}\n", 3, "cannot be read at"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M}\n", 3, "cannot be read at"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: =2}\n", 3, "cannot be read at"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: 'M=2;N=3'}\n", 3, "cannot be read at"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M=2 M=1}\n", 3, "two factors"},
        {TEMPORAL "- {target: Buf, type: temporal, factors: M=99999999999999999999}\n", 3, "whole number"},
        {TEMPORAL "- {target: Buf, type: temporal, permutation: MNM}\n", 3, "M appears twice"},
        {TEMPORAL "- {target: Buf, type: temporal, permutation: MNX}\n", 3, "unknown dimension \"X\""},
        {TEMPORAL "- {target: Buf, type: temporal, permutation: {M: 1}}\n", 3, "permutation"},
        {TEMPORAL "- {target: Buf, type: temporal, split: 1}\n", 3, "split"},
        {TEMPORAL "- {target: Buf, type: temporal, keep: [A]}\n", 3, "keep"},
        {TEMPORAL "- {target: Buf, type: spatial, split: -1}\n", 3, "split"},
        {TEMPORAL "- {target: Buf, type: spatial, no_link_transfer: [C]}\n", 3, "unknown tensor \"C\""},
        {TEMPORAL "- {target: Buf, type: spatial, skew: 1}\n", 3, "skewed loops are not supported"},
        {TEMPORAL "- {target: Buf, type: skew}\n", 3, "not supported"},
        {TEMPORAL "- {target: Buf, type: temporal, flattened: true}\n", 3,
         "flattened loops are not supported"},
        {TEMPORAL "- {target: Buf, type: bypass, keep: [A], bypass: [A]}\n", 3, "given twice"},
        {TEMPORAL "- {target: Buf, type: bypass, keep: [A, A]}\n", 3, "names A twice"},
        {TEMPORAL "- {target: Buf, type: bypass, keep: [A]}\n- {target: Buf, type: datatype, bypass: [A]}\n",
         4, "given twice"},
        {TEMPORAL "- {target: Buf, type: bypass, kep: [A]}\n", 3, "did you mean \"keep\""},
        {TEMPORAL "- temporal\n", 3, "mapping directive"},
        {TEMPORAL "mapspace: {targets: [{target: Buf}]}\n", 1, "constraints beside a mapping are not read"},
    };
    struct mapping m;
    struct dse_error err;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(build(cases[i].yaml, &m, &err), DSE_BAD_INPUT);
        if (strstr(err.text, cases[i].text) == NULL || err.line != cases[i].line)
            fail_msg("case %zu: line %d \"%s\" lacks \"%s\" on line %d", i, err.line, err.text, cases[i].text,
                     cases[i].line);
        assert_string_equal(err.file, "map.yaml");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_mapping_reads_a_case),
        cmocka_unit_test(test_timeloop_mapping_reads_every_known_case),
        cmocka_unit_test(test_timeloop_mapping_defaults),
        cmocka_unit_test(test_timeloop_mapping_spellings_are_equal),
        cmocka_unit_test(test_timeloop_mapping_spatial_and_bypass),
        cmocka_unit_test(test_timeloop_mapping_reads_long_names),
        cmocka_unit_test(test_timeloop_mapping_refuses_by_name_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
