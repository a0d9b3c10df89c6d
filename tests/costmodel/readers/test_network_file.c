/* Timeloop's problem files are networks: alone, in a list, in a folder. Sizes are those of the files of
 * tests/known/timeloop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"

#define FOLDER "tests/known/timeloop/problems"
#define ASYM FOLDER "/asym-3x5-s2x1-d1x2.yaml"

static void test_network_read_takes_every_problem_file(void **state)
{
    struct network all;
    struct dse_error err = {0};
    (void)state;
    if (network_read(FOLDER "/", &all, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(all.name, "problems");
    assert_false(all.is_graph);
    assert_int_equal(all.n_layer, 18); /* files in the folder */
    for (uint32_t i = 0; i < all.n_layer; i++) {
        char path[300];
        struct network one;
        struct problem own, laid;
        snprintf(path, sizeof path, FOLDER "/%s.yaml", all.layer[i].name);
        assert_int_equal(problem_read(path, &own, &err), DSE_OK);
        assert_int_equal(layer_problem(&all.layer[i], 1, &laid, &err), DSE_OK);
        assert_true(problem_hash(&laid) == problem_hash(&own)); /* what `dse eval` prices */
        assert_int_equal(network_read(path, &one, &err), DSE_OK);
        assert_int_equal(one.n_layer, 1);
        assert_string_equal(one.name, all.layer[i].name);
        assert_string_equal(one.layer[0].name, all.layer[i].name);
        assert_true(layer_same_problem(&one.layer[0], &all.layer[i]));
        network_free(&one);
    }
    network_free(&all);
}

static void test_network_file_counts_what_the_problem_has(void **state)
{
    struct network net;
    struct problem twice;
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(network_read(ASYM, &net, &err), DSE_OK);
    assert_true(network_macs(&net, 1) == 16ull * 32 * 3 * 5 * 2 * 24 * 36); /* its instance */
    assert_true(network_weight_words(&net) == 16 * 32 * 3 * 5);
    assert_int_equal(layer_problem(&net.layer[0], 3, &twice, &err), DSE_OK);
    assert_int_equal(twice.bound[problem_find_dim(&twice, "N")], 6); /* N: 2 of the file times the batch */
    network_free(&net);
}

/* A small file system: two problems, and networks of networks. */
static enum dse_status get(void *user, const char *path, const char **bytes, size_t *length,
                           struct dse_error *err)
{
    static const char small[] = "problem:\n  shape: cnn-layer\n"
                                "  instance: {C: 2, K: 3, R: 1, S: 1, N: 1, P: 4, Q: 5}\n";
    static const char v04[] =
        "problem:\n  version: 0.4\n  shape:\n    name: mm\n    dimensions: [M, N, K]\n"
        "    data_spaces:\n"
        "    - {name: A, projection: [[[M]], [[K]]]}\n    - {name: B, projection: [[[K]], [[N]]]}\n"
        "    - {name: Z, projection: [[[M]], [[N]]], read_write: true}\n  instance: {M: 4, N: 6, K: 8}\n";
    (void)user;
    if (strcmp(path, "here/small.yaml") == 0)
        *bytes = small;
    else if (strcmp(path, "/abs/new v04.yml") == 0)
        *bytes = v04;
    else if (strcmp(path, "here/net.yaml") == 0)
        *bytes = "network: n\nlayers: []\n";
    else if (strcmp(path, "here/base.yaml") == 0)
        *bytes = "network: base\ntitle: all\nparameters: {k: {default: 3, to: 9}, c: {default: 5}}\n"
                 "input: {C: c}\nlayers: [{name: a, type: linear, C: c, K: k, from: input}]\n";
    else if (strcmp(path, "here/seven.yaml") == 0)
        *bytes = "{network: seven, of: base, set: {k: 7}}";
    else if (strcmp(path, "here/list.yaml") == 0)
        *bytes = "{network: itself, of: list}";
    else
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be read");
    *length = strlen(*bytes);
    return DSE_OK;
}

static enum dse_status parse(const char *text, struct network *net, struct dse_error *err)
{
    const struct network_files files = {get, NULL, NULL, {NULL, 0, false}};
    *err = (struct dse_error){0};
    return network_parse_with("here/list.yaml", text, strlen(text), &files, net, err);
}

static void test_network_file_lists_problems(void **state)
{
    struct network net;
    struct dse_error err;
    (void)state;
    assert_int_equal(parse("network: n\nkind: layers\nproblems:\n- small.yaml\n"
                           "- {file: /abs/new v04.yml, count: 3}\n- {file: small.yaml, name: again}\n",
                           &net, &err),
                     DSE_OK);
    assert_int_equal(net.n_layer, 3);
    assert_string_equal(net.layer[0].name, "small");
    assert_string_equal(net.layer[1].name, "new_v04"); /* no blank in a name */
    assert_string_equal(net.layer[2].name, "again");
    assert_true(layer_same_problem(&net.layer[0], &net.layer[2]));
    assert_true(network_macs(&net, 1) == 2 * 2 * 3 * 4 * 5 + 3 * 4 * 6 * 8);
    network_free(&net);
}

static void test_network_file_says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *file;
        int line;
        const char *message;
    } row[] = {
        {"network: n\nproblems: []\n", "here/list.yaml", 2, "problems is empty"},
        {"network: n\nkind: graph\nproblems: [small.yaml]\n", "here/list.yaml", 3, "write kind: layers"},
        {"network: n\nproblems: [small.yaml]\nlayers: []\n", "here/list.yaml", 2, "use one of them"},
        {"network: n\nproblems: [small.yaml, small.yaml]\n", "here/list.yaml", 2, "small is used twice"},
        {"network: n\nproblems: [no.yaml]\n", "here/no.yaml", 0, "cannot be read"},
        {"network: n\nproblems: [net.yaml]\n", "here/net.yaml", 1, "this is a network"},
        {"network: n\nproblems: [{fil: x}]\n", "here/list.yaml", 2, "\"fil\""},
        {"network: n\nproblems: [{name: x}]\n", "here/list.yaml", 2, "file"},
        {"network: n\nproblems: [{file: small.yaml, count: 0}]\n", "here/list.yaml", 2, "count"},
        {"problem:\n  shape: cnn-layer\n  instance: {C: 1, J: 2}\n", "here/list.yaml", 3, "\"J\""},
        {"problem: {shape: cnn-layer}\nmapper: {}\n", "here/list.yaml", 2, "choose an engine"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct network net;
        struct dse_error err;
        assert_int_not_equal(parse(row[i].text, &net, &err), DSE_OK);
        if (strcmp(err.file, row[i].file) != 0 || err.line != row[i].line ||
            !strstr(err.text, row[i].message))
            fail_msg("case %zu: %s:%d: %s", i, err.file, err.line, err.text);
    }
}

static void test_network_of_another_one(void **state)
{
    static const struct network_set of_c = {"c", "11", NULL, 0, false};
    const struct network_files files = {get, NULL, NULL, {&of_c, 1, false}};
    static const char text[] = "network: mine\nof: seven.yaml\nsource: here\n";
    struct network net;
    struct dse_error err;
    (void)state;
    if (network_parse_with("here/list.yaml", text, strlen(text), &files, &net, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(net.name, "mine");
    assert_string_equal(net.title, "all");
    assert_string_equal(net.source, "here");
    assert_int_equal(net.layer[0].k, 7);
    assert_int_equal(net.layer[0].c, 11);
    assert_int_equal(net.n_parameter, 1); /* k is set */
    assert_string_equal(net.parameter[0].name, "c");
    network_free(&net);
}

static void test_network_of_another_one_says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *file;
        int line;
        const char *message;
    } row[] = {
        {"network: n\nof: nowhere\n", "here/list.yaml", 2, "of: here/nowhere.yaml cannot be read"},
        {"network: n\nof: list\n", "here/list.yaml", 1, "more than 8 deep"},
        {"network: n\nof: base\nlayers: []\n", "here/list.yaml", 3, "layers"},
        {"of: base\n", "here/list.yaml", 1, "network"},
        {"network: a b\nof: base\n", "here/list.yaml", 1, "is not a name"},
        {"network: n\nof: base\nset:\n  j: 3\n", "here/list.yaml", 4, "no parameter j; it has k, c"},
        {"network: n\nof: base\nset:\n  k: 10\n", "here/list.yaml", 4, "a whole number from 1 to 9"},
        {"network: n\nof: base\nset: [k]\n", "here/list.yaml", 3, "set"},
        {"network: n\nof: seven\nset: {k: 4}\n", "here/list.yaml", 3, "the network sets it itself"},
        {"network: n\nof: small.yaml\nset: {k: 4}\n", "here/list.yaml", 3, "no parameter k"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct network net;
        struct dse_error err;
        assert_int_not_equal(parse(row[i].text, &net, &err), DSE_OK);
        if (strcmp(err.file, row[i].file) != 0 || err.line != row[i].line ||
            !strstr(err.text, row[i].message))
            fail_msg("case %zu: %s:%d: %s", i, err.file, err.line, err.text);
    }
}

static void test_network_list_tells_equal_names_apart(void **state)
{
    static const char *const path[] = {"a/problem.yaml", "b/problem.yaml", "odd \"x\\.yaml"};
    char *bytes;
    size_t length;
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(network_list_problems("list", path, 3, &bytes, &length, &err), DSE_OK);
    assert_string_equal(bytes, "network: \"list\"\nproblems:\n"
                               "- {file: \"a/problem.yaml\", name: \"1-problem\"}\n"
                               "- {file: \"b/problem.yaml\", name: \"2-problem\"}\n"
                               "- {file: \"odd \\\"x\\\\.yaml\", name: \"3-odd__x_\"}\n");
    free(bytes);
    assert_int_equal(network_list_problems("list", path + 1, 1, &bytes, &length, &err), DSE_OK);
    assert_string_equal(bytes, "network: \"list\"\nproblems:\n- {file: \"b/problem.yaml\"}\n");
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_network_of_another_one),
        cmocka_unit_test(test_network_of_another_one_says_what_is_wrong),
        cmocka_unit_test(test_network_read_takes_every_problem_file),
        cmocka_unit_test(test_network_file_counts_what_the_problem_has),
        cmocka_unit_test(test_network_file_lists_problems),
        cmocka_unit_test(test_network_file_says_what_is_wrong),
        cmocka_unit_test(test_network_list_tells_equal_names_apart),
    };
    return cmocka_run_group_tests_name("network_file", tests, NULL, NULL);
}
