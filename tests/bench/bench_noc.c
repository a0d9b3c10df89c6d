/* Simulated cycles of the mesh per second of one thread's CPU time, and the time of whole schedules of
 * computations and messages. Prints "name,value,unit"; the fastest of several runs counts. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "costmodel/noc/noc.h"

enum { TRANSACTION_MAX = 16384, ENTRY_MAX = 65536, N_RUN = 5 };

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

static uint32_t log_uniform(struct random_stream *stream, double low, double high)
{
    return (uint32_t)(low * pow(high / low, random_unit(stream)));
}

/* A layer of a schedule: its computations on cores first, first + 1, ... in turn, and the transaction of each
 * one's result. */
struct layer {
    uint32_t first, n;
    uint32_t result[3 * 1024];
};

/* A count of `cycle` on each core in turn, after up to four results of the layer before; then a multicast to
 * the cores that will need it: up to four behind it. */
static void schedule_layer(struct bench *bench, uint32_t n_core, uint32_t cycle, uint32_t packets,
                           const struct layer *before, struct layer *layer)
{
    for (uint32_t k = 0; k < layer->n; k++) {
        uint32_t core = (layer->first + k) % n_core, n_send = 1 + k % 4;
        uint32_t count = add(bench, NOC_COUNT, core, cycle);
        for (uint32_t i = 0; i < 4 && i < before->n; i++)
            add_dependency(bench, before->result[(k + i) % before->n]);
        layer->result[k] = add(bench, NOC_MULTICAST, core, packets);
        for (uint32_t i = 1; i <= n_send; i++)
            add_destination(bench, (core + 1 + k % 7 + i) % n_core);
        add_dependency(bench, count);
    }
}

/* Layers of equal computations of 1e3 to 1e5 cycles with results of 3.2 kB to 320 kB on a mesh of cores. */
static void schedule(struct bench *bench, uint32_t columns, uint32_t rows, uint32_t flit_bit, uint32_t n)
{
    static struct layer layer[2];
    struct random_stream stream = random_stream_make(15, 0, RANDOM_TEST);
    uint32_t n_core = columns * rows;
    reset(bench, columns, rows);
    noc_config_cores(&bench->config, columns, rows, flit_bit);
    layer[1].n = 0;
    for (uint32_t l = 0; n > 0; n -= layer[l % 2].n, l++) {
        struct layer *now = &layer[l % 2];
        uint32_t size = n_core / 2 + random_below(&stream, 2 * n_core);
        uint32_t packet_byte = bench->config.data_flits * flit_bit / 8;
        uint32_t packets = log_uniform(&stream, 3.2e3, 3.2e5) / packet_byte + 1;
        now->first = random_below(&stream, n_core);
        now->n = size < n ? size : n;
        schedule_layer(bench, n_core, log_uniform(&stream, 1e3, 1e5), packets, &layer[1 - l % 2], now);
    }
}

/* Cycles per second or, `whole`, the seconds of the program. */
static int run(const char *name, bool whole, const struct bench *bench)
{
    struct noc_result result = {0};
    struct dse_error err;
    double best = INFINITY;
    for (int i = 0; i < N_RUN; i++) {
        struct arena arena;
        arena_init(&arena);
        double start_s = clock_thread_s();
        enum dse_status status =
            noc_simulate(&bench->config, &bench->program, 0, NULL, &arena, NULL, &result, &err);
        double time_s = clock_thread_s() - start_s;
        arena_free(&arena);
        if (status != DSE_OK) {
            fprintf(stderr, "bench_noc: %s: %s\n", name, err.text);
            return 1;
        }
        best = time_s < best ? time_s : best;
    }
    if (whole)
        printf("noc/%s,%.4g,s\n", name, best);
    else
        printf("noc/%s,%.0f,cycle/s\n", name, (double)result.cycle / best);
    return 0;
}

int main(void)
{
    int failed = 0;
    struct bench *bench = malloc(sizeof *bench);
    if (!bench)
        return 1;
    busy_links(bench, 4, 4);
    failed |= run("busy-links", false, bench);
    busy_links(bench, 8, 8);
    failed |= run("busy-links-8x8", false, bench);
    layer(bench, 14, 448, 112, 896, 84);
    failed |= run("layer", false, bench);
    layer(bench, 14, 4480, 1, 1, 1);
    failed |= run("dram-bound", false, bench);
    layer(bench, 50, 4, 1, 1000000, 1);
    failed |= run("mostly-idle", false, bench);
    schedule(bench, 5, 5, 64, 1500);
    failed |= run("schedule-5x5-64bit", true, bench);
    schedule(bench, 16, 16, 192, 3000);
    failed |= run("schedule-16x16-192bit", true, bench);
    schedule(bench, 32, 32, 4096, 6000);
    failed |= run("schedule-32x32-4096bit", true, bench);
    free(bench);
    return failed;
}
