/* The front of a network against all choices of the layers' points, one by one, on random small fronts with
 * equal layers and several executions; and the columns that it fills.
 * Tests: network_front.c, record_front.c */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "dse/solve/exact_front.h"
#include "dse/solve/network_front.h"
#include "dse/solve/record_front.h"

#ifndef NETWORK_CASES
#define NETWORK_CASES 400
#endif

enum { LAYER_MAX = 6, POINT_MAX = 5, CHOICE_MAX = 20000 };

/* A network of layers that share problems, each problem with a front made up. */
struct made {
    struct workload workload;
    struct network network;
    struct layer layer[LAYER_MAX];
    uint32_t index[LAYER_MAX], count[LAYER_MAX], problem_of[LAYER_MAX];
    struct problem problem[LAYER_MAX];
    struct solve_result result[LAYER_MAX], point[LAYER_MAX][POINT_MAX];
    const struct solve_result *view[LAYER_MAX];
    struct architecture arch;
};

static uint32_t draw(struct random_stream *stream, uint32_t n)
{
    return (uint32_t)random_below(stream, n);
}

/* Few different cycles and energies, so that sums meet; energies are whole, so that sums are exact. */
static void make_fronts(struct random_stream *stream, struct made *made)
{
    for (uint32_t p = 0; p < made->workload.n_problem; p++) {
        uint64_t cycle = 1 + draw(stream, 4);
        double energy_j = 40 + draw(stream, 20);
        struct solve_result *result = &made->result[p];
        *result = (struct solve_result){.outcome = RESULT_OK, .front = made->point[p]};
        result->n_front = 1 + draw(stream, POINT_MAX);
        made->view[p] = result;
        for (uint32_t k = 0; k < result->n_front; k++) {
            made->point[p][k] = (struct solve_result){.outcome = RESULT_OK};
            struct evaluation *e = &made->point[p][k].found.evaluation;
            e->latency_cycle = cycle;
            e->latency_s = (double)cycle;
            e->energy_j = energy_j;
            cycle += 1 + draw(stream, 4);
            energy_j -= 1 + draw(stream, 6);
        }
    }
}

static void make(uint64_t i, struct made *made)
{
    struct random_stream stream = random_stream_make(17, i, 0);
    memset(made, 0, sizeof *made);
    const uint32_t n = 1 + draw(&stream, LAYER_MAX);
    made->network = (struct network){.name = "made", .n_layer = n, .layer = made->layer};
    made->arch = (struct architecture){.clock_hz = 1, .mac.instances = 1};
    made->workload = (struct workload){.network = &made->network,
                                       .n_layer = n,
                                       .layer = made->index,
                                       .count = made->count,
                                       .problem_of = made->problem_of,
                                       .problem = made->problem};
    for (uint32_t l = 0; l < n; l++) {
        static char *const name[LAYER_MAX] = {"a", "b", "c", "d", "e", "f"};
        made->layer[l].name = name[l];
        made->index[l] = l;
        made->count[l] = 1 + draw(&stream, 3);
        made->problem_of[l] = draw(&stream, made->workload.n_problem + 1);
        made->workload.n_problem += made->problem_of[l] == made->workload.n_problem;
    }
    make_fronts(&stream, made);
}

/* The sums of a choice. */
static void sum(const struct made *made, const uint32_t *choice, uint64_t *cycle, double *energy_j)
{
    *cycle = 0;
    *energy_j = 0;
    for (uint32_t l = 0; l < made->workload.n_layer; l++) {
        const struct evaluation *e = &made->point[made->problem_of[l]][choice[l]].found.evaluation;
        *cycle += made->count[l] * e->latency_cycle;
        *energy_j += made->count[l] * e->energy_j;
    }
}

/* Go on to the next choice; false behind the last. */
static bool next(const struct made *made, uint32_t *choice)
{
    for (uint32_t l = 0; l < made->workload.n_layer; l++) {
        if (++choice[l] < made->result[made->problem_of[l]].n_front)
            return true;
        choice[l] = 0;
    }
    return false;
}

static size_t all_choices(const struct made *made, uint64_t cycle[CHOICE_MAX], double energy_j[CHOICE_MAX])
{
    uint32_t choice[LAYER_MAX] = {0};
    size_t n = 0;
    do {
        assert_true(n < CHOICE_MAX);
        sum(made, choice, &cycle[n], &energy_j[n]);
        n++;
    } while (next(made, choice));
    return n;
}

static bool is_beaten(const uint64_t *cycle, const double *energy_j, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (cycle[k] <= cycle[i] && energy_j[k] <= energy_j[i] &&
            (cycle[k] < cycle[i] || energy_j[k] < energy_j[i]))
            return true;
    return false;
}

/* How many different sums no other beats. */
static size_t front_size(const uint64_t *cycle, const double *energy_j, size_t n)
{
    size_t size = 0;
    for (size_t i = 0; i < n; i++) {
        bool counts = !is_beaten(cycle, energy_j, n, i);
        for (size_t k = 0; k < i && counts; k++)
            counts = cycle[k] != cycle[i] || energy_j[k] != energy_j[i];
        size += counts;
    }
    return size;
}

static void check_point(const struct made *made, const struct network_front *front, size_t k,
                        const uint64_t *all_cycle, const double *all_energy, size_t n)
{
    const struct metrics *metrics = &front->point[k].metrics;
    uint64_t cycle;
    double energy_j;
    sum(made, front->point[k].choice, &cycle, &energy_j);
    assert_true(metrics->latency_cycle == cycle && metrics->latency_s == (double)cycle);
    assert_true(metrics->energy_j == energy_j && metrics->edp_js == energy_j * (double)cycle);
    size_t at = 0;
    while (at < n && (all_cycle[at] != cycle || all_energy[at] != energy_j))
        at++;
    assert_true(at < n && !is_beaten(all_cycle, all_energy, n, at));
    assert_true(k == 0 || front->point[k - 1].metrics.latency_cycle < cycle);
    assert_true(front->point[front->best].metrics.edp_js <= metrics->edp_js);
}

static void test_fronts_are_those_of_all_choices(void **state)
{
    (void)state;
    static uint64_t cycle[CHOICE_MAX];
    static double energy_j[CHOICE_MAX];
    static struct made made;
    size_t longest = 0;
    for (uint64_t i = 0; i < NETWORK_CASES; i++) {
        struct network_front front;
        struct dse_error err;
        struct arena arena;
        make(i, &made);
        arena_init(&arena);
        const size_t n = all_choices(&made, cycle, energy_j);
        assert_int_equal(network_front_make(&made.workload, made.view, &made.arch, &arena, &front, &err),
                         DSE_OK);
        if (n <= 2000)
            assert_int_equal(front.n, front_size(cycle, energy_j, n));
        for (size_t k = 0; k < front.n; k++)
            check_point(&made, &front, k, cycle, energy_j, n);
        longest = front.n > longest ? front.n : longest;
        arena_free(&arena);
    }
    assert_true(longest >= 20);
}

/* Hand count: (1 s, 5 J) or (3 s, 2 J) once, (2 s, 4 J) or (3 s, 1 J) twice, and the first again: of the
 * eight sums (6, 18) (8, 15), twice, (10, 12), (8, 12), (10, 9), twice, (12, 6) these stay. */
static void test_columns_are_as_counted_by_hand(void **state)
{
    (void)state;
    static struct made made;
    static struct layer_record layer[3];
    const double value[2][2][2] = {{{1, 5}, {3, 2}}, {{2, 4}, {3, 1}}};
    struct measure_settings measure = {0};
    struct network_front front;
    struct point_record point;
    struct dse_error err;
    struct arena arena;
    make(0, &made);
    made.workload.n_layer = 3;
    made.workload.n_problem = 2;
    for (uint32_t l = 0; l < 3; l++) {
        made.problem_of[l] = l % 2;
        made.index[l] = l;
        made.count[l] = 1 + l % 2;
        made.layer[l].name = ((char *const[]){"a", "b", "c"})[l];
    }
    for (uint32_t p = 0; p < 2; p++) {
        made.view[p] = &made.result[p];
        made.result[p] = (struct solve_result){.outcome = RESULT_OK, .front = made.point[p], .n_front = 2};
        for (uint32_t k = 0; k < 2; k++) {
            struct evaluation *e = &made.point[p][k].found.evaluation;
            e->latency_s = value[p][k][0];
            e->latency_cycle = (uint64_t)e->latency_s;
            e->energy_j = value[p][k][1];
        }
    }
    arena_init(&arena);
    assert_int_equal(network_front_make(&made.workload, made.view, &made.arch, &arena, &front, &err), DSE_OK);
    const struct record_source source = {
        .workload = &made.workload, .arch = &made.arch, .result = made.view, .measure = &measure};
    assert_true(record_has_fronts(&source));
    point_record_init(&point);
    assert_int_equal(record_front(&source, &front, &arena, &point, layer, &err), DSE_OK);
    assert_int_equal(point.n_front, 4);
    assert_string_equal(point.front, "6:18 8:12 10:9 12:6");
    assert_string_equal(layer[0].front, "1:5 3:2");
    assert_string_equal(layer[1].front, "2:4 3:1");
    assert_string_equal(layer[1].front_choice, "0 1 1 1");
    assert_int_equal(layer[1].front_point, 1); /* 12 s and 6 J: 72 J s, the least */
    made.result[1].n_front = 0;
    assert_false(record_has_fronts(&source));
    arena_free(&arena);
}

/* A choice of (2^k s, 0 J) or (0 s, 2^k J) for k = 0 to 16: all 2^17 sums are on the front. */
static void test_too_long_a_front_is_said(void **state)
{
    (void)state;
    enum { N = 17 };
    static struct solve_result result[N], point[N][2];
    static uint32_t one[N], problem_of[N];
    const struct solve_result *view[N];
    const struct architecture arch = {.clock_hz = 1, .mac.instances = 1};
    const struct workload workload = {.n_layer = N, .n_problem = N, .count = one, .problem_of = problem_of};
    struct network_front front;
    struct dse_error err;
    struct arena arena;
    for (uint32_t k = 0; k < N; k++) {
        view[k] = &result[k];
        one[k] = 1;
        problem_of[k] = k;
        result[k] = (struct solve_result){.outcome = RESULT_OK, .front = point[k], .n_front = 2};
        point[k][0].found.evaluation.energy_j = (double)(1u << k);
        point[k][1].found.evaluation.latency_cycle = 1u << k;
    }
    arena_init(&arena);
    assert_int_equal(network_front_make(&workload, view, &arch, &arena, &front, &err), DSE_LIMIT);
    assert_string_equal(err.text, "the front of the first 17 layers has more than 100000 points");
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fronts_are_those_of_all_choices),
        cmocka_unit_test(test_columns_are_as_counted_by_hand),
        cmocka_unit_test(test_too_long_a_front_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
