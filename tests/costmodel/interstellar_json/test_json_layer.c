/* Layers of Interstellar's authors: JSON files and tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/model/network.h"

static void parse(const char *name, const char *text, struct network *net)
{
    struct dse_error err;
    if (network_parse(name, text, strlen(text), net, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
}

static uint32_t bound_of(const struct problem *problem, const char *dim)
{
    int d = problem_find_dim(problem, dim);
    assert_true(d >= 0);
    return problem->bound[d];
}

/* alex_conv1_batch16 of the authors' repository. */
static const char conv1[] =
    "{\n\t\"fmap_width\" : 56,\n\t\"fmap_height\" : 57,\n\t\"input_fmap_channel\" : 3,\n"
    "\t\"output_fmap_channel\" : 96,\n\t\"window_width\" : 11,\n\t\"window_height\" : 12,\n"
    "\t\"batch_size\" : 16,\n\t\"stride_width\" : 4,\n\t\"stride_height\" : 3\n}\n";

static void test_json_layer(void **state)
{
    (void)state;
    struct network net;
    struct problem problem;
    struct dse_error err;
    parse("layers/alex_conv1.json", conv1, &net);
    assert_string_equal(net.name, "alex_conv1");
    assert_int_equal(net.n_layer, 1);
    assert_string_equal(net.layer[0].name, "alex_conv1");
    assert_int_equal(network_batch(&net), 16);
    assert_int_equal(layer_problem(&net.layer[0], 0, &problem, &err), DSE_OK);
    assert_int_equal(bound_of(&problem, "N"), 16);
    assert_int_equal(bound_of(&problem, "Q"), 56);
    assert_int_equal(bound_of(&problem, "P"), 57);
    assert_int_equal(bound_of(&problem, "S"), 11);
    assert_int_equal(bound_of(&problem, "R"), 12);
    assert_int_equal(bound_of(&problem, "C"), 3);
    assert_int_equal(bound_of(&problem, "K"), 96);
    assert_int_equal(net.layer[0].stride[0], 3);
    assert_int_equal(net.layer[0].stride[1], 4);
    assert_int_equal(layer_problem(&net.layer[0], 2, &problem, &err), DSE_OK); /* -b */
    assert_int_equal(bound_of(&problem, "N"), 2);
    network_free(&net);
    parse("x.json",
          "{fmap_width: 1, fmap_height: 1, input_fmap_channel: 5, output_fmap_channel: 7, "
          "window_width: 1, window_height: 1}",
          &net);
    assert_int_equal(network_batch(&net), 1);
    assert_int_equal(net.layer[0].stride[0], 1);
    network_free(&net);
}

static void test_table(void **state)
{
    (void)state;
    struct network net;
    struct problem problem;
    struct dse_error err;
    parse("t/mobile.csv",
          "name,B,K,C,X,Y,FX,FY,stride,groups,count,origin,note\n"
          "CONV1,16,32,3,112,113,3,2,2,1,1,derived,\"published, stem\"\r\n"
          "\n"
          "DW,16,64,32,112,112,3,3,1,32,2,derived,\"depth\nwise\"\n"
          "GATE,16,500,500,1,1,1,1,1,1,8,,\n",
          &net);
    assert_string_equal(net.name, "mobile");
    assert_false(net.is_graph);
    assert_int_equal(net.n_layer, 3);
    assert_int_equal(network_batch(&net), 16);
    assert_int_equal(net.layer[0].line, 2);
    assert_int_equal(net.layer[1].line, 5);
    assert_int_equal(net.layer[2].line, 6);
    assert_int_equal(net.layer[0].p, 113);
    assert_int_equal(net.layer[0].q, 112);
    assert_int_equal(net.layer[0].r, 2);
    assert_int_equal(net.layer[0].stride[0], 2);
    /* 32 groups of one input and two outputs each, twice */
    assert_int_equal(net.layer[1].groups, 1);
    assert_int_equal(net.layer[1].c, 1);
    assert_int_equal(net.layer[1].k, 2);
    assert_int_equal(net.layer[1].count, 64);
    assert_int_equal(net.layer[2].count, 8);
    assert_int_equal(layer_problem(&net.layer[2], 0, &problem, &err), DSE_OK);
    assert_int_equal(problem_macs(&problem), 500 * 500 * 16);
    network_free(&net);
}

/* Columns in any order, the last five may be missing; a batch for each layer. */
static void test_other_tables(void **state)
{
    (void)state;
    struct network net;
    parse("no-ending", "name,FY,FX,Y,X,C,K,B\nA,1,2,3,4,5,6,16\nB,1,2,3,4,5,6,1\n", &net);
    assert_int_equal(net.n_layer, 2);
    assert_int_equal(net.layer[0].k, 6);
    assert_int_equal(net.layer[0].q, 4);
    assert_int_equal(net.layer[0].batch, 16);
    assert_int_equal(net.layer[1].batch, 1);
    assert_int_equal(network_batch(&net), 0);
    assert_false(layer_same_problem(&net.layer[0], &net.layer[1]));
    network_free(&net);
    parse("t.csv", "\xef\xbb\xbfname,B,K,C,X,Y,FX,FY\r\nA,1,6,5,4,3,1,2\r\n", &net); /* a spreadsheet's */
    assert_int_equal(net.layer[0].k, 6);
    network_free(&net);
}

static void test_faults(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *words;
        int line;
    } bad[] = {
        {"l.json", "{fmap_width: 1}", "output_fmap_channel", 1},
        {"l.json", "{\n\n\"output_fmap_channel\": 0}", "output_fmap_channel", 3},
        {"l.json",
         "{fmap_width: 1, fmap_height: 1, input_fmap_channel: 5, output_fmap_channel: 7, window_width: 1,\n"
         "window_heigth: 1}",
         "did you mean \"window_height\"", 2},
        {"l.json",
         "{fmap_width: 1, fmap_height: 1, input_fmap_channel: 5, output_fmap_channel: 7, window_width: 1,\n"
         "window_height: 1.5}",
         "window_height", 2},
        {"t.csv", "", "no layers", 0},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\n", "no layers", 0},
        {"t.csv", "name,B,K,C,X,Y,FX\n", "lacks its column \"FY\"", 1},
        {"t.csv", "name,B,K,C,X,Y,FX,FY,grups\n", "did you mean \"groups\"", 1},
        {"t.csv", "name,B,K,C,X,Y,FX,FY,B\n", "appears twice", 1},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\nA,1,1,1,1,1,1,1\nC,1,1,0,1,1,1,1\n", "column C: \"0\"", 3},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\nA,1,1,-1,1,1,1,1\n", "column C: \"-1\"", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\nA,1,1,,1,1,1,1\n", "column C: \"\"", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\nA,1,1,1,1,1,1\n", "7 fields, but the first line has 8 columns", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\nA,1,1,1,1,1,1,1,5\n", "more fields than the 8 columns", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\nA,1,1,1,1,1,1,1\nA,1,1,1,1,1,1,1\n", "used twice, first on line 2",
         3},
        {"t.csv", "name,B,K,C,X,Y,FX,FY,groups\nA,1,4,6,1,1,1,1,4\n", "4 groups", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\na b,1,4,6,1,1,1,1\n", "is not a name", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\n\"a\"\"\",1,4,6,1,1,1,1\n", "is not a name", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\n\"a\"b,1,4,6,1,1,1,1\n", "quotes of this line are broken", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY\n\"a,1,4,6,1,1,1,1\n", "ends inside quotes", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY,count\nA,1,1,1,1,1,1,1,1000001\n", "column count", 2},
        {"t.csv", "name,B,K,C,X,Y,FX,FY,groups,count\nA,1,1024,1024,1,1,1,1,1024,1000000\n", "count", 2},
        {"t.csv", "name;B;K;C\n", "unknown column", 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct network net;
        struct dse_error err;
        assert_int_equal(network_parse(bad[i].name, bad[i].text, strlen(bad[i].text), &net, &err),
                         DSE_BAD_INPUT);
        if (err.line != bad[i].line || !strstr(err.text, bad[i].words) || strcmp(err.file, bad[i].name) != 0)
            fail_msg("%zu: %s:%d, expected line %d and \"%s\": %s", i, err.file, err.line, bad[i].line,
                     bad[i].words, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_layer),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_other_tables),
        cmocka_unit_test(test_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
