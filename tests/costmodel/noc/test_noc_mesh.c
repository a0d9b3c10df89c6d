/* The mesh by hand. A flit that is sent in cycle c is in the latch of the first router in c+1, when it goes
 * to the queue; in c+2 it goes to the output register, in c+3 to the next latch or to the port: three cycles
 * per router. So the tail of n packets of 5 flits, sent in cycle 5n-1, arrives in cycle 3h + 5n - 1 over h
 * routers, and 3h + 5n cycles have passed.
 * Tests: noc_simulate.c, noc_router.c, noc_endpoint.c, noc_depend.c, noc_config.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/noc_case.h"

static void run_ok(struct noc_case *c)
{
    struct dse_error err = {0};
    if (noc_case_run(c, 0, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(c->result.flits_received, c->result.flits_expected);
}

static void test_noc_config_of_the_paper(void **state)
{
    (void)state;
    struct noc_config config;
    noc_config_init(&config, 4, 4);
    /* The reference page: 4 columns x 5 rows, global buffer 19, DRAM 29 = south port of router 19. */
    assert_int_equal(config.columns, 4);
    assert_int_equal(config.rows, 5);
    assert_int_equal(config.pe_rows, 4);
    assert_int_equal(config.buffer_port, 19);
    assert_int_equal(config.dram_port, 29);
    assert_int_equal(config.queue_flits, 7);
    noc_config_init(&config, 8, 8);
    /* 8 x 9 routers: 71; ports 72-79 north, 80-88 east, south from 89 on, right to left. */
    assert_int_equal(config.buffer_port, 71);
    assert_int_equal(config.dram_port, 89);
}

static void test_noc_unicast_latency(void **state)
{
    (void)state;
    static const struct {
        uint32_t from, packets;
        const char *to;
        uint64_t routers;
    } row[] = {
        {0, 1, "20", 1},  /* out at the north port above router 0 */
        {0, 1, "0", 1},   /* back to where it came from */
        {0, 1, "1", 2},   /* 0 1 */
        {0, 1, "19", 8},  /* 0 1 2 3 7 11 15 19 */
        {0, 10, "19", 8}, /* packets back to back */
        {19, 3, "0", 8},  /* 19 18 17 16 12 8 4 0 */
        {37, 2, "24", 4}, /* west port of router 0 to the east port of router 3 */
        {33, 2, "28", 4}, /* west ports are numbered from the bottom: router 16 to 19 */
        {32, 1, "20", 5}, /* south ports from the right: 32 is below router 16; to north of router 0 */
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct noc_case c;
        noc_case_init(&c, 4, 4);
        noc_case_send(&c, false, row[i].from, row[i].packets, row[i].to, "");
        run_ok(&c);
        assert_int_equal(c.result.cycle, 3 * row[i].routers + 5 * (uint64_t)row[i].packets);
        assert_int_equal(c.result.n_active_cycle, c.result.cycle);
        assert_int_equal(c.result.flits_sent, 5 * row[i].packets);
        assert_int_equal(c.result.flits_received, 5 * row[i].packets);
        assert_int_equal(c.result.flit_hops, 5 * row[i].packets * (row[i].routers - 1));
        assert_int_equal(c.finish[0], c.result.cycle);
    }
}

/* 0 -> 2 and 1 -> 2 share the east output of router 1. The packet of 1 is in that router's local latch in
 * cycles 1-5 and locks the output until its tail has gone in 5. The head from 0 comes into the latch in cycle
 * 4 and goes in 6 instead: 2 cycles late. */
static void test_noc_second_packet_waits_for_the_tail(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 0, 1, "2", "");
    noc_case_send(&c, false, 1, 1, "2", "");
    run_ok(&c);
    assert_int_equal(c.finish[1], 3 * 2 + 5);
    assert_int_equal(c.finish[0], 3 * 3 + 5 + 2);
}

/* 0 -> 1 and 2 -> 1 reach router 1 in the same cycle, from the west (input 4) and from the east (input 2).
 * The round robin begins with input 0, so the east goes first, then packet by packet in turn. A flit that
 * goes into the last queue in cycle q has arrived after q + 3 cycles; packet k of the output's order goes in
 * cycles 4 + 5k to 8 + 5k. */
static void test_noc_unicasts_take_turns(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 0, 3, "1", "");
    noc_case_send(&c, false, 2, 3, "1", "");
    run_ok(&c);
    assert_int_equal(c.finish[1], 8 + 5 * 4 + 3); /* packets 0 2 4 */
    assert_int_equal(c.finish[0], 8 + 5 * 5 + 3); /* packets 1 3 5 */
}

/* All four neighbours of router 5 send it 20 packets: north, east, south, west in turn, so the last packets
 * are 76 to 79. */
static void test_noc_round_robin_is_fair_among_four(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    static const uint32_t neighbour[] = {1, 6, 9, 4};
    for (int i = 0; i < 4; i++)
        noc_case_send(&c, false, neighbour[i], 20, "5", "");
    run_ok(&c);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(c.finish[i], 8 + 5 * (76 + i) + 3);
}

/* As above, 0 and 1 take turns at the east output of router 1: the k-th packet goes in cycles 1 + 5k to 5 +
 * 5k, those of 0 are k = 1 3 5 7. Between port 0 and that output there is room for 10 flits (latch, 7 in the
 * queue, register, latch), and a full queue takes a flit one cycle after one has left: flit j + 10 is sent at
 * the earliest one cycle after flit j has gone into the queue of router 1. The tail is flit 19; flit 9 is the
 * last of packet k = 3 and goes in cycle 20; so the port is free in 22. */
static void test_noc_full_queue_holds_the_source_back(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 0, 4, "2", "");
    noc_case_send(&c, false, 1, 4, "2", "");
    noc_case_count(&c, 0, 1, "");
    run_ok(&c);
    assert_int_equal(c.finish[0], 5 + 5 * 7 + 3 + 3);
    assert_int_equal(c.finish[1], 5 + 5 * 6 + 3 + 3);
    assert_int_equal(c.start[2], 22);
}

/* Buffer 19 to PEs 0 4 8 12: along the bottom row to 16, then up. n = 2 packets; 12 is over 5 routers, 8 over
 * 6, 4 over 7, 0 over
 * 8. A destination's own transactions go on when it has everything, others when all have. */
static void test_noc_multicast_reaches_each_in_its_time(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, true, 19, 2, "0 4 8 12", "");
    static const uint32_t pe[] = {12, 8, 4, 0, 1};
    for (int i = 0; i < 5; i++)
        noc_case_count(&c, pe[i], 100, "0");
    run_ok(&c);
    for (uint64_t i = 0; i < 4; i++)
        assert_int_equal(c.start[1 + i], 3 * (5 + i) + 5 * 2);
    assert_int_equal(c.finish[0], 3 * 8 + 5 * 2);
    assert_int_equal(c.start[5], 3 * 8 + 5 * 2); /* PE 1 is no destination */
    assert_int_equal(c.result.flits_sent, 10);
    assert_int_equal(c.result.flits_received, 40);
    assert_int_equal(c.result.flit_hops, 7 * 10); /* 7 links of the tree, each once per flit */
}

/* From 5 to itself and its neighbours, and on to 3 and 13: one copy per output in the same cycle. X first: 3
 * is behind 6 and 7 (row 1, then up), 13 behind 9. Links: 5-4 5-6 5-1 5-9, 6-7 7-3, 9-13: 7. */
static void test_noc_multicast_branches(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, true, 5, 1, "13 9 3 5 4 6 1", "");
    static const struct {
        uint32_t pe;
        uint64_t routers;
    } row[] = {{5, 1}, {4, 2}, {6, 2}, {1, 2}, {9, 2}, {13, 3}, {3, 4}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        noc_case_count(&c, row[i].pe, 1, "0");
    run_ok(&c);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(c.start[1 + i], 3 * row[i].routers + 5);
    assert_int_equal(c.result.flits_sent, 5);
    assert_int_equal(c.result.flits_received, 7 * 5);
    assert_int_equal(c.result.flit_hops, 7 * 5);
}

/* At the east output of router 1, as above, but from 0 comes a multicast: it goes before the unicast of 1
 * whenever the output is free, so the order is: packet of 1, three of 0, packet of 1. */
static void test_noc_multicast_goes_before_unicast(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, true, 0, 3, "2", "");
    noc_case_send(&c, false, 1, 2, "2", "");
    run_ok(&c);
    assert_int_equal(c.finish[0], 5 + 5 * 3 + 3 + 3);
    assert_int_equal(c.finish[1], 5 + 5 * 4 + 3 + 3);
}

/* Two multicasts meet at router 1, from the west (0 -> 1 5) and the east (2 -> 1 9): both want local and
 * south. The lower input, east, goes first in cycles 4-8, the other in 9-13. PE 1 is at router 1, 5 one
 * further, 9 two. */
static void test_noc_lower_input_goes_first_among_multicasts(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, true, 0, 1, "1 5", "");
    noc_case_send(&c, true, 2, 1, "1 9", "");
    run_ok(&c);
    assert_int_equal(c.finish[1], 8 + 3 + 6);
    assert_int_equal(c.finish[0], 13 + 3 + 3);
}

/* 3 multicasts 10 packets to 2: at router 2 they have the local output in cycles 4-53. Two packets from 0 to
 * 2 stand behind that: flit 0 in the latch of router 2, 1 in the register, 2-8 in the queue of router 1, 9 in
 * its latch. In 54 flit 0 goes, 9 follows into the queue in 55 and unlocks the output. At the start of cycles
 * 56, 57, ... the queue holds 6 5 4 3 2 flits: in 60 there is room for a packet, and the multicast 1 -> 0 2
 * goes to both sides at once in 60-64. Towards 0 the way is free (one more router); towards 2 two flits are
 * ahead, of which one leaves while the head comes in: one cycle later. */
static void test_noc_multicast_needs_room_for_a_packet(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, true, 3, 10, "2", "");
    noc_case_send(&c, false, 0, 2, "2", "");
    noc_case_count(&c, 1, 20, "");
    noc_case_send(&c, true, 1, 1, "0 2", "");
    noc_case_count(&c, 0, 1, "3");
    noc_case_count(&c, 2, 1, "3");
    run_ok(&c);
    assert_int_equal(c.finish[0], 53 + 3);
    assert_int_equal(c.finish[1], 54 + 9 + 3);
    assert_int_equal(c.start[4], 64 + 3 + 3);
    assert_int_equal(c.start[5], 64 + 3 + 3 + 1);
}

/* A port does one thing at a time, the first in id order that can start; counts elsewhere run beside. */
static void test_noc_port_works_in_id_order(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_count(&c, 5, 30, "");            /* 0: cycles 0-29 */
    noc_case_send(&c, false, 0, 1, "1", "0"); /* 1: waits for 0 */
    noc_case_count(&c, 0, 7, "");             /* 2: 0-6 */
    noc_case_send(&c, false, 0, 2, "1", "");  /* 3: sends in 7-16, arrives at 7 + 6 + 10 */
    noc_case_count(&c, 0, 20, "");            /* 4: 17-36; 1 is ready at 30 but the port is busy */
    noc_case_count(&c, 0, 9, "");             /* 5: behind 1, which sends in 37-41: 42-50 */
    noc_case_count(&c, 1, 3, "1 3");          /* 6: when 1 is there, at 37 + 6 + 5 */
    run_ok(&c);
    static const uint64_t start[] = {0, 37, 0, 7, 17, 42, 48}, finish[] = {30, 48, 7, 23, 37, 51, 51};
    assert_memory_equal(c.start, start, sizeof start);
    assert_memory_equal(c.finish, finish, sizeof finish);
    assert_int_equal(c.result.cycle, 51);
}

/* Counts of 10^9 cycles cost nothing: time jumps. */
static void test_noc_idle_time_is_skipped(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_count(&c, 0, 1000000000, "");
    noc_case_send(&c, false, 0, 1, "1", "0");
    noc_case_count(&c, 1, 1000000000, "1");
    run_ok(&c);
    assert_int_equal(c.result.cycle, 2000000011);
    assert_int_equal(c.result.n_active_cycle, 11);
}

/* Two streams that take turns at router 1 (see above), 100000 packets each, and a multicast stream elsewhere:
 * after a while every ten cycles are alike and need not be stepped. The count of PE 18 starts when the
 * multicast has passed its router. */
static void test_noc_steady_streams_are_repeated(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 0, 100000, "2", "");
    noc_case_send(&c, false, 1, 100000, "2", "");
    noc_case_send(&c, true, 16, 50000, "18 19", "");
    noc_case_count(&c, 18, 1000, "2");
    run_ok(&c);
    assert_int_equal(c.finish[0], 5 + 5 * 199999 + 3 + 3);
    assert_int_equal(c.finish[1], 5 + 5 * 199998 + 3 + 3);
    assert_int_equal(c.finish[2], 3 * 4 + 5 * 50000);
    assert_int_equal(c.finish[3], 3 * 3 + 5 * 50000 + 1000);
    assert_int_equal(c.result.flit_hops, 5 * (2 * 100000 + 100000 + 3 * 50000));
    assert_int_equal(c.result.n_active_cycle, c.result.cycle);
    assert_true(c.result.n_stepped_cycle < 1000);
    /* The limit is met within a repetition, too. */
    struct dse_error err;
    assert_int_equal(noc_case_run(&c, 123457, &err), DSE_LIMIT);
    assert_int_equal(noc_case_run(&c, 5 + 5 * 199999 + 3 + 3, &err), DSE_OK);
}

static void test_noc_limit_of_cycles(void **state)
{
    (void)state;
    struct dse_error err;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 0, 1, "1", "");
    noc_case_count(&c, 1, 50, "0");
    assert_int_equal(noc_case_run(&c, 61, &err), DSE_OK);
    assert_int_equal(c.result.cycle, 61); /* 11 + 50 */
    assert_int_equal(noc_case_run(&c, 60, &err), DSE_LIMIT);
    assert_non_null(strstr(err.text, "1 of 2"));
    assert_int_equal(noc_case_run(&c, 5, &err), DSE_LIMIT);
}

static void expect_bad(struct noc_case *c, const char *part)
{
    struct dse_error err = {0};
    assert_int_equal(noc_case_run(c, 0, &err), DSE_BAD_INPUT);
    if (!strstr(err.text, part))
        fail_msg("'%s' is not in: %s", part, err.text);
}

static void test_noc_check_refuses_bad_programs(void **state)
{
    (void)state;
    static const struct {
        bool multicast;
        uint32_t actor, packets;
        const char *to, *after, *text;
    } row[] = {
        {false, 38, 1, "0", "", "port 38"},      {false, 0, 1, "38", "", "port 38"},
        {false, 0, 0, "1", "", "size 0"},        {false, 0, 1, "1 2", "", "2 destinations"},
        {false, 0, 1, "", "", "0 destinations"}, {true, 0, 1, "1 20", "", "port 20"},
        {true, 0, 1, "1 2 1", "", "twice"},      {false, 0, 1, "1", "1", "depends on 1"},
        {true, 0, 1, "1", "7", "depends on 7"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct noc_case c;
        noc_case_init(&c, 4, 4);
        noc_case_count(&c, 0, 1, "");
        noc_case_send(&c, row[i].multicast, row[i].actor, row[i].packets, row[i].to, row[i].after);
        expect_bad(&c, row[i].text);
    }
}

static void test_noc_check_refuses_bad_meshes(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 64, 32);
    expect_bad(&c, "1 to 2048");
    noc_case_init(&c, 4, 4);
    c.config.dram_port = 38;
    expect_bad(&c, "DRAM port 38");
    noc_case_init(&c, 4, 4);
    c.config.buffer_port = 20;
    expect_bad(&c, "buffer port 20");
    noc_case_init(&c, 4, 4);
    c.config.queue_flits = 4;
    expect_bad(&c, "queues of 4 flits");
    noc_case_init(&c, 4, 4);
    c.config.dram.burst_byte = 64;
    expect_bad(&c, "burst of 64");
    noc_case_init(&c, 4, 4);
    c.config.dram.refresh_interval_cycle = 60;
    expect_bad(&c, "refresh every 60");
    noc_case_init(&c, 4, 4);
    c.config.flit_bit = 192; /* 8192 bytes are no whole number of bursts of 96 */
    c.config.dram.burst_byte = 96;
    expect_bad(&c, "rows of 8192");
    noc_config_cores(&c.config, 4, 4, 0);
    expect_bad(&c, "flits of 0 bit");
    noc_config_cores(&c.config, 4, 4, 64);
    noc_case_count(&c, 32, 1, "");
    expect_bad(&c, "ports are 0 to 31");
}

/* Core 0 computes for 100 cycles while it sends 10 packets: 3 x 2 + 5 x 10 cycles to its neighbour. A second
 * count follows at once; a send that waits for a count starts when that is done, and one that waits for
 * nothing goes before it. One at a time they take the sum. */
static void test_noc_core_computes_while_it_sends(void **state)
{
    (void)state;
    static const uint32_t flit_bit[] = {64, 192, 4096};
    for (uint32_t i = 0; i < 3; i++) {
        struct noc_case c;
        noc_case_init(&c, 4, 4);
        noc_config_cores(&c.config, 4, 4, flit_bit[i]);
        noc_case_count(&c, 0, 100, "");
        noc_case_send(&c, false, 0, 10, "1", "");
        noc_case_count(&c, 0, 50, "");
        noc_case_send(&c, true, 0, 2, "1 4", "0");
        run_ok(&c);
        assert_int_equal(c.finish[0], 100);
        assert_int_equal(c.start[1], 0);
        assert_int_equal(c.finish[1], 3 * 2 + 5 * 10);
        assert_int_equal(c.start[2], 100);
        assert_int_equal(c.start[3], 100);
        assert_int_equal(c.finish[3], 100 + 3 * 2 + 5 * 2);
        assert_int_equal(c.result.cycle, 150);
        c.config.compute = NOC_COMPUTE_IN_TURN;
        run_ok(&c);
        assert_int_equal(c.start[1], 100);
        assert_int_equal(c.start[2], 100 + 5 * 10);
        assert_int_equal(c.result.cycle, 200 + 3 * 2 + 5 * 2);
    }
}

/* The second count of core 1 could start at once. In a static order it waits for the first, which waits for
 * core 0's 30 cycles and a packet from there, sent in 30. Sends have no such order. */
static void test_noc_static_order_of_counts(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 2, 1);
    noc_config_cores(&c.config, 2, 1, 64);
    noc_case_count(&c, 0, 30, "");
    noc_case_send(&c, false, 0, 1, "1", "0");
    noc_case_count(&c, 1, 10, "1");
    noc_case_count(&c, 1, 20, "");
    noc_case_send(&c, false, 1, 1, "0", "2");
    noc_case_send(&c, false, 1, 1, "0", "");
    run_ok(&c);
    assert_int_equal(c.finish[1], 30 + 3 * 2 + 5);
    assert_int_equal(c.start[2], 41);
    assert_int_equal(c.start[3], 51);
    assert_int_equal(c.start[4], 51);
    assert_int_equal(c.start[5], 0);
    assert_int_equal(c.result.cycle, 71);
    c.config.compute = NOC_COMPUTE_DYNAMIC;
    run_ok(&c);
    assert_int_equal(c.start[2], 41);
    assert_int_equal(c.start[3], 0);
    assert_int_equal(c.result.cycle, 51 + 3 * 2 + 5);
}

/* A core at each of 32 x 32 routers, none of them the DRAM's: corner to corner is 63 routers, and a multicast
 * from a corner reaches all. */
static void test_noc_large_mesh(void **state)
{
    (void)state;
    struct noc_case c;
    char all[8 * 1024] = "";
    size_t length = 0;
    for (unsigned k = 0; k < 1024; k++)
        length += (size_t)snprintf(all + length, sizeof all - length, "%u ", k);
    noc_case_init(&c, 32, 32);
    noc_config_cores(&c.config, 32, 32, 4096);
    noc_case_send(&c, true, 0, 3, all, "");
    noc_case_send(&c, false, 1023, 1, "0", "0");
    run_ok(&c);
    assert_int_equal(c.finish[0], 3 * 63 + 5 * 3);
    assert_int_equal(c.finish[1], 3 * 63 + 5 * 3 + 3 * 63 + 5);
    assert_int_equal(c.result.flits_received, 1024 * 15 + 5);
    assert_int_equal(c.result.flit_hops, 1023 * 15 + 62 * 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_config_of_the_paper),
        cmocka_unit_test(test_noc_unicast_latency),
        cmocka_unit_test(test_noc_second_packet_waits_for_the_tail),
        cmocka_unit_test(test_noc_unicasts_take_turns),
        cmocka_unit_test(test_noc_round_robin_is_fair_among_four),
        cmocka_unit_test(test_noc_full_queue_holds_the_source_back),
        cmocka_unit_test(test_noc_multicast_reaches_each_in_its_time),
        cmocka_unit_test(test_noc_multicast_branches),
        cmocka_unit_test(test_noc_multicast_goes_before_unicast),
        cmocka_unit_test(test_noc_lower_input_goes_first_among_multicasts),
        cmocka_unit_test(test_noc_multicast_needs_room_for_a_packet),
        cmocka_unit_test(test_noc_port_works_in_id_order),
        cmocka_unit_test(test_noc_idle_time_is_skipped),
        cmocka_unit_test(test_noc_steady_streams_are_repeated),
        cmocka_unit_test(test_noc_limit_of_cycles),
        cmocka_unit_test(test_noc_check_refuses_bad_programs),
        cmocka_unit_test(test_noc_check_refuses_bad_meshes),
        cmocka_unit_test(test_noc_core_computes_while_it_sends),
        cmocka_unit_test(test_noc_static_order_of_counts),
        cmocka_unit_test(test_noc_large_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
