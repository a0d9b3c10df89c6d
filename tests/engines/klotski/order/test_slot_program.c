/* Tests: slot_program.c, list_schedule.c (in turn).
 * Random graphs of at most nine uops on two and on three cores: with slots of one cycle Eq. (18) ends when
 * the best of all schedules does, and Eq. (19) no later; starts against the rows of both; limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/uop/uop_schedule.h"
#include "engines/klotski/order/slot_program.h"
#include "tests/support/uop_small.h"

enum { N_GRAPH = 600 };

static const struct slot_settings usual = {.n_core = 3, .n_slot = 200, .max_binaries = UINT32_MAX};

static struct slot_found solve(const struct uop_small *s, uint64_t cycle,
                               const struct slot_settings *settings, struct arena *arena, uint64_t *slot)
{
    struct slot_found found;
    struct dse_error err;
    if (slot_program_solve(&s->graph, 0, s->graph.n_uop, cycle, settings, arena, slot, &found, &err) !=
        DSE_OK)
        fail_msg("%s", err.text);
    return found;
}

/* No slot has more of them than cores: that run, or that start. */
static void check_slots(const struct uop_small *s, const uint64_t *slot, const struct slot_settings *settings,
                        uint64_t horizon)
{
    for (uint32_t u = 0; u < s->graph.n_uop; u++) {
        uint32_t n = 0;
        assert_true(slot[u] + s->uop[u].cycle <= horizon);
        for (uint32_t v = 0; v < s->graph.n_uop; v++) {
            if (s->edge[u][v])
                assert_true(slot[u] + s->uop[u].cycle <= slot[v]);
            n += settings->relaxed ? slot[v] == slot[u]
                                   : slot[v] <= slot[u] && slot[u] < slot[v] + s->uop[v].cycle;
        }
        assert_true(n <= settings->n_core);
    }
}

/* In the order of starts. */
static uint64_t in_turn(const struct uop_small *s, const uint64_t *slot, uint32_t n_core, struct arena *arena)
{
    uint32_t order[UOP_SMALL_MAX], core[UOP_SMALL_MAX];
    uint64_t start[UOP_SMALL_MAX];
    for (uint32_t u = 0; u < s->graph.n_uop; u++) {
        uint32_t at = u;
        for (; at > 0 && slot[order[at - 1]] > slot[u]; at--)
            order[at] = order[at - 1];
        order[at] = u;
    }
    struct list_scheduler *list = list_scheduler_new(&s->graph, n_core, arena);
    const uint64_t cycle = list_in_turn(list, 0, s->graph.n_uop, order, UINT64_MAX, start, core);
    for (uint32_t u = 0; u < s->graph.n_uop; u++)
        assert_true(start[u] <= slot[u]);
    assert_true(list_in_turn(list, 0, s->graph.n_uop, order, cycle, start, core) == UINT64_MAX);
    return cycle;
}

static void test_slots_of_a_cycle(void **state)
{
    struct random_stream rng = random_stream_make(15, 0, RANDOM_TEST);
    struct arena arena;
    int n_order = 0, n_shorter = 0;
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct uop_small s;
        uint64_t slot[UOP_SMALL_MAX];
        struct slot_settings settings = usual;
        uop_small_uneven(&rng, &s);
        settings.n_core = 2 + (uint32_t)i % 2;
        const uint64_t best = uop_small_best(&s, settings.n_core);
        const struct slot_found whole = solve(&s, best, &settings, &arena, slot);
        assert_true(whole.end == SLOT_PROVED && whole.horizon == best);
        if (whole.has_order) {
            check_slots(&s, slot, &settings, best);
            assert_int_equal(in_turn(&s, slot, settings.n_core, &arena), best);
            n_order++;
        }
        settings.relaxed = true;
        const struct slot_found relaxed = solve(&s, best, &settings, &arena, slot);
        assert_true(relaxed.end == SLOT_PROVED && relaxed.horizon <= whole.horizon);
        assert_true(relaxed.horizon >= uop_asap(&s.graph, 0, s.graph.n_uop, (uint64_t[UOP_SMALL_MAX]){0}));
        if (relaxed.has_order)
            check_slots(&s, slot, &settings, relaxed.horizon);
        n_shorter += relaxed.horizon < whole.horizon;
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_order >= 5 && n_shorter > N_GRAPH / 10);
}

/* Seven uops of 2 cycles on three cores, and one after them: with slots of 3 cycles they are 1 slot each. */
static void test_latencies_are_rounded(void **state)
{
    struct slot_settings settings = usual;
    struct arena arena;
    struct uop_small s = {.uop = {{.cycle = 2}}};
    uint64_t slot[UOP_SMALL_MAX];
    (void)state;
    arena_init(&arena);
    for (uint32_t u = 0; u < 8; u++) {
        s.uop[u].cycle = 2;
        s.edge[u][7] = u < 7;
    }
    uop_small_link(&s, 8);
    settings.n_slot = 3;
    struct slot_found found = solve(&s, 8, &settings, &arena, slot);
    assert_true(found.end == SLOT_PROVED && found.horizon == 4 && found.n_binary == 0);
    s.uop[7].cycle = 1; /* a third of a slot is one */
    found = solve(&s, 7, &settings, &arena, slot);
    assert_int_equal(found.horizon, 4);
    s.uop[7].cycle = 14; /* 4 2/3 slots are five */
    found = solve(&s, 9, &settings, &arena, slot);
    assert_int_equal(found.horizon, 3 + 5);
    arena_free(&arena);
}

static void test_limits(void **state)
{
    struct random_stream rng = random_stream_make(16, 0, RANDOM_TEST);
    struct slot_settings small = usual, cancelled = usual;
    struct arena arena;
    atomic_int cancel = 1;
    int n_large = 0;
    (void)state;
    small.max_binaries = 10;
    cancelled.limits.cancel = &cancel;
    arena_init(&arena);
    for (int i = 0; i < N_GRAPH; i++) {
        struct uop_small s;
        uint64_t slot[UOP_SMALL_MAX];
        uop_small_uneven(&rng, &s);
        small.n_core = cancelled.n_core = 2 + (uint32_t)i % 2;
        const uint64_t best = uop_small_best(&s, small.n_core);
        const struct slot_found found = solve(&s, best, &small, &arena, slot);
        assert_true((found.end == SLOT_LARGE) == (found.n_binary > 10));
        n_large += found.end == SLOT_LARGE;
        const struct slot_found ended = solve(&s, best, &cancelled, &arena, slot);
        assert_int_equal(ended.end, ended.n_binary ? SLOT_LIMITED : SLOT_PROVED);
        assert_true(!ended.has_order && ended.horizon >= best);
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_large > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots_of_a_cycle),
        cmocka_unit_test(test_latencies_are_rounded),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
