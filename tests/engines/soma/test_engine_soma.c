/* Engine soma through the driver: what it finds beside the published program, threads, budgets, options.
 * Tests: allocator.c, offer.c, task.c, two_stage.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/soma_engines.h"
#include "engines/soma/soma_metrics.h"
#include "tests/support/schedule_run.h"

/* tests/known/soma/public.csv, 8 MB, 16 GB/s: 1,624,151 cycles, 2.82305 mJ. The driver has read the schedule
 * back and evaluated it anew. */
static void test_engine_soma_is_as_good_as_published(void **state)
{
    (void)state;
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "experiments/networks/resnet50_soma.yaml", "8 MiB");
    schedule_run_set(&r, "compat", "1");
    schedule_run_set(&r, "starts", "1");
    schedule_run_solve(&r);
    const struct engine_schedule *s = &r.result.schedule;
    assert_true(r.result.feasible && r.result.stop == STOP_CONVERGED);
    assert_true(s->energy_j * (double)s->latency_cycle <= 1.01 * 2.8230510593566e-3 * 1624151);
    assert_true(s->latency_cycle < soma_metrics_get(s).stage1_latency_cycle);
    assert_string_equal(s->accounting, "soma-compat");
    schedule_run_close(&r);
}

static void test_engine_soma_finds_the_same_on_any_threads(void **state)
{
    (void)state;
    static const int n_thread[] = {1, 2, 3};
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "tests/known/soma/tiny6.yaml", "1 MiB");
    char *text = NULL;
    double cost = 0;
    uint64_t evaluations = 0;
    schedule_run_set(&r, "lfa_rounds", "30");
    schedule_run_set(&r, "dlsa_rounds", "50");
    schedule_run_set(&r, "starts", "5");
    for (int i = 0; i < 3; i++) {
        r.task.n_thread = n_thread[i];
        schedule_run_solve(&r);
        assert_true(r.result.feasible);
        if (i == 0) {
            text = strdup(r.result.schedule.text);
            cost = r.result.cost;
            evaluations = r.result.n_evaluation;
        }
        assert_string_equal(text, r.result.schedule.text);
        assert_true(cost == r.result.cost && evaluations == r.result.n_evaluation);
    }
    free(text);
    schedule_run_close(&r);
}

/* More starts are never worse: the first ones are the same. */
static void test_engine_soma_gains_by_starts(void **state)
{
    (void)state;
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "tests/known/soma/tiny6.yaml", "64 KiB");
    double cost[2];
    schedule_run_set(&r, "lfa_rounds", "5");
    schedule_run_set(&r, "dlsa_rounds", "10");
    for (int i = 0; i < 2; i++) {
        schedule_run_set(&r, "starts", i ? "8" : "1");
        schedule_run_solve(&r);
        cost[i] = r.result.cost;
    }
    assert_true(cost[1] <= cost[0]);
    schedule_run_close(&r);
}

static void test_engine_soma_keeps_to_its_budget(void **state)
{
    (void)state;
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "tests/known/soma/tiny6.yaml", "1 MiB");
    schedule_run_set(&r, "starts", "3");
    r.task.budget.max_evaluations = 500;
    schedule_run_solve(&r);
    assert_true(r.result.feasible && r.result.stop == STOP_MAX_EVALUATIONS);
    assert_true(r.result.n_evaluation <= 500);
    schedule_run_close(&r);
}

/* Section V-C's termination: from a start's 300th round on 20 greedy rounds a stage. */
static void test_engine_soma_ends_by_its_rounds(void **state)
{
    (void)state;
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "tests/known/soma/tiny6.yaml", "1 MiB");
    schedule_run_set(&r, "starts", "1");
    schedule_run_set(&r, "end_rounds", "300");
    schedule_run_set(&r, "greedy_rounds", "20");
    schedule_run_solve(&r);
    assert_true(r.result.feasible && r.result.stop == STOP_CONVERGED);
    assert_true(r.result.n_evaluation <= 340);
    schedule_run_close(&r);
}

static void test_engine_soma_has_the_published_variants(void **state)
{
    (void)state;
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "tests/known/soma/tiny6.yaml", "1 MiB");
    schedule_run_set(&r, "compat", "1");
    schedule_run_set(&r, "moves", "published");
    schedule_run_set(&r, "allocator", "published");
    schedule_run_set(&r, "tidy_rounds", "0.1");
    schedule_run_set(&r, "starts", "1");
    schedule_run_solve(&r);
    assert_true(r.result.feasible);
    schedule_run_set(&r, "first_tiles", "coarse");
    schedule_run_set(&r, "moves", "paper");
    schedule_run_set(&r, "allocator", "paper");
    schedule_run_solve(&r);
    assert_true(r.result.feasible);
    schedule_run_close(&r);
}

static void test_engine_soma_says_why_nothing_fits(void **state)
{
    (void)state;
    struct schedule_run r;
    schedule_run_open(&r, &engine_soma, "tests/known/soma/tiny6.yaml", "4 KiB");
    schedule_run_set(&r, "compat", "1");
    schedule_run_solve(&r);
    assert_false(r.result.feasible);
    assert_non_null(strstr(r.result.reason, "18,432 bytes of weights, which must fit whole"));
    schedule_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_soma_is_as_good_as_published),
        cmocka_unit_test(test_engine_soma_finds_the_same_on_any_threads),
        cmocka_unit_test(test_engine_soma_gains_by_starts),
        cmocka_unit_test(test_engine_soma_keeps_to_its_budget),
        cmocka_unit_test(test_engine_soma_ends_by_its_rounds),
        cmocka_unit_test(test_engine_soma_has_the_published_variants),
        cmocka_unit_test(test_engine_soma_says_why_nothing_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
