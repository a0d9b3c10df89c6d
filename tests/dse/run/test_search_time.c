/* What searches are expected to take: the static estimate, and what those that are done make of it.
 * Tests: search_time_prior.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dse/run/search_time.h"
#include "dse/run/search_time_prior.h"
#include "tests/support/sweep_case.h"

static const char spec[] = "experiment: cost\n"
                           "architecture: simba\n"
                           "axes:\n"
                           "  GlobalBuffer.capacity: [32 KiB, 64 KiB]\n"
                           "  network: [alexnet, mobilenet_v1]\n"
                           "  engine: [cosa, random, descent]\n";

enum { ENGINE = 2 }; /* the axis */

static void open_times(const char *const *set, size_t n_set, struct sweep_case **opened,
                       struct search_time **time)
{
    struct dse_error err;
    *opened = sweep_case_open(spec, set, n_set, &err);
    if (!*opened)
        fail_msg("%s", err.text);
    assert_int_equal(search_time_new(&(*opened)->sweep, time, &err), DSE_OK);
}

static void close_times(struct sweep_case *opened, struct search_time *time)
{
    search_time_free(time);
    sweep_case_close(opened);
}

static void test_nothing_learnt_is_the_estimate(void **state)
{
    (void)state;
    struct sweep_case *opened;
    struct search_time *time;
    struct time_prior prior;
    struct dse_error err;
    open_times(NULL, 0, &opened, &time);
    assert_int_equal(time_prior_init(&prior, &opened->sweep, &err), DSE_OK);
    for (size_t p = 0; p < opened->sweep.n_point; p++) {
        struct sweep_point point;
        sweep_point(&opened->sweep, p, &point);
        const struct time_class *class = &prior.class[time_prior_class_of_index(&prior, point.index)];
        double sum_s = 0;
        for (uint32_t t = 0; t < sweep_point_n_task(&point); t++)
            sum_s += time_class_task_s(class, point.workload, t);
        assert_true(sum_s > 0 && sum_s == class->point_s);
        assert_true(search_time_of_point(time, point.index) == sum_s);
        assert_int_equal(class->engine, point.index[ENGINE]);
        assert_ptr_equal(&opened->sweep.workload[class->workload], point.workload);
    }
    time_prior_free(&prior);
    close_times(opened, time);
}

/* Of this engine on this network, else of this engine, else of all. */
static void test_what_was_taken_scales_the_estimate(void **state)
{
    (void)state;
    struct sweep_case *opened;
    struct search_time *time;
    double estimate_s[2][3];
    open_times(NULL, 0, &opened, &time);
    for (uint32_t n = 0; n < 2; n++)
        for (uint32_t e = 0; e < 3; e++)
            estimate_s[n][e] = search_time_of_point(time, (uint32_t[]){0, n, e});
    search_time_learn_point(time, (uint32_t[]){0, 0, 1}, 10 * estimate_s[0][1]);
    search_time_learn_point(time, (uint32_t[]){1, 0, 1}, 30 * estimate_s[0][1]);
    search_time_learn_point(time, (uint32_t[]){0, 1, 1}, 2 * estimate_s[1][1]);
    double all = (40 * estimate_s[0][1] + 2 * estimate_s[1][1]) / (2 * estimate_s[0][1] + estimate_s[1][1]);
    for (uint32_t n = 0; n < 2; n++)
        for (uint32_t e = 0; e < 3; e++) {
            double factor = e == 1 ? (n == 0 ? 20 : 2) : all;
            double expected_s = search_time_of_point(time, (uint32_t[]){1, n, e});
            assert_true(fabs(expected_s / (factor * estimate_s[n][e]) - 1) < 1e-12);
        }
    search_time_learn_point(time, (uint32_t[]){0, 0, 2}, 5 * estimate_s[0][2]);
    double expected_s = search_time_of_point(time, (uint32_t[]){0, 1, 2});
    assert_true(fabs(expected_s / (5 * estimate_s[1][2]) - 1) < 1e-12);
    close_times(opened, time);
}

/* Search by search, or as one point: the same. */
static void test_searches_add_up_to_their_point(void **state)
{
    (void)state;
    struct sweep_case *opened;
    struct search_time *time, *other;
    struct dse_error err;
    uint32_t index[] = {0, 0, 2};
    open_times(NULL, 0, &opened, &time);
    assert_int_equal(search_time_new(&opened->sweep, &other, &err), DSE_OK);
    uint32_t n_task = opened->sweep.workload[0].n_problem;
    for (uint32_t t = 0; t < n_task; t++)
        search_time_learn(time, index, t, 0.25);
    search_time_learn_point(other, index, 0.25 * n_task);
    double expected_s = search_time_of_point(time, index);
    assert_true(fabs(expected_s - 0.25 * n_task) < 1e-12);
    assert_true(fabs(expected_s - search_time_of_point(other, index)) < 1e-12);
    search_time_free(other);
    close_times(opened, time);
}

static void test_nonsense_is_passed_over(void **state)
{
    (void)state;
    struct sweep_case *opened;
    struct search_time *time;
    uint32_t index[] = {1, 1, 0};
    open_times(NULL, 0, &opened, &time);
    double estimate_s = search_time_of_point(time, index);
    search_time_learn(time, index, 0, NAN);
    search_time_learn(time, index, 0, -1);
    search_time_learn(time, index, 0, INFINITY);
    search_time_learn(time, index, 999, 1);
    search_time_learn_point(time, index, NAN);
    assert_true(search_time_of_point(time, index) == estimate_s);
    close_times(opened, time);
}

/* A limit on the seconds of a search is a limit on what is expected of it. */
static void test_limits_are_limits_of_the_estimate(void **state)
{
    (void)state;
    const char *const set[] = {"limits.max_seconds=0.001"};
    struct sweep_case *opened;
    struct search_time *time;
    open_times(set, 1, &opened, &time);
    for (int learnt = 0; learnt < 2; learnt++)
        for (size_t p = 0; p < opened->sweep.n_point; p++) {
            struct sweep_point point;
            sweep_point(&opened->sweep, p, &point);
            double most_s = 0.001 * sweep_point_n_task(&point) * (1 + 1e-12);
            assert_true(search_time_of_point(time, point.index) <= most_s);
            search_time_learn_point(time, point.index, 100);
        }
    close_times(opened, time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_learnt_is_the_estimate),
        cmocka_unit_test(test_what_was_taken_scales_the_estimate),
        cmocka_unit_test(test_searches_add_up_to_their_point),
        cmocka_unit_test(test_nonsense_is_passed_over),
        cmocka_unit_test(test_limits_are_limits_of_the_estimate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
