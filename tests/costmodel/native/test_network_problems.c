/* The name that a layer gets from its file. Expected by hand from docs/networks.md. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/native/network_native.h"

static void test_network_name_of_a_path(void **state)
{
    static const char *const row[][2] = {
        {"conv1.yaml", "conv1"}, {"a/b/conv1.yml", "conv1"}, {"a/b/", "b"},       {"/", "problem"},
        {"x.y.yaml", "x.y"},     {".yaml", ".yaml"},         {"a b.yaml", "a_b"}, {"", "problem"},
        {"dir/.yml", ".yml"},    {"caf\xc3\xa9", "caf__"},
    };
    char name[PROBLEM_NAME_MAX], longest[300];
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_string_equal(network_name_of(row[i][0], name), row[i][1]);
    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(strlen(network_name_of(longest, name)), PROBLEM_NAME_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_network_name_of_a_path)};
    return cmocka_run_group_tests_name("network_problems", tests, NULL, NULL);
}
