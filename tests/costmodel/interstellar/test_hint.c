/* Schedule files of Interstellar's authors: what they ask for, and what is said about faults. The files are
 * those of their repository at commit ed38e1e, with names of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/hint.h"
#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"

static void make_arch(struct architecture *arch)
{
    static const char json[] =
        "{mem_levels: 4, capacity: [16, 128, 262144, 1073741824], access_cost: [1, 1, 1, "
        "1], parallel_count: [1, 256, 1, 1], parallel_cost: [1], precision: 16, "
        "memory_partitions: [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]}";
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_parse(&doc, "opt4.json", json, sizeof json - 1, &err), DSE_OK);
    if (architecture_build(&doc, NULL, 0, arch, &err) != DSE_OK)
        fail_msg("%s", err.text);
    yaml_doc_free(&doc);
}

static void make_problem(struct problem *problem, const char *layer)
{
    struct network net;
    struct dse_error err;
    char text[300];
    snprintf(text, sizeof text, "{network: n, kind: layers, layers: [%s]}", layer);
    if (network_parse("n.yaml", text, strlen(text), &net, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(layer_problem(net.layer, 1, problem, &err), DSE_OK);
    network_free(&net);
}

static const char conv3[] = "{name: c, type: conv, C: 256, K: 384, P: 13, Q: 13, R: 3, S: 3}";

static enum dse_status read_hint(const char *text, const char *layer, struct problem *problem,
                                 struct interstellar_hint *hint, struct dse_error *err)
{
    struct architecture arch;
    struct yaml_doc doc;
    make_arch(&arch);
    make_problem(problem, layer);
    assert_int_equal(yaml_parse(&doc, "s.json", text, strlen(text), err), DSE_OK);
    enum dse_status status = interstellar_hint_read(&doc, doc.root, problem, &arch, hint, err);
    yaml_doc_free(&doc);
    return status;
}

static const struct loop_hint *of(const struct interstellar_hint *hint, const struct problem *problem,
                                  const char *dim)
{
    return &hint->loop[problem_find_dim(problem, dim)];
}

static void test_row_stationary(void **state)
{
    (void)state;
    struct problem problem;
    struct interstellar_hint hint;
    struct dse_error err;
    assert_int_equal(
        read_hint(
            "{\"schedule_hint\": {\"FX\": {\"level1\": {\"order\": 0, \"blocking_size\": 3, "
            "\"partitioning_size\": 1}}, \"FY\": {\"level1\": {\"blocking_size\": 1, \"partitioning_size\": "
            "3}}, \"OC\": {\"level1\": {\"partitioning_size\": 4}}}, \"partition_loops\": [\"OX\", \"ON\"]}",
            conv3, &problem, &hint, &err),
        DSE_OK);
    assert_true(hint.present && hint.has_partition_loops);
    assert_int_equal(of(&hint, &problem, "S")->blocking, 3);
    assert_int_equal(of(&hint, &problem, "S")->partition, 1);
    assert_int_equal(of(&hint, &problem, "R")->partition, 3);
    assert_int_equal(of(&hint, &problem, "K")->partition, 4);
    assert_int_equal(of(&hint, &problem, "K")->blocking, 0);
    assert_int_equal(of(&hint, &problem, "K")->level, 1);
    assert_false(of(&hint, &problem, "C")->present);
    assert_int_equal(hint.n_partition_loop, 2);
    assert_int_equal(hint.partition_loop[0], problem_find_dim(&problem, "Q"));
    assert_int_equal(hint.partition_loop[1], problem_find_dim(&problem, "N"));
    /* without side-by-side iterations a level need be no array; without a list there is none */
    assert_int_equal(read_hint("{schedule_hint: {IC: {level0: {partitioning_size: 1, blocking_size: 2}}}}",
                               conv3, &problem, &hint, &err),
                     DSE_OK);
    assert_false(hint.has_partition_loops);
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
        int line;
    } bad[] = {
        {"{partition_loops: [OX]}", "schedule_hint", 1},
        {"{schedule_hint: {}}", "schedule_hint is empty", 1},
        {"{schedule_hint: 3}", "schedule_hint", 1},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 2}}},\nbatch: 1}", "batch", 2},
        {"{schedule_hint: {\nIX: {level1: {partitioning_size: 2}}}}", "unknown loop \"IX\"", 2},
        {"{schedule_hint: {\nIC: {level4: {partitioning_size: 2}}}}", "outermost is level3 (DRAM)", 2},
        {"{schedule_hint: {\nIC: {L1: {partitioning_size: 2}}}}", "write level0", 2},
        {"{schedule_hint: {\nIC: {level-1: {partitioning_size: 2}}}}", "write level0", 2},
        {"{schedule_hint: {IC: {level0:\n {partitioning_size: 2}}}}", "arrays are: level1 (RF2)", 2},
        {"{schedule_hint: {IC: {level3:\n {partitioning_size: 2}}}}",
         "level3 (DRAM) of machine opt4 is no array", 2},
        {"{schedule_hint: {IC: {level1:\n {partitioning_size: 0}}}}", "partitioning_size", 2},
        {"{schedule_hint: {IC: {level1:\n {partitioning_size: 2, blocking_size: 0}}}}", "blocking_size", 2},
        {"{schedule_hint: {IC: {level1:\n {blocking_size: 2}}}}", "partitioning_size", 2},
        {"{schedule_hint: {IC: {level1:\n {partitionning_size: 2}}}}", "did you mean \"partitioning_size\"",
         2},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 2},\nlevel2: {partitioning_size: 1}}}}",
         "names 2 levels", 1},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 2}}},\npartition_loops: OX}", "list", 2},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 2}}},\npartition_loops: [OX, XO]}",
         "unknown loop", 2},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 2}}},\npartition_loops: [OX, OX]}", "OX twice",
         2},
    };
    struct problem problem;
    struct interstellar_hint hint;
    struct dse_error err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(read_hint(bad[i].text, conv3, &problem, &hint, &err), DSE_BAD_INPUT);
        assert_false(hint.present);
        if (err.line != bad[i].line || !strstr(err.text, bad[i].words))
            fail_msg("%zu: line %d, expected %d and \"%s\": %s", i, err.line, bad[i].line, bad[i].words,
                     err.text);
    }
    static const char einsum[] =
        "{name: e, type: einsum, dims: {I: 4, J: 4}, tensors: [{name: A, role: output, index: [I]}, "
        "{name: B, role: input, index: [I, J]}]}";
    assert_int_equal(
        read_hint("{schedule_hint: {FX: {level1: {partitioning_size: 2}}}}", einsum, &problem, &hint, &err),
        DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "has no loop FX"));
}

/* 384 and 256 iterations, 256 PEs; more iterations than there are can only be padding, which a blocking_size
 * alone gives (FACTS of their program: an open factor divides what is there). */
static void test_what_no_mapping_follows(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words; /* NULL: possible */
    } one[] = {
        {"{schedule_hint: {IC: {level1: {partitioning_size: 300}}}}",
         "300 iterations of IC over level1 (RF2)"},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 300, blocking_size: 1}}}}",
         "300 iterations over"},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 32}}, OC: {level1: {partitioning_size: 16}}}}",
         "512 iterations over level1 (RF2), which has 256 instances"},
        {"{schedule_hint: {IC: {level1: {partitioning_size: 16}}, OC: {level1: {partitioning_size: 16}}}}",
         NULL},
        {"{schedule_hint: {OX: {level1: {partitioning_size: 16, blocking_size: 1}}}}", NULL},
    };
    struct problem problem;
    struct architecture arch;
    struct interstellar_hint hint;
    struct dse_error err;
    char why[256] = "";
    make_arch(&arch);
    for (size_t i = 0; i < sizeof one / sizeof one[0]; i++) {
        assert_int_equal(read_hint(one[i].text, conv3, &problem, &hint, &err), DSE_OK);
        assert_int_equal(interstellar_hint_is_impossible(&hint, &problem, &arch, why, sizeof why),
                         one[i].words != NULL);
        if (one[i].words && !strstr(why, one[i].words))
            fail_msg("%zu: expected \"%s\": %s", i, one[i].words, why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_stationary),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_what_no_mapping_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
