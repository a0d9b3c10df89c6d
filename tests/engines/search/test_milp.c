/* The MILP module on models whose optimum is found by hand.
 * Tests: milp_solve.c. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "engines/search/milp.h"

static const struct milp_limits no_limits = {0};

static void must_solve(const struct milp *model, const struct milp_limits *limits, struct arena *arena,
                       struct milp_result *result)
{
    struct dse_error err;
    if (milp_solve(model, limits, arena, result, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-7 * fmax(1, fabs(b))))
        fail_msg("%.12g instead of %.12g", a, b);
}

/* Values 10, 13, 7, 8 and weights 3, 4, 2, 3 in a sack of 7, each thing once. By hand: {13, 10} weighs 7 and
 * is worth 23; {13, 7} 20; {10, 7} 17; {10, 8} 18; {13, 8} 21; {7, 8} 15; three things weigh at least 8. So
 * 23. */
static struct milp *knapsack(struct arena *arena, uint32_t *row)
{
    static const double value[] = {10, 13, 7, 8}, weight[] = {3, 4, 2, 3};
    struct milp *model = milp_new(arena);
    struct milp_term term[4];
    assert_non_null(model);
    for (uint32_t i = 0; i < 4; i++)
        term[i] =
            (struct milp_term){milp_add_variable(model, MILP_INTEGER, 0, 1, -value[i], "thing"), weight[i]};
    *row = milp_add_row(model, -INFINITY, 7, term, 4, "sack");
    return model;
}

static void test_milp_fills_a_knapsack(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    uint32_t row;
    arena_init(&arena);
    struct milp *model = knapsack(&arena, &row);
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_OPTIMAL);
    assert_true(r.objective == -23);
    assert_true(r.value[0] == 1 && r.value[1] == 1 && r.value[2] == 0 && r.value[3] == 0);
    assert_true(r.gap == 0 && r.bound == r.objective && r.cpu_s >= 0);
    assert_int_equal(milp_variable_count(model), 4);
    assert_int_equal(milp_integer_count(model), 4);
    assert_int_equal(milp_row_count(model), 1);
    arena_free(&arena);
}

/* The same sack with 6, then 0, then 12: by hand {13, 7} = 20, nothing, everything = 38. */
static void test_milp_solves_again_after_changes(void **state)
{
    (void)state;
    static const double room[] = {6, 0, 12, 7}, best[] = {-20, 0, -38, -23};
    struct arena arena;
    struct milp_result r;
    uint32_t row;
    arena_init(&arena);
    struct milp *model = knapsack(&arena, &row);
    for (int i = 0; i < 4; i++) {
        milp_set_row_bounds(model, row, -INFINITY, room[i]);
        assert_true(milp_row_highest(model, row) == room[i]);
        must_solve(model, &no_limits, &arena, &r);
        assert_int_equal(r.status, MILP_OPTIMAL);
        assert_true(r.objective == best[i]);
    }
    milp_set_variable_bounds(model, 1, 0, 0); /* without the 13: {10, 8} = 18 */
    must_solve(model, &no_limits, &arena, &r);
    assert_true(r.objective == -18);
    milp_set_cost(model, 2, -20); /* {10, 20} = 30 */
    must_solve(model, &no_limits, &arena, &r);
    assert_true(r.objective == -30);
    arena_free(&arena);
}

/* x + y = 5 with x, y integers, 2 x - y >= 2, minimise y - x / 2 with y >= 1: x = 4, y = 1 gives -1. */
static void test_milp_takes_equalities(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    arena_init(&arena);
    struct milp *model = milp_new(&arena);
    uint32_t x = milp_add_variable(model, MILP_INTEGER, 0, INFINITY, -0.5, "x");
    uint32_t y = milp_add_variable(model, MILP_INTEGER, 1, INFINITY, 1, "y");
    (void)milp_add_row(model, 5, 5, (struct milp_term[]){{x, 1}, {y, 1}}, 2, "sum");
    (void)milp_add_row(model, 2, INFINITY, (struct milp_term[]){{x, 2}, {y, -1}}, 2, NULL);
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_OPTIMAL);
    assert_near(r.objective, -1);
    assert_true(r.value[x] == 4 && r.value[y] == 1);
    arena_free(&arena);
}

/* Terms of the same variable add up: x/4 + x/4 <= 1 lets x be 2. Integer bounds of 0.5 and 9.5 mean 1 to
 * 9. */
static void test_milp_adds_up_repeated_terms(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    arena_init(&arena);
    struct milp *model = milp_new(&arena);
    uint32_t x = milp_add_variable(model, MILP_INTEGER, 0.5, 9.5, -1, "x");
    uint32_t row = milp_add_row(model, -INFINITY, 1, (struct milp_term[]){{x, 0.25}, {x, 0.25}}, 2, "twice");
    must_solve(model, &no_limits, &arena, &r);
    assert_true(r.objective == -2);
    milp_set_row_bounds(model, row, -INFINITY, INFINITY);
    must_solve(model, &no_limits, &arena, &r);
    assert_true(r.objective == -9);
    milp_set_cost(model, x, 1);
    must_solve(model, &no_limits, &arena, &r);
    assert_true(r.objective == 1);
    arena_free(&arena);
}

static void test_milp_mixes_continuous_and_integer(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    arena_init(&arena);
    struct milp *model =
        milp_new(&arena); /* max x + y, x <= 1.5 continuous, y integer, x + y <= 2.9 : x = 0.9, y = 2 */
    uint32_t x = milp_add_variable(model, MILP_CONTINUOUS, 0, 1.5, -1, "x");
    uint32_t y = milp_add_variable(model, MILP_INTEGER, 0, 10, -1.5, "y");
    (void)milp_add_row(model, -INFINITY, 2.9, (struct milp_term[]){{x, 1}, {y, 1}}, 2, "sum");
    must_solve(model, &no_limits, &arena, &r);
    assert_near(r.value[x], 0.9);
    assert_true(r.value[y] == 2);
    assert_near(r.objective, -3.9);
    assert_int_equal(milp_integer_count(model), 1);
    arena_free(&arena);
}

/* 2 x = 3 has a real solution but no integer one; x >= 2 and x <= 1 has none; crossing bounds neither. */
static void test_milp_says_infeasible(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    arena_init(&arena);
    struct milp *model = milp_new(&arena);
    uint32_t x = milp_add_variable(model, MILP_INTEGER, 0, 10, 1, "x");
    uint32_t row = milp_add_row(model, 3, 3, (struct milp_term[]){{x, 2}}, 1, "odd");
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_INFEASIBLE);
    assert_null(r.value);
    milp_set_row_bounds(model, row, 4, 4);
    milp_set_variable_bounds(model, x, 5, 3);
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_INFEASIBLE);
    milp_set_variable_bounds(model, x, 0, 10);
    (void)milp_add_row(model, 1, 1, NULL, 0, "nothing is 1");
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_INFEASIBLE);
    arena_free(&arena);
}

static void test_milp_says_unbounded(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    arena_init(&arena);
    struct milp *model = milp_new(&arena);
    uint32_t x = milp_add_variable(model, MILP_INTEGER, 0, INFINITY, -1, "x");
    uint32_t y = milp_add_variable(model, MILP_CONTINUOUS, 0, INFINITY, 0, "y");
    (void)milp_add_row(model, -INFINITY, 3, (struct milp_term[]){{x, 1}, {y, -1}}, 2, "difference");
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_UNBOUNDED);
    assert_string_equal(milp_status_text(r.status), "unbounded");
    arena_free(&arena);
}

static void test_milp_solves_empty_models(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    arena_init(&arena);
    struct milp *model = milp_new(&arena);
    must_solve(model, &no_limits, &arena, &r);
    assert_int_equal(r.status, MILP_OPTIMAL);
    assert_true(r.objective == 0);
    (void)milp_add_variable(model, MILP_INTEGER, -2, 3, 2, NULL);
    must_solve(model, &no_limits, &arena, &r); /* a variable, no row */
    assert_true(r.objective == -4 && r.value[0] == -2);
    arena_free(&arena);
}

/* Split a market: choose among 25 things so that two sums come as near as possible to half (Cornuejols and
 * Dawande 1998: such models need trees of very many nodes). The objective is how far they are off. */
static struct milp *hard_model(struct arena *arena)
{
    enum { N = 25, N_ROW = 2 };
    struct milp *model = milp_new(arena);
    uint32_t thing[N], draw = 12345;
    for (uint32_t i = 0; i < N; i++)
        thing[i] = milp_add_variable(model, MILP_INTEGER, 0, 1, 0, NULL);
    for (int r = 0; r < N_ROW; r++) {
        struct milp_term term[N + 2];
        double sum = 0;
        for (uint32_t i = 0; i < N; i++) {
            draw = draw * 1664525u + 1013904223u; /* Numerical Recipes' generator: fixed numbers */
            term[i] = (struct milp_term){thing[i], (draw >> 8) % 1000u};
            sum += term[i].coefficient;
        }
        term[N] = (struct milp_term){milp_add_variable(model, MILP_CONTINUOUS, 0, INFINITY, 1, NULL), 1};
        term[N + 1] = (struct milp_term){milp_add_variable(model, MILP_CONTINUOUS, 0, INFINITY, 1, NULL), -1};
        (void)milp_add_row(model, floor(sum / 2), floor(sum / 2), term, N + 2, NULL);
    }
    return model;
}

static void test_milp_stops_at_the_node_limit(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result few, again, more;
    const struct milp_limits limits = {.max_nodes = 200}, far = {.max_nodes = 2000};
    arena_init(&arena);
    struct milp *model = hard_model(&arena);
    must_solve(model, &limits, &arena, &few);
    assert_int_equal(few.status, MILP_FEASIBLE);
    assert_true(few.n_node > 200 && few.n_node < 210);
    assert_true(few.bound <= few.objective && few.gap > 0);
    must_solve(model, &limits, &arena, &again);
    assert_true(again.objective == few.objective && again.n_node == few.n_node && again.bound == few.bound);
    must_solve(model, &far, &arena, &more);
    assert_true(more.objective <= few.objective && more.bound >= few.bound);
    arena_free(&arena);
}

/* Any solution is within a gap of 1 of the bound 0; within 1e-9 is a search. */
static void test_milp_stops_at_the_gap(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result wide, narrow;
    const struct milp_limits whole = {.relative_gap = 1}, limits = {.relative_gap = 1e-9, .max_nodes = 1000};
    arena_init(&arena);
    struct milp *model = hard_model(&arena);
    must_solve(model, &whole, &arena, &wide);
    assert_int_equal(wide.status, MILP_OPTIMAL);
    assert_true(wide.gap <= 1 && wide.bound <= wide.objective);
    must_solve(model, &limits, &arena, &narrow);
    assert_true(narrow.n_node > wide.n_node && narrow.objective <= wide.objective);
    arena_free(&arena);
}

static void test_milp_stops_at_the_clock(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    const struct milp_limits limits = {.stop_at_s = clock_wall_s() + 0.05};
    arena_init(&arena);
    struct milp *model = hard_model(&arena);
    must_solve(model, &limits, &arena, &r);
    assert_true(r.timed_out);
    assert_true(r.status == MILP_FEASIBLE || r.status == MILP_NOT_SOLVED);
    const struct milp_limits late = {.stop_at_s = 1e-9};
    must_solve(model, &late, &arena, &r);
    assert_true(r.timed_out && r.n_node == 0);
    assert_int_equal(r.status, MILP_NOT_SOLVED);
    arena_free(&arena);
}

/* The flag is set from another thread while the solve, which would take minutes, is under way. */
static void test_milp_hears_a_cancel(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r = {.status = MILP_OPTIMAL};
    struct dse_error err;
    atomic_int cancel = 0;
    enum dse_status status = DSE_INTERNAL;
    const struct milp_limits limits = {.cancel = &cancel};
    arena_init(&arena);
    struct milp *model = hard_model(&arena);
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        status = milp_solve(model, &limits, &arena, &r, &err);
#pragma omp section
        {
            nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);
            atomic_store(&cancel, 1);
        }
    }
    assert_int_equal(status, DSE_OK);
    assert_true(r.timed_out);
    assert_true(r.status == MILP_FEASIBLE || r.status == MILP_NOT_SOLVED);
    arena_free(&arena);
}

/* Sixteen solves at once on four threads: each result is that of a lone solve, bit for bit. */
static void test_milp_threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    enum { N = 16 };
    struct milp_result lone, result[N];
    double value[N][29], lone_value[29];
    enum dse_status status[N];
    struct arena arena;
    const struct milp_limits limits = {.max_nodes = 200};
    memset(value, 0, sizeof value);
    arena_init(&arena);
    must_solve(hard_model(&arena), &limits, &arena, &lone);
    memcpy(lone_value, lone.value, sizeof lone_value);
#pragma omp parallel for num_threads(4) schedule(dynamic)
    for (int i = 0; i < N; i++) {
        struct arena own;
        struct dse_error err;
        arena_init(&own);
        status[i] = milp_solve(hard_model(&own), &limits, &own, &result[i], &err);
        if (status[i] == DSE_OK && result[i].value)
            memcpy(value[i], result[i].value, sizeof value[i]);
        arena_free(&own);
    }
    for (int i = 0; i < N; i++) {
        assert_int_equal(status[i], DSE_OK);
        assert_true(result[i].objective == lone.objective && result[i].bound == lone.bound &&
                    result[i].n_node == lone.n_node && result[i].status == lone.status);
        assert_memory_equal(value[i], lone_value, sizeof lone_value);
    }
    arena_free(&arena);
}

/* What a solve and a breakdown write on stdout and stderr, in bytes. */
static void test_milp_prints_nothing_and_survives_errors(void **state)
{
    (void)state;
    struct arena arena;
    struct milp_result r;
    struct dse_error err;
    char path[] = "/tmp/test_milp_XXXXXX";
    arena_init(&arena);
    struct milp *model = hard_model(&arena), *broken = milp_new(&arena), *wrong = milp_new(&arena);
    uint32_t x = milp_add_variable(broken, MILP_INTEGER, 0, 1, NAN, "x");
    (void)milp_add_row(broken, -INFINITY, NAN, (struct milp_term[]){{x, NAN}}, 1, "not a number");
    (void)milp_add_row(wrong, 0, 1, (struct milp_term[]){{7, 1}}, 1, "seven");
    const struct milp_limits limits = {.max_nodes = 20}, bad = {.relative_gap = -1};
    int file = mkstemp(path), out = dup(1), errors = dup(2);
    assert_true(file >= 0 && out >= 0 && errors >= 0);
    (void)dup2(file, 1);
    (void)dup2(file, 2);
    enum dse_status solved = milp_solve(model, &limits, &arena, &r, &err);
    enum dse_status refused = milp_solve(model, &bad, &arena, &r, &err);
    char refused_text[sizeof err.text];
    memcpy(refused_text, err.text, sizeof refused_text);
    enum dse_status nan = milp_solve(broken, &limits, &arena, &r, &err);
    enum dse_status index = milp_solve(wrong, &limits, &arena, &r, &err);
    off_t written = lseek(file, 0, SEEK_END);
    (void)dup2(out, 1);
    (void)dup2(errors, 2);
    (void)close(file);
    (void)close(out);
    (void)close(errors);
    (void)unlink(path);
    assert_int_equal(written, 0);
    assert_int_equal(solved, DSE_OK);
    assert_int_equal(refused, DSE_INTERNAL); /* the library stops at this with its fatal error: caught */
    assert_non_null(strstr(refused_text, "mip_gap"));
    assert_int_equal(nan, DSE_INTERNAL);
    assert_int_equal(index, DSE_INTERNAL);
    assert_non_null(strstr(err.text, "seven"));
    must_solve(model, &limits, &arena, &r); /* and the next solve works */
    arena_free(&arena);
}

/* Three switches of `size` for amounts of which 3 are wanted in all, each switch for 3. A b of 3 / size is
 * enough for the amounts and is 0 to a solver that takes 1e-5 for 0; rounded, the rows would break. By hand:
 * one switch, 3. */
static void test_milp_does_not_round_rows_away(void **state)
{
    (void)state;
    for (double size = 1e4; size < 1e9; size *= 10) {
        struct arena arena;
        struct milp_result r;
        struct milp_term sum[3];
        arena_init(&arena);
        struct milp *model = milp_new(&arena);
        assert_non_null(model);
        for (int i = 0; i < 3; i++) {
            struct milp_term term[2];
            sum[i] = term[0] = (struct milp_term){
                milp_add_variable(model, MILP_CONTINUOUS, 0, INFINITY, 0.1 * i, "amount"), 1};
            term[1] = (struct milp_term){milp_add_variable(model, MILP_INTEGER, 0, 1, 3, "switch"), -size};
            (void)milp_add_row(model, -INFINITY, 0, term, 2, "only when switched on");
        }
        (void)milp_add_row(model, 3, INFINITY, sum, 3, "wanted");
        must_solve(model, &no_limits, &arena, &r);
        assert_int_equal(r.status, MILP_OPTIMAL);
        assert_near(r.objective, 3);
        assert_true(r.value[1] == 1 && r.value[3] == 0 && r.value[5] == 0);
        arena_free(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_milp_fills_a_knapsack),
        cmocka_unit_test(test_milp_solves_again_after_changes),
        cmocka_unit_test(test_milp_takes_equalities),
        cmocka_unit_test(test_milp_adds_up_repeated_terms),
        cmocka_unit_test(test_milp_mixes_continuous_and_integer),
        cmocka_unit_test(test_milp_says_infeasible),
        cmocka_unit_test(test_milp_says_unbounded),
        cmocka_unit_test(test_milp_solves_empty_models),
        cmocka_unit_test(test_milp_stops_at_the_node_limit),
        cmocka_unit_test(test_milp_stops_at_the_gap),
        cmocka_unit_test(test_milp_stops_at_the_clock),
        cmocka_unit_test(test_milp_hears_a_cancel),
        cmocka_unit_test(test_milp_threads_do_not_disturb_each_other),
        cmocka_unit_test(test_milp_prints_nothing_and_survives_errors),
        cmocka_unit_test(test_milp_does_not_round_rows_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
