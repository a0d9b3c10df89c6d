/* Tests: assignment.c.
 * Random problems of at most six rows and seven columns against all assignments. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "engines/search/assignment.h"

enum { ROW_MAX = 6, COLUMN_MAX = 7, N_PROBLEM = 3000 };

static double best_of_all(const double *cost, uint32_t n_row, uint32_t n_column, uint32_t row, uint32_t taken)
{
    double best = INFINITY;
    if (row == n_row)
        return 0;
    for (uint32_t j = 0; j < n_column; j++)
        if (!(taken >> j & 1))
            best = fmin(best, cost[row * n_column + j] +
                                  best_of_all(cost, n_row, n_column, row + 1, taken | 1U << j));
    return best;
}

/* Many equal costs, or few; some pairs forbidden; costs below 0. */
static void test_the_best_of_all(void **state)
{
    struct random_stream rng = random_stream_make(1, 0, RANDOM_TEST);
    struct arena arena;
    int n_impossible = 0;
    (void)state;
    arena_init(&arena);
    struct assignment *scratch = assignment_new(ROW_MAX, COLUMN_MAX, &arena);
    assert_non_null(scratch);
    for (int i = 0; i < N_PROBLEM; i++) {
        double cost[ROW_MAX * COLUMN_MAX], sum = 0;
        uint32_t column[ROW_MAX], again[ROW_MAX], taken = 0;
        const uint32_t n_column = 1 + random_below(&rng, COLUMN_MAX);
        const uint32_t n_row = 1 + random_below(&rng, n_column < ROW_MAX ? n_column : ROW_MAX);
        const uint32_t range = 1 + random_below(&rng, 30), forbid = random_below(&rng, 6);
        for (uint32_t k = 0; k < n_row * n_column; k++)
            cost[k] = random_below(&rng, 10) < forbid ? INFINITY : (double)random_below(&rng, range) - 5;
        const double best = best_of_all(cost, n_row, n_column, 0, 0);
        const bool possible = assignment_solve(scratch, cost, n_row, n_column, column);
        assert_int_equal(possible, !isinf(best));
        n_impossible += !possible;
        if (!possible)
            continue;
        for (uint32_t r = 0; r < n_row; r++) {
            assert_true(column[r] < n_column && !(taken >> column[r] & 1));
            taken |= 1U << column[r];
            sum += cost[r * n_column + column[r]];
        }
        assert_true(sum == best);
        assert_true(assignment_solve(scratch, cost, n_row, n_column, again));
        assert_memory_equal(column, again, n_row * sizeof *column);
    }
    assert_true(n_impossible > 100 && n_impossible < N_PROBLEM / 2);
    arena_free(&arena);
}

static void test_sizes_that_cannot_be(void **state)
{
    const double cost[4] = {0};
    uint32_t column[4];
    struct arena arena;
    (void)state;
    arena_init(&arena);
    struct assignment *scratch = assignment_new(1, 2, &arena);
    assert_false(assignment_solve(scratch, cost, 2, 2, column));
    assert_false(assignment_solve(scratch, cost, 1, 3, column));
    assert_false(assignment_solve(scratch, cost, 1, 0, column));
    assert_true(assignment_solve(scratch, cost, 0, 0, column));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_best_of_all),
        cmocka_unit_test(test_sizes_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
