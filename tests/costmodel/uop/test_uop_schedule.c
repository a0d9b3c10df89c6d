/* Tests: uop_schedule.c, uop_bound.c.
 * Random graphs of at most nine uops on three cores: bounds against the best of all orders, segments against
 * their definition, times against the checker; segments and bounds of larger graphs by an independent program
 * (Python). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/uop/uop_schedule.h"
#include "tests/support/uop_small.h"

enum { N_CORE = 3 };

/* Every later one has every earlier one as an ancestor. */
static bool is_cut(const struct uop_small *s, uint32_t k)
{
    bool before[UOP_SMALL_MAX][UOP_SMALL_MAX];
    const uint32_t n = s->graph.n_uop;
    memcpy(before, s->edge, sizeof before);
    for (uint32_t m = 0; m < n; m++)
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                before[a][b] = before[a][b] || (before[a][m] && before[m][b]);
    for (uint32_t a = 0; a < k; a++)
        for (uint32_t b = k; b < n; b++)
            if (!before[a][b])
                return false;
    return true;
}

static void test_bounds_and_segments_of_all_orders(void **state)
{
    struct random_stream rng = random_stream_make(3, 0, RANDOM_TEST);
    struct arena arena;
    uint32_t n_met = 0, n_cut = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 400; i++) {
        struct uop_small s;
        uint32_t first[UOP_SMALL_MAX + 1];
        uop_small_random(&rng, &s);
        const uint64_t best = uop_small_best(&s, N_CORE);
        const uint64_t bound = uop_bound(&s.graph, N_CORE, &arena);
        if (bound > best)
            fail_msg("graph %d: bound %d above the best, %d", i, (int)bound, (int)best);
        n_met += bound == best;
        const uint32_t n = uop_segments(&s.graph, &arena, first);
        for (uint32_t k = 1, at = 1; k < s.graph.n_uop; k++) {
            const bool cut = at < n && first[at] == k;
            assert_int_equal(cut, is_cut(&s, k));
            at += cut;
            n_cut += cut;
        }
        assert_int_equal(first[n], s.graph.n_uop);
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_met > 300); /* it is no empty bound */
    assert_true(n_cut > 100);
}

/* A random order that the graph allows, dealt out to cores. */
static void random_schedule(struct random_stream *rng, const struct uop_small *s, uint32_t first[N_CORE + 1],
                            uint32_t order[UOP_SMALL_MAX])
{
    uint32_t core[UOP_SMALL_MAX], at = 0;
    for (uint32_t u = 0; u < s->graph.n_uop; u++)
        core[u] = random_below(rng, N_CORE);
    for (uint32_t c = 0; c < N_CORE; c++) {
        first[c] = at;
        for (uint32_t u = 0; u < s->graph.n_uop; u++)
            if (core[u] == c)
                order[at++] = u;
    }
    first[N_CORE] = at;
}

static void test_times_pass_the_check_and_changed_ones_do_not(void **state)
{
    struct random_stream rng = random_stream_make(4, 0, RANDOM_TEST);
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 300; i++) {
        struct uop_small s;
        struct dse_error err;
        uint32_t first[N_CORE + 1], order[UOP_SMALL_MAX];
        uint64_t start[UOP_SMALL_MAX], finish[UOP_SMALL_MAX];
        struct uop_times times = {.start = start, .finish = finish};
        char reason[128];
        uop_small_random(&rng, &s);
        random_schedule(&rng, &s, first, order);
        const struct uop_schedule schedule = {UOP_STATIC, N_CORE, first, order};
        assert_int_equal(uop_run_ideal(&s.graph, &schedule, &arena, &times, &err), DSE_OK);
        assert_true(uop_times_check(&s.graph, &schedule, &times, &arena, reason, sizeof reason));
        assert_true(times.cycle >= uop_bound(&s.graph, N_CORE, &arena));
        /* no uop can start earlier: then it is not ready, or its core is not free */
        const uint32_t u = random_below(&rng, s.graph.n_uop);
        if (start[u] > 0) {
            uint64_t earliest = 0;
            for (uint32_t p = 0; p < u; p++)
                if (s.edge[p][u] && finish[p] > earliest)
                    earliest = finish[p];
            for (uint32_t c = 0; c < N_CORE; c++)
                for (uint32_t k = first[c] + 1; k < first[c + 1]; k++)
                    if (order[k] == u && finish[order[k - 1]] > earliest)
                        earliest = finish[order[k - 1]];
            assert_int_equal(start[u], earliest);
        }
        arena_reset(&arena);
    }
    arena_free(&arena);
}

/* a -> b on one core, b first. */
static void test_an_order_that_goes_in_a_circle_is_named(void **state)
{
    static const char text[] = "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
                               "- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}\n"
                               "- {name: b, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: a}\n";
    static const struct kc_machine machine = {.c_lane = 12, .k_lane = 14, .delivery = {128, 1}};
    static const struct uop_cut cut[] = {{4, 4, 4, 4}, {4, 4, 4, 4}};
    static const uint32_t first[] = {0, 2, 2}, order[] = {1, 0}, twice[] = {0, 0};
    uint64_t start[2], finish[2];
    struct uop_times times = {.start = start, .finish = finish};
    struct uop_schedule schedule = {UOP_STATIC, 2, first, order};
    struct network network;
    struct uop_network uops;
    struct uop_graph graph;
    struct arena arena;
    struct dse_error err;
    char reason[128];
    (void)state;
    arena_init(&arena);
    assert_int_equal(network_parse("two.yaml", text, strlen(text), &network, &err), DSE_OK);
    assert_int_equal(uop_network_of(&network, &arena, &uops, &err), DSE_OK);
    assert_int_equal(uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, &err), DSE_OK);
    assert_int_equal(uop_run_ideal(&graph, &schedule, &arena, &times, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text,
                        "the order goes in a circle: a/0, which waits for b/0, which waits for a/0");
    times = (struct uop_times){.start = start, .finish = finish, .cycle = 1000};
    start[0] = start[1] = 0;
    finish[0] = finish[1] = 1000;
    schedule.order = twice;
    assert_false(uop_times_check(&graph, &schedule, &times, &arena, reason, sizeof reason));
    assert_string_equal(reason, "a/0 is scheduled twice");
    arena_free(&arena);
    network_free(&network);
}

static void test_known_segments(void **state)
{
    static const struct kc_machine machine = {.c_lane = 12, .k_lane = 14, .delivery = {1000, 1}};
    static const struct {
        const char *network;
        struct uop_cut cut;
        uint32_t n_segment;
        double bound[3]; /* 9, 16, 25 cores, to four digits: by work alone, so no more than ours */
    } row[] = {
        {"vgg16", {28, 28, 516, 140}, 10, {1.973e7, 1.779e7, 1.738e7}},
        {"vgg16", {14, 14, 264, 140}, 1, {1.273e7, 7.723e6, 5.466e6}},
        {"vgg16", {28, 28, 264, 70}, 4, {1.274e7, 7.876e6, 6.981e6}},
        {"resnet50", {14, 14, 516, 140}, 19, {8.010e6, 7.279e6, 7.108e6}},
        {"resnet50", {14, 14, 264, 70}, 14, {5.166e6, 3.661e6, 3.248e6}},
        {"resnet50", {7, 7, 2048, 266}, 14, {6.989e6, 5.852e6, 5.490e6}},
        {"resnet152", {14, 14, 516, 140}, 83, {3.041e7, 2.957e7, 2.940e7}},
        {"inception_v3", {18, 18, 516, 70}, 1, {6.479e6, 5.887e6, 5.636e6}},
    };
    static const uint32_t n_core[] = {9, 16, 25};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct network network;
        struct uop_network uops;
        struct uop_graph graph;
        struct uop_cut cut[256];
        struct arena arena;
        struct dse_error err;
        char path[128];
        (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", row[i].network);
        assert_int_equal(network_read(path, &network, &err), DSE_OK);
        arena_init(&arena);
        assert_int_equal(uop_network_of(&network, &arena, &uops, &err), DSE_OK);
        for (uint32_t l = 0; l < uops.n_layer; l++)
            cut[l] = row[i].cut;
        assert_int_equal(uop_graph_of(&uops, &machine, cut, UOP_SUMS_ALL, 1, &arena, &graph, &err), DSE_OK);
        uint32_t *first = arena_alloc(&arena, graph.n_uop + 1, sizeof *first);
        assert_int_equal(uop_segments(&graph, &arena, first), row[i].n_segment);
        for (int k = 0; k < 3; k++) {
            const double bound = (double)uop_bound(&graph, n_core[k], &arena);
            if (bound < row[i].bound[k] * 0.9995 || bound > row[i].bound[k] * 1.25)
                fail_msg("%s, row %zu, %u cores: %g, by work %g", row[i].network, i, n_core[k], bound,
                         row[i].bound[k]);
        }
        arena_free(&arena);
        network_free(&network);
    }
}

/* All cuts of small layers: the least work of any, less what comes before the first pixels. One network of
 * one layer each, of 12 x 14 lanes. */
static void test_the_bound_of_all_partitions(void **state)
{
    static const struct kc_machine machine = {
        .columns = 3, .rows = 1, .c_lane = 12, .k_lane = 14, .delivery = {128, 1}};
    static const struct kc_tile row[] = {{3, 3, 1, 1, 3, 2, 40, 30},
                                         {1, 1, 1, 1, 4, 1, 25, 14},
                                         {5, 5, 1, 1, 1, 2, 13, 15},
                                         {1, 1, 1, 1, 1, 1, 7, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct kc_tile *whole = &row[i];
        const struct uop_layer layer = {.whole = *whole};
        const struct uop_network network = {.n_layer = 1, .layer = &layer};
        uint64_t least = UINT64_MAX, first = 0;
        for (uint32_t ic = 1; ic <= whole->c; ic++)
            for (uint32_t oc = 1; oc <= whole->k; oc++)
                for (uint32_t h = 1; h <= whole->p; h++) {
                    uint64_t work = 0, n = 0;
                    for (uint32_t c = 0; c < whole->c; c += ic)
                        for (uint32_t k = 0; k < whole->k; k += oc)
                            for (uint32_t y = 0; y < whole->p; y += h, n++) {
                                struct kc_tile tile = *whole;
                                tile.c = ic < whole->c - c ? ic : whole->c - c;
                                tile.k = oc < whole->k - k ? oc : whole->k - k;
                                tile.p = h < whole->p - y ? h : whole->p - y;
                                work += kc_cycle(&machine, &tile);
                            }
                    if (work < least) {
                        least = work;
                        first = n * (14 * 12 + 12) * whole->r * whole->s / 128 + n;
                    }
                }
        for (uint32_t batch = 1; batch < 3; batch++) {
            const uint64_t bound = uop_partition_bound(&network, &machine, batch);
            assert_true(bound <= (least * batch + 2) / 3);
            assert_true(bound >= (least - first) * batch / 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds_and_segments_of_all_orders),
        cmocka_unit_test(test_times_pass_the_check_and_changed_ones_do_not),
        cmocka_unit_test(test_an_order_that_goes_in_a_circle_is_named),
        cmocka_unit_test(test_known_segments),
        cmocka_unit_test(test_the_bound_of_all_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
