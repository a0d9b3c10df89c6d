/* Objectives: names and products that parse, what is refused, and costs by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/driver/objective.h"

static void test_objective_parse_reads_names_and_products(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double n, m;
        const char *canonical;
    } row[] = {
        {"latency", 0, 1, "latency"},
        {"delay", 0, 1, "latency"},
        {"Energy", 1, 0, "energy"},
        {"edp", 1, 1, "edp"},
        {"EDP", 1, 1, "edp"},
        {"ed2p", 1, 2, "ed2p"},
        {"energy*delay", 1, 1, "edp"},
        {"energy^1 * delay^2", 1, 2, "ed2p"},
        {"delay^0.5", 0, 0.5, "energy^0*delay^0.5"},
        {"energy^2*latency", 2, 1, "energy^2*delay^1"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct objective o, again;
        struct dse_error err;
        char text[64];
        assert_int_equal(objective_parse(row[i].text, &o, &err), DSE_OK);
        assert_true(o.energy_exponent == row[i].n && o.delay_exponent == row[i].m);
        assert_string_equal(objective_print(&o, text, sizeof text), row[i].canonical);
        assert_int_equal(objective_parse(text, &again, &err), DSE_OK);
        assert_true(again.energy_exponent == o.energy_exponent && again.delay_exponent == o.delay_exponent);
    }
}

static void test_objective_parse_refuses_the_rest(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",        "edpp",          "energy^",          "energy^-1", "energy^nan",
        "energy*", "energy^0",      "energy+delay",     "speed",     "energy^1e9",
        "*delay",  "energy**delay", "energy delay^2 3", "delay^2^3"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct objective o;
        struct dse_error err;
        if (objective_parse(bad[i], &o, &err) != DSE_BAD_INPUT)
            fail_msg("accepted \"%s\"", bad[i]);
        assert_non_null(strstr(err.text, "accepted: latency"));
    }
    struct objective o;
    struct dse_error err;
    assert_int_equal(objective_parse("latancy", &o, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean \"latency\"?"));
}

/* 2 J and 3 s: by hand. */
static void test_objective_cost_is_a_product_of_powers(void **state)
{
    (void)state;
    const struct evaluation e = {.energy_j = 2, .latency_s = 3};
    const struct lower_bound b = {.energy_j = 2, .latency_s = 3, .edp_js = 6};
    static const struct {
        struct objective o;
        double cost;
    } row[] = {{{1, 0}, 2}, {{0, 1}, 3}, {{1, 1}, 6}, {{1, 2}, 18}, {{3, 0}, 8}, {{3, 1}, 24}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_true(objective_cost(&row[i].o, &e) == row[i].cost);
        assert_true(objective_bound(&row[i].o, &b) == row[i].cost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objective_parse_reads_names_and_products),
        cmocka_unit_test(test_objective_parse_refuses_the_rest),
        cmocka_unit_test(test_objective_cost_is_a_product_of_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
