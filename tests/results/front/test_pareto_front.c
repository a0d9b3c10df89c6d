/* The Pareto front: rows whose front is seen at a glance, and its definition on random rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "results/front/pareto_front.h"

/* Energy against size, less of both is better: by eye rows 0, 1 and 3 are on it; 2 is worse than 1 in both, 4
 * than 3 in one; 5 equals 3. */
static void test_pareto_front_of_two_axes(void **state)
{
    (void)state;
    static const double value[6][2] = {{10, 1}, {7, 2}, {8, 3}, {5, 4}, {5, 5}, {5, 4}};
    static const int less[] = {-1, -1};
    static const size_t expected[] = {0, 1, 3, 5};
    size_t front[6];
    assert_int_equal(pareto_front(value[0], 6, less, 2, front), 4);
    assert_memory_equal(front, expected, sizeof expected);
}

/* More of the second is better, the third does not count; an infinite row is never on it. Rows without a
 * number are compared among themselves: 4 beats 3. */
static void test_pareto_front_directions_and_missing(void **state)
{
    (void)state;
    static const double value[6][3] = {{1, 5, 0},   {2, 6, 9},   {2, 5, 0},
                                       {NAN, 8, 0}, {NAN, 9, 0}, {INFINITY, 99, 0}};
    static const int direction[] = {-1, 1, 0};
    static const size_t expected[] = {0, 1, 4};
    size_t front[6];
    assert_int_equal(pareto_front(value[0], 6, direction, 3, front), 3);
    assert_memory_equal(front, expected, sizeof expected);
    assert_int_equal(pareto_compare(value[0], value[2], direction, 3), -1);
    assert_int_equal(pareto_compare(value[2], value[1], direction, 3), 1);
    assert_int_equal(pareto_compare(value[0], value[1], direction, 3), 0);
    assert_int_equal(pareto_compare(value[0], value[4], direction, 3), 0);
}

/* Of random rows, with many equal numbers: a row is off exactly when some row is as good everywhere and
 * better somewhere (the definition, written out once more). */
static void test_pareto_front_is_its_definition(void **state)
{
    (void)state;
    enum { N = 60, AXES = 3 };
    static const int direction[AXES] = {-1, 1, -1};
    struct random_stream stream = random_stream_make(1, 2, 3);
    for (int round = 0; round < 50; round++) {
        double value[N][AXES];
        size_t front[N], at = 0;
        for (int i = 0; i < N; i++)
            for (int a = 0; a < AXES; a++)
                value[i][a] = random_below(&stream, 8);
        const size_t n = pareto_front(value[0], N, direction, AXES, front);
        for (int i = 0; i < N; i++) {
            bool beaten = false;
            for (int k = 0; k < N; k++)
                beaten |=
                    value[k][0] <= value[i][0] && value[k][1] >= value[i][1] && value[k][2] <= value[i][2] &&
                    (value[k][0] < value[i][0] || value[k][1] > value[i][1] || value[k][2] < value[i][2]);
            assert_int_equal(at < n && front[at] == (size_t)i, !beaten);
            at += !beaten;
        }
        assert_int_equal(at, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pareto_front_of_two_axes),
        cmocka_unit_test(test_pareto_front_directions_and_missing),
        cmocka_unit_test(test_pareto_front_is_its_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
