/* Bayesian optimisation of two functions of the literature on grids that are priced whole, and of hopeless
 * candidates. */
#include <gsl/gsl_errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/search/bayes.h"
#include "tests/support/arena_fixture.h"

enum { CANDIDATE_MAX = 2197, N_SEED = 10 };

/* L. Dixon and G. Szego, "The global optimization problem: an introduction", 1978: 0.397887 at (pi, 2.275)
 * among other points; over [-5, 10] x [0, 15]. */
static double branin(const double *x)
{
    const double pi = 3.14159265358979323846;
    double a = 15 * x[0] - 5, b = 15 * x[1], t = b - 5.1 / (4 * pi * pi) * a * a + 5 / pi * a - 6;
    return t * t + 10 * (1 - 1 / (8 * pi)) * cos(a) + 10;
}

/* Of the same source: -3.86278 at (0.114614, 0.555649, 0.852547). */
static double hartmann3(const double *x)
{
    static const double a[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}},
                        p[4][3] = {{0.3689, 0.1170, 0.2673},
                                   {0.4699, 0.4387, 0.7470},
                                   {0.1091, 0.8732, 0.5547},
                                   {0.0381, 0.5743, 0.8828}},
                        share[4] = {1, 1.2, 3, 3.2};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double power = 0;
        for (int m = 0; m < 3; m++)
            power += a[i][m] * (x[m] - p[i][m]) * (x[m] - p[i][m]);
        sum -= share[i] * exp(-power);
    }
    return sum;
}

struct grid {
    uint32_t d, n;
    double point[CANDIDATE_MAX * 3], cost[CANDIDATE_MAX], best;
};

static void make_grid(uint32_t d, uint32_t side, double (*function)(const double *), struct grid *grid)
{
    grid->d = d;
    grid->best = INFINITY;
    grid->n = d == 2 ? side * side : side * side * side;
    for (uint32_t i = 0; i < grid->n; i++) {
        for (uint32_t m = 0, rest = i; m < d; m++, rest /= side)
            grid->point[i * d + m] = (double)(rest % side) / (side - 1);
        grid->cost[i] = function(grid->point + (size_t)i * d);
        grid->best = fmin(grid->best, grid->cost[i]);
    }
}

/* The candidates in the order they were asked for, into asked (n_max); how many. */
static uint32_t run(const struct grid *grid, const struct bayes_options *options, uint64_t seed,
                    uint32_t *asked)
{
    struct arena own;
    struct bayes *bayes;
    uint32_t n = 0, index, again;
    arena_init(&own);
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_TEST);
    assert_int_equal(bayes_new(grid->point, grid->n, grid->d, options, stream, &own, &bayes, NULL), DSE_OK);
    for (;; n++) {
        assert_int_equal(bayes_next(bayes, &index, NULL), DSE_OK);
        if (index == BAYES_END)
            break;
        assert_int_equal(bayes_next(bayes, &again, NULL), DSE_OK);
        assert_int_equal(index, again);
        assert_in_range(n, 0, options->n_max - 1);
        asked[n] = index;
        assert_int_equal(bayes_tell(bayes, index, grid->cost[index], NULL), DSE_OK);
    }
    arena_free(&own);
    return n;
}

static void assert_finds(const struct grid *grid, enum acquisition acquisition)
{
    const struct bayes_options options = {8, 40, acquisition, 3};
    uint32_t asked[40], n_found = 0;
    for (uint64_t seed = 0; seed < N_SEED; seed++) {
        bool found = false;
        assert_int_equal(run(grid, &options, seed, asked), 40);
        for (int i = 0; i < 40; i++)
            found = found || grid->cost[asked[i]] == grid->best;
        n_found += found;
    }
    assert_in_range(n_found, N_SEED - 1, N_SEED);
}

static struct grid grid; /* 70 KB */

static void test_branin_on_961_points(void **unused)
{
    (void)unused;
    assert_true(fabs(branin((const double[]){(3.14159265358979 + 5) / 15, 2.275 / 15}) - 0.397887) < 1e-6);
    make_grid(2, 31, branin, &grid);
    assert_finds(&grid, ACQUISITION_BOUND);
    assert_finds(&grid, ACQUISITION_IMPROVEMENT);
}

static void test_hartmann_on_2197_points(void **unused)
{
    (void)unused;
    assert_true(fabs(hartmann3((const double[]){0.114614, 0.555649, 0.852547}) + 3.86278) < 1e-5);
    make_grid(3, 13, hartmann3, &grid);
    assert_finds(&grid, ACQUISITION_IMPROVEMENT);
}

/* More than 64, after which not every answer is followed by a fit; four threads at a time. */
static void test_the_same_candidates_every_time(void **unused)
{
    (void)unused;
    enum { MAX = 80, TIMES = 4 };
    const struct bayes_options options = {6, MAX, ACQUISITION_BOUND, 2};
    static uint32_t asked[TIMES][MAX], other[MAX];
    make_grid(2, 15, branin, &grid);
#pragma omp parallel for num_threads(TIMES)
    for (int t = 0; t < TIMES; t++)
        (void)run(&grid, &options, 3, asked[t]);
    for (int t = 1; t < TIMES; t++)
        assert_memory_equal(asked[t], asked[0], sizeof asked[0]);
    (void)run(&grid, &options, 4, other);
    assert_memory_not_equal(other, asked[0], sizeof other);
}

/* Each candidate once, whatever they cost, and then the end. */
static void assert_asks_for_all(const struct grid *all)
{
    const struct bayes_options options = {3, 50, ACQUISITION_IMPROVEMENT, 0};
    uint32_t asked[50];
    bool seen[50] = {false};
    assert_int_equal(run(all, &options, 1, asked), all->n);
    for (uint32_t i = 0; i < all->n; i++) {
        assert_in_range(asked[i], 0, all->n - 1);
        assert_false(seen[asked[i]]);
        seen[asked[i]] = true;
    }
}

static void test_candidates_that_run_out(void **unused)
{
    (void)unused;
    grid = (struct grid){.d = 2, .n = 1, .cost = {5}};
    assert_asks_for_all(&grid); /* one */
    grid.n = 40;
    assert_asks_for_all(&grid); /* all at the same place */
    make_grid(2, 6, branin, &grid);
    assert_asks_for_all(&grid);
    for (uint32_t i = 0; i < grid.n; i++)
        grid.cost[i] = 0.1;
    assert_asks_for_all(&grid); /* equal costs */
    for (uint32_t i = 0; i < grid.n; i++)
        grid.cost[i] = INFINITY;
    assert_asks_for_all(&grid); /* none feasible */
}

/* Branin where b > 7.5 is infeasible: the best of the rest is found, and few infeasible ones are tried. An
 * infeasible candidate counts as the worst one: told as that, it leads to the same questions. */
static void test_infeasible_candidates_count_as_the_worst(void **unused)
{
    (void)unused;
    const struct bayes_options options = {8, 40, ACQUISITION_IMPROVEMENT, 0};
    uint32_t asked[40], same[40];
    int n_infeasible = 0;
    double worst = -INFINITY, best = INFINITY, least = INFINITY;
    make_grid(2, 21, branin, &grid);
    for (uint32_t i = 0; i < grid.n; i++) {
        if (grid.point[2 * i + 1] > 0.5)
            grid.cost[i] = i % 2 ? INFINITY : NAN;
        else
            best = fmin(best, grid.cost[i]);
    }
    assert_int_equal(run(&grid, &options, 2, asked), 40);
    for (int i = 0; i < 40; i++) {
        double cost = grid.cost[asked[i]];
        n_infeasible += !isfinite(cost);
        least = isfinite(cost) ? fmin(least, cost) : least;
        worst = isfinite(cost) ? fmax(worst, cost) : worst;
    }
    assert_true(least == best);
    assert_in_range(n_infeasible, 2, 14);
    /* from the ninth question on, if the worst has been among the first eight */
    double first_worst = -INFINITY;
    for (int i = 0; i < 8; i++)
        first_worst = fmax(first_worst, isfinite(grid.cost[asked[i]]) ? grid.cost[asked[i]] : -INFINITY);
    assert_true(first_worst == worst);
    for (uint32_t i = 0; i < grid.n; i++)
        grid.cost[i] = isfinite(grid.cost[i]) ? grid.cost[i] : worst;
    assert_int_equal(run(&grid, &options, 2, same), 40);
    assert_memory_equal(same, asked, sizeof same);
}

static void test_what_the_caller_knows_may_be_told(void **unused)
{
    (void)unused;
    const struct bayes_options options = {1, 10, ACQUISITION_BOUND, 2};
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    struct bayes *bayes;
    struct dse_error err = {0};
    uint32_t index;
    make_grid(2, 21, branin, &grid);
    assert_int_equal(bayes_new(grid.point, grid.n, 2, &options, stream, &arena, &bayes, NULL), DSE_OK);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(bayes_tell(bayes, 50 * i, grid.cost[50 * i], NULL), DSE_OK);
    assert_int_equal(bayes_tell(bayes, 50, 1, &err), DSE_INTERNAL);
    assert_string_equal(err.text, "candidate 50 of a Bayesian search is told twice");
    assert_int_equal(bayes_tell(bayes, 441, 1, &err), DSE_INTERNAL);
    assert_string_equal(err.text, "candidate 441 of a Bayesian search over 441 is told");
    assert_int_equal(bayes_next(bayes, &index, NULL), DSE_OK);
    assert_int_not_equal(index % 50, 0);
    assert_int_equal(bayes_tell(bayes, index, 1, NULL), DSE_OK);
    assert_int_equal(bayes_next(bayes, &index, NULL), DSE_OK);
    assert_true(index == BAYES_END);
    assert_int_equal(bayes_tell(bayes, 1, 1, &err), DSE_INTERNAL);
    assert_string_equal(err.text, "a Bayesian search of 10 evaluations is told one more");
}

static void test_bad_input_is_told(void **unused)
{
    (void)unused;
    static const struct {
        double second;
        uint32_t n;
        struct bayes_options options;
        const char *text;
    } bad[] = {
        {1, 0, {1, 5, ACQUISITION_BOUND, 1}, "needs candidates"},
        {1, 2, {0, 5, ACQUISITION_BOUND, 1}, "first ones"},
        {1, 2, {1, 0, ACQUISITION_BOUND, 1}, "evaluations"},
        {1, 2, {1, 5, ACQUISITION_BOUND, -1}, "kappa >= 0: 2, 1, 5, -1"},
        {1, 2, {1, 5, ACQUISITION_BOUND, NAN}, "kappa >= 0"},
        {1.5, 2, {1, 5, ACQUISITION_BOUND, 1}, "candidate 1 of a Bayesian search lies at 1.5 in dimension 0"},
        {NAN, 2, {1, 5, ACQUISITION_BOUND, 1}, "candidate 1 of a Bayesian search lies at nan"},
    };
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dse_error err = {0};
        struct bayes *bayes;
        const double candidate[] = {0, bad[i].second};
        assert_int_equal(bayes_new(candidate, bad[i].n, 1, &bad[i].options, stream, &arena, &bayes, &err),
                         DSE_BAD_INPUT);
        assert_non_null(strstr(err.text, bad[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branin_on_961_points),
        cmocka_unit_test(test_hartmann_on_2197_points),
        cmocka_unit_test(test_the_same_candidates_every_time),
        cmocka_unit_test(test_candidates_that_run_out),
        cmocka_unit_test(test_infeasible_candidates_count_as_the_worst),
        cmocka_unit_test_setup_teardown(test_what_the_caller_knows_may_be_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_input_is_told, set_up, tear_down),
    };
    gsl_set_error_handler_off(); /* as main does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
