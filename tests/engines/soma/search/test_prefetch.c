/* Prefetching: valid on random schemes of five networks by both rules, never slower than double buffering
 * when all it may do is done, as good as the published program's second stage, and optimal where everything
 * can be enumerated.
 * Tests: plus_point.c, plus_price.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/plus_point.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_start.h"
#include "engines/soma/search/prefetch.h"
#include "tests/support/soma_case.h"

enum { KB = 1 << 10, MB = 1 << 20 };

/* A network on the edge core with a cache before it. */
struct prefetch_case {
    struct soma_case c;
    struct soma_search search;
    struct arena scratch;
    struct dse_error err;
};

static void check(enum dse_status status, const struct dse_error *err)
{
    if (status != DSE_OK)
        fail_msg("%s", err->text);
}

/* `streams`: the roles that go past the buffer. */
static void open_case(struct prefetch_case *p, const char *path, bool compat, uint32_t streams,
                      uint64_t buffer_byte, uint64_t rate)
{
    memset(p, 0, sizeof *p);
    soma_case_open(&p->c, path, 8 * MB);
    p->c.context.compat = compat;
    if (streams)
        soma_case_stream(&p->c, streams);
    soma_case_cache(&p->c);
    p->search = soma_case_search(&p->c, buffer_byte, rate);
    if (streams)
        soma_case_ways(&p->search.machine);
    arena_init(&p->scratch);
}

static void close_case(struct prefetch_case *p)
{
    arena_free(&p->scratch);
    soma_case_close(&p->c);
}

static struct fused_result evaluate(struct prefetch_case *p, const struct fused_schedule *schedule)
{
    struct fused_result result;
    check(fused_evaluate(schedule, &p->search.machine, &p->scratch, NULL, &result, &p->err), &p->err);
    return result;
}

/* A limit ends only a run that takes longer, and a limit of 0 any. */
static void check_limit(struct soma_prefetcher *prefetcher, const struct soma_prefetch_options *options,
                        const uint32_t *order, uint64_t cycle)
{
    uint64_t less = soma_prefetcher_run(prefetcher, options, order, cycle - 1);
    assert_true(soma_prefetcher_run(prefetcher, options, order, cycle) == cycle);
    assert_true(less == cycle || less == FUSED_NEVER);
    assert_true(soma_prefetcher_run(prefetcher, options, order, 0) == FUSED_NEVER);
}

/* Every rule gives a schedule without fault and the evaluator's cycles, for loads in any order. False: it
 * does not fit. */
static bool check_rules(struct prefetch_case *p, struct fused_schedule *schedule,
                        struct random_stream *stream)
{
    struct soma_prefetcher *prefetcher;
    uint32_t full;
    check(soma_prefetcher_new(schedule, &p->search, &p->scratch, &prefetcher, &full, &p->err), &p->err);
    if (!prefetcher)
        return false;
    uint32_t n;
    const uint32_t *need = soma_prefetcher_loads(prefetcher, &n);
    uint32_t *order = arena_alloc(&p->scratch, (size_t)n + 1, sizeof *order);
    memcpy(order, need, n * sizeof *order);
    for (uint32_t k = 0; k < 4; k++) {
        const struct soma_prefetch_options options = {k & 1 ? SOMA_STORE_LATE : SOMA_STORE_SOON,
                                                      k & 2 ? SOMA_FILL_ANY : SOMA_FILL_FIT,
                                                      random_below(stream, 20)};
        for (uint32_t i = 0; k > 0 && i < n / 4; i++) {
            uint32_t a = random_below(stream, n), b = random_below(stream, n), id = order[a];
            order[a] = order[b];
            order[b] = id;
        }
        uint64_t cycle = soma_prefetcher_run(prefetcher, &options, k ? order : NULL, UINT64_MAX);
        soma_prefetcher_save(prefetcher, schedule);
        struct fused_result result = evaluate(p, schedule);
        assert_int_equal(result.fault, FUSED_OK);
        assert_true(result.cycle == cycle);
        check_limit(prefetcher, &options, k ? order : NULL, cycle);
    }
    return true;
}

static void check_polish(struct prefetch_case *p, const struct soma_lfa *lfa)
{
    struct fused_schedule schedule, plain;
    struct soma_fault_info fault;
    struct soma_price price;
    check(plus_polish(&p->search, lfa, NULL, 1, NULL, random_stream_make(1, 1, RANDOM_TEST), &p->scratch,
                      &schedule, &price, &p->err),
          &p->err);
    check(soma_parse(&p->search.context, lfa, &p->scratch, &plain, &fault, &p->err), &p->err);
    struct fused_result before = evaluate(p, &plain), after = evaluate(p, &schedule);
    assert_int_equal(after.fault, FUSED_OK);
    assert_true(price.cycle == after.cycle);
    assert_true(fabs(price.energy_j - after.energy_j) <= 1e-12 * after.energy_j);
    if (before.fault == FUSED_OK)
        assert_true(after.cycle <= before.cycle);
}

static uint32_t walk(const char *path, bool compat, uint32_t streams, uint64_t buffer_byte, uint64_t rate,
                     int n_step)
{
    struct prefetch_case p;
    struct random_stream stream = random_stream_make(7, buffer_byte + rate, RANDOM_TEST);
    struct soma_lfa lfa;
    struct soma_price price;
    struct plus_point now, next;
    uint32_t n_fit = 0;
    open_case(&p, path, compat, streams, buffer_byte, rate);
    uint32_t n = p.c.network.n_layer, *where = arena_alloc(&p.c.arena, n, sizeof *where);
    soma_lfa_new(n, &p.c.arena, &lfa);
    plus_point_new(n, &p.c.arena, &now);
    plus_point_new(n, &p.c.arena, &next);
    check(plus_start(&p.search, 16, &p.scratch, &lfa, &price, &p.err), &p.err);
    assert_true(isfinite(price.cost));
    plus_point_of(&lfa, &now);
    for (int i = 0; i < n_step; i++) {
        struct fused_schedule schedule;
        struct soma_fault_info fault;
        arena_reset(&p.scratch);
        plus_point_copy(&now, &next);
        (void)plus_move(&p.search.context, &stream, where, &next);
        plus_point_lfa(&next, &lfa);
        check(soma_parse(&p.search.context, &lfa, &p.scratch, &schedule, &fault, &p.err), &p.err);
        if (fault.what != SOMA_OK || schedule.n_tile > 4000 || !check_rules(&p, &schedule, &stream))
            continue;
        plus_point_copy(&next, &now);
        if (n_fit++ % 8 == 0)
            check_polish(&p, &lfa);
    }
    close_case(&p);
    return n_fit;
}

static void test_prefetch_is_valid_on_random_schemes(void **state)
{
    (void)state;
    static const char *const path[] = {
        "tests/known/soma/tiny6.yaml", "experiments/networks/resnet50_soma.yaml",
        "experiments/networks/inception_resnet_v1.yaml", "experiments/networks/gpt2_small_prefill512.yaml",
        "experiments/networks/randwire_small.yaml"};
    uint32_t n_fit = 0;
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++)
        for (int compat = 0; compat <= 1; compat++) {
            n_fit += walk(path[i], compat, 0, i == 0 ? 60 * KB : 6 * MB, 32, i == 0 ? 200 : 25);
            n_fit += walk(path[i], compat, 0, i == 0 ? 100 * KB : 32 * MB, 8, i == 0 ? 200 : 25);
        }
    assert_true(n_fit > 500);
}

static void test_prefetch_is_valid_where_tensors_stream(void **state)
{
    (void)state;
    uint32_t n_fit = 0;
    for (uint32_t streams = 1; streams < 8; streams++) {
        n_fit += walk("tests/known/soma/tiny6.yaml", false, streams, 60 * KB, 8, 60);
        n_fit += walk("experiments/networks/resnet50_soma.yaml", false, streams, 6 * MB, 32, 12);
        n_fit += walk("experiments/networks/gpt2_small_prefill512.yaml", false, streams, 8 * MB, 16, 12);
    }
    assert_true(n_fit > 200);
}

/* The published second stage takes so many cycles for the same fusion (the oracles *_s2). With many stores
 * (the fusion of the Cocco baseline) list scheduling stays 1.4 % behind; two of the published stores end too
 * early there (docs/fused-schedule.md). */
static void test_prefetch_is_as_good_as_the_published_second_stage(void **state)
{
    (void)state;
    static const struct {
        const char *start, *end, *network;
    } known[] = {
        {"r50_8MB_16GBs_s1", "r50_8MB_16GBs_s2", "experiments/networks/resnet50_soma.yaml"},
        {"ires_8MB_16GBs_s1", "ires_8MB_16GBs_s2", "experiments/networks/inception_resnet_v1.yaml"},
        {"gpt2_small_prefill_8MB_16GBs_s1", "gpt2_small_prefill_8MB_16GBs_s2",
         "experiments/networks/gpt2_small_prefill512.yaml"},
        {"r50_8MB_16GBs_cocco", "r50_coccolfa_8MB_16GBs_s2", "experiments/networks/resnet50_soma.yaml"},
        {"tiny_flg_s1", "tiny_flg_s2", "tests/known/soma/tiny6.yaml"},
        {"tiny_cocco_s1", "tiny_cocco_s2", "tests/known/soma/tiny6.yaml"},
    };
    struct fused_oracle *oracle = malloc(2 * sizeof *oracle);
    assert_non_null(oracle);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct prefetch_case p;
        struct fused_schedule schedule;
        struct soma_price price;
        open_case(&p, known[i].network, true, 0, MB, 8);
        check(fused_oracle_read(known[i].start, &p.c.arena, &oracle[0], &p.err), &p.err);
        check(fused_oracle_read(known[i].end, &p.c.arena, &oracle[1], &p.err), &p.err);
        p.search.machine = oracle[1].machine;
        struct soma_lfa lfa = soma_case_oracle_lfa(&p.c, &oracle[0]);
        check(plus_polish(&p.search, &lfa, NULL, 30, NULL, random_stream_make(1, 1, RANDOM_TEST), &p.scratch,
                          &schedule, &price, &p.err),
              &p.err);
        if ((double)price.cycle > (i == 3 ? 1.015 : 1.0) * (double)oracle[1].cycle)
            fail_msg("%s: %llu cycles, published %llu", known[i].start, (unsigned long long)price.cycle,
                     (unsigned long long)oracle[1].cycle);
        close_case(&p);
    }
    free(oracle);
}

/* ---- everything enumerated ---- */

/* The fewest cycles of all DRAM orders and all starts of loads (stores end with their tile or later; here
 * behind the last). */
struct enumeration {
    struct prefetch_case *p;
    struct fused_schedule *schedule;
    bool used[16];
    uint64_t best;
};

static void try_starts(struct enumeration *e, uint32_t i)
{
    struct fused_schedule *s = e->schedule;
    if (i == s->n_tensor) {
        struct fused_result result;
        arena_reset(&e->p->scratch);
        result = evaluate(e->p, s);
        if (result.fault == FUSED_OK && result.cycle < e->best)
            e->best = result.cycle;
        return;
    }
    struct fused_tensor *tensor = &s->tensor[i];
    if (tensor->kind != FUSED_WEIGHT && tensor->kind != FUSED_IFMAP) {
        try_starts(e, i + 1);
        return;
    }
    for (int32_t start = 0; start <= tensor->first_use; start++) {
        tensor->start = start;
        try_starts(e, i + 1);
    }
}

static void try_orders(struct enumeration *e, const uint32_t *id, uint32_t n, uint32_t at)
{
    if (at == n) {
        try_starts(e, 0);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (e->used[i])
            continue;
        e->used[i] = true;
        e->schedule->dram_order[at] = id[i];
        try_orders(e, id, n, at + 1);
        e->used[i] = false;
    }
}

/* tiny6 fused into one group of one tile per layer: 5 loads and a store, so 720 orders of 36 choices of
 * starts. */
static void test_prefetch_is_optimal_where_all_is_enumerated(void **state)
{
    (void)state;
    static const char *const groups[] = {"cut 1 A_conv3x3 B_conv3x3 C_conv1x1 D_add E_pool2x2 F_conv3x3s2",
                                         "cut 1 A_conv3x3 C_conv1x1 B_conv3x3 D_add E_pool2x2 F_conv3x3s2"};
    uint32_t n_fit = 0;
    for (int k = 0; k < 8; k++) {
        struct prefetch_case p;
        struct fused_schedule schedule, other;
        struct soma_fault_info fault;
        struct soma_price price;
        struct arena arena;
        uint32_t id[16];
        arena_init(&arena);
        open_case(&p, "tests/known/soma/tiny6.yaml", k & 2, 0, (84 + 7 * (uint64_t)k) * KB, k & 4 ? 8 : 32);
        struct soma_lfa lfa = soma_case_lfa(&p.c, groups[k & 1]);
        check(soma_parse(&p.search.context, &lfa, &arena, &schedule, &fault, &p.err), &p.err);
        check(plus_polish(&p.search, &lfa, NULL, 30, NULL, random_stream_make(1, 1, RANDOM_TEST), &arena,
                          &other, &price, &p.err),
              &p.err);
        struct enumeration e = {.p = &p, .schedule = &schedule, .best = FUSED_NEVER};
        assert_int_equal(schedule.n_dram, 6);
        memcpy(id, schedule.dram_order, sizeof(id[0]) * schedule.n_dram);
        if (k < 4 || isfinite(price.cost))
            try_orders(&e, id, schedule.n_dram, 0);
        assert_true((e.best == FUSED_NEVER) == !isfinite(price.cost));
        if (isfinite(price.cost))
            assert_true(price.cycle == e.best);
        n_fit += isfinite(price.cost) ? 1 : 0;
        arena_free(&arena);
        close_case(&p);
    }
    assert_true(n_fit >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefetch_is_valid_on_random_schemes),
        cmocka_unit_test(test_prefetch_is_valid_where_tensors_stream),
        cmocka_unit_test(test_prefetch_is_as_good_as_the_published_second_stage),
        cmocka_unit_test(test_prefetch_is_optimal_where_all_is_enumerated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
