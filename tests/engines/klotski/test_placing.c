/* Tests: placing.c.
 * Blocks by hand and by their definition; lists against the order and the cores that they are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engines/klotski/placing.h"
#include "tests/support/uop_placed.h"

/* On 3 x 2 cores. */
static void check_blocks(const struct uop_small *s, const uint32_t *core)
{
    const struct klotski_task task = {.machine = {.columns = 3, .rows = 2}, .n_core = 6, .batch = 1};
    struct placing placing;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    assert_int_equal(placing_new(&task, &s->graph, &arena, &placing, &err), DSE_OK);
    placing_blocks(&placing);
    assert_memory_equal(placing.core, core, s->graph.n_uop * sizeof *core);
    arena_free(&arena);
}

/* 3 x 2 cores; a layer of six equal uops, then one of two, then one of four of which the first is as long as
 * the others together: it takes three blocks of six, and lies in the middle of them. */
static void test_blocks_by_hand(void **state)
{
    static const uint32_t layer[] = {0, 0, 0, 0, 0, 0, 1, 1, 2}, expected[] = {0, 1, 2, 5, 4, 3, 1, 4, 5};
    static const uint32_t by_work[] = {1, 5, 4, 3}; /* the middle of the second is at 7 of 12 */
    struct uop_small s = {0};
    (void)state;
    for (uint32_t u = 0; u < 9; u++)
        s.uop[u] = (struct uop){.layer = layer[u], .cycle = 7};
    uop_small_link(&s, 9);
    check_blocks(&s, expected);
    for (uint32_t u = 0; u < 4; u++)
        s.uop[u] = (struct uop){.sample = 1, .cycle = u == 0 ? 6 : 2};
    uop_small_link(&s, 4);
    check_blocks(&s, by_work);
}

/* No core has more than its share of a layer and one uop. */
static void test_blocks_are_even(void **state)
{
    struct random_stream rng = random_stream_make(31, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct uop_placed p;
        struct placing placing;
        struct dse_error err;
        uint64_t all = 0, longest = 0, work[UOP_PLACED_CORE_MAX] = {0};
        uop_placed_random(&rng, &p, NULL);
        const uint32_t n_core = p.schedule.n_core;
        const struct klotski_task task = {
            .machine = p.machine, .rough = p.machine, .n_core = n_core, .batch = 1};
        assert_int_equal(placing_new(&task, &p.small.graph, &p.arena, &placing, &err), DSE_OK);
        placing_blocks(&placing);
        for (uint32_t u = 0; u < p.small.graph.n_uop; u++) {
            const uint64_t cycle = p.small.uop[u].cycle;
            assert_true(placing.core[u] < n_core);
            work[placing.core[u]] += cycle;
            all += cycle;
            longest = cycle > longest ? cycle : longest;
        }
        for (uint32_t c = 0; c < n_core; c++)
            assert_true(work[c] * n_core <= all + longest * n_core);
        arena_free(&p.arena);
    }
}

/* The lists are the order by cores, and producers come first in it. */
static void check_lists(struct uop_placed *p, struct placing *placing)
{
    const struct uop_graph *graph = &p->small.graph;
    const uint32_t n_core = p->schedule.n_core;
    struct uop_plan plan = {.transport = UOP_LINKS};
    struct dse_error err;
    uint32_t place[UOP_SMALL_MAX], n = 0;
    uint64_t cycle;
    char reason[128];
    for (uint32_t i = 0; i < graph->n_uop; i++)
        place[placing->order[i]] = i;
    for (uint32_t u = 0; u < graph->n_uop; u++)
        for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
            assert_true(place[graph->producer[k]] < place[u]);
    assert_int_equal(placing_guess(placing, &plan, &p->arena, &cycle, &err), DSE_OK);
    assert_int_equal(plan.schedule.n_core, n_core);
    for (uint32_t c = 0; c < n_core; c++)
        for (uint32_t k = plan.schedule.first[c]; k < plan.schedule.first[c + 1]; k++, n++) {
            assert_int_equal(placing->core[plan.schedule.order[k]], c);
            assert_true(k == plan.schedule.first[c] ||
                        place[plan.schedule.order[k - 1]] < place[plan.schedule.order[k]]);
        }
    assert_int_equal(n, graph->n_uop);
    assert_int_equal(cycle, placing->times.cycle);
    if (!uop_times_check(graph, &plan.schedule, &placing->times, &p->arena, reason, sizeof reason))
        fail_msg("%s", reason);
}

static void test_lists_keep_the_order(void **state)
{
    struct random_stream rng = random_stream_make(32, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct uop_placed p;
        struct placing placing;
        struct dse_error err;
        uint64_t cycle, again;
        uop_placed_random(&rng, &p, NULL);
        const struct klotski_task task = {
            .machine = p.machine, .rough = p.machine, .n_core = p.schedule.n_core, .batch = 1};
        assert_int_equal(placing_new(&task, &p.small.graph, &p.arena, &placing, &err), DSE_OK);
        placing_blocks(&placing);
        check_lists(&p, &placing);
        assert_int_equal(placing_list(&placing, UINT64_MAX, &p.arena, &cycle, &err), DSE_OK);
        placing_by_starts(&placing);
        check_lists(&p, &placing);
        /* without a network its lists take the cycles that it says */
        placing_lists(&placing, &p.schedule);
        assert_int_equal(uop_run_ideal(&p.small.graph, &p.schedule, &p.arena, &p.times, &err), DSE_OK);
        assert_int_equal(p.times.cycle, cycle);
        assert_int_equal(placing_list(&placing, cycle, &p.arena, &again, &err), DSE_OK);
        assert_true(again == UINT64_MAX);
        arena_free(&p.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_by_hand),
        cmocka_unit_test(test_blocks_are_even),
        cmocka_unit_test(test_lists_keep_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
