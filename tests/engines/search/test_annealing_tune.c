/* Temperatures found by trial moves, on a space of two points whose law can be worked out, and the walk over
 * small points that is tuned.
 * Tests: annealing_tune.c, annealing_points.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/search/annealing_points.h"
#include "engines/search/annealing_tune.h"

/* A point of cost 1 and one of cost 1 + step; a move goes to the other one. */
struct pair {
    double step;
    int at;
    uint64_t n_priced, left;
    double blocked; /* the chance that no move is found */
};

static bool pair_draw(void *self, struct random_stream *stream, void *point)
{
    (void)self;
    (void)stream;
    *(int *)point = 0;
    return true;
}

static enum search_outcome pair_evaluate(void *self, const void *point, double *cost)
{
    struct pair *pair = self;
    if (pair->n_priced == pair->left)
        return SEARCH_OVER;
    pair->n_priced++;
    *cost = 1 + pair->step * *(const int *)point;
    return SEARCH_PRICED;
}

static bool pair_neighbour(void *self, struct random_stream *stream, const void *from, void *to)
{
    const struct pair *pair = self;
    if (pair->blocked > 0 && random_unit(stream) < pair->blocked)
        return false;
    *(int *)to = !*(const int *)from;
    return true;
}

struct fixture {
    struct pair pair;
    struct search_space space;
    struct annealing_points points;
    struct annealing_tune *tune;
    struct arena arena;
};

static const struct annealing_tune_options usual = {.n_trial = 2000, .factor = 1.5, .accepted = 0.98};

static void start(struct fixture *f, double step, uint64_t left, uint64_t seed)
{
    struct dse_error err;
    struct random_stream stream = random_stream_make(seed, 0, RANDOM_TEST);
    double cost;
    *f = (struct fixture){.pair = {.step = step, .left = left}};
    arena_init(&f->arena);
    f->space = (struct search_space){.self = &f->pair,
                                     .point_byte = sizeof(int),
                                     .draw = pair_draw,
                                     .evaluate = pair_evaluate,
                                     .neighbour = pair_neighbour};
    assert_int_equal(annealing_points_init(&f->points, &f->space, &f->arena, &err), DSE_OK);
    assert_int_equal(annealing_points_start(&f->points, &stream, &cost), SEARCH_PRICED);
    assert_true(cost == 1);
    const struct annealing_space moves = annealing_points_space(&f->points);
    assert_int_equal(annealing_tune_new(&moves, &usual, cost, stream, &f->arena, &f->tune, &err), DSE_OK);
}

/* Up is taken with p = exp(-1 / T), down always: of 1 / p + 1 moves 2 are taken, a share of 2 p / (1 + p),
 * which is 0.98 at T = 25. Steps of 1.5 from 1, the cost of the first move, meet it at 1.5^8 = 25.6, or by
 * chance a step before or two after. No move of 2,000 gets better where 2,000 p is small: T of 0.05 to
 * 0.2. */
static void test_temperatures_are_those_of_the_law(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct fixture f;
        double first, last;
        start(&f, 1, UINT64_MAX, seed);
        while (annealing_tune_step(f.tune, 777))
            assert_false(annealing_tune_found(f.tune, &first, &last));
        assert_true(annealing_tune_found(f.tune, &first, &last));
        assert_true(first > 17 && first < 58);
        assert_true(last > 0.05 && last < 0.2);
        assert_true(fabs(log(first / last) / log(1.5) - round(log(first / last) / log(1.5))) < 1e-9);
        assert_true(f.pair.n_priced > 15 * 2000 && f.pair.n_priced < 30 * 2000);
        arena_free(&f.arena);
    }
}

/* Moves that are not found, however many, are no refusals. */
static void test_moves_that_are_not_found_change_nothing(void **state)
{
    (void)state;
    struct fixture f;
    double first, last;
    start(&f, 1, UINT64_MAX, 3);
    f.pair.blocked = 0.5;
    while (annealing_tune_step(f.tune, 777)) {
    }
    assert_true(annealing_tune_found(f.tune, &first, &last));
    assert_true(first > 11 && first < 87 && last > 0.05 && last < 0.3);
    arena_free(&f.arena);
    start(&f, 1, UINT64_MAX, 3);
    f.pair.blocked = 1;
    while (annealing_tune_step(f.tune, 777)) {
    }
    assert_false(annealing_tune_found(f.tune, &first, &last));
    arena_free(&f.arena);
}

static void test_steps_of_any_size_find_the_same(void **state)
{
    (void)state;
    double found[2][2];
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        start(&f, 3, UINT64_MAX, 5);
        while (annealing_tune_step(f.tune, i ? 1 : 100000)) {
        }
        assert_true(annealing_tune_found(f.tune, &found[i][0], &found[i][1]));
        arena_free(&f.arena);
    }
    assert_true(found[0][0] == found[1][0] && found[0][1] == found[1][1]);
}

/* Where moves change nothing, and where the budget ends. */
static void test_a_search_without_an_answer_ends(void **state)
{
    (void)state;
    struct fixture f;
    double first, last;
    start(&f, 0, UINT64_MAX, 1);
    while (annealing_tune_step(f.tune, 100)) {
    }
    assert_false(annealing_tune_found(f.tune, &first, &last));
    assert_int_equal(f.pair.n_priced, 1 + 2000);
    arena_free(&f.arena);
    start(&f, 1, 5000, 1);
    while (annealing_tune_step(f.tune, 100)) {
    }
    assert_false(annealing_tune_found(f.tune, &first, &last));
    assert_int_equal(f.pair.n_priced, 5000);
    arena_free(&f.arena);
}

static bool draw_nothing(void *self, struct random_stream *stream, void *point)
{
    (void)self;
    (void)stream;
    (void)point;
    return false;
}

/* What a walk over points keeps, takes back and returns to. */
static void test_points_are_exchanged(void **state)
{
    (void)state;
    struct fixture f;
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    double cost = 0;
    start(&f, 1, UINT64_MAX, 1);
    const struct annealing_space moves = annealing_points_space(&f.points);
    moves.keep(moves.self);
    assert_int_equal(moves.propose(moves.self, &stream, &cost), SEARCH_PRICED);
    assert_true(cost == 2 && *(const int *)f.points.point == 1);
    moves.undo(moves.self);
    assert_int_equal(*(const int *)f.points.point, 0);
    assert_int_equal(moves.propose(moves.self, &stream, &cost), SEARCH_PRICED);
    moves.restore(moves.self);
    assert_int_equal(*(const int *)f.points.point, 0);
    f.space.draw = draw_nothing;
    assert_int_equal(annealing_points_start(&f.points, &stream, &cost), SEARCH_INFEASIBLE);
    arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_temperatures_are_those_of_the_law),
        cmocka_unit_test(test_moves_that_are_not_found_change_nothing),
        cmocka_unit_test(test_steps_of_any_size_find_the_same),
        cmocka_unit_test(test_a_search_without_an_answer_ends),
        cmocka_unit_test(test_points_are_exchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
