/* Dataflows as users write them (Interstellar's Table 1 and section 3.2), their keys, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/interstellar/unrolling.h"
#include "tests/support/random_case.h"

enum { R, S, P, Q, C, K, N };

static void set_up(struct problem *problem)
{
    const uint32_t bound[] = {3, 3, 13, 13, 256, 384, 1};
    random_case_conv(problem, "conv3", bound, "N C P+R Q+S");
}

static struct unrolling parsed(const char *text)
{
    struct problem problem;
    struct unrolling out;
    struct dse_error err;
    set_up(&problem);
    if (unrolling_parse(text, &problem, &out, &err) != DSE_OK)
        fail_msg("%s", err.text);
    return out;
}

static void expect(const char *text, uint32_t n, const uint8_t *loop, uint32_t begins)
{
    struct unrolling out = parsed(text);
    assert_int_equal(out.n, n);
    assert_memory_equal(out.loop, loop, n);
    assert_int_equal(out.begins, begins);
}

/* Output stationary, weight stationary, row stationary, weight stationary; the row-stationary array of
 * Eyeriss with K on the columns' side; the hybrid C|KX of section 3.2; one side; four loops. */
static void test_unrolling_reads_the_papers_dataflows(void **state)
{
    (void)state;
    expect("X|Y", 2, (const uint8_t[]){Q, P}, 3);
    expect("FX|FY", 2, (const uint8_t[]){S, R}, 3);
    expect("FY|Y", 2, (const uint8_t[]){R, P}, 3);
    expect("C|K", 2, (const uint8_t[]){C, K}, 3);
    expect("FY|YK", 3, (const uint8_t[]){R, P, K}, 3);
    expect("C|KX", 3, (const uint8_t[]){C, K, Q}, 3);
    expect("CX|K", 3, (const uint8_t[]){C, Q, K}, 5);
    expect("CK", 2, (const uint8_t[]){C, K}, 1);
    expect("C|K|X", 3, (const uint8_t[]){C, K, Q}, 7);
    expect("(5)(4)", 2, (const uint8_t[]){C, K}, 3);
    expect("(4)(53)", 3, (const uint8_t[]){K, C, P}, 3);
}

/* OC, IC, OX of the authors' files; P, Q, R of the problem; with dots and blanks. */
static void test_unrolling_takes_other_names(void **state)
{
    (void)state;
    expect("IC|OC", 2, (const uint8_t[]){C, K}, 3);
    expect("ICOX|OC", 3, (const uint8_t[]){C, Q, K}, 5);
    expect("R|P", 2, (const uint8_t[]){R, P}, 3);
    expect("FY | Y.K", 3, (const uint8_t[]){R, P, K}, 3);
}

static void refused(const char *text, const char *message)
{
    struct problem problem;
    struct unrolling out;
    struct dse_error err;
    set_up(&problem);
    assert_int_equal(unrolling_parse(text, &problem, &out, &err), DSE_BAD_INPUT);
    if (!strstr(err.text, message))
        fail_msg("\"%s\" is not in %s", message, err.text);
}

static void test_unrolling_refuses_what_is_none(void **state)
{
    (void)state;
    refused(
        "C|Z",
        "no loop begins at \"Z\"; write U|V of the loops FX FY X Y K C B (or by dimension: R S P Q C K N)");
    refused("C|", "has an empty side");
    refused("|K", "has an empty side");
    refused("C||K", "has an empty side");
    refused("", "has an empty side");
    refused("()(4)", "has an empty side");
    refused("(5)(4", "has an empty side");
    refused("(8)", "no loop begins at \"8)\"");
    refused("C|C", "loop C is there twice");
    refused("R|FY", "loop FY is there twice");
}

/* N (B) of conv3 has one iteration. */
static void test_loops_of_one_iteration_are_named(void **state)
{
    (void)state;
    struct problem problem;
    set_up(&problem);
    const struct unrolling lacks = parsed("C|KB"), whole = parsed("C|K");
    assert_string_equal(unrolling_lacks(&lacks, &problem), "B");
    assert_null(unrolling_lacks(&whole, &problem));
}

static void test_other_problems_have_their_own_loops(void **state)
{
    (void)state;
    struct problem problem;
    struct unrolling out;
    struct dse_error err;
    set_up(&problem);
    for (uint32_t d = 0; d < problem.n_dim; d++)
        snprintf(problem.dim_name[d], sizeof problem.dim_name[d], "%c", 'd' + (char)d);
    assert_int_equal(unrolling_parse("d|f", &problem, &out, &err), DSE_OK);
    assert_int_equal(unrolling_parse("C|K", &problem, &out, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text,
                        "dataflow \"C|K\": no loop begins at \"C|K\"; write U|V of the loops d e f g h i j");
}

static void test_unrolling_is_told_with_sides_swapped(void **state)
{
    (void)state;
    struct unrolling one = parsed("CX|K");
    bool swapped = true;
    const struct unrolling same = parsed("CX|K"), turned = parsed("K|CX"),
                           other[] = {parsed("XC|K"), parsed("C|XK"), parsed("CXK"), parsed("K|XC")};
    assert_true(unrolling_is(&one, &same, &swapped));
    assert_false(swapped);
    assert_true(unrolling_is(&one, &turned, &swapped));
    assert_true(swapped);
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
        assert_false(unrolling_is(&one, &other[i], &swapped));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unrolling_reads_the_papers_dataflows),
        cmocka_unit_test(test_unrolling_takes_other_names),
        cmocka_unit_test(test_unrolling_refuses_what_is_none),
        cmocka_unit_test(test_loops_of_one_iteration_are_named),
        cmocka_unit_test(test_other_problems_have_their_own_loops),
        cmocka_unit_test(test_unrolling_is_told_with_sides_swapped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
