/* Tests: uop_flits.c.
 * Schedules by hand against the latency that docs/noc.md has for a packet: n packets over h idle routers,
 * both ends counted, take 3 h + 5 n cycles. Random ones against the checker and links that take no time.
 * The guess of uop_run_trees: the same where no messages meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/uop/uop_flits.h"
#include "costmodel/uop/uop_links.h"
#include "tests/support/uop_placed.h"

static enum dse_status run(struct uop_placed *p, struct dse_error *err)
{
    return uop_run_flits(&p->small.graph, &p->machine, &p->schedule, NULL, &p->arena, &p->times, p->link,
                         err);
}

/* 2 x 2 cores. The uop on core 0 ends after 10 cycles; its 400 bytes are 13 packets of 4 flits of 8
 * bytes, and as a multicast at core 1 over 2 routers, at core 3 over 3. Core 3 has a second uop at once.
 * */
static void test_a_multicast_by_hand(void **state)
{
    static const uint32_t core[] = {0, 1, 3, 3};
    struct uop_placed p;
    struct dse_error err;
    (void)state;
    uop_placed_init(&p, 2, 2, 64);
    for (uint32_t u = 0; u < 4; u++)
        p.small.uop[u] = (struct uop){.cycle = u == 0 ? 10 : 5, .output_word = 100};
    p.small.edge[0][1] = p.small.edge[0][2] = true;
    uop_placed_put(&p, 4, core);
    assert_int_equal(run(&p, &err), DSE_OK);
    assert_int_equal(p.start[1], 10 + 3 * 2 + 5 * 13);
    assert_int_equal(p.start[2], 10 + 3 * 3 + 5 * 13);
    assert_int_equal(p.start[3], p.start[2] + 5);
    assert_int_equal(p.times.cycle, p.start[3] + 5);
    /* the link east carries it once, for both */
    assert_int_equal(p.link[0 * UOP_SIDES + UOP_EAST].byte, 400);
    assert_int_equal(p.link[0 * UOP_SIDES + UOP_EAST].busy_cycle, 5 * 13);
    assert_int_equal(p.link[1 * UOP_SIDES + UOP_SOUTH].busy_cycle, 5 * 13);
    assert_int_equal(p.link[0 * UOP_SIDES + UOP_SOUTH].busy_cycle, 0);
    assert_int_equal(uop_run_trees(&p.small.graph, &p.machine, &p.schedule, &p.arena, &p.times, &err),
                     DSE_OK);
    assert_int_equal(p.start[1], 10 + 3 * 2 + 5 * 13);
    assert_int_equal(p.start[2], 10 + 3 * 3 + 5 * 13);
    assert_int_equal(p.times.cycle, p.start[2] + 5 + 5);
    p.schedule.firing = UOP_DYNAMIC;
    assert_int_equal(run(&p, &err), DSE_OK);
    assert_int_equal(p.start[3], 0);
    assert_int_equal(p.times.cycle, 10 + 3 * 3 + 5 * 13 + 5);
    p.machine.noc.flit_bit = 4096; /* one packet */
    assert_int_equal(run(&p, &err), DSE_OK);
    assert_int_equal(p.start[2], 10 + 3 * 3 + 5);
    arena_free(&p.arena);
}

/* A chain, so that no two messages are on their way: to the cycle. */
static void test_trees_are_flits_where_no_messages_meet(void **state)
{
    struct random_stream rng = random_stream_make(14, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct uop_placed p;
        struct dse_error err;
        uint32_t core[6];
        uint64_t start[6];
        uop_placed_init(&p, 1 + random_below(&rng, 4), 1 + random_below(&rng, 3),
                        64u << random_below(&rng, 3));
        for (uint32_t u = 0; u < 6; u++) {
            core[u] = random_below(&rng, p.machine.columns * p.machine.rows);
            p.small.uop[u] =
                (struct uop){.cycle = 1 + random_below(&rng, 50), .output_word = 1 + random_below(&rng, 200)};
            if (u)
                p.small.edge[u - 1][u] = true;
        }
        uop_placed_put(&p, 6, core);
        assert_int_equal(run(&p, &err), DSE_OK);
        memcpy(start, p.start, sizeof start);
        assert_int_equal(uop_run_trees(&p.small.graph, &p.machine, &p.schedule, &p.arena, &p.times, &err),
                         DSE_OK);
        assert_memory_equal(start, p.start, sizeof start);
        arena_free(&p.arena);
    }
}

static void test_random_schedules_are_no_earlier_than_without_a_network(void **state)
{
    struct random_stream rng = random_stream_make(13, 0, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 300; i++) {
        struct uop_placed p;
        struct dse_error err;
        uint64_t start[UOP_SMALL_MAX];
        char reason[128];
        uop_placed_random(&rng, &p, NULL);
        const struct uop_graph *graph = &p.small.graph;
        assert_int_equal(uop_run_ideal(graph, &p.schedule, &p.arena, &p.times, &err), DSE_OK);
        memcpy(start, p.start, sizeof start);
        assert_int_equal(run(&p, &err), DSE_OK);
        for (uint32_t u = 0; u < graph->n_uop; u++)
            assert_true(p.start[u] >= start[u]);
        if (!uop_times_check(graph, &p.schedule, &p.times, &p.arena, reason, sizeof reason))
            fail_msg("%s", reason);
        assert_int_equal(uop_run_trees(graph, &p.machine, &p.schedule, &p.arena, &p.times, &err), DSE_OK);
        for (uint32_t u = 0; u < graph->n_uop; u++)
            assert_true(p.start[u] >= start[u]);
        if (!uop_times_check(graph, &p.schedule, &p.times, &p.arena, reason, sizeof reason))
            fail_msg("%s", reason);
        p.schedule.firing = UOP_DYNAMIC;
        assert_int_equal(run(&p, &err), DSE_OK);
        if (!uop_times_check(graph, &p.schedule, &p.times, &p.arena, reason, sizeof reason))
            fail_msg("%s", reason);
        arena_free(&p.arena);
    }
}

/* a -> b of a network, for the names in messages. */
static void test_what_the_simulator_cannot_hold_is_named(void **state)
{
    static const char text[] = "network: two\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
                               "- {name: a, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: input}\n"
                               "- {name: b, type: conv, C: 4, K: 4, P: 4, Q: 4, R: 1, S: 1, from: a}\n";
    static const struct uop_cut cut[] = {{4, 4, 4, 4}, {4, 4, 4, 4}};
    static const uint32_t core[] = {0, 1};
    static const struct {
        uint64_t cycle, word;
        uint32_t columns;
        const char *says;
    } row[] = {
        {UINT32_MAX, 1, 2, NULL},
        {UINT64_C(1) << 32, 1, 2,
         "uop a/0 takes 4294967296 cycles; the simulator of flits takes 1 to 4294967295"},
        {1, (UINT64_C(1) << 35) + 1, 2, "uop a/0 sends 4294967297 packets"},
        {1, 1, 4096, "a mesh of 4096 x 1 routers"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct uop_placed p;
        struct network network;
        struct uop_network uops;
        struct uop_graph graph;
        struct dse_error err = {0};
        uop_placed_init(&p, 2, 1, 64);
        p.machine.c_lane = 12;
        p.machine.k_lane = 14;
        p.machine.delivery = (struct byte_rate){128, 1};
        p.machine.noc.columns = row[i].columns;
        assert_int_equal(network_parse("two.yaml", text, strlen(text), &network, &err), DSE_OK);
        assert_int_equal(uop_network_of(&network, UOP_FUSED, &p.arena, &uops, &err), DSE_OK);
        assert_int_equal(uop_graph_of(&uops, &p.machine, cut, UOP_SUMS_ALL, 1, &p.arena, &graph, &err),
                         DSE_OK);
        p.small.edge[0][1] = true;
        uop_placed_put(&p, 2, core);
        p.small.uop[0] = (struct uop){.cycle = row[i].cycle, .output_word = row[i].word};
        p.small.uop[1] = (struct uop){.layer = 1, .cycle = 1, .output_word = 1};
        graph.uop = p.small.uop;
        p.small.graph = graph;
        assert_int_equal(run(&p, &err), row[i].says ? DSE_BAD_INPUT : DSE_OK);
        if (row[i].says && !strstr(err.text, row[i].says))
            fail_msg("row %zu: %s", i, err.text);
        network_free(&network);
        arena_free(&p.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_multicast_by_hand),
        cmocka_unit_test(test_trees_are_flits_where_no_messages_meet),
        cmocka_unit_test(test_random_schedules_are_no_earlier_than_without_a_network),
        cmocka_unit_test(test_what_the_simulator_cannot_hold_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
