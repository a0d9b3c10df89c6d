/* Problems by themselves: sizes by hand, what the check refuses, and what the hash sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/problem.h"
#include "tests/support/random_case.h"

/* R = S = 3, P = Q = 8, stride 2 along P: 2 * 7 + 2 + 1 = 17 rows, 7 + 2 + 1 = 10 columns, 4 channels. */
static void make(struct problem *problem)
{
    const uint32_t bound[] = {3, 3, 8, 8, 4, 6, 1};
    random_case_conv(problem, "conv", bound, "N C P*2+R Q+S");
}

static void test_problem_sizes_are_bounding_boxes(void **state)
{
    (void)state;
    struct problem problem;
    struct dse_error err;
    make(&problem);
    assert_int_equal(problem_check(&problem, &err), DSE_OK);
    int inputs = problem_find_tensor(&problem, "Inputs");
    assert_true(inputs >= 0);
    assert_int_equal(problem_find_tensor(&problem, "Input"), -1);
    assert_int_equal(problem_find_dim(&problem, "X"), -1);
    assert_int_equal(problem_macs(&problem), 3 * 3 * 8 * 8 * 4 * 6);
    assert_int_equal(problem_tensor_words(&problem, (uint32_t)inputs), 17 * 10 * 4);
    uint32_t extent[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < problem.n_dim; d++)
        extent[d] = 1;
    assert_int_equal(problem_tile_words(&problem, (uint32_t)inputs, extent), 1);
    uint32_t dims = 0; /* N C P*2+R Q+S: all but K */
    for (const char *name = "NCPRQS"; *name; name++)
        dims |= 1u << problem_find_dim(&problem, (const char[]){*name, '\0'});
    assert_int_equal(tensor_dims(&problem.tensor[inputs]), dims);
    extent[problem_find_dim(&problem, "P")] = 2; /* two rows, and the one between them */
    assert_int_equal(problem_tile_words(&problem, (uint32_t)inputs, extent), 3);
}

static void test_problem_check_refuses(void **state)
{
    (void)state;
    struct problem problem;
    struct dse_error err;
    make(&problem);
    problem.bound[0] = 0;
    assert_int_not_equal(problem_check(&problem, &err), DSE_OK);
    make(&problem);
    problem.tensor[problem_find_tensor(&problem, "Outputs")].read_write = false;
    assert_int_not_equal(problem_check(&problem, &err), DSE_OK);
    make(&problem);
    for (uint32_t d = 0; d < problem.n_dim; d++)
        problem.bound[d] = 1u << 20; /* 2^140 multiply-accumulates */
    assert_int_equal(problem_check(&problem, &err), DSE_LIMIT);
}

static void test_problem_hash_sees_all_but_the_name(void **state)
{
    (void)state;
    struct problem a, b;
    make(&a);
    make(&b);
    strcpy(b.name, "other");
    assert_true(problem_hash(&a) == problem_hash(&b));
    b.bound[2]++;
    assert_true(problem_hash(&a) != problem_hash(&b));
    const uint32_t bound[] = {3, 3, 8, 8, 4, 6, 1};
    random_case_conv(&b, "conv", bound, "N C P+R Q+S");
    assert_true(problem_hash(&a) != problem_hash(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problem_sizes_are_bounding_boxes),
        cmocka_unit_test(test_problem_check_refuses),
        cmocka_unit_test(test_problem_hash_sees_all_but_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
