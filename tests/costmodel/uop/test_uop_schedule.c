/* Tests: uop_schedule.c, uop_bound.c.
 * Random graphs of at most nine uops on three cores: bounds against the best of all orders, segments and
 * windows against their definition, times against the checker; segments and bounds of larger graphs by an
 * independent program (tests/support/uop_known.h). */
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
#include "tests/support/uop_known.h"
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
    assert_true(n_met > 390); /* it is no empty bound */
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
    assert_int_equal(uop_network_of(&network, UOP_FUSED, &arena, &uops, &err), DSE_OK);
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
    (void)state;
    for (size_t i = 0; i < UOP_KNOWN_N; i++) {
        const struct uop_known_row *row = &uop_known_row[i];
        struct uop_known known;
        uop_known_open(row->network, row->cut, &known);
        uint32_t *first = arena_alloc(&known.arena, known.graph.n_uop + 1, sizeof *first);
        assert_int_equal(uop_segments(&known.graph, &known.arena, first), row->n_segment);
        for (int k = 0; k < 3; k++) {
            const double bound = (double)uop_bound(&known.graph, uop_known_core[k], &known.arena);
            if (bound < row->bound[k] * 0.9995 || bound > row->bound[k] * 1.25)
                fail_msg("%s, row %zu, %u cores: %g, by work %g", row->network, i, uop_known_core[k], bound,
                         row->bound[k]);
        }
        uop_known_close(&known);
    }
}

/* Eq. (2) by its meaning: all start at their latest, keep the order and the horizon, and none can start
 * later. With the horizon of the longest path somebody has no choice. */
static void test_windows_of_starts(void **state)
{
    struct random_stream rng = random_stream_make(13, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct uop_small s;
        uint64_t asap[UOP_SMALL_MAX], alap[UOP_SMALL_MAX], last = 0;
        uint32_t n_critical = 0;
        uop_small_random(&rng, &s);
        const uint32_t n = s.graph.n_uop, more = random_below(&rng, 3);
        const uint64_t longest = uop_asap(&s.graph, 0, n, asap), horizon = longest + more;
        uop_alap(&s.graph, 0, n, horizon, alap);
        for (uint32_t u = 0; u < n; u++) {
            uint64_t earliest = 0, latest = horizon;
            for (uint32_t v = 0; v < n; v++) {
                if (s.edge[v][u] && asap[v] + s.uop[v].cycle > earliest)
                    earliest = asap[v] + s.uop[v].cycle;
                if (s.edge[u][v] && alap[v] < latest)
                    latest = alap[v];
            }
            assert_int_equal(asap[u], earliest);
            assert_int_equal(alap[u] + s.uop[u].cycle, latest);
            last = asap[u] + s.uop[u].cycle > last ? asap[u] + s.uop[u].cycle : last;
            n_critical += alap[u] == asap[u] + more;
        }
        assert_int_equal(longest, last);
        assert_true(n_critical > 0);
    }
}

/* 3 cycles, then 5, by 10: printed, Eq. (2) has the first one start at 5 - 5 = 0, and it can at 2. */
static void test_windows_of_two(void **state)
{
    struct uop_small s;
    uint64_t asap[2], alap[2];
    (void)state;
    memset(&s, 0, sizeof s);
    s.edge[0][1] = true;
    s.uop[0].cycle = 3;
    s.uop[1].cycle = 5;
    uop_small_link(&s, 2);
    assert_int_equal(uop_asap(&s.graph, 0, 2, asap), 8);
    uop_alap(&s.graph, 0, 2, 10, alap);
    assert_true(asap[0] == 0 && asap[1] == 3 && alap[0] == 2 && alap[1] == 5);
    /* of the second alone */
    assert_int_equal(uop_asap(&s.graph, 1, 2, asap), 5);
    assert_int_equal(asap[0], 0);
    uop_alap(&s.graph, 0, 1, 10, alap);
    assert_int_equal(alap[0], 7);
}

/* All cuts of small layers: the least work of any, less what comes before the first pixels. One network of
 * one layer each, of 12 x 14 lanes. */
static void test_the_bound_of_all_partitions(void **state)
{
    static const struct kc_machine machine = {
        .columns = 3, .rows = 1, .c_lane = 12, .k_lane = 14, .delivery = {128, 1}};
    static const struct kc_tile row[] = {{3, 3, 1, 1, 3, 2, 40, 30, 1},
                                         {1, 1, 1, 1, 4, 1, 25, 14, 1},
                                         {5, 5, 1, 1, 1, 2, 13, 15, 1},
                                         {1, 1, 1, 1, 1, 1, 7, 3, 1}};
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
        cmocka_unit_test(test_windows_of_starts),
        cmocka_unit_test(test_windows_of_two),
        cmocka_unit_test(test_the_bound_of_all_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
