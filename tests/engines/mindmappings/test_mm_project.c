/* Projections: members, and the nearest of all where all can be looked at. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/mm_case.h"

/* Reals around those of members, also below and far above. */
static void draw_vector(struct random_stream *stream, const struct mm_space *space, enum mm_distance distance,
                        double *vector)
{
    const struct mm_algorithm *algorithm = mm_space_machine(space)->algorithm;
    const uint32_t n_dim = algorithm->n_dim;
    for (uint32_t i = 0; i < algorithm->n_value; i++) {
        const uint32_t group = i / n_dim;
        const double size = mm_space_size(space)[i % n_dim];
        const double most = group < 1 + MM_BLOCK_COUNT                   ? size
                            : group < 1 + MM_BLOCK_COUNT + MM_NEST_COUNT ? n_dim
                                                                         : 16;
        const double top = distance == MM_DISTANCE_LOG2 && group < 1 + MM_BLOCK_COUNT ? log2(most) : most;
        vector[i] = -0.5 + (top + 1) * pow(random_unit(stream), 1 + random_below(stream, 4));
    }
}

static double square(double x)
{
    return x * x;
}

/* The sum of squares that a projection makes least, in its four parts. */
static double factor_distance(const struct mm_space *space, const double *vector, enum mm_distance distance,
                              const struct mm_mapping *m, uint32_t d)
{
    const uint32_t n_dim = mm_space_machine(space)->algorithm->n_dim;
    double sum = 0;
    for (uint32_t b = 0; b < MM_BLOCK_COUNT; b++) {
        const double is = m->factor[b][d];
        sum += square((distance == MM_DISTANCE_LOG2 ? log2(is) : is) - vector[(1 + b) * n_dim + d]);
    }
    return sum;
}

static double bank_distance(const struct mm_space *space, const double *vector, const struct mm_mapping *m,
                            int memory)
{
    const struct mm_algorithm *algorithm = mm_space_machine(space)->algorithm;
    const double *wanted = vector + 8 * algorithm->n_dim + (uint32_t)memory * algorithm->n_tensor;
    double sum = 0;
    for (uint32_t i = 0; i < algorithm->n_tensor; i++)
        sum += square(m->banks[memory][i] - wanted[i]);
    return sum;
}

static double all_distance(const struct mm_space *space, const double *vector, enum mm_distance distance,
                           const struct mm_mapping *m)
{
    double sum = bank_distance(space, vector, m, 0) + bank_distance(space, vector, m, 1);
    for (uint32_t d = 0; d < mm_space_machine(space)->algorithm->n_dim; d++)
        sum += factor_distance(space, vector, distance, m, d);
    return sum;
}

static void test_projections_of_random_vectors_are_members(void **state)
{
    (void)state;
    static const char *const problem[] = {"ResNet_Conv_4", "Inception_Conv_2", "VGG_Conv_2", "MTTKRP_0"};
    int n = 0;
    for (int p = 0; p < 4; p++)
        for (int mode = 0; mode < MM_MODE_COUNT; mode++) {
            struct random_stream stream = random_stream_make(1, (uint64_t)p, RANDOM_TEST);
            struct mm_case c;
            uint32_t size[MM_DIM_MAX];
            mm_case_begin(&c, mm_case_problem(problem[p], size), NULL, 0);
            const struct mm_space *space = mm_case_space(&c, size, (enum mm_mode)mode);
            for (int i = 0; i < 1250; i++, n++) {
                const enum mm_distance distance = i % 2 ? MM_DISTANCE_RAW : MM_DISTANCE_LOG2;
                double vector[MM_VALUE_MAX];
                struct mm_mapping mapping;
                char reason[256];
                draw_vector(&stream, space, distance, vector);
                mm_space_project(space, vector, distance, &mapping);
                if (!mm_space_contains(space, &mapping, reason, sizeof reason))
                    fail_msg("%s, vector %d: %s", problem[p], i, reason);
            }
            mm_case_end(&c);
        }
    assert_int_equal(n, 10000);
}

/* Sizes with so many factorisations that not all can be looked at: 8648640 has more divisors than any other
 * up to 2^24. */
static void test_projections_of_large_sizes_are_members(void **state)
{
    (void)state;
    static const uint32_t size[MM_DIM_MAX] = {8648640, 1, 5040, 1, 1, 1, 1};
    static const char *const more[] = {"PE.mesh", "1024x1"};
    for (int mode = 0; mode < MM_MODE_COUNT; mode++) {
        struct random_stream stream = random_stream_make(8, 1, RANDOM_TEST);
        struct mm_case c;
        mm_case_begin(&c, MM_CNN, more, 1);
        const struct mm_space *space = mm_case_space(&c, size, (enum mm_mode)mode);
        for (int i = 0; i < 2; i++) {
            const enum mm_distance distance = i % 2 ? MM_DISTANCE_RAW : MM_DISTANCE_LOG2;
            double vector[MM_VALUE_MAX];
            struct mm_mapping mapping;
            draw_vector(&stream, space, distance, vector);
            mm_space_project(space, vector, distance, &mapping);
            assert_true(mm_space_contains(space, &mapping, NULL, 0));
        }
        mm_case_end(&c);
    }
}

/* A member is its own projection. */
static void test_projections_leave_members_alone(void **state)
{
    (void)state;
    for (int mode = 0; mode < MM_MODE_COUNT; mode++) {
        static const uint32_t size[MM_DIM_MAX] = {16, 128, 64, 3, 3, 28, 28};
        struct random_stream stream = random_stream_make(6, 1, RANDOM_TEST);
        struct mm_case c;
        mm_case_begin(&c, MM_CNN, NULL, 0);
        const struct mm_space *space = mm_case_space(&c, size, (enum mm_mode)mode);
        for (int i = 0; i < 300; i++) {
            struct mm_mapping from, to = {0};
            double vector[MM_VALUE_MAX], back[MM_VALUE_MAX];
            mm_space_draw(space, &stream, &from);
            mm_space_vector(space, &from, vector);
            mm_space_project(space, vector, MM_DISTANCE_RAW, &to);
            mm_space_vector(space, &to, back);
            assert_memory_equal(vector, back, sizeof vector);
        }
        mm_case_end(&c);
    }
}

/* ---------------------------------------- all members */

/* Walks every factorisation of every dimension and every share of banks, and keeps the nearest member. Orders
 * are apart from the rest: those of the projection are taken. */
struct walk {
    const struct mm_space *space;
    const double *vector;
    enum mm_distance distance;
    struct mm_mapping now;
    double least;
    long n;
};

static void look(struct walk *w)
{
    if (!mm_space_contains(w->space, &w->now, NULL, 0))
        return;
    w->n++;
    w->least = fmin(w->least, all_distance(w->space, w->vector, w->distance, &w->now));
}

static void walk_banks(struct walk *w, int memory, uint32_t i, uint32_t left)
{
    const uint32_t n = mm_space_machine(w->space)->algorithm->n_tensor;
    if (i + 1 < n) {
        for (uint32_t b = 1; b < left; b++) {
            w->now.banks[memory][i] = b;
            walk_banks(w, memory, i + 1, left - b);
        }
        return;
    }
    w->now.banks[memory][i] = left;
    if (memory == MM_MEMORY_SHARED)
        walk_banks(w, MM_MEMORY_PRIVATE, 0, mm_space_machine(w->space)->banks[MM_MEMORY_PRIVATE]);
    else
        look(w);
}

static void walk_factors(struct walk *w, uint32_t d)
{
    if (d == mm_space_machine(w->space)->algorithm->n_dim) {
        walk_banks(w, MM_MEMORY_SHARED, 0, mm_space_machine(w->space)->banks[MM_MEMORY_SHARED]);
        return;
    }
    const uint32_t n = mm_space_size(w->space)[d];
    for (uint32_t a = 1; a <= n; a++)
        for (uint32_t b = 1; b <= n / a; b++)
            for (uint32_t e = 1; e <= n / a / b; e++) {
                if (n % a || n / a % b || n / a / b % e)
                    continue;
                const uint32_t factor[] = {a, b, e, n / a / b / e};
                for (int k = 0; k < MM_BLOCK_COUNT; k++)
                    w->now.factor[k][d] = factor[k];
                walk_factors(w, d + 1);
            }
}

static void check_nearest(enum mm_algorithm_id id, const uint32_t *size, enum mm_mode mode, uint64_t key)
{
    static const char *const small[] = {
        "SharedBuffer.banks", "5",      "SharedBuffer.bank", "4 word", "PrivateBuffer.banks", "5",
        "PrivateBuffer.bank", "2 word", "PE.mesh",           "3x1"};
    struct random_stream stream = random_stream_make(7, key, RANDOM_TEST);
    struct mm_case c;
    mm_case_begin(&c, id, small, 5);
    const struct mm_space *space = mm_case_space(&c, size, mode);
    for (int i = 0; i < 60; i++) {
        const enum mm_distance distance = i % 2 ? MM_DISTANCE_RAW : MM_DISTANCE_LOG2;
        double vector[MM_VALUE_MAX];
        struct mm_mapping mapping;
        draw_vector(&stream, space, distance, vector);
        mm_space_project(space, vector, distance, &mapping);
        struct walk w = {.space = space, .vector = vector, .distance = distance, .least = INFINITY};
        w.now = mapping;
        walk_factors(&w, 0);
        const double is = all_distance(space, vector, distance, &mapping);
        if (w.n < 100 || !(is <= w.least * (1 + 1e-12)))
            fail_msg("%d: %g, the nearest of %ld is %g away", i, is, w.n, w.least);
    }
    mm_case_end(&c);
}

static void test_projections_are_the_nearest_members(void **state)
{
    (void)state;
    static const uint32_t cnn[] = {1, 6, 4, 2, 1, 3, 1}, mttkrp[] = {4, 6, 3, 2};
    for (int mode = 0; mode < MM_MODE_COUNT; mode++) {
        check_nearest(MM_CNN, cnn, (enum mm_mode)mode, 1);
        check_nearest(MM_MTTKRP, mttkrp, (enum mm_mode)mode, 2);
    }
}

/* Of all 5040 orders. */
static void test_orders_are_the_nearest(void **state)
{
    (void)state;
    static const uint32_t size[MM_DIM_MAX] = {2, 1, 1, 1, 1, 1, 1};
    struct random_stream stream = random_stream_make(7, 3, RANDOM_TEST);
    struct mm_case c;
    mm_case_begin(&c, MM_CNN, NULL, 0);
    const struct mm_space *space = mm_case_space(&c, size, MM_AUTOBYPASS);
    for (int i = 0; i < 50; i++) {
        double vector[MM_VALUE_MAX], is = 0, least = INFINITY;
        struct mm_mapping mapping;
        draw_vector(&stream, space, MM_DISTANCE_RAW, vector);
        mm_space_project(space, vector, MM_DISTANCE_RAW, &mapping);
        const double *wanted = vector + 35;
        for (uint32_t d = 0; d < 7; d++)
            is += square(mapping.place[MM_NEST_DRAM][d] - wanted[d]);
        for (uint32_t code = 0; code < 5040; code++) {
            uint32_t free = 0x7f, rest = code;
            double sum = 0;
            for (uint32_t d = 0; d < 7; d++) {
                uint32_t skip = rest % (7 - d), place = 0;
                rest /= 7 - d;
                for (; !(free >> place & 1u) || skip-- > 0; place++) {
                }
                free &= ~(1u << place);
                sum += square(place - wanted[d]);
            }
            least = fmin(least, sum);
        }
        assert_true(is <= least * (1 + 1e-12));
    }
    mm_case_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projections_of_random_vectors_are_members),
        cmocka_unit_test(test_projections_of_large_sizes_are_members),
        cmocka_unit_test(test_projections_leave_members_alone),
        cmocka_unit_test(test_projections_are_the_nearest_members),
        cmocka_unit_test(test_orders_are_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
