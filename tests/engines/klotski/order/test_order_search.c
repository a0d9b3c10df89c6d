/* Tests: order_search.c, list_schedule.c.
 * Random graphs of at most nine uops on two and three cores against the best of all orders and Graham's
 * guarantee: with slots of a cycle Eq. (18) finds the best. B-level list schedules of larger graphs against
 * an independent program (tests/support/uop_known.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/uop/uop_schedule.h"
#include "engines/klotski/order/order_search.h"
#include "tests/support/uop_known.h"
#include "tests/support/uop_small.h"

enum { MOST_CORES = 3, SLOTS = 200 /* more than cycles of a small graph */ };

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
        .rule = rule,
        .n_core = n_core,
        .n_try = n_try,
        .n_slot = SLOTS,
        .max_binaries = UINT32_MAX,
        .deadline_s = INFINITY,
    };
    struct random_stream random = random_stream_make(1, 0, RANDOM_MOVE);
    struct dse_error err;
    if (order_search(graph, &settings, &random, arena, found, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void test_small_graphs(void **state)
{
    struct random_stream rng = random_stream_make(5, 0, RANDOM_TEST);
    struct arena arena;
    uint32_t n_best = 0, n_open = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 300; i++) {
        struct uop_small s;
        uint64_t start[UOP_SMALL_MAX], finish[UOP_SMALL_MAX];
        uint32_t core[UOP_SMALL_MAX], first[MOST_CORES + 1], order[UOP_SMALL_MAX];
        struct order_found found = {.start = start, .core = core};
        uop_small_uneven(&rng, &s);
        const uint32_t n_core = 2 + (uint32_t)i % 2;
        const uint64_t best = uop_small_best(&s, n_core);
        for (int rule = ORDER_FIFO; rule <= ORDER_RELAXED; rule++) {
            char reason[128];
            struct dse_error err;
            search(&s.graph, (enum order_rule)rule, n_core, rule == ORDER_ILP ? 0 : 200, &arena, &found);
            assert_true(found.cycle >= best);
            assert_true(found.bound_cycle <= best);
            assert_true(n_core * found.cycle <= (2 * n_core - 1) * best);
            to_schedule(&s.graph, n_core, start, core, first, order);
            const struct uop_schedule schedule = {UOP_STATIC, n_core, first, order};
            struct uop_times times = {.start = start, .finish = finish, .cycle = found.cycle};
            for (uint32_t u = 0; u < s.graph.n_uop; u++)
                finish[u] = start[u] + s.uop[u].cycle;
            if (!uop_times_check(&s.graph, &schedule, &times, &arena, reason, sizeof reason))
                fail_msg("graph %d: %s", i, reason);
            assert_int_equal(uop_run_ideal(&s.graph, &schedule, &arena, &times, &err), DSE_OK);
            assert_true(times.cycle <= found.cycle);
            if (rule == ORDER_ILP) {
                assert_int_equal(found.cycle, best);
                assert_true(found.n_proved == found.n_open && found.n_limited == 0 && found.n_large == 0);
                n_open += found.n_open;
            }
            n_best += rule == ORDER_PERTURB && found.cycle == best;
        }
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_best >= 290); /* a best list schedule is not always among those tried */
    assert_true(n_open >= 20);
}

static void test_known_lists(void **state)
{
    (void)state;
    for (size_t i = 0; i < UOP_KNOWN_N; i++) {
        const struct uop_known_row *row = &uop_known_row[i];
        struct uop_known known;
        uop_known_open(row->network, row->cut, &known);
        const struct uop_graph *graph = &known.graph;
        struct order_found found = {.start = arena_alloc(&known.arena, graph->n_uop, sizeof *found.start),
                                    .core = arena_alloc(&known.arena, graph->n_uop, sizeof *found.core)};
        for (int k = 0; k < 3; k++) {
            search(graph, ORDER_LIST, uop_known_core[k], 0, &known.arena, &found);
            const double expected = row->bound[k] * row->list[k];
            if (fabs((double)found.cycle / expected - 1) > 0.005)
                fail_msg("%s, row %zu, %u cores: %g and not %g", row->network, i, uop_known_core[k],
                         (double)found.cycle, expected);
            const uint64_t list = found.cycle;
            search(graph, ORDER_PERTURB, uop_known_core[k], 20, &known.arena, &found);
            assert_true(found.cycle <= list);
        }
        uop_known_close(&known);
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
