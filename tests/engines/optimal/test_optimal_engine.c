/* The mapper `optimal` against `exhaustive`, which walks through all mappings: the same optimum on random
 * problems (strides, dilation, depthwise, batch) and machines (blocks, bandwidths, roles, network energies,
 * least utilisations, banks, GPUs), with constraints and with a search of bypasses, for all objectives, also
 * from a start that is far too high. What it refuses, and what it says when it has to stop.
 * Some of it again on machines that leak. -D OPTIMAL_CASES=10000 and -D OPTIMAL_LEAKING=10000 make more of
 * them, -D OPTIMAL_SIZE=5 larger ones.
 * Tests: optimal_proof.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "tests/engines/optimal/optimal_case.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"

#ifndef OPTIMAL_CASES
#define OPTIMAL_CASES 200
#endif
#ifndef OPTIMAL_LEAKING
#define OPTIMAL_LEAKING 60
#endif
#ifndef OPTIMAL_FIRST
#define OPTIMAL_FIRST 0
#endif
#ifndef OPTIMAL_SIZE
#define OPTIMAL_SIZE 1
#endif

static const char *const objectives[] = {"edp", "energy", "latency", "ed2p", "energy^2*delay^1"};

static void compare_cases(uint32_t n_case, bool leaks)
{
    uint32_t n = 0, feasible = 0;
    for (uint64_t i = OPTIMAL_FIRST; n < n_case; i++) {
        struct problem problem;
        struct architecture arch;
        struct mapspace_constraints constraints;
        struct engine_result all, found;
        struct dse_error err;
        struct engine_task task = {.seed = 1, .key = i, .batch = 1};
        const char *objective = objectives[i % (sizeof objectives / sizeof objectives[0])];
        const char *bypass = i % 4 == 1 ? "true" : "false";
        optimal_case(i, (i % 4 == 1 ? 16 : 48) * OPTIMAL_SIZE, &problem, &arch);
        if (i % 4 == 3)
            optimal_case_square(&problem);
        if (leaks) {
            struct random_stream stream = random_stream_make(3, i, RANDOM_TEST);
            random_case_leakage(&stream, &arch);
        }
        assert_int_equal(objective_parse(objective, &task.objective, &err), DSE_OK);
        if (i % 3 != 0) {
            optimal_case_constraints(i, &problem, &arch, &constraints);
            task.constraints = &constraints;
        }
        const struct engine_setting small[] = {{"max_size", "1e6"}, {"search_bypass", bypass}};
        task.budget.max_evaluations = 60000 * OPTIMAL_SIZE * OPTIMAL_SIZE;
        if (engine_case_solve("exhaustive", small, 2, &problem, &arch, task, &all, &err) != DSE_OK ||
            all.stop == STOP_MAX_EVALUATIONS)
            continue;
        n++;
        task.budget.max_evaluations = 0;
        const struct engine_setting setting[] = {{"starts", i % 2 ? "0" : "4"}, {"search_bypass", bypass}};
        if (engine_case_solve("optimal", setting, 2, &problem, &arch, task, &found, &err) != DSE_OK)
            fail_msg("case %llu: %s", (unsigned long long)i, err.text);
        feasible += all.feasible;
        if (found.feasible != all.feasible)
            fail_msg("case %llu: optimal %s, exhaustive %s", (unsigned long long)i, found.reason, all.reason);
        if (!all.feasible)
            continue;
        if (found.stop != STOP_OPTIMAL || !(fabs(found.cost - all.cost) <= 1e-10 * all.cost))
            fail_msg("case %llu (%s, %s): optimal %.17g (%s), exhaustive %.17g", (unsigned long long)i,
                     problem.name, objective, found.cost, engine_stop_text(found.stop), all.cost);
        assert_true(found.bound <= found.cost * (1 + 1e-12));
    }
    print_message("%u of %u cases have a mapping\n", feasible, n);
    assert_true(feasible > n_case / 2);
}

static void test_it_finds_the_same_as_exhaustive(void **state)
{
    (void)state;
    compare_cases(OPTIMAL_CASES, false);
}

static void test_leakage_is_part_of_the_proof(void **state)
{
    (void)state;
    compare_cases(OPTIMAL_LEAKING, true);
}

/* Stopped after a share of the evaluations of its proof, it says no more than it knows: its bound is below
 * the optimum. */
static void check_budgets(const struct problem *problem, const struct architecture *arch,
                          struct engine_task task, uint32_t *n_stopped)
{
    static const double share[] = {0.01, 0.1, 0.5};
    struct engine_result best, found;
    struct dse_error err;
    const struct engine_setting one = {"starts", "0"};
    assert_int_equal(engine_case_solve("optimal", &one, 1, problem, arch, task, &best, &err), DSE_OK);
    if (!best.feasible)
        return;
    assert_int_equal(best.stop, STOP_OPTIMAL);
    assert_true(best.bound >= best.cost * (1 - 1e-10));
    for (uint32_t i = 0; i < sizeof share / sizeof share[0]; i++) {
        task.budget.max_evaluations = 1 + (uint64_t)(share[i] * (double)best.n_evaluation);
        assert_int_equal(engine_case_solve("optimal", &one, 1, problem, arch, task, &found, &err), DSE_OK);
        assert_true(found.stop == STOP_OPTIMAL || found.stop == STOP_MAX_EVALUATIONS);
        assert_true(!found.feasible || found.cost >= best.cost * (1 - 1e-10));
        assert_true(found.bound <= best.cost * (1 + 1e-10));
        *n_stopped += found.stop == STOP_MAX_EVALUATIONS && found.bound > 0;
    }
}

static void test_a_bound_is_certified_when_the_budget_ends(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct dse_error err;
    struct engine_task task = {.seed = 1, .key = 2, .batch = 1, .objective = {1, 1}};
    const uint32_t bound[] = {3, 3, 14, 14, 16, 32, 1};
    uint32_t n = 0;
    random_case_conv(&problem, "conv", bound, "N C P+R Q+S");
    small_machine(&arch, 24, 1024);
    check_budgets(&problem, &arch, task, &n);
    assert_true(n > 0);
    for (uint64_t i = 0; i < 60; i++) {
        optimal_case(i, 500, &problem, &arch);
        if (i >= 45) {
            struct random_stream stream = random_stream_make(3, i, RANDOM_TEST);
            random_case_leakage(&stream, &arch);
        }
        task.key = i;
        assert_int_equal(objective_parse(objectives[i % 5], &task.objective, &err), DSE_OK);
        check_budgets(&problem, &arch, task, &n);
    }
    assert_true(n > 60);
}

/* A convolution whose channels and batch are ten dimensions of 2 is as good as one where they are three:
 * tiles have the same sizes. */
static void test_many_dimensions_are_as_good_as_few(void **state)
{
    (void)state;
    static const char *const objective[] = {"edp", "energy", "latency"};
    struct problem few, many;
    struct architecture arch;
    struct engine_result one, other;
    struct dse_error err;
    struct engine_task task = {.seed = 1, .key = 3, .batch = 1};
    random_case_dims(&few, "few", "CKNPR", (const uint32_t[]){16, 8, 8, 4, 3});
    random_case_tensor(&few, "Weights", TENSOR_WEIGHT, "C K R");
    random_case_tensor(&few, "Inputs", TENSOR_INPUT, "C N P+R");
    random_case_tensor(&few, "Outputs", TENSOR_OUTPUT, "K N P");
    random_case_dims(&many, "many", "ABCDEFGHIJPR", (const uint32_t[]){2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 3});
    random_case_tensor(&many, "Weights", TENSOR_WEIGHT, "A B C D E F G R");
    random_case_tensor(&many, "Inputs", TENSOR_INPUT, "A B C D H I J P+R");
    random_case_tensor(&many, "Outputs", TENSOR_OUTPUT, "E F G H I J P");
    small_machine(&arch, 24, 200);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(objective_parse(objective[i], &task.objective, &err), DSE_OK);
        assert_int_equal(engine_case_solve("optimal", NULL, 0, &few, &arch, task, &one, &err), DSE_OK);
        assert_int_equal(engine_case_solve("optimal", NULL, 0, &many, &arch, task, &other, &err), DSE_OK);
        assert_int_equal(one.stop, STOP_OPTIMAL);
        assert_int_equal(other.stop, STOP_OPTIMAL);
        assert_true(fabs(one.cost - other.cost) <= 1e-10 * one.cost);
    }
}

static void refuses(const struct problem *problem, const struct architecture *arch, const char *text)
{
    struct engine_result result;
    struct dse_error err;
    const struct engine_task task = {.batch = 1, .objective = {1, 1}};
    assert_int_equal(engine_case_solve("optimal", NULL, 0, problem, arch, task, &result, &err),
                     DSE_BAD_INPUT);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
}

static void test_what_it_does_not_take_is_refused_by_name(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 16, 64);
    arch.link_transfers = true;
    refuses(&problem, &arch, "small: engine optimal has no bound for link transfers");
    small_machine(&arch, 16, 64);
    random_case_dims(&problem, "product", "CKPR", (const uint32_t[]){2, 2, 2, 2});
    random_case_tensor(&problem, "A", TENSOR_INPUT, "C P+R");
    random_case_tensor(&problem, "B", TENSOR_WEIGHT, "C K");
    random_case_tensor(&problem, "D", TENSOR_WEIGHT, "R K");
    random_case_tensor(&problem, "Z", TENSOR_OUTPUT, "K P");
    refuses(&problem, &arch,
            "sums of dimensions only where each dimension indexes all tensors but one; C leaves");
    random_case_dims(&problem, "many", "ABCDEFGH", (const uint32_t[]){2, 2, 2, 2, 2, 2, 2, 2});
    const char *const indices[] = {"A B C D", "B C D E", "C D E F", "D E F G",
                                   "E F G H", "F G H A", "G H A B", "H A B C"};
    for (uint32_t t = 0; t < 8; t++)
        random_case_tensor(&problem, (const char[]){(char)('S' + t), 0}, t < 7 ? TENSOR_INPUT : TENSOR_OUTPUT,
                           indices[t]);
    refuses(&problem, &arch,
            "many: engine optimal takes loop orders that leave tensors where they are in up to 60");
    random_case_dims(&problem, "deconv", "PR", (const uint32_t[]){4, 3});
    random_case_tensor(&problem, "Weights", TENSOR_WEIGHT, "R");
    random_case_tensor(&problem, "Outputs", TENSOR_OUTPUT, "P+R");
    refuses(&problem, &arch, "Outputs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_finds_the_same_as_exhaustive),
        cmocka_unit_test(test_leakage_is_part_of_the_proof),
        cmocka_unit_test(test_a_bound_is_certified_when_the_budget_ends),
        cmocka_unit_test(test_many_dimensions_are_as_good_as_few),
        cmocka_unit_test(test_what_it_does_not_take_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
