/* The Pareto front: rows whose front is seen at a glance, and its definition on random rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/random.h"
#include "results/front/pareto_front.h"

enum { MOST = 5 };

static size_t front_of(const double *value, size_t n, const int *direction, size_t n_axis,
                       enum pareto_missing missing, size_t *front)
{
    size_t n_front = 99;
    struct dse_error err;
    assert_int_equal(pareto_front(value, n, direction, n_axis, missing, front, &n_front, &err), DSE_OK);
    return n_front;
}

/* Energy against size, less of both is better: by eye rows 0, 1 and 3 are on it; 2 is worse than 1 in both, 4
 * than 3 in one; 5 equals 3. */
static void test_pareto_front_of_two_axes(void **state)
{
    (void)state;
    static const double value[6][2] = {{10, 1}, {7, 2}, {8, 3}, {5, 4}, {5, 5}, {5, 4}};
    static const int less[] = {-1, -1};
    static const size_t expected[] = {0, 1, 3, 5};
    size_t front[6];
    assert_int_equal(front_of(value[0], 6, less, 2, PARETO_APART, front), 4);
    assert_memory_equal(front, expected, sizeof expected);
}

/* More of the second is better, the third does not count; an infinite row is never on it. Rows without a
 * number are compared among themselves: 4 beats 3; or left out. */
static void test_pareto_front_directions_and_missing(void **state)
{
    (void)state;
    static const double value[6][3] = {{1, 5, 0},   {2, 6, 9},   {2, 5, 0},
                                       {NAN, 8, 0}, {NAN, 9, 0}, {INFINITY, 99, 0}};
    static const int direction[] = {-1, 1, 0};
    static const size_t expected[] = {0, 1, 4};
    size_t front[6];
    assert_int_equal(front_of(value[0], 6, direction, 3, PARETO_APART, front), 3);
    assert_memory_equal(front, expected, sizeof expected);
    assert_int_equal(front_of(value[0], 6, direction, 3, PARETO_LEFT_OUT, front), 2);
    assert_memory_equal(front, expected, 2 * sizeof expected[0]);
    assert_int_equal(pareto_compare(value[0], value[2], direction, 3), -1);
    assert_int_equal(pareto_compare(value[2], value[1], direction, 3), 1);
    assert_int_equal(pareto_compare(value[0], value[1], direction, 3), 0);
    assert_int_equal(pareto_compare(value[0], value[4], direction, 3), 0);
}

/* Of one axis the best, also when it comes more than once; of none all; of no rows none. */
static void test_pareto_front_of_few_axes(void **state)
{
    (void)state;
    static const double value[4] = {3, 2, 5, 2};
    static const int less[] = {-1}, none[] = {0};
    static const size_t expected[] = {1, 3};
    size_t front[4];
    assert_int_equal(front_of(value, 4, less, 1, PARETO_APART, front), 2);
    assert_memory_equal(front, expected, sizeof expected);
    assert_int_equal(front_of(value, 4, none, 1, PARETO_APART, front), 4);
    assert_int_equal(front_of(value, 0, less, 1, PARETO_APART, front), 0);
}

/* Is every row that counts on the axes of `direction` as good as, and some better than? Written out once
 * more; -0 equals 0. */
static bool beats(const double *one, const double *other, const int *direction, size_t n_axis)
{
    bool better = false;
    for (size_t a = 0; a < n_axis; a++) {
        if (direction[a] == 0)
            continue;
        if (isnan(one[a]) != isnan(other[a]))
            return false;
        if (direction[a] < 0 ? one[a] > other[a] : one[a] < other[a])
            return false;
        better = better || (direction[a] < 0 ? one[a] < other[a] : one[a] > other[a]);
    }
    return better;
}

static bool takes_part(const double *row, const int *direction, size_t n_axis, enum pareto_missing missing)
{
    for (size_t a = 0; a < n_axis; a++)
        if (direction[a] != 0 && (isinf(row[a]) || (missing == PARETO_LEFT_OUT && isnan(row[a]))))
            return false;
    return true;
}

/* A row is on the front exactly when it takes part and none that takes part beats it (all pairs). */
static void check_front(const double *value, size_t n, const int *direction, size_t n_axis,
                        enum pareto_missing missing, size_t *front)
{
    const size_t n_front = front_of(value, n, direction, n_axis, missing, front);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const double *row = value + i * n_axis;
        bool on = takes_part(row, direction, n_axis, missing);
        for (size_t k = 0; k < n && on; k++)
            on = !beats(value + k * n_axis, row, direction, n_axis) ||
                 !takes_part(value + k * n_axis, direction, n_axis, missing);
        assert_int_equal(at < n_front && front[at] == i, on);
        at += on;
    }
    assert_int_equal(at, n_front);
}

/* Sets of up to 5 axes, with many, few and no equal numbers, without numbers, with infinite ones, and such
 * that nearly all are on the front (the last axis is what the others lack of a sum). */
static void test_pareto_front_is_its_definition(void **state)
{
    (void)state;
    enum { N = 220, ROUNDS = 4000 };
    static double value[N * MOST];
    static size_t front[N];
    struct random_stream stream = random_stream_make(1, 2, 3);
    for (int round = 0; round < ROUNDS; round++) {
        const size_t n_axis = 1 + random_below(&stream, MOST);
        const size_t n = random_below(&stream, round % 50 ? 40 : N + 1);
        const uint32_t values = (uint32_t[]){2, 4, 12, 1000000}[random_below(&stream, 4)];
        const uint32_t missing = (uint32_t[]){1000000, 20, 4}[random_below(&stream, 3)];
        const bool level = random_below(&stream, 3) == 0;
        int direction[MOST];
        for (size_t a = 0; a < n_axis; a++)
            direction[a] = random_below(&stream, 8) ? (random_below(&stream, 2) ? 1 : -1) : 0;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t a = 0; a < n_axis; a++) {
                double *v = &value[i * n_axis + a];
                *v = (double)random_below(&stream, values) - values / 2;
                if (level && a + 1 == n_axis)
                    *v = direction[a] * sum;
                sum += -direction[a] * *v;
                if (random_below(&stream, missing) == 0)
                    *v = (double[]){NAN, NAN, NAN, INFINITY, -INFINITY}[random_below(&stream, 5)];
            }
        }
        check_front(value, n, direction, n_axis, PARETO_APART, front);
        check_front(value, n, direction, n_axis, PARETO_LEFT_OUT, front);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pareto_front_of_two_axes),
        cmocka_unit_test(test_pareto_front_directions_and_missing),
        cmocka_unit_test(test_pareto_front_of_few_axes),
        cmocka_unit_test(test_pareto_front_is_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
