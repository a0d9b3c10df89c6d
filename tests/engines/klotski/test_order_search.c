/* Tests: order_search.c, list_schedule.c.
 * Random graphs of at most nine uops on three cores against the best of all orders and Graham's guarantee;
 * b-level list schedules of larger graphs against an independent program (Python) with MAESTRO's cycles, 1000
 * words a cycle. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/uop/uop_schedule.h"
#include "engines/klotski/order_search.h"
#include "tests/support/uop_small.h"

enum { N_CORE = 3 };

/* Cores in the order of starts. */
static void to_schedule(const struct uop_graph *graph, uint32_t n_core, const uint64_t *start,
                        const uint32_t *core, uint32_t *first, uint32_t *order)
{
    uint32_t n = 0;
    for (uint32_t c = 0; c < n_core; c++) {
        first[c] = n;
        for (uint32_t u = 0; u < graph->n_uop; u++) {
            if (core[u] != c)
                continue;
            uint32_t at = n++;
            for (; at > first[c] && start[order[at - 1]] > start[u]; at--)
                order[at] = order[at - 1];
            order[at] = u;
        }
    }
    first[n_core] = n;
}

static void search(const struct uop_graph *graph, enum order_rule rule, uint32_t n_core, uint32_t n_try,
                   struct arena *arena, struct order_found *found)
{
    const struct order_settings settings = {
        .rule = rule, .n_core = n_core, .n_try = n_try, .deadline_s = INFINITY};
    struct random_stream random = random_stream_make(1, 0, RANDOM_MOVE);
    struct dse_error err;
    if (order_search(graph, &settings, &random, arena, found, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void test_small_graphs(void **state)
{
    struct random_stream rng = random_stream_make(5, 0, RANDOM_TEST);
    struct arena arena;
    int n_best = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 300; i++) {
        struct uop_small s;
        uint64_t start[UOP_SMALL_MAX], finish[UOP_SMALL_MAX];
        uint32_t core[UOP_SMALL_MAX], first[N_CORE + 1], order[UOP_SMALL_MAX];
        struct order_found found = {.start = start, .core = core};
        uop_small_random(&rng, &s);
        const uint64_t best = uop_small_best(&s, N_CORE);
        for (int rule = ORDER_FIFO; rule <= ORDER_PERTURB; rule++) {
            char reason[128];
            struct dse_error err;
            search(&s.graph, (enum order_rule)rule, N_CORE, 200, &arena, &found);
            assert_true(found.cycle >= best);
            assert_true(found.bound_cycle <= best);
            assert_true(3 * found.cycle <= 5 * best); /* 2 - 1/3 */
            to_schedule(&s.graph, N_CORE, start, core, first, order);
            const struct uop_schedule schedule = {UOP_STATIC, N_CORE, first, order};
            struct uop_times times = {.start = start, .finish = finish, .cycle = found.cycle};
            for (uint32_t u = 0; u < s.graph.n_uop; u++)
                finish[u] = start[u] + s.uop[u].cycle;
            if (!uop_times_check(&s.graph, &schedule, &times, &arena, reason, sizeof reason))
                fail_msg("graph %d: %s", i, reason);
            assert_int_equal(uop_run_ideal(&s.graph, &schedule, &arena, &times, &err), DSE_OK);
            assert_true(times.cycle <= found.cycle);
        }
        n_best += found.cycle == best;
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_best >= 297); /* a best list schedule is not always among those tried */
}

static const struct kc_machine machine = {.c_lane = 12, .k_lane = 14, .delivery = {1000, 1}};

static void test_known_lists(void **state)
{
    static const uint32_t n_core[] = {9, 16, 25};
    static const struct {
        const char *network;
        struct uop_cut cut;
        double bound[3], list[3]; /* the program's bound, and b-level list schedules over it */
    } row[] = {
        {"vgg16", {28, 28, 516, 140}, {1.973e7, 1.779e7, 1.738e7}, {1.013, 1.000, 1.008}},
        {"vgg16", {14, 14, 264, 140}, {1.273e7, 7.723e6, 5.466e6}, {1.024, 1.026, 1.102}},
        {"vgg16", {28, 28, 264, 70}, {1.274e7, 7.876e6, 6.981e6}, {1.092, 1.000, 1.047}},
        {"resnet50", {14, 14, 516, 140}, {8.010e6, 7.279e6, 7.108e6}, {1.025, 1.000, 1.005}},
        {"resnet50", {14, 14, 264, 70}, {5.166e6, 3.661e6, 3.248e6}, {1.039, 1.009, 1.051}},
        {"resnet50", {7, 7, 2048, 266}, {6.989e6, 5.852e6, 5.490e6}, {1.022, 1.000, 1.008}},
        {"resnet152", {14, 14, 516, 140}, {3.041e7, 2.957e7, 2.940e7}, {1.009, 1.000, 1.001}},
        {"inception_v3", {18, 18, 516, 70}, {6.479e6, 5.887e6, 5.636e6}, {1.072, 1.006, 1.004}},
    };
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
        struct order_found found = {.start = arena_alloc(&arena, graph.n_uop, sizeof *found.start),
                                    .core = arena_alloc(&arena, graph.n_uop, sizeof *found.core)};
        for (int k = 0; k < 3; k++) {
            search(&graph, ORDER_LIST, n_core[k], 0, &arena, &found);
            const double known = row[i].bound[k] * row[i].list[k];
            if (fabs((double)found.cycle / known - 1) > 0.005)
                fail_msg("%s, row %zu, %u cores: %g and not %g", row[i].network, i, n_core[k],
                         (double)found.cycle, known);
            const uint64_t list = found.cycle;
            search(&graph, ORDER_PERTURB, n_core[k], 20, &arena, &found);
            assert_true(found.cycle <= list);
        }
        arena_free(&arena);
        network_free(&network);
    }
}

/* Two draws of the same stream. */
static void test_the_same_stream_finds_the_same(void **state)
{
    struct random_stream rng = random_stream_make(6, 0, RANDOM_TEST);
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 50; i++) {
        struct uop_small s;
        uint64_t start[2][UOP_SMALL_MAX];
        uint32_t core[2][UOP_SMALL_MAX];
        uop_small_random(&rng, &s);
        for (int k = 0; k < 2; k++) {
            struct order_found found = {.start = start[k], .core = core[k]};
            search(&s.graph, ORDER_PERTURB, 2, 30, &arena, &found);
        }
        assert_memory_equal(start[0], start[1], s.graph.n_uop * sizeof start[0][0]);
        assert_memory_equal(core[0], core[1], s.graph.n_uop * sizeof core[0][0]);
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_graphs),
        cmocka_unit_test(test_known_lists),
        cmocka_unit_test(test_the_same_stream_finds_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
