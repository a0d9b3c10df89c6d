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
        const struct klotski_task task = {.machine = p.machine, .n_core = n_core, .batch = 1};
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

static void test_lists_keep_the_order(void **state)
{
    struct random_stream rng = random_stream_make(32, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct uop_placed p;
        struct placing placing;
        struct uop_plan plan = {.transport = UOP_LINKS};
        struct dse_error err;
        uint32_t core[UOP_SMALL_MAX], place[UOP_SMALL_MAX], n = 0;
        uint64_t cycle;
        char reason[128];
        uop_placed_random(&rng, &p, core);
        const struct uop_graph *graph = &p.small.graph;
        const struct klotski_task task = {.machine = p.machine, .n_core = p.schedule.n_core, .batch = 1};
        assert_int_equal(placing_new(&task, graph, &p.arena, &placing, &err), DSE_OK);
        for (uint32_t u = 0; u < graph->n_uop; u++) {
            place[placing.order[u]] = u;
            placing.core[u] = core[u];
        }
        for (uint32_t u = 0; u < graph->n_uop; u++)
            for (uint32_t k = graph->first_producer[u]; k < graph->first_producer[u + 1]; k++)
                assert_true(place[graph->producer[k]] < place[u]);
        placing_lists(&placing, &plan.schedule);
        assert_int_equal(plan.schedule.n_core, task.n_core);
        for (uint32_t c = 0; c < task.n_core; c++)
            for (uint32_t k = plan.schedule.first[c]; k < plan.schedule.first[c + 1]; k++, n++) {
                assert_int_equal(core[plan.schedule.order[k]], c);
                assert_true(k == plan.schedule.first[c] ||
                            place[plan.schedule.order[k - 1]] < place[plan.schedule.order[k]]);
            }
        assert_int_equal(n, graph->n_uop);
        assert_int_equal(placing_guess(&placing, &plan, &p.arena, &cycle, &err), DSE_OK);
        assert_int_equal(cycle, placing.times.cycle);
        if (!uop_times_check(graph, &plan.schedule, &placing.times, &p.arena, reason, sizeof reason))
            fail_msg("%s", reason);
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
