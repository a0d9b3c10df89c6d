/* The list of layers for programs: sizes by hand from the text of the network.
 * Tests: layer_list.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/report/layer_list.h"

static const char yaml[] =
    "network: n\nparameters: {k: {default: 4, to: 9}}\ninput: {C: 3, H: 8, W: 8}\nlayers:\n"
    "- {name: conv, type: conv, C: 3, K: k, P: 8, Q: 8, R: 3, S: 3, pad: 1, from: input}\n"
    "- {name: sum, type: add, C: k, P: 8, Q: 8, from: [conv, conv]}\n";

static void check(enum report_format format, const char *expected)
{
    struct network net;
    struct dse_error err;
    struct text_buffer out;
    text_init(&out);
    assert_int_equal(network_parse("n.yaml", yaml, strlen(yaml), &net, &err), DSE_OK);
    assert_int_equal(layer_list(&net, format, &out, &err), DSE_OK);
    if (format == REPORT_JSON)
        assert_non_null(strstr(out.data, expected));
    else
        assert_string_equal(out.data, expected);
    text_free(&out);
    network_free(&net);
}

static void test_programs_get_shapes(void **state)
{
    (void)state;
    check(REPORT_CSV, "layer,type,count,mac,weight_word,C,K,P,Q,R,S,H,W,groups,operands\n"
                      "conv,conv,1,6912,108,3,4,8,8,3,3,8,8,1,1\n"
                      "sum,add,1,,,4,4,8,8,1,1,8,8,1,2\n");
}

static void test_json_has_the_parameters(void **state)
{
    (void)state;
    check(REPORT_JSON, "\"network\": \"n\",\n  \"k\": \"4\",\n");
}

static void test_people_get_costs(void **state)
{
    (void)state;
    check(REPORT_TABLE, "parameter  value  accepted\n"
                        "-----------------------------\n"
                        "network.k  4      from 1 to 9\n"
                        "\n"
                        "layer  type  count  per sample    weights\n"
                        "-----------------------------------------\n"
                        "conv   conv      1   6.91 kMAC  108 words\n"
                        "sum    add       1           -          -\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs_get_shapes),
        cmocka_unit_test(test_json_has_the_parameters),
        cmocka_unit_test(test_people_get_costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
