/* Network files with parameters: what they expand to, and every error with line and sentence. Expected
 * numbers are counted by hand from the texts.
 * Tests: network_expression.c, network_scope.c, network_expand.c, network_blocks.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"

#define HEAD                                                                                                 \
    "network: n\nparameters:\n  size: [small, large]\n  rows: {default: 16, from: 2, to: 64}\n"              \
    "let: {width: {size: {small: 8, large: 24}}, inner: 4 * width}\ninput: {C: width, H: rows}\nlayers:\n"
#define LAYER(c, k) HEAD "- {name: a, type: linear, C: " c ", K: " k ", P: rows, from: input}\n"

static enum dse_status parse(const char *text, const struct network_set *set, size_t n, struct network *net,
                             struct dse_error *err)
{
    const struct network_files files = {NULL, NULL, NULL, {set, n, false}};
    *err = (struct dse_error){0};
    return network_parse_with("n.yaml", text, strlen(text), &files, net, err);
}

static void read(const char *text, const struct network_set *set, size_t n, struct network *net)
{
    struct dse_error err;
    if (parse(text, set, n, net, &err) != DSE_OK)
        fail_msg("%s:%d: %s", err.file, err.line, err.text);
}

static void test_expressions_are_what_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t is;
    } row[] = {
        {"7", 7},
        {"width", 8},
        {"inner / 2 - 1", 15},
        {"2 + 3 * 4", 14},
        {"(2 + 3) * 4", 20},
        {"20 - 3 - 2", 15},
        {"64 / 4 / 2", 8},
        {"\"min(rows, width, 3 + 2)\"", 5},
        {"\"max(rows, width)\"", 16},
        {"\"max(min(rows, 4), 1)\"", 4},
        {"0 + min", 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[1024];
        struct network net;
        struct dse_error err;
        strcpy(text, HEAD "- {name: a, type: linear, C: width, P: rows, from: input, K: ");
        strcat(strcat(text, row[i].text), "}\n");
        enum dse_status status = parse(text, NULL, 0, &net, &err);
        if (row[i].is == 0) {
            assert_int_equal(status, DSE_BAD_INPUT); /* min without parentheses is no name */
            continue;
        }
        if (status != DSE_OK || net.layer[0].k != row[i].is)
            fail_msg("%s: %s", row[i].text, err.text);
        network_free(&net);
    }
}

static void test_parameters_are_set(void **state)
{
    (void)state;
    static const struct network_set set[] = {{"size", "large", NULL, 0, false},
                                             {"rows", "33", NULL, 0, false}};
    struct network net;
    read(LAYER("width", "inner"), set, 2, &net);
    assert_int_equal(net.layer[0].c, 24);
    assert_int_equal(net.layer[0].k, 96);
    assert_int_equal(net.input[0].h, 33);
    assert_int_equal(net.n_parameter, 2);
    assert_string_equal(net.parameter[0].name, "size");
    assert_string_equal(net.parameter[0].value, "large");
    assert_string_equal(net.parameter[0].accepted, "small, large");
    assert_string_equal(net.parameter[1].accepted, "from 2 to 64");
    network_free(&net);
}

static void test_wrong_values_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct network_set set;
        const char *says;
    } row[] = {
        {{"size", "huge", "s.yaml", 3, false}, "network.size huge: one of small, large is expected"},
        {{"rows", "1", "s.yaml", 3, false}, "a whole number from 2 to 64 is expected"},
        {{"rows", "65", "s.yaml", 3, false}, "a whole number from 2 to 64"},
        {{"rows", "x", "s.yaml", 3, false}, "a whole number from 2 to 64"},
        {{"row", "3", "s.yaml", 3, false}, "no parameter row; it has size, rows; did you mean rows?"},
        {{"width", "3", "s.yaml", 3, false}, "no parameter width"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network net;
        struct dse_error err;
        assert_int_equal(parse(LAYER("width", "1"), &row[i].set, 1, &net, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, row[i].says) || strcmp(err.file, "s.yaml") != 0 || err.line != 3)
            fail_msg("%s:%d: %s", err.file, err.line, err.text);
    }
}

static void test_errors_have_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        int line;
        const char *says;
    } row[] = {
        {LAYER("width", "rows / 3"), 8, "16 / 3 leaves a rest of 1"},
        {LAYER("width", "rows / (width - 8)"), 8, "a division by 0"},
        {LAYER("width", "widht"), 8, "\"widht\" is not known here; did you mean \"width\"?"},
        {LAYER("width", "rows + tomorrow"), 8, "known are size, rows, width, inner"},
        {LAYER("width", "rows *"), 8, "missing at the end"},
        {LAYER("width", "rows % 3"), 8, "no expression"},
        {LAYER("width", "(rows"), 8, "a closing parenthesis is missing"},
        {LAYER("width", "size"), 8, "is not a number"},
        {LAYER("width", "size + 1"), 8, "a choice is a word"},
        {LAYER("width", "9999999999 * 9999999999"), 8, "beyond 64 bits"},
        {LAYER("width", "99999999999999999999"), 8, "is too large"},
        {LAYER("width", "width - 8"), 8, "layer a: K"},
        {LAYER("width", "rows == 16"), 8, "is not a number"},
        {"network: n\nlet: {a: b + 1, b: a}\ninput: {C: 1}\nlayers: [{name: x, type: norm, C: a, from: "
         "input}]\n",
         2, "depends on itself"},
        {"network: n\nparameters: {a: 3}\ninput: {C: 1}\nlayers: []\n", 2, "a range"},
        {"network: n\nparameters: {a: {from: 3}}\ninput: {C: 1}\nlayers: []\n", 2, "default"},
        {"network: n\nparameters: {a: {default: 3, to: 2}}\ninput: {C: 1}\nlayers: []\n", 2,
         "a is 3 by default; from 1 to 2 is expected"},
        {"network: n\nparameters: {a: [x, x]}\ninput: {C: 1}\nlayers: []\n", 2, "twice"},
        {"network: n\nparameters: {a: []}\ninput: {C: 1}\nlayers: []\n", 2, "no values"},
        {"network: n\nparameters: {3a: [x]}\ninput: {C: 1}\nlayers: []\n", 2, "is not a name"},
        {"network: n\nparameters: {a: [x]}\nlet: {a: 3}\ninput: {C: 1}\nlayers: []\n", 3, "declared twice"},
        {"network: n\nparameters: {a: [x, y]}\nlet: {b: {a: {x: 1}}}\ninput: {C: 1}\nlayers: []\n", 3,
         "no value for a y"},
        {"network: n\nparameters: {a: [x]}\nlet: {b: {a: {x: 1, z: 2}}}\ninput: {C: 1}\nlayers: []\n", 3,
         "z"},
        {"network: n\nparameters: {a: [x]}\nlet: {b: {c: {x: 1}}}\ninput: {C: 1}\nlayers: []\n", 3,
         "an expression, or the values by a choice"},
        {HEAD "- {name: a, type: norm, C: width, P: rows, from: input, when: size == lagre}\n", 8,
         "\"lagre\" is never the value; it is one of small, large"},
        {HEAD "- {name: a, type: norm, C: width, P: rows, from: input, when: rows}\n", 8,
         "is not a comparison"},
        {HEAD "- {name: a, type: norm, C: width, P: rows, from: input, when: size < large}\n", 8,
         "words are compared by == and != only"},
        {HEAD "- {for: {h: 2}, leyers: []}\n", 8, "name"},
        {HEAD "- {for: {h: 2}, layers: [], tmes: 3}\n", 8, "tmes"},
        {HEAD "- {for: {width: 2}, layers: []}\n", 8, "declared twice"},
        {HEAD "- {for: {h: 2 - 3}, layers: []}\n", 8, "-1 times"},
        {HEAD "- {name: a<0..1>, type: norm, C: width, P: rows, from: input}\n", 8,
         "is expected between < and >"},
        {HEAD "- {name: a<3, type: norm, C: width, P: rows, from: input}\n", 8,
         "is expected between < and >"},
        {HEAD "- {name: a, type: norm, C: width, P: rows, from: b<0..99999>}\n", 8, "up to 10000"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network net;
        struct dse_error err;
        if (parse(row[i].yaml, NULL, 0, &net, &err) == DSE_OK)
            fail_msg("accepted:\n%s", row[i].yaml);
        if (err.line != row[i].line || !strstr(err.text, row[i].says) || strcmp(err.file, "n.yaml") != 0)
            fail_msg("%s:%d: %s\nexpected line %d: ...%s...", err.file, err.line, err.text, row[i].line,
                     row[i].says);
    }
}

static const char heads[] =
    HEAD "- {for: {h: inner / 8}, layers: [\n"
         "    {name: k<h>, type: linear, C: width, K: 2, P: rows, from: input},\n"
         "    {name: n<h>_<h + 1>, type: norm, C: 2, P: rows, from: k<h>, when: size == large}]}\n"
         "- {name: all, type: concat, C: 2 * inner / 8, P: rows, from: k<0..inner / 8 - 1>}\n";

static void test_groups_are_repeated(void **state)
{
    (void)state;
    static const struct network_set large = {"size", "large", NULL, 0, false};
    struct network net;
    read(heads, NULL, 0, &net); /* inner / 8 = 4 */
    assert_int_equal(net.n_layer, 5);
    assert_string_equal(net.layer[3].name, "k3");
    assert_int_equal(net.layer[4].n_producer, 4);
    assert_int_equal(net.layer[4].producer[2], 2);
    network_free(&net);
    read(heads, &large, 1, &net); /* 12, each with a norm */
    assert_int_equal(net.n_layer, 25);
    assert_string_equal(net.layer[5].name, "n2_3");
    assert_int_equal(net.layer[5].producer[0], 4);
    assert_int_equal(net.n_repeat, 0);
    network_free(&net);
}

#define BLOCK                                                                                                \
    "network: n\nparameters: {times: {default: 3, to: 9999}}\nunroll: true\ninput: {C: 4, H: 2}\nlayers:\n"  \
    "- {name: last, type: norm, C: 4, P: 2, from: out}\n"                                                    \
    "- block: b\n  times: times\n  feeds: {first: out}\n  inputs: {cache: {C: 4, H: 2}}\n  layers:\n"        \
    "  - {name: sum, type: add, C: 4, P: 2, from: [first, cache]}\n"                                         \
    "  - {name: out, type: norm, C: 4, P: 2, from: sum}\n"                                                   \
    "- {name: first, type: norm, C: 4, P: 2, from: input}\n"

static void test_blocks_feed_one_another(void **state)
{
    (void)state;
    static const struct network_set once = {"times", "1", NULL, 0, false};
    struct network net;
    read(BLOCK, NULL, 0, &net);
    static const char *const name[] = {"last",   "b1.sum", "b1.out", "b2.sum",
                                       "b2.out", "b3.sum", "b3.out", "first"};
    assert_int_equal(net.n_layer, 8);
    for (int i = 0; i < 8; i++)
        assert_string_equal(net.layer[i].name, name[i]);
    assert_int_equal(net.layer[0].producer[0], 6); /* the last repetition's */
    assert_int_equal(net.layer[1].producer[0], 7); /* first */
    assert_int_equal(net.layer[1].producer[1], -2);
    assert_int_equal(net.layer[5].producer[0], 4); /* b2.out */
    assert_int_equal(net.layer[5].producer[1], -4);
    assert_int_equal(net.n_input, 4);
    assert_string_equal(net.input[0].name, "input");
    assert_string_equal(net.input[3].name, "b3.cache");
    assert_int_equal(net.n_repeat, 1);
    assert_string_equal(net.repeat[0].name, "b");
    assert_int_equal(net.repeat[0].first_layer, 1);
    assert_int_equal(net.repeat[0].n_layer, 2);
    assert_int_equal(net.repeat[0].times, 3);
    assert_true(net.unroll);
    network_free(&net);
    read(BLOCK, &once, 1, &net); /* names as they are */
    assert_int_equal(net.n_layer, 4);
    assert_string_equal(net.layer[1].name, "sum");
    assert_string_equal(net.input[1].name, "cache");
    assert_int_equal(net.n_repeat, 0);
    network_free(&net);
}

static void test_bad_blocks_are_refused(void **state)
{
    (void)state;
#define START "network: n\ninput: {C: 4}\nlayers:\n"
#define INNER "layers: [{name: x, type: norm, C: 4, from: input}]"
    static const struct {
        const char *yaml, *says;
    } row[] = {
        {START "- {block: b, feeds: {input: x}, " INNER "}\n", "times"},
        {START "- {block: b, times: 2, " INNER "}\n", "feeds"},
        {START "- {times: 2, feeds: {input: x}, " INNER "}\n", "a block lacks the required key \"block\""},
        {START "- {blocks: 2, " INNER "}\n",
         "unknown key \"blocks\" in a group of layers; did you mean \"block\"?"},
        {START "- {block: b, times: two, feeds: {input: x}, " INNER "}\n",
         "\"two\" is not known here; no names are"},
        {START "- {block: b, times: 0, feeds: {input: x}, " INNER "}\n", "0 times"},
        {START "- {block: b, times: 2, feeds: {input: y}, " INNER "}\n", "y is no layer of block b"},
        {START "- {block: b, times: 2, feeds: {other: x}, " INNER "}\n",
         "other is not what a layer of block b"},
        {START "- {block: b, times: 2, feeds: {x: x}, " INNER "}\n",
         "x is not what a layer of block b reads"},
        {START
         "- {block: b, times: 2, feeds: {input: x}, layers: [{block: c, times: 2, feeds: {input: x}, " INNER
         "}]}\n",
         "a block inside a block"},
        {START "- {name: x, type: norm, C: 4, from: input}\n- {block: b, times: 2, feeds: {input: x}, " INNER
               "}\n",
         "both in block b and outside"},
        {START
         "- {block: b, times: 10000, feeds: {input: x}, layers: [{name: x, type: norm, C: 4, from: input}, "
         "{name: y, type: norm, C: 4, from: x}]}\n",
         "more than 10000 layers"},
        {START "- {block: b b, times: 2, feeds: {input: x}, " INNER "}\n", "is not a name"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network net;
        struct dse_error err;
        if (parse(row[i].yaml, NULL, 0, &net, &err) == DSE_OK)
            fail_msg("accepted:\n%s", row[i].yaml);
        if (err.line < 4 || !strstr(err.text, row[i].says))
            fail_msg("%d: %s\nexpected ...%s...", err.line, err.text, row[i].says);
    }
}

/* A hundred million layers none of which is there. */
static void test_limits_hold(void **state)
{
    (void)state;
    static const char endless[] =
        "network: n\ninput: {C: 1}\nlayers:\n- {for: {a: 9999}, layers: [{for: {b: 9999}, "
        "layers: [{name: x, type: norm, C: 1, from: input, when: a < 0}]}]}\n";
    struct network net;
    struct dse_error err;
    assert_int_equal(parse(endless, NULL, 0, &net, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "more than 200000 layers and names"));
    assert_int_equal(err.line, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions_are_what_they_say), cmocka_unit_test(test_parameters_are_set),
        cmocka_unit_test(test_wrong_values_are_refused),      cmocka_unit_test(test_errors_have_a_line),
        cmocka_unit_test(test_groups_are_repeated),           cmocka_unit_test(test_blocks_feed_one_another),
        cmocka_unit_test(test_bad_blocks_are_refused),        cmocka_unit_test(test_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
