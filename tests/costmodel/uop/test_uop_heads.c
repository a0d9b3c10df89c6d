/* Tests: uop_heads.c, uop_bound.c.
 * Random graphs of at most nine uops on one and two cores: a uop starts no earlier than the best of all
 * schedules of those that it waits for ends, and the same behind it; by hand what longest paths do not
 * see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/uop/uop_heads.h"
#include "costmodel/uop/uop_schedule.h"
#include "tests/support/uop_small.h"

/* Longest paths before and behind each uop. */
static uint64_t paths(const struct uop_small *s, uint64_t *head, uint64_t *tail)
{
    const uint32_t n = s->graph.n_uop;
    const uint64_t longest = uop_asap(&s->graph, 0, n, head);
    uop_alap(&s->graph, 0, n, longest, tail);
    for (uint32_t u = 0; u < n; u++)
        tail[u] = longest - tail[u] - s->uop[u].cycle;
    return longest;
}

/* The least time of all that uop `u` waits for, or, `behind`, that waits for it. */
static uint64_t least_of_others(const struct uop_small *s, uint32_t u, bool behind, uint32_t n_core)
{
    struct uop_small part;
    bool in[UOP_SMALL_MAX] = {false};
    uint32_t number[UOP_SMALL_MAX], n = 0;
    in[u] = true;
    for (uint32_t i = 0; i < s->graph.n_uop; i++) {
        const uint32_t v = behind ? i : s->graph.n_uop - 1 - i;
        for (uint32_t w = 0; w < s->graph.n_uop; w++)
            in[v] = in[v] || (in[w] && (behind ? s->edge[w][v] : s->edge[v][w]));
    }
    in[u] = false;
    memset(&part, 0, sizeof part);
    for (uint32_t v = 0; v < s->graph.n_uop; v++) {
        if (!in[v])
            continue;
        part.uop[n] = s->uop[v];
        number[n] = v;
        for (uint32_t w = 0; w < n; w++)
            part.edge[w][n] = s->edge[number[w]][v];
        n++;
    }
    uop_small_link(&part, n);
    return n ? uop_small_best(&part, n_core) : 0;
}

static void test_no_head_is_too_long(void **state)
{
    struct random_stream rng = random_stream_make(17, 0, RANDOM_TEST);
    struct arena arena;
    uint32_t n_longer = 0, n_exact = 0, n_all = 0; /* heads and tails */
    (void)state;
    arena_init(&arena);
    for (int i = 0; i < 300; i++) {
        struct uop_small s;
        uint64_t head[UOP_SMALL_MAX], tail[UOP_SMALL_MAX], path[UOP_SMALL_MAX], rest[UOP_SMALL_MAX];
        uop_small_uneven(&rng, &s);
        const uint32_t n = s.graph.n_uop, n_core = 1 + (uint32_t)i % 2;
        (void)paths(&s, path, rest);
        memcpy(head, path, sizeof head);
        memcpy(tail, rest, sizeof tail);
        uop_heads_raise(&s.graph, 0, n, n_core, &arena, head, tail);
        for (uint32_t u = 0; u < n; u++) {
            const uint64_t before = least_of_others(&s, u, false, n_core);
            const uint64_t behind = least_of_others(&s, u, true, n_core);
            if (head[u] > before || tail[u] > behind)
                fail_msg("graph %d, uop %u: head %d of %d, tail %d of %d", i, u, (int)head[u], (int)before,
                         (int)tail[u], (int)behind);
            assert_true(head[u] >= path[u] && tail[u] >= rest[u]);
            n_longer += head[u] > path[u];
            n_longer += tail[u] > rest[u];
            n_exact += head[u] == before;
            n_exact += tail[u] == behind;
            n_all += 2;
        }
        arena_reset(&arena);
    }
    arena_free(&arena);
    assert_true(n_longer > n_all / 20 && n_exact > n_all * 9 / 10);
}

/* Four uops of 5 cycles on two cores, one of 1 that waits for all, four more that wait for it: 10, 1, 10; the
 * paths say 5, 1, 5. The last four are numbered from 5 on; part of the graph alone counts from its start. */
static void test_four_before_and_four_behind(void **state)
{
    struct uop_small s;
    uint64_t head[UOP_SMALL_MAX], tail[UOP_SMALL_MAX];
    struct arena arena;
    (void)state;
    arena_init(&arena);
    memset(&s, 0, sizeof s);
    for (uint32_t u = 0; u < 9; u++) {
        s.uop[u].cycle = u == 4 ? 1 : 5;
        s.edge[u][4] = u < 4;
        s.edge[4][u] = u > 4;
    }
    uop_small_link(&s, 9);
    assert_int_equal(paths(&s, head, tail), 11);
    uop_heads_raise(&s.graph, 0, 9, 2, &arena, head, tail);
    assert_true(head[4] == 10 && tail[4] == 10 && head[5] == 11 && tail[0] == 11 && head[0] == 0);
    assert_int_equal(uop_segment_bound(&s.graph, 0, 9, 2, &arena), 21);
    assert_int_equal(uop_segment_bound(&s.graph, 4, 9, 2, &arena), 11);
    assert_int_equal(uop_segment_bound(&s.graph, 0, 4, 2, &arena), 10);
    arena_free(&arena);
}

/* Four of 9 cycles and one of 2 on four cores: one core runs two of them, at best the shortest two. */
static void test_uops_pack_by_the_shortest(void **state)
{
    struct uop_small s;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    memset(&s, 0, sizeof s);
    for (uint32_t u = 0; u < 5; u++)
        s.uop[u].cycle = u < 4 ? 9 : 2;
    uop_small_link(&s, 5);
    assert_int_equal(uop_small_best(&s, 4), 11);
    assert_int_equal(uop_segment_bound(&s.graph, 0, 5, 4, &arena), 11);
    for (uint32_t u = 0; u < 9; u++) /* one core runs three of them */
        s.uop[u].cycle = u < 2 ? 6 : 7;
    uop_small_link(&s, 9);
    assert_int_equal(uop_segment_bound(&s.graph, 0, 9, 4, &arena), 6 + 6 + 7);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_head_is_too_long),
        cmocka_unit_test(test_four_before_and_four_behind),
        cmocka_unit_test(test_uops_pack_by_the_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
