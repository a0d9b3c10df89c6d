/* Tests: network_join.c. Two networks side by side, by hand: names, producers, inputs, order; what cannot be
 * joined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/network.h"

static void parse(const char *text, struct network *net)
{
    struct dse_error err = {0};
    if (network_parse("test.yaml", text, strlen(text), net, &err) != DSE_OK)
        fail_msg("line %d: %s", err.line, err.text);
}

/* b reads a, which stands behind it. */
static const char graph[] = "network: one\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
                            "- {name: b, type: conv, C: 4, K: 4, P: 8, Q: 8, R: 1, S: 1, from: a}\n"
                            "- {name: a, type: conv, C: 3, K: 4, P: 8, Q: 8, R: 1, S: 1, from: input}\n";
static const char other[] = "network: two\ninput: {C: 5, H: 4, W: 4}\nlayers:\n"
                            "- {name: a, type: conv, C: 5, K: 6, P: 4, Q: 4, R: 1, S: 1, from: input}\n";
static const char list[] = "network: list\nkind: layers\nlayers:\n"
                           "- {name: a, type: conv, C: 5, K: 6, P: 4, Q: 4, R: 1, S: 1}\n";

static void test_side_by_side(void **state)
{
    static const char *const name[] = {"two.a", "one.b", "one.a", "two-2.a"};
    static const int32_t producer[] = {-1, 2, -2, -3};
    static const uint32_t order[] = {0, 2, 1, 3};
    struct network part[3], joined;
    struct dse_error err;
    (void)state;
    parse(other, &part[0]);
    parse(graph, &part[1]);
    parse(other, &part[2]);
    assert_int_equal(network_join(part, 3, &joined, &err), DSE_OK);
    for (int i = 0; i < 3; i++)
        network_free(&part[i]); /* nothing of it is needed any more */
    assert_string_equal(joined.name, "two+one+two");
    assert_true(joined.is_graph);
    assert_int_equal(joined.n_input, 3);
    assert_int_equal(joined.input[1].c, 3);
    assert_int_equal(joined.input[2].h, 4);
    assert_int_equal(joined.n_layer, 4);
    for (uint32_t l = 0; l < 4; l++) {
        assert_string_equal(joined.layer[l].name, name[l]);
        assert_int_equal(joined.layer[l].n_producer, 1);
        assert_int_equal(joined.layer[l].producer[0], producer[l]);
        assert_int_equal(joined.order[l], order[l]);
    }
    assert_int_equal(joined.n_part, 3);
    assert_string_equal(joined.part[2].name, "two-2");
    assert_int_equal(joined.part[1].first_layer, 1);
    assert_int_equal(joined.part[1].n_layer, 2);
    network_free(&joined);
}

static void test_lists_go_with_lists(void **state)
{
    struct network part[2], joined;
    struct dse_error err;
    (void)state;
    parse(list, &part[0]);
    parse(list, &part[1]);
    assert_int_equal(network_join(part, 2, &joined, &err), DSE_OK);
    assert_false(joined.is_graph);
    assert_string_equal(joined.layer[1].name, "list-2.a");
    network_free(&joined);
    network_free(&part[1]);
    parse(other, &part[1]);
    assert_int_equal(network_join(part, 2, &joined, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "networks list and two cannot be joined"));
    network_free(&part[0]);
    network_free(&part[1]);
}

static void test_blocks_and_parameters_are_those_of_all(void **state)
{
    static const char text[] =
        "network: m\nparameters: {n: {default: 2, to: 9}}\nlet: {twice: 2 * n}\nunroll: true\n"
        "input: {C: 4}\nlayers:\n- {name: first, type: norm, C: 4, from: input}\n"
        "- block: b\n  times: twice\n  feeds: {first: x}\n"
        "  layers: [{name: x, type: norm, C: 4, from: first}]\n";
    const struct network_set set[] = {{"n", "1", NULL, 0, false}, {"m", "1", "spec.yaml", 7, false}};
    const struct network_settings one = {set, 1, false}, two = {set, 2, false};
    struct network part[2], joined;
    struct dse_error err;
    (void)state;
    parse(text, &part[0]);
    parse(text, &part[1]);
    assert_int_equal(network_join(part, 2, &joined, &err), DSE_OK);
    network_free(&part[0]);
    network_free(&part[1]);
    assert_int_equal(joined.n_repeat, 2);
    assert_string_equal(joined.repeat[1].name, "m-2.b");
    assert_int_equal(joined.repeat[1].first_layer, 6);
    assert_string_equal(joined.layer[6].name, "m-2.b1.x");
    assert_int_equal(joined.repeat[1].times, 4);
    assert_true(joined.unroll);
    assert_int_equal(joined.n_parameter, 2);
    assert_string_equal(joined.parameter[1].accepted, "from 1 to 9");
    assert_int_equal(network_has_parameters(&joined, &one, &err), DSE_OK);
    assert_int_equal(network_has_parameters(&joined, &two, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, 7);
    assert_non_null(strstr(err.text, "no network of m+m has a parameter m"));
    network_free(&joined);
}

static void test_names_that_are_too_long(void **state)
{
    struct network part[2], joined;
    struct dse_error err;
    char text[400];
    (void)state;
    (void)snprintf(text, sizeof text,
                   "network: two\ninput: {C: 5, H: 4, W: 4}\nlayers:\n"
                   "- {name: a%090d, type: conv, C: 5, K: 6, P: 4, Q: 4, R: 1, S: 1, from: input}\n",
                   0);
    parse(text, &part[0]);
    parse(text, &part[1]);
    assert_int_equal(network_join(part, 1, &joined, &err), DSE_OK); /* two. and 91 */
    network_free(&joined);
    assert_int_equal(network_join(part, 2, &joined, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "is longer than 95 bytes"));
    network_free(&part[0]);
    network_free(&part[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_lists_go_with_lists),
        cmocka_unit_test(test_blocks_and_parameters_are_those_of_all),
        cmocka_unit_test(test_names_that_are_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
