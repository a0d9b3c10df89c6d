/* Stage 1 of SoMa on one thread, in CPU time: rounds per second of whole searches (100 rounds per layer,
 * published rules), for the kinds of moves, and what the plain price (parser and evaluator anew) costs on the
 * LFAs where they end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "costmodel/fused/core_cache.h"
#include "engines/soma/search/lfa_price.h"
#include "engines/soma/search/lfa_search.h"
#include "tests/support/soma_case.h"

enum { BUFFER_BYTE = 8 << 20, DRAM_RATE = 16, N_PLAIN = 2000, ROUNDS_PER_LAYER = 100, CACHE_MAX = 1 << 18 };

static const char *const moves_name[] = {"paper", "published", "cocco"};

struct bench {
    struct soma_case base;
    struct core_array_search array;
    struct core_cache *cache;
    struct core_cached cached;
    struct soma_search search;
};

static int open_bench(struct bench *b, const char *network, uint32_t batch)
{
    char path[256];
    struct dse_error err;
    (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", network);
    soma_case_open(&b->base, path, BUFFER_BYTE);
    b->array = (struct core_array_search){b->base.core, true};
    if (core_cache_new(CACHE_MAX, &b->cache, &err) != DSE_OK ||
        core_cache_join_array(b->cache, &b->array, &b->cached, &err) != DSE_OK)
        return 1;
    b->base.context.batch = batch;
    b->base.context.core = core_cached_scheduler(&b->cached);
    b->search = soma_case_search(&b->base, BUFFER_BYTE, DRAM_RATE);
    return 0;
}

static void close_bench(struct bench *b)
{
    core_cache_free(b->cache);
    soma_case_close(&b->base);
}

/* Seconds of one plain price of the LFA; < 0: it differs from the fast one. */
static double plain_s(const struct bench *b, const struct soma_lfa *lfa, const struct soma_price *price)
{
    struct arena scratch;
    struct soma_price plain;
    struct dse_error err;
    arena_init(&scratch);
    double start_s = clock_thread_s();
    bool same = true;
    for (int i = 0; i < N_PLAIN && same; i++) {
        arena_reset(&scratch);
        same = soma_price_lfa(&b->search, lfa, BUFFER_BYTE, &scratch, NULL, &plain, &err) == DSE_OK &&
               plain.cycle == price->cycle && plain.buffer_max_byte == price->buffer_max_byte;
    }
    arena_free(&scratch);
    return same ? (clock_thread_s() - start_s) / N_PLAIN : -1;
}

static int run_search(const struct bench *b, const char *name, enum soma_moves moves)
{
    struct arena arena, scratch;
    struct soma_lfa start;
    struct soma_price price;
    struct soma_lfa_prices *prices = NULL;
    struct soma_lfa_search *search = NULL;
    struct dse_error err = {0};
    bool done = false;
    uint64_t n_round = (uint64_t)ROUNDS_PER_LAYER * b->base.network.n_layer;
    struct soma_lfa_options options = {
        .moves = moves, .n_round = n_round, .first_temperature = 0.1, .alpha = 8, .return_share = 0.9};
    arena_init(&arena);
    arena_init(&scratch);
    double start_s = clock_thread_s();
    soma_lfa_new(b->base.network.n_layer, &arena, &start);
    int failed = arena_check(&arena, "a benchmark", &err) != DSE_OK ||
                 soma_initial_lfa(&b->search, moves, BUFFER_BYTE, NULL, &start, &price, &err) != DSE_OK ||
                 !isfinite(price.cost) || soma_lfa_prices_new(&b->search, &prices, &err) != DSE_OK;
    options.prices = prices;
    failed = failed ||
             soma_lfa_search_new(&b->search, &options, &start, BUFFER_BYTE,
                                 random_stream_make(1, 1, RANDOM_TEST), &arena, &search, &err) != DSE_OK ||
             soma_lfa_search_step(search, UINT64_MAX, &done, &err) != DSE_OK;
    double search_s = clock_thread_s() - start_s;
    if (!failed) {
        const struct soma_lfa *best = soma_lfa_search_best(search, &price);
        double plain = plain_s(b, best, &price);
        failed = plain < 0;
        printf("soma_lfa/%s/%s,%.0f,round/s\n", name, moves_name[moves], (double)n_round / search_s);
        printf("soma_lfa/%s/%s/plain,%.0f,price/s\n", name, moves_name[moves], 1 / plain);
        printf("soma_lfa/%s/%s/edp,%.6g,J s\n", name, moves_name[moves], price.cost);
    }
    if (failed)
        (void)fprintf(stderr, "bench_soma_lfa: %s %s: %s\n", name, moves_name[moves], err.text);
    soma_lfa_search_free(search);
    soma_lfa_prices_free(prices);
    arena_free(&arena);
    arena_free(&scratch);
    return failed;
}

static int run(const char *network, uint32_t batch, enum soma_moves moves)
{
    char name[128];
    struct bench *b = calloc(1, sizeof *b);
    if (!b)
        return 1;
    (void)snprintf(name, sizeof name, "%s_b%u", network, batch);
    int failed = open_bench(b, network, batch) || run_search(b, name, moves);
    close_bench(b);
    free(b);
    return failed;
}

int main(void)
{
    int failed = 0;
    for (int moves = SOMA_MOVES_PAPER; moves <= SOMA_MOVES_COCCO; moves++) {
        failed |= run("resnet50_soma", 1, (enum soma_moves)moves);
        failed |= run("gpt2_small_prefill512", 1, (enum soma_moves)moves);
    }
    failed |= run("resnet50_soma", 4, SOMA_MOVES_PUBLISHED);
    return failed;
}
