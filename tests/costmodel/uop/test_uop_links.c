/* Tests: uop_links.c, uop_mesh.c, uop_transport.c.
 * Messages by hand, in the numbers of docs/klotski.md, "Messages that take time": a cycle for each link and
 * one for each flit. Random schedules against a plain simulation, the checker and links that take no time;
 * chains, where nothing can be in the way, against the sum of their times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/uop/uop_links.h"
#include "costmodel/uop/uop_transport.h"
#include "tests/support/uop_placed.h"

static void uop(struct uop_placed *p, uint32_t u, uint64_t cycle, uint64_t word)
{
    p->small.uop[u] = (struct uop){.cycle = cycle, .output_word = word};
}

static void run(struct uop_placed *p, enum uop_transport transport)
{
    char reason[128];
    struct dse_error err;
    const struct uop_graph *graph = &p->small.graph;
    if (uop_run(graph, &p->machine, &p->schedule, &(struct uop_setting){.transport = transport}, &p->arena,
                &p->times, p->link, &err) != DSE_OK)
        fail_msg("%s", err.text);
    if (!uop_times_check(graph, &p->schedule, &p->times, &p->arena, reason, sizeof reason))
        fail_msg("%s", reason);
}

/* From a corner of 2 x 2 cores to the opposite one: 10 cycles of work, 2 links, 400 bytes in flits of 8. */
static void test_a_message_takes_its_links_and_flits(void **state)
{
    static const uint32_t core[] = {0, 3};
    struct uop_placed p;
    (void)state;
    uop_placed_init(&p, 2, 2, 64);
    uop(&p, 0, 10, 100);
    uop(&p, 1, 5, 100);
    p.small.edge[0][1] = true;
    uop_placed_put(&p, 2, core);
    run(&p, UOP_LINKS);
    assert_int_equal(p.start[1], 10 + 2 + 50);
    assert_int_equal(p.times.cycle, 67);
    for (uint32_t k = 0; k < 4 * UOP_SIDES; k++) {
        const bool used = k == 0 * UOP_SIDES + UOP_EAST || k == 1 * UOP_SIDES + UOP_SOUTH;
        assert_int_equal(p.link[k].byte, used ? 400 : 0);
        assert_int_equal(p.link[k].busy_cycle, used ? 50 : 0);
    }
    p.machine.noc.flit_bit = 4096; /* 512 bytes: one flit */
    run(&p, UOP_LINKS);
    assert_int_equal(p.start[1], 10 + 2 + 1);
    p.machine.noc.flit_bit = 192; /* 24 bytes: 17 flits */
    run(&p, UOP_LINKS);
    assert_int_equal(p.start[1], 10 + 2 + 17);
    run(&p, UOP_IDEAL);
    assert_int_equal(p.start[1], 10);
    assert_int_equal(p.link[UOP_EAST].byte, 400);
    assert_int_equal(p.link[UOP_EAST].busy_cycle, 0);
    arena_free(&p.arena);
}

/* A uop on core 0 sends to cores 1 and 3. The message to 1 takes the link east, so that to 3 goes south
 * first, and both come as if they were alone. A core that needs it twice gets it once. */
static void test_the_route_that_is_free_is_taken(void **state)
{
    static const uint32_t core[] = {0, 3, 1, 1};
    struct uop_placed p;
    (void)state;
    uop_placed_init(&p, 2, 2, 64);
    uop(&p, 0, 10, 100);
    for (uint32_t u = 1; u < 4; u++) {
        uop(&p, u, 5, 1);
        p.small.edge[0][u] = true;
    }
    uop_placed_put(&p, 4, core);
    run(&p, UOP_LINKS);
    assert_int_equal(p.start[2], 10 + 1 + 50);
    assert_int_equal(p.start[3], p.start[2] + 5);
    assert_int_equal(p.start[1], 10 + 2 + 50);
    assert_int_equal(p.link[0 * UOP_SIDES + UOP_EAST].busy_cycle, 50);
    assert_int_equal(p.link[0 * UOP_SIDES + UOP_SOUTH].busy_cycle, 50);
    assert_int_equal(p.link[2 * UOP_SIDES + UOP_EAST].busy_cycle, 50);
    assert_int_equal(p.link[1 * UOP_SIDES + UOP_SOUTH].busy_cycle, 0);
    arena_free(&p.arena);
}

/* Cores 0 and 1 of a row send to core 2 at once. The first head is at the second link in cycle 11 and
 * holds it for 50 cycles; the second message follows behind. */
static void test_messages_over_one_link_follow_each_other(void **state)
{
    static const uint32_t core[] = {0, 1, 2, 2};
    struct uop_placed p;
    (void)state;
    uop_placed_init(&p, 3, 1, 64);
    for (uint32_t u = 0; u < 4; u++)
        uop(&p, u, 10, 100);
    p.small.edge[0][2] = p.small.edge[1][3] = true;
    uop_placed_put(&p, 4, core);
    run(&p, UOP_LINKS);
    assert_int_equal(p.start[2], 10 + 2 + 50);
    assert_int_equal(p.start[3], 11 + 50 + 1 + 50);
    assert_int_equal(p.link[1 * UOP_SIDES + UOP_EAST].byte, 800);
    assert_int_equal(p.link[1 * UOP_SIDES + UOP_EAST].busy_cycle, 100);
    arena_free(&p.arena);
}

/* Core 1 has a uop that waits for core 0, then one that waits for nothing. */
static void test_dynamic_firing_takes_what_is_ready(void **state)
{
    static const uint32_t core[] = {0, 1, 1};
    static const enum uop_transport transport[] = {UOP_IDEAL, UOP_LINKS};
    static const uint64_t there[] = {10, 10 + 1 + 50};
    struct uop_placed p;
    (void)state;
    uop_placed_init(&p, 2, 1, 64);
    uop(&p, 0, 10, 100);
    uop(&p, 1, 5, 1);
    uop(&p, 2, 7, 1);
    p.small.edge[0][1] = true;
    uop_placed_put(&p, 3, core);
    for (int i = 0; i < 2; i++) {
        p.schedule.firing = UOP_STATIC;
        run(&p, transport[i]);
        assert_int_equal(p.start[1], there[i]);
        assert_int_equal(p.start[2], there[i] + 5);
        p.schedule.firing = UOP_DYNAMIC;
        run(&p, transport[i]);
        assert_int_equal(p.start[1], there[i]);
        assert_int_equal(p.start[2], 0);
    }
    arena_free(&p.arena);
}

/* Every route leads from core to core, turns at most once, and is as short as can be. */
static void test_routes(void **state)
{
    const struct kc_machine machine = {.columns = 4, .rows = 3};
    (void)state;
    for (uint32_t from = 0; from < 12; from++)
        for (uint32_t to = 0; to < 12; to++)
            for (int first = 0; first < 2; first++) {
                uint32_t link[8], at = from, turns = 0;
                const uint32_t n = uop_route(&machine, from, to, first == 0, link);
                const int hops = abs((int)(from % 4) - (int)(to % 4)) + abs((int)(from / 4) - (int)(to / 4));
                assert_int_equal(n, hops);
                for (uint32_t i = 0; i < n; i++) {
                    assert_int_equal(link[i] / UOP_SIDES, at);
                    turns += i > 0 && link[i] % UOP_SIDES != link[i - 1] % UOP_SIDES;
                    at = uop_link_to(&machine, link[i]);
                }
                assert_int_equal(at, to);
                assert_true(turns <= 1);
                if (n && from / 4 != to / 4 && from % 4 != to % 4)
                    assert_int_equal(link[0] % UOP_SIDES % 2, first); /* east and west are even */
            }
    assert_int_equal(uop_link_to(&machine, 3 * UOP_SIDES + UOP_EAST), 3); /* ends of the mesh */
    assert_int_equal(uop_link_to(&machine, 8 * UOP_SIDES + UOP_SOUTH), 8);
    assert_int_equal(uop_link_to(&machine, 4 * UOP_SIDES + UOP_WEST), 4);
    assert_int_equal(uop_link_to(&machine, 2 * UOP_SIDES + UOP_NORTH), 2);
}

/* The same rules cycle by cycle, written again from docs/klotski.md. */
struct plain {
    const struct uop_placed *p;
    const uint32_t *core;
    uint64_t link_free[UOP_PLACED_CORE_MAX][UOP_PLACED_CORE_MAX]; /* from, to a neighbour */
    uint64_t there[UOP_SMALL_MAX][UOP_PLACED_CORE_MAX];           /* what a uop made, on a core */
    uint64_t start[UOP_SMALL_MAX], finish[UOP_SMALL_MAX];
};

/* When a message of so many flits has come, along the row first or not; it takes the links where `taken`. */
static uint64_t plain_send(struct plain *s, uint32_t from, uint32_t to, uint64_t cycle, uint64_t flits,
                           bool row_first, bool taken)
{
    const uint32_t columns = s->p->machine.columns;
    while (from != to) {
        const uint32_t x = from % columns, y = from / columns, to_x = to % columns, to_y = to / columns;
        uint32_t next;
        if (row_first ? x != to_x : y == to_y)
            next = to_x > x ? from + 1 : from - 1;
        else
            next = to_y > y ? from + columns : from - columns;
        if (s->link_free[from][next] > cycle)
            cycle = s->link_free[from][next];
        if (taken)
            s->link_free[from][next] = cycle + flits;
        cycle++;
        from = next;
    }
    return cycle + flits;
}

static void plain_end(struct plain *s, uint32_t u, uint64_t cycle)
{
    const uint32_t n = s->p->small.graph.n_uop, flit_byte = s->p->machine.noc.flit_bit / 8;
    const uint64_t flits = (4 * s->p->small.uop[u].output_word + flit_byte - 1) / flit_byte;
    for (uint32_t c = 0; c < s->p->schedule.n_core; c++) {
        bool waits = false;
        for (uint32_t v = 0; v < n; v++)
            waits = waits || (s->p->small.edge[u][v] && s->core[v] == c);
        if (c == s->core[u] || !waits) {
            s->there[u][c] = cycle;
            continue;
        }
        const bool row_first = plain_send(s, s->core[u], c, cycle, flits, true, false) <=
                               plain_send(s, s->core[u], c, cycle, flits, false, false);
        s->there[u][c] = plain_send(s, s->core[u], c, cycle, flits, row_first, true);
    }
}

static void plain_fire(struct plain *s, uint32_t c, uint64_t cycle)
{
    const struct uop_placed *p = s->p;
    for (uint32_t i = p->first[c]; i < p->first[c + 1]; i++)
        if (s->start[p->order[i]] != UINT64_MAX && s->finish[p->order[i]] > cycle)
            return; /* it is busy */
    for (uint32_t i = p->first[c]; i < p->first[c + 1]; i++) {
        const uint32_t u = p->order[i];
        bool ready = true;
        if (s->start[u] != UINT64_MAX)
            continue;
        for (uint32_t v = 0; v < p->small.graph.n_uop; v++)
            ready = ready && (!p->small.edge[v][u] || s->there[v][c] <= cycle);
        if (ready) {
            s->start[u] = cycle;
            s->finish[u] = cycle + p->small.uop[u].cycle;
        }
        if (ready || p->schedule.firing != UOP_DYNAMIC)
            return;
    }
}

/* Of what has started something runs, or one of its messages is on its way. */
static bool plain_round_runs(const struct plain *s, uint64_t cycle)
{
    for (uint32_t u = 0; u < s->p->small.graph.n_uop; u++) {
        if (s->start[u] == UINT64_MAX)
            continue;
        if (s->finish[u] > cycle)
            return true;
        for (uint32_t c = 0; c < s->p->schedule.n_core; c++)
            if (s->there[u][c] > cycle)
                return true;
    }
    return false;
}

static void test_random_schedules_against_a_plain_simulation(void **state)
{
    struct random_stream rng = random_stream_make(14, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 600; i++) {
        struct uop_placed p;
        uint32_t core[UOP_SMALL_MAX];
        uop_placed_random(&rng, &p, core);
        p.schedule.firing = (enum uop_firing)(i % 3);
        run(&p, UOP_LINKS);
        struct plain s = {.p = &p, .core = core};
        memset(s.there, 0xff, sizeof s.there);
        memset(s.start, 0xff, sizeof s.start);
        for (uint64_t cycle = 0; cycle <= p.times.cycle; cycle++) {
            for (uint32_t u = 0; u < p.small.graph.n_uop; u++)
                if (s.start[u] != UINT64_MAX && s.finish[u] == cycle)
                    plain_end(&s, u, cycle);
            const bool waits = p.schedule.firing == UOP_ROUNDS && plain_round_runs(&s, cycle);
            for (uint32_t c = 0; c < p.schedule.n_core && !waits; c++)
                plain_fire(&s, c, cycle);
        }
        for (uint32_t u = 0; u < p.small.graph.n_uop; u++)
            if (s.start[u] != p.start[u] || s.finish[u] != p.finish[u])
                fail_msg("schedule %d, uop %u: starts at %d, by the plain simulation at %d", i, u,
                         (int)p.start[u], (int)s.start[u]);
        arena_free(&p.arena);
    }
}

static void test_random_schedules_by_links_and_without_time(void **state)
{
    struct random_stream rng = random_stream_make(11, 0, RANDOM_TEST);
    uint32_t n_longer = 0;
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct uop_placed p;
        struct dse_error err;
        uop_placed_random(&rng, &p, NULL);
        assert_int_equal(uop_run_ideal(&p.small.graph, &p.schedule, &p.arena, &p.times, &err), DSE_OK);
        uint64_t start[UOP_SMALL_MAX];
        const uint64_t cycle = p.times.cycle;
        memcpy(start, p.start, sizeof start);
        run(&p, UOP_IDEAL);
        assert_int_equal(p.times.cycle, cycle);
        assert_memory_equal(p.start, start, p.small.graph.n_uop * sizeof *start);
        run(&p, UOP_LINKS);
        assert_true(p.times.cycle >= cycle);
        n_longer += p.times.cycle > cycle;
        for (uint32_t u = 0; u < p.small.graph.n_uop; u++)
            assert_true(p.start[u] >= start[u]);
        for (uint32_t k = 0; k < p.schedule.n_core * UOP_SIDES; k++)
            assert_true(p.link[k].busy_cycle <= p.times.cycle); /* no link has two messages at once */
        p.schedule.firing = UOP_DYNAMIC;
        run(&p, UOP_IDEAL);
        run(&p, UOP_LINKS);
        arena_free(&p.arena);
    }
    assert_true(n_longer > 100);
}

static void test_chains_take_the_sum_of_their_times(void **state)
{
    struct random_stream rng = random_stream_make(12, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct uop_placed p;
        uint32_t core[UOP_SMALL_MAX] = {0};
        uop_placed_random(&rng, &p, core);
        const uint32_t n = p.small.graph.n_uop, columns = p.machine.columns;
        const uint64_t flit_byte = p.machine.noc.flit_bit / 8;
        uint64_t sum = 0;
        memset(p.small.edge, 0, sizeof p.small.edge);
        for (uint32_t u = 0; u < n; u++) {
            sum += p.small.uop[u].cycle;
            if (u + 1 == n || core[u] == core[u + 1])
                continue;
            sum += (uint64_t)(abs((int)(core[u] % columns) - (int)(core[u + 1] % columns)) +
                              abs((int)(core[u] / columns) - (int)(core[u + 1] / columns)));
            sum += (p.small.uop[u].output_word * 4 + flit_byte - 1) / flit_byte;
        }
        for (uint32_t u = 0; u + 1 < n; u++)
            p.small.edge[u][u + 1] = true;
        uop_placed_put(&p, n, core);
        run(&p, UOP_LINKS);
        assert_int_equal(p.times.cycle, sum);
        arena_free(&p.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_message_takes_its_links_and_flits),
        cmocka_unit_test(test_the_route_that_is_free_is_taken),
        cmocka_unit_test(test_messages_over_one_link_follow_each_other),
        cmocka_unit_test(test_dynamic_firing_takes_what_is_ready),
        cmocka_unit_test(test_routes),
        cmocka_unit_test(test_random_schedules_against_a_plain_simulation),
        cmocka_unit_test(test_random_schedules_by_links_and_without_time),
        cmocka_unit_test(test_chains_take_the_sum_of_their_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
