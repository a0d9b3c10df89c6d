/* Shards: every point in exactly one, balanced, always the same, whatever the axis lengths. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "dse/run/shards.h"
#include "tests/support/sweep_case.h"

enum { CLASS_MAX = 64 };

/* Points with classes that are drawn or repeat with a period. */
struct points {
    size_t n_point;
    uint32_t n_class, period; /* period 0: drawn by hash */
    double second[CLASS_MAX];
};

static uint32_t class_of(const void *user, size_t p)
{
    const struct points *points = user;
    if (points->period)
        return (uint32_t)(p % points->period * points->n_class / points->period);
    struct random_stream stream = random_stream_make(7, p, 0);
    return random_below(&stream, points->n_class);
}

static struct bits deal(const struct points *points, uint32_t shard, uint32_t n_shard)
{
    struct bits mine;
    struct dse_error err;
    assert_true(bits_init(&mine, points->n_point));
    assert_int_equal(
        shards_deal(points->n_class, points->second, class_of, points, shard, n_shard, &mine, &err), DSE_OK);
    return mine;
}

/* Deal to all shards: each point is in one, and loads differ by the dearest point at most. */
static void check_shards(const struct points *points, uint32_t n_shard)
{
    unsigned char *owners = calloc(points->n_point + 1, 1);
    double least = INFINITY, most = 0, dearest = 0;
    assert_non_null(owners);
    for (uint32_t k = 1; k <= n_shard; k++) {
        struct bits mine = deal(points, k, n_shard);
        double second = 0;
        for (size_t p = 0; p < points->n_point; p++)
            if (bits_has(&mine, p)) {
                owners[p]++;
                second += points->second[class_of(points, p)];
            }
        least = fmin(least, second);
        most = fmax(most, second);
        bits_free(&mine);
    }
    for (size_t p = 0; p < points->n_point; p++) {
        assert_int_equal(owners[p], 1);
        dearest = fmax(dearest, points->second[class_of(points, p)]);
    }
    if (most - least > dearest * (1 + 1e-9))
        fail_msg("%u shards of %zu points: from %g to %g s, the dearest point %g s", n_shard, points->n_point,
                 least, most, dearest);
    free(owners);
}

static void test_every_point_is_in_one_shard(void **state)
{
    (void)state;
    static const uint32_t n_shard[] = {1, 2, 3, 4, 7, 8, 13, 16, 60};
    static const size_t n_point[] = {0, 1, 5, 59, 60, 61, 1000, 2311};
    for (size_t i = 0; i < sizeof n_shard / sizeof n_shard[0]; i++)
        for (size_t j = 0; j < sizeof n_point / sizeof n_point[0]; j++)
            for (uint32_t n_class = 1; n_class <= 27; n_class *= 3) {
                struct points points = {.n_point = n_point[j], .n_class = n_class};
                for (uint32_t c = 0; c < n_class; c++) /* 1000-fold, some classes of equal cost */
                    points.second[c] = pow(10, 3.0 * (c / 2) / n_class);
                check_shards(&points, n_shard[i]);
            }
}

/* More shards than points: the rest have none. */
static void test_more_shards_than_points(void **state)
{
    (void)state;
    struct points points = {.n_point = 10, .n_class = 2, .second = {1, 5}};
    check_shards(&points, 200);
}

/* What the static estimate does not see may go with an axis. When points repeat with a period, each phase of
 * it must be spread evenly all the same: with p % N, and N = the period, a shard would get one phase only. */
static void test_axis_lengths_do_not_resonate(void **state)
{
    (void)state;
    static const uint32_t n_shard[] = {2, 4, 5, 8, 10, 20};
    struct points points = {.n_point = 40000, .n_class = 1, .second = {1}};
    enum { PERIOD = 40 };
    for (size_t i = 0; i < sizeof n_shard / sizeof n_shard[0]; i++) {
        struct bits mine = deal(&points, 1, n_shard[i]);
        size_t n[PERIOD] = {0};
        for (size_t p = 0; p < points.n_point; p++)
            n[p % PERIOD] += bits_has(&mine, p);
        /* binomial: 1000 draws of a chance of 1/N; five standard deviations */
        double chance = 1.0 / n_shard[i], mean = 1000 * chance, deviation = sqrt(mean * (1 - chance));
        for (size_t k = 0; k < PERIOD; k++)
            if (fabs((double)n[k] - mean) > 5 * deviation)
                fail_msg("%u shards: phase %zu has %zu points of %g", n_shard[i], k, n[k], mean);
        bits_free(&mine);
    }
}

static void test_wrong_shards_are_refused(void **state)
{
    (void)state;
    struct points points = {.n_point = 10, .n_class = 1, .second = {1}};
    static const uint32_t wrong[][2] = {{0, 3}, {4, 3}, {1, 0}};
    for (size_t i = 0; i < 3; i++) {
        struct bits mine;
        struct dse_error err;
        assert_true(bits_init(&mine, points.n_point));
        assert_int_equal(
            shards_deal(1, points.second, class_of, &points, wrong[i][0], wrong[i][1], &mine, &err),
            DSE_BAD_USAGE);
        bits_free(&mine);
    }
}

static const char spec[] = "experiment: shards\n"
                           "architecture: simba\n"
                           "axes:\n"
                           "  engine: [random, hybrid, cosa, drill]\n"
                           "  network: [alexnet, mobilenet_v1]\n"
                           "  batch: [1, 2]\n"
                           "  GlobalBuffer.capacity: [32 KiB, 64 KiB, 128 KiB, 256 KiB, 512 KiB]\n"
                           "  seed: [1, 2, 3, 4, 5]\n"
                           "skip:\n"
                           "  - {engine: cosa, seed: [4, 5]}\n";

/* The shards of a sweep are a partition, and the same when they are dealt again. Every shard has points of
 * every engine. */
static void test_shards_of_a_sweep(void **state)
{
    (void)state;
    struct dse_error err;
    struct sweep_case *opened = sweep_case_open(spec, NULL, 0, &err);
    if (!opened)
        fail_msg("%s", err.text);
    const struct sweep *sweep = &opened->sweep;
    unsigned char *owners = calloc(sweep->n_point, 1);
    assert_non_null(owners);
    for (uint32_t k = 1; k <= 4; k++) {
        struct bits mine, again;
        size_t of_engine[4] = {0};
        assert_true(bits_init(&mine, sweep->n_point) && bits_init(&again, sweep->n_point));
        assert_int_equal(shards_mark(sweep, k, 4, &mine, &err), DSE_OK);
        assert_int_equal(shards_mark(sweep, k, 4, &again, &err), DSE_OK);
        for (size_t p = 0; p < sweep->n_point; p++) {
            struct sweep_point point;
            sweep_point(sweep, p, &point);
            assert_int_equal(bits_has(&mine, p), bits_has(&again, p));
            owners[p] = (unsigned char)(owners[p] + bits_has(&mine, p));
            of_engine[point.index[0]] += bits_has(&mine, p);
        }
        for (size_t e = 0; e < 4; e++) /* 100 points of an engine, 60 of cosa */
            assert_in_range(of_engine[e], e == 2 ? 13 : 23, e == 2 ? 17 : 27);
        bits_free(&mine);
        bits_free(&again);
    }
    for (size_t p = 0; p < sweep->n_point; p++)
        assert_int_equal(owners[p], 1);
    free(owners);
    sweep_case_close(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_point_is_in_one_shard),
        cmocka_unit_test(test_more_shards_than_points),
        cmocka_unit_test(test_axis_lengths_do_not_resonate),
        cmocka_unit_test(test_wrong_shards_are_refused),
        cmocka_unit_test(test_shards_of_a_sweep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
