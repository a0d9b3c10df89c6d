/* The Pareto front: rows whose front is seen at a glance, and its definition on random rows. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
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
    static const bool expected[] = {true, true, false, true, false, true};
    bool on[6];
    pareto_front(value[0], 6, less, 2, on);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(on[i], expected[i]);
}

/* More of the second is better, the third does not count; a row without a number is never on it. */
static void test_pareto_front_directions_and_missing(void **state)
{
    (void)state;
    static const double value[5][3] = {{1, 5, 0}, {2, 6, 9}, {2, 5, 0}, {NAN, 9, 0}, {INFINITY, 9, 0}};
    static const int direction[] = {-1, 1, 0};
    static const bool expected[] = {true, true, false, false, false};
    bool on[5];
    pareto_front(value[0], 5, direction, 3, on);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(on[i], expected[i]);
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
        bool on[N];
        for (int i = 0; i < N; i++)
            for (int a = 0; a < AXES; a++)
                value[i][a] = random_below(&stream, 8);
        pareto_front(value[0], N, direction, AXES, on);
        for (int i = 0; i < N; i++) {
            bool beaten = false;
            for (int k = 0; k < N; k++)
                beaten |=
                    value[k][0] <= value[i][0] && value[k][1] >= value[i][1] && value[k][2] <= value[i][2] &&
                    (value[k][0] < value[i][0] || value[k][1] > value[i][1] || value[k][2] < value[i][2]);
            assert_int_equal(on[i], !beaten);
        }
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
