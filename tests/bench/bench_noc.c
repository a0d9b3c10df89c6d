/* Simulated cycles of the mesh per second of one thread's CPU time. Prints "name,value,unit"; the fastest of
 * several runs counts. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "costmodel/noc/noc.h"

enum { TRANSACTION_MAX = 4096, ENTRY_MAX = 65536, N_RUN = 5 };

struct bench {
    struct noc_config config;
    struct noc_program program;
    struct noc_transaction transaction[TRANSACTION_MAX];
    uint32_t destination[ENTRY_MAX], dependency[ENTRY_MAX];
};

static void reset(struct bench *bench, uint32_t pe_columns, uint32_t pe_rows)
{
    noc_config_init(&bench->config, pe_columns, pe_rows);
    bench->program = (struct noc_program){0, bench->transaction, bench->destination, bench->dependency, 0, 0};
}

/* Add a transaction; destinations and dependencies follow by add_destination, add_dependency. Its id. */
static uint32_t add(struct bench *bench, enum noc_operation operation, uint32_t actor, uint32_t size)
{
    struct noc_program *program = &bench->program;
    struct noc_transaction *t = &bench->transaction[program->n_transaction];
    *t = (struct noc_transaction){.operation = operation, .actor = actor, .size = size};
    t->first_destination = (uint32_t)program->n_destination;
    t->first_dependency = (uint32_t)program->n_dependency;
    return program->n_transaction++;
}

static void add_destination(struct bench *bench, uint32_t port)
{
    bench->destination[bench->program.n_destination++] = port;
    bench->transaction[bench->program.n_transaction - 1].n_destination++;
}

static void add_dependency(struct bench *bench, uint32_t id)
{
    bench->dependency[bench->program.n_dependency++] = id;
    bench->transaction[bench->program.n_transaction - 1].n_dependency++;
}

/* Every PE streams to the PE opposite and to the one below and right: nearly all links carry flits nearly all
 * the time. */
static void busy_links(struct bench *bench, uint32_t columns, uint32_t rows)
{
    reset(bench, columns, rows);
    uint32_t n_pe = columns * rows;
    for (uint32_t round = 0; round < 4; round++)
        for (uint32_t pe = 0; pe < n_pe; pe++) {
            add(bench, NOC_UNICAST, pe, 500);
            add_destination(bench, n_pe - 1 - pe);
            add(bench, NOC_UNICAST, pe, 500);
            add_destination(bench, (pe + columns + 1) % n_pe);
        }
}

/* Steps of a convolution layer: inputs from the DRAM to the buffer, multicasts to the columns' PEs, a count
 * on each PE, outputs back to the buffer and to the DRAM; step m + 2 waits for step m. */
static void layer(struct bench *bench, uint32_t n_step, uint32_t input, uint32_t tile, uint32_t count,
                  uint32_t store)
{
    reset(bench, 4, 4);
    uint32_t last_store[2] = {0, 0};
    for (uint32_t step = 0; step < n_step; step++) {
        uint32_t first_count = 0, first_tile = 0, fetch = add(bench, NOC_UNICAST, 29, input);
        add_destination(bench, 19);
        if (step > 1)
            add_dependency(bench, last_store[step % 2]);
        for (uint32_t column = 0; column < 4; column++) {
            uint32_t id = add(bench, NOC_MULTICAST, 19, tile);
            for (uint32_t row = 0; row < 4; row++)
                add_destination(bench, 4 * row + column);
            add_dependency(bench, fetch);
            first_tile = column == 0 ? id : first_tile;
        }
        for (uint32_t pe = 0; pe < 16; pe++) {
            uint32_t id = add(bench, NOC_COUNT, pe, count);
            add_dependency(bench, first_tile + pe % 4);
            first_count = pe == 0 ? id : first_count;
        }
        for (uint32_t pe = 0; pe < 16; pe++) {
            add(bench, NOC_UNICAST, pe, store);
            add_destination(bench, 19);
            add_dependency(bench, first_count + pe);
        }
        last_store[step % 2] = add(bench, NOC_UNICAST, 19, 16 * store);
        add_destination(bench, 29);
        for (uint32_t pe = 0; pe < 16; pe++)
            add_dependency(bench, last_store[step % 2] - 16 + pe);
    }
}

static int run(const char *name, const struct bench *bench)
{
    struct noc_result result = {0};
    struct dse_error err;
    double best = 0;
    for (int i = 0; i < N_RUN; i++) {
        struct arena arena;
        arena_init(&arena);
        double start_s = clock_thread_s();
        enum dse_status status =
            noc_simulate(&bench->config, &bench->program, 0, NULL, &arena, NULL, &result, &err);
        double rate = (double)result.cycle / (clock_thread_s() - start_s);
        arena_free(&arena);
        if (status != DSE_OK) {
            fprintf(stderr, "bench_noc: %s: %s\n", name, err.text);
            return 1;
        }
        best = rate > best ? rate : best;
    }
    printf("noc/%s,%.0f,cycle/s\n", name, best);
    return 0;
}

int main(void)
{
    int failed = 0;
    struct bench *bench = malloc(sizeof *bench);
    if (!bench)
        return 1;
    busy_links(bench, 4, 4);
    failed |= run("busy-links", bench);
    busy_links(bench, 8, 8);
    failed |= run("busy-links-8x8", bench);
    layer(bench, 14, 448, 112, 896, 84);
    failed |= run("layer", bench);
    layer(bench, 14, 4480, 1, 1, 1);
    failed |= run("dram-bound", bench);
    layer(bench, 50, 4, 1, 1000000, 1);
    failed |= run("mostly-idle", bench);
    free(bench);
    return failed;
}
