/* The mesh simulator against its plain counterpart (tests/support/noc_plain.h) on random meshes and programs:
 * every start and finish of a transaction, every counter.
 * Tests: noc_simulate.c, noc_router.c, noc_endpoint.c, noc_depend.c, noc_dram.c, noc_repeat.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "tests/support/noc_plain.h"

enum { N_CASE = 400, N_CORES = 2000, TRANSACTION_MAX = 60, DEPENDENCY_MAX = 4, SEED = 77 };

struct random_program {
    struct noc_transaction transaction[TRANSACTION_MAX];
    uint32_t destination[TRANSACTION_MAX * NOC_PLAIN_ROUTER_MAX];
    uint32_t dependency[TRANSACTION_MAX * DEPENDENCY_MAX];
    struct noc_program program;
};

static uint32_t between(struct random_stream *stream, uint32_t low, uint32_t high)
{
    return low + random_below(stream, high - low + 1);
}

/* Bandwidths of up to 12 cycles an access, most of them no whole number of cycles. */
static void draw_limits(struct random_stream *stream, struct noc_dram *dram)
{
    for (uint32_t k = 0; k < NOC_LIMITS; k++)
        if (random_below(stream, 2) == 0)
            dram->limit[k] = (struct noc_limit){between(stream, 1, 7), between(stream, 1, 12)};
}

static void draw_config(struct random_stream *stream, struct noc_config *config)
{
    noc_config_init(config, between(stream, 1, 5), between(stream, 1, 4));
    if (random_below(stream, 4) == 0) {
        config->columns = between(stream, 1, 6);
        config->rows = between(stream, 1, 6);
        config->pe_rows = 0;
        config->buffer_port = random_below(stream, config->columns * config->rows);
        config->dram_port =
            config->columns * config->rows + random_below(stream, 2 * (config->columns + config->rows));
    }
    if (random_below(stream, 3) == 0) {
        config->data_flits = 1U << random_below(stream, 4);
        config->flit_bit = 256 / config->data_flits;
        config->queue_flits = config->data_flits + between(stream, 1, 4);
    }
    struct noc_dram *dram = &config->dram;
    if (random_below(stream, 3) == 0)
        draw_limits(stream, dram);
    if (random_below(stream, 2) == 0) {
        dram->n_bank = between(stream, 1, 4);
        dram->row_byte = 32 * between(stream, 1, 4);
        dram->read_ahead = between(stream, 1, 5);
        dram->queue_length = between(stream, 1, 6);
        dram->burst_cycle = between(stream, 1, 7);
        dram->activate_cycle = between(stream, 1, 6);
        dram->precharge_cycle = between(stream, 1, 6);
        dram->read_cycle = between(stream, 1, 6);
        dram->write_cycle = between(stream, 1, 6);
        dram->row_active_cycle = random_below(stream, 20);
        dram->write_recovery_cycle = random_below(stream, 6);
        dram->write_to_read_cycle = random_below(stream, 6);
        dram->read_to_write_cycle = random_below(stream, 3);
        dram->read_to_precharge_cycle = random_below(stream, 6);
        dram->refresh_cycle = between(stream, 1, 40);
        dram->refresh_interval_cycle = random_below(stream, 3) ? between(stream, 130, 300) : 0;
    }
}

static uint32_t draw_port(struct random_stream *stream, const struct noc_config *config)
{
    uint32_t n_router = config->columns * config->rows;
    switch (random_below(stream, 6)) {
    case 0:
        return config->dram_port != NOC_NO_PORT ? config->dram_port : random_below(stream, n_router);
    case 1:
        return config->buffer_port != NOC_NO_PORT ? config->buffer_port : random_below(stream, n_router);
    case 2:
        return random_below(stream, n_router + 2 * (config->columns + config->rows));
    default:
        return random_below(stream, n_router);
    }
}

static void draw_transaction(struct random_stream *stream, const struct noc_config *config, uint32_t busy,
                             uint32_t streams, struct random_program *random)
{
    struct noc_program *program = &random->program;
    uint32_t id = program->n_transaction++, n_router = config->columns * config->rows;
    struct noc_transaction *t = &random->transaction[id];
    t->operation = (enum noc_operation)random_below(stream, 3);
    t->actor = draw_port(stream, config);
    t->size = t->operation == NOC_COUNT ? between(stream, 1, random_below(stream, 8) ? 30 : 2000)
                                        : between(stream, 1, random_below(stream, streams) ? 12 : 400);
    t->first_destination = (uint32_t)program->n_destination;
    t->first_dependency = (uint32_t)program->n_dependency;
    if (t->operation == NOC_UNICAST) {
        random->destination[program->n_destination++] = draw_port(stream, config);
    } else if (t->operation == NOC_MULTICAST) {
        uint32_t share = between(stream, 1, 4), first = random_below(stream, n_router);
        for (uint32_t k = 0; k < n_router; k++)
            if (k == 0 || random_below(stream, share) == 0)
                random->destination[program->n_destination++] = (first + k) % n_router;
    }
    t->n_destination = (uint32_t)program->n_destination - t->first_destination;
    for (uint32_t k = 0; k < DEPENDENCY_MAX && id > 0; k++)
        if (random_below(stream, busy) == 0)
            random->dependency[program->n_dependency++] =
                random_below(stream, 2) ? random_below(stream, id) : id - 1;
    t->n_dependency = (uint32_t)program->n_dependency - t->first_dependency;
}

static void compare(const struct noc_config *config, const struct noc_program *program, unsigned number,
                    uint64_t *stepped, uint64_t *cycles)
{
    uint64_t start[2][TRANSACTION_MAX] = {0}, finish[2][TRANSACTION_MAX] = {0};
    struct noc_trace trace = {start[0], finish[0]};
    struct noc_result result, plain;
    struct dse_error err = {0};
    struct arena arena;
    arena_init(&arena);
    enum dse_status status = noc_simulate(config, program, 0, NULL, &arena, &trace, &result, &err);
    arena_free(&arena);
    if (status != DSE_OK)
        fail_msg("case %u: %s", number, err.text);
    assert_true(noc_plain_simulate(config, program, 1000000, start[1], finish[1], &plain));
    for (uint32_t id = 0; id < program->n_transaction; id++)
        if (start[0][id] != start[1][id] || finish[0][id] != finish[1][id])
            fail_msg("case %u, transaction %u of %u: %llu to %llu, plain %llu to %llu", number, id,
                     program->n_transaction, (unsigned long long)start[0][id],
                     (unsigned long long)finish[0][id], (unsigned long long)start[1][id],
                     (unsigned long long)finish[1][id]);
    assert_int_equal(result.cycle, plain.cycle);
    *stepped += result.n_stepped_cycle;
    *cycles += result.cycle;
    result.n_stepped_cycle = 0;
    assert_memory_equal(&result, &plain, sizeof result);
}

static void draw_program(struct random_stream *stream, const struct noc_config *config, bool is_long,
                         uint32_t n_most, struct random_program *random)
{
    random->program =
        (struct noc_program){0, random->transaction, random->destination, random->dependency, 0, 0};
    uint32_t n = between(stream, 1, is_long ? 8 : n_most), busy = between(stream, 2, 12);
    uint32_t streams = is_long ? 2 : 200;
    for (uint32_t k = 0; k < n; k++)
        draw_transaction(stream, config, busy, streams, random);
}

static void test_noc_agrees_with_the_plain_simulator(void **state)
{
    (void)state;
    struct random_program *random = malloc(sizeof *random);
    uint64_t stepped = 0, cycles = 0;
    assert_non_null(random);
    for (unsigned i = 0; i < N_CASE; i++) {
        struct random_stream stream = random_stream_make(SEED, i, RANDOM_TEST);
        struct noc_config config;
        draw_config(&stream, &config);
        /* Every eighth program has few transactions, many of them long. */
        draw_program(&stream, &config, i % 8 == 0, TRANSACTION_MAX, random);
        compare(&config, &random->program, i, &stepped, &cycles);
    }
    /* Idle times and steady streams must have been met, or nothing is said about skipping them. */
    print_message("%llu of %llu cycles stepped\n", (unsigned long long)stepped, (unsigned long long)cycles);
    assert_true(stepped < cycles / 2);
    free(random);
}

/* Counts beside sends, dynamic and in a static order: cores alone with links of three widths, and every
 * fourth time with a buffer and a DRAM. */
static void test_noc_cores_agree_with_the_plain_simulator(void **state)
{
    (void)state;
    static const uint32_t flit_bit[] = {64, 192, 4096};
    struct random_program *random = malloc(sizeof *random);
    uint64_t stepped = 0, cycles = 0;
    assert_non_null(random);
    for (unsigned i = 0; i < N_CORES; i++) {
        struct random_stream stream = random_stream_make(SEED + 1, i, RANDOM_TEST);
        struct noc_config config;
        noc_config_cores(&config, between(&stream, 1, 4), between(&stream, 1, 4), flit_bit[i % 3]);
        config.data_flits = between(&stream, 1, 6);
        config.queue_flits = config.data_flits + between(&stream, 1, 4);
        if (i % 4 == 0)
            draw_config(&stream, &config);
        config.compute = random_below(&stream, 2) ? NOC_COMPUTE_STATIC : NOC_COMPUTE_DYNAMIC;
        draw_program(&stream, &config, i % 32 == 0, TRANSACTION_MAX / 4, random);
        compare(&config, &random->program, i, &stepped, &cycles);
    }
    print_message("%llu of %llu cycles stepped\n", (unsigned long long)stepped, (unsigned long long)cycles);
    assert_true(stepped < cycles / 2);
    free(random);
}

/* Reads, writes and traffic between PEs at once, over several refreshes and in both row patterns: default
 * DRAM (a row per bank holds all of it) and one with small rows. */
static void test_noc_long_dram_streams_agree(void **state)
{
    (void)state;
    struct random_program *random = malloc(sizeof *random);
    uint64_t stepped = 0, cycles = 0;
    assert_non_null(random);
    for (unsigned i = 0; i < 8; i++) {
        static const uint32_t sender[] = {29, 19, 0, 29, 12}, receiver[] = {19, 29, 3, 7, 13};
        struct random_stream stream = random_stream_make(SEED, N_CASE + i, RANDOM_TEST);
        struct noc_config config;
        noc_config_init(&config, 4, 4);
        config.dram.read_ahead = i % 4 == 3 ? 4 : 1;
        config.dram.row_byte = i % 4 == 2 ? 128 : 8192;
        random->program =
            (struct noc_program){5, random->transaction, random->destination, random->dependency, 5, 0};
        for (uint32_t k = 0; k < 5; k++) {
            random->destination[k] = receiver[k];
            random->transaction[k] = (struct noc_transaction){NOC_UNICAST, sender[k], 1, 1, 0, k, 0};
            if (i & 1U << k || k == i % 2)
                random->transaction[k].size = between(&stream, 500, 1500);
        }
        compare(&config, &random->program, i, &stepped, &cycles);
    }
    print_message("%llu of %llu cycles stepped\n", (unsigned long long)stepped, (unsigned long long)cycles);
    assert_true(stepped < cycles / 2);
    free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noc_agrees_with_the_plain_simulator),
        cmocka_unit_test(test_noc_cores_agree_with_the_plain_simulator),
        cmocka_unit_test(test_noc_long_dram_streams_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
