/* The engines that are a genetic algorithm take their options for what they are called: of a population of 10
 * with an elite of 3, two more generations are 7 children each, 24 evaluations in all.
 * Tests: genetic_engine.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/engine_case.h"
#include "tests/support/mm_case.h"

static const char *const engines[] = {"genetic", "mm-ga"};

/* A convolution on Mind Mappings' machine, where every member of both spaces fits. */
static enum dse_status solve(const char *engine, const char *elite, struct engine_result *result,
                             struct dse_error *err)
{
    static const uint32_t size[] = {2, 8, 16, 3, 3, 6, 6};
    const struct engine_setting setting[] = {
        {"population", "10"}, {"generations", "2"},       {"elite", elite},
        {"tournament", "2"},  {"mutation_chance", "0.3"},
    };
    const struct engine_task task = {.objective = {1, 1}, .budget = {.max_evaluations = 1000}};
    struct mm_case c;
    mm_case_begin(&c, MM_CNN, NULL, 0);
    const struct problem *problem = mm_space_problem(mm_case_space(&c, size, MM_AUTOBYPASS));
    enum dse_status status = engine_case_solve(engine, setting, sizeof setting / sizeof setting[0], problem,
                                               &c.arch, task, result, err);
    mm_case_end(&c);
    return status;
}

static void test_evaluations_are_those_of_the_options(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        struct engine_result result;
        struct dse_error err;
        assert_int_equal(solve(engines[e], "3", &result, &err), DSE_OK);
        assert_int_equal(result.n_evaluation, 10 + 2 * 7);
        assert_int_equal(result.stop, STOP_CONVERGED);
    }
}

static void test_an_elite_of_all_is_refused(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof engines / sizeof engines[0]; e++) {
        struct engine_result result;
        struct dse_error err;
        assert_int_equal(solve(engines[e], "10", &result, &err), DSE_BAD_USAGE);
        assert_non_null(strstr(err.text, "elite is 10, it must be less than the population of 10"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_evaluations_are_those_of_the_options),
        cmocka_unit_test(test_an_elite_of_all_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
