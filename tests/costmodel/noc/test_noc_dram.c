/* The DRAM behind the mesh by hand, with the default times (docs/noc.md): tRCD 4, tRP 4, CL 4, CWL 3, 2
 * cycles per burst, tRAS 14, tWR 5, tWTR 3, tRTP 3, refresh every 2600 for 43. An access queued in cycle c
 * gives its first command in c + 1; it is done in the cycle after its last data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "costmodel/noc/noc_mesh.h"
#include "tests/support/noc_case.h"

struct access_row {
    uint64_t cycle;
    bool write;
    uint64_t byte, done;
    uint64_t misses; /* up to here */
};

static void check_accesses(const struct noc_dram *timing, const struct access_row *row, size_t n)
{
    struct noc_dram_state dram;
    struct arena arena;
    arena_init(&arena);
    noc_dram_init(&dram, timing, &arena);
    for (size_t i = 0; i < n; i++) {
        uint64_t done = noc_dram_access(&dram, row[i].cycle, row[i].write, row[i].byte);
        if (done != row[i].done || dram.n_row_miss != row[i].misses)
            fail_msg("access %zu: done in %llu with %llu misses, by hand %llu with %llu", i,
                     (unsigned long long)done, (unsigned long long)dram.n_row_miss,
                     (unsigned long long)row[i].done, (unsigned long long)row[i].misses);
    }
    arena_free(&arena);
}

#define CHECK_ACCESSES(timing, row) check_accesses(timing, row, sizeof(row) / sizeof *(row))

/* Default times with rows of 8 KB in `n_bank` banks. */
static struct noc_dram timing_of(uint32_t n_bank)
{
    struct noc_config config;
    noc_config_init(&config, 4, 4);
    config.dram.n_bank = n_bank;
    return config.dram;
}

static void test_noc_dram_row_hit_and_conflict(void **state)
{
    (void)state;
    static const struct access_row row[] = {
        {0, false, 0, 11, 1},     /* closed: activate 1, read 5, data 9 10 */
        {0, false, 32, 13, 1},    /* same row: read 7, when the bus is free right after: data 11 12 */
        {20, false, 64, 27, 1},   /* read 21, data 25 26 */
        {30, false, 8192, 45, 2}, /* next row: precharge 31, activate 35, read 39, data 43 44 */
        {46, false, 0, 63, 3},    /* back: precharge not before 35 + tRAS = 49; 53, 57, data 61 62 */
        {63, true, 8192, 80, 4},  /* precharge max(64, 53 + 14) = 67, activate 71, write 75, data 78 79 */
        {80, true, 0, 98, 5},     /* precharge max(81, 71 + 14, 80 + tWR) = 85, 89, write 93, data 96 97 */
    };
    struct noc_dram timing = timing_of(1);
    CHECK_ACCESSES(&timing, row);
}

/* 5 accesses in 8 cycles, 1.6 each, one after the other without drift; an idle bus saves nothing up; reads
 * and writes with limits of their own, done in order all the same. */
static void test_noc_dram_keeps_to_a_bandwidth(void **state)
{
    (void)state;
    static const struct access_row shared[] = {
        {0, false, 0, 11, 1},    /* read 5, data 9, taken until 10.6 */
        {0, false, 32, 13, 1},   /* data 11, taken until 12.2 */
        {0, false, 64, 14, 1},   /* 13.8 */
        {0, false, 96, 16, 1},   /* 15.4 */
        {0, false, 128, 17, 1},  /* 17: 5 x 1.6 from 9 on */
        {20, false, 160, 27, 1}, /* read 21, data 25, until 26.6 */
    };
    static const struct access_row apart[] = {
        {0, false, 0, 19, 1}, /* data 9, taken until 19 */
        {0, true, 32, 19, 1}, /* data after one idle cycle, 11 to 12: done in order */
        {20, true, 64, 25, 1},
    };
    struct noc_dram timing = timing_of(1);
    timing.burst_cycle = 1;
    timing.limit[NOC_ALL] = (struct noc_limit){5, 8};
    CHECK_ACCESSES(&timing, shared);
    timing.limit[NOC_ALL] = (struct noc_limit){0, 0};
    timing.limit[NOC_READS] = (struct noc_limit){1, 10};
    CHECK_ACCESSES(&timing, apart);
}

static void test_noc_dram_bus_turnaround(void **state)
{
    (void)state;
    static const struct access_row row[] = {
        {0, true, 0, 10, 1},  /* activate 1, write 5, data 8 9 */
        {1, true, 32, 12, 1}, /* write 7: its data follow at once */
        {2, false, 0, 21, 1}, /* read not before 12 + tWTR = 15: data 19 20 */
        {3, true, 0, 24, 1},  /* one idle cycle on the bus: data 22 23, write 19 */
    };
    struct noc_dram timing = timing_of(1);
    CHECK_ACCESSES(&timing, row);
}

/* 8 bursts go to 8 banks. Commands are in order: the second access begins after the first's column
 * command. */
static void test_noc_dram_bursts_go_round_the_banks(void **state)
{
    (void)state;
    static const struct access_row row[] = {
        {0, false, 0, 11, 1},         /* activate 1, read 5 */
        {0, false, 32, 16, 2},        /* bank 1: activate 6, read 10, data 14 15 */
        {0, false, 8 * 32, 18, 2},    /* bank 0 again, same row: read 12 */
        {0, false, 9 * 32, 20, 2},    /* bank 1, same row */
        {20, false, 8 * 8192, 35, 3}, /* bank 0, next row: precharge 21, activate 25, read 29, data 33 34 */
    };
    struct noc_dram timing = timing_of(8);
    CHECK_ACCESSES(&timing, row);
}

static void test_noc_dram_refresh(void **state)
{
    (void)state;
    struct noc_dram timing = timing_of(1);
    static const struct access_row open[] = {
        {0, false, 0, 11, 1},
        {2598, false, 0, 2605, 1}, /* read 2599, one cycle before the refresh */
        /* Precharge when the bank may, 2599 + tRTP = 2602; refresh from 2606, activate 2649, read 2653. */
        {2599, false, 0, 2659, 2},
    };
    static const struct access_row closed[] = {
        {2600, false, 0, 2653, 1}, /* refresh 2600-2642, activate 2643, read 2647 */
        {5199, true, 0, 5256, 2},  /* precharge 5200, refresh from 5204, activate 5247, write 5251 */
    };
    static const struct access_row idle[] = {
        {0, false, 0, 11, 1},
        {1000000, false, 0, 1000011, 2}, /* 384 refreshes later (the last at 998400) the row is closed */
        {1001000, false, 0, 1001057,
         3}, /* precharge 1001000, refresh from 1001004, activate 1001047, read 1001051 */
    };
    CHECK_ACCESSES(&timing, open);
    CHECK_ACCESSES(&timing, closed);
    CHECK_ACCESSES(&timing, idle);
    timing.refresh_interval_cycle = 0;
    static const struct access_row never[] = {{0, false, 0, 11, 1}, {1000000, false, 0, 1000007, 1}};
    CHECK_ACCESSES(&timing, never);
}

/* ---------------------------------------- behind the mesh */

static void check_case(struct noc_case *c, uint64_t cycle)
{
    struct dse_error err = {0};
    if (noc_case_run(c, 0, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(c->result.cycle, cycle);
}

/* DRAM 29 to buffer 19 over one router: a tail sent in cycle c has arrived after c + 4 cycles. The read is
 * asked for with the head and done 11 cycles later when the bank is closed, 7 when the row is open; only the
 * tail waits for it. */
static void test_noc_dram_port_reads(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 29, 1, "19", "");
    check_case(&c, 11 + 4);
    assert_int_equal(c.result.dram_reads, 1);
    assert_int_equal(c.result.dram_link_flits_in, 5);
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 29, 2, "19", ""); /* the second from cycle 12, another bank: tail in 12 + 11 */
    check_case(&c, 23 + 4);
    assert_int_equal(c.result.dram_row_misses, 2);
    c.config.dram.n_bank = 1; /* the same row: tail in 12 + 7 */
    check_case(&c, 19 + 4);
    assert_int_equal(c.result.dram_row_misses, 1);
    /* Rows of one burst. First read: activate 1, read 5. Second, queued in 12: precharge 1 + tRAS = 15, 19,
     * read 23, done 29. */
    c.config.dram.row_byte = 32;
    check_case(&c, 29 + 4);
    assert_int_equal(c.result.dram_row_misses, 2);
    /* Reads asked for two packets ahead, one row: the second in cycle 1, done in 13; its flits leave in
     * 12-16. */
    c.config.dram.row_byte = 8192;
    c.config.dram.read_ahead = 2;
    check_case(&c, 16 + 4);
}

/* Buffer 19 to DRAM 29: tails arrive in cycles 7, 12, ... and are queued there. */
static void test_noc_dram_port_writes(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 19, 1, "29", "");
    check_case(&c, 17); /* activate 8, write 12, data 15 16 */
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 19, 2, "29", "");
    check_case(&c, 22); /* another bank: activate 13, write 17 */
    assert_int_equal(c.result.dram_writes, 2);
    assert_int_equal(c.result.dram_link_flits_out, 10);
    c.config.dram.n_bank = 1;
    check_case(&c, 19); /* same row: write 14, when the bus is free for it (data 17 18) */
    c.config.dram.queue_length = 1;
    check_case(&c, 23); /* the second tail is let in when the first write is done, in 17: write 18 */
    c.config.dram.queue_length = 32;
    c.config.dram.row_byte = 32;
    check_case(&c, 35); /* precharge max(8 + 14, 17 + 5) = 22, activate 26, write 30, data 33 34 */
}

/* Every transaction starts at the same address: the second read of one packet finds its row open. What waits
 * for a write starts when it is done, and a read after it waits for tWTR: write done in 17, read not before
 * 20 but asked for in 17, so in 20; the row is the same with a read base of 0. Done 26: tail, 4 cycles
 * more. */
static void test_noc_dram_transactions_start_at_their_base(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, false, 29, 1, "19", "");
    noc_case_send(&c, false, 29, 1, "19", "");
    check_case(&c, 12 + 7 + 4);
    assert_int_equal(c.result.dram_row_misses, 1);
    noc_case_init(&c, 4, 4);
    c.config.dram.read_base_byte = 0;
    noc_case_send(&c, false, 19, 1, "29", "");
    noc_case_send(&c, false, 29, 1, "19", "0");
    check_case(&c, 26 + 4);
    assert_int_equal(c.result.dram_row_misses, 1);
    assert_int_equal(c.start[1], 17);
}

/* A multicast from the DRAM: one read per packet however many destinations. 19 and 15 are 1 and 2 routers
 * away. */
static void test_noc_dram_multicast(void **state)
{
    (void)state;
    struct noc_case c;
    noc_case_init(&c, 4, 4);
    noc_case_send(&c, true, 29, 1, "15 19", "");
    noc_case_count(&c, 19, 1, "0");
    noc_case_count(&c, 15, 1, "0");
    check_case(&c, 11 + 4 + 3 + 1);
    assert_int_equal(c.start[1], 11 + 4);
    assert_int_equal(c.start[2], 11 + 4 + 3);
    assert_int_equal(c.result.dram_reads, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_dram_row_hit_and_conflict),
        cmocka_unit_test(test_noc_dram_keeps_to_a_bandwidth),
        cmocka_unit_test(test_noc_dram_bus_turnaround),
        cmocka_unit_test(test_noc_dram_bursts_go_round_the_banks),
        cmocka_unit_test(test_noc_dram_refresh),
        cmocka_unit_test(test_noc_dram_port_reads),
        cmocka_unit_test(test_noc_dram_port_writes),
        cmocka_unit_test(test_noc_dram_transactions_start_at_their_base),
        cmocka_unit_test(test_noc_dram_multicast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
