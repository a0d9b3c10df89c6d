/* The lower bound of a network: below every scheme of a small network, below random schemes of five others,
 * by both rules, and below everything that the published program found. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/fusion_bound.h"
#include "engines/soma/search/plus_point.h"
#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_start.h"
#include "tests/support/soma_case.h"

enum { MB = 1 << 20 };

struct bound_case {
    struct soma_case c;
    struct soma_search search;
    struct soma_bound bound;
    struct arena scratch;
    struct dse_error err;
};

static void check(enum dse_status status, const struct dse_error *err)
{
    if (status != DSE_OK)
        fail_msg("%s", err->text);
}

/* `streams`: the roles that go past the buffer. */
static void open_streams(struct bound_case *b, const char *path, bool compat, uint32_t streams,
                         uint32_t batch, uint64_t buffer_byte, uint64_t rate)
{
    memset(b, 0, sizeof *b);
    soma_case_open(&b->c, path, buffer_byte);
    b->c.context.compat = compat;
    b->c.context.batch = batch;
    if (!compat && (streams || batch > 1))
        b->c.graph.word_bit = streams ? 12 : 4;
    if (streams)
        soma_case_stream(&b->c, streams);
    soma_case_cache(&b->c);
    b->search = soma_case_search(&b->c, buffer_byte, rate);
    if (streams)
        soma_case_ways(&b->search.machine);
    arena_init(&b->scratch);
    check(soma_bound(&b->search, 1 << 20, &b->c.arena, &b->bound, &b->err), &b->err);
}

static void open_case(struct bound_case *b, const char *path, bool compat, uint32_t batch,
                      uint64_t buffer_byte, uint64_t rate)
{
    open_streams(b, path, compat, 0, batch, buffer_byte, rate);
}

static void close_case(struct bound_case *b)
{
    arena_free(&b->scratch);
    soma_case_close(&b->c);
}

/* The sums of any DRAM order, in a buffer that holds everything. False: not valid. */
static bool check_lfa(struct bound_case *b, const struct soma_lfa *lfa)
{
    struct fused_schedule schedule;
    struct soma_fault_info fault;
    struct fused_result result;
    arena_reset(&b->scratch);
    check(soma_parse(&b->search.context, lfa, &b->scratch, &schedule, &fault, &b->err), &b->err);
    if (fault.what != SOMA_OK)
        return false;
    check(fused_evaluate(&schedule, &b->search.machine, &b->scratch, NULL, &result, &b->err), &b->err);
    assert_true(b->bound.core_energy_j <= result.core_energy_j);
    assert_true(b->bound.energy_j <= result.energy_j);
    assert_true(b->bound.dram_byte <= result.dram_byte);
    assert_true(b->bound.compute_cycle <= result.compute_cycle);
    assert_true(b->bound.dram_cycle <= result.dram_cycle);
    assert_true(b->bound.cycle <= result.cycle);
    return true;
}

/* All borders of tiny6 (3^5), two orders, four tiling numbers for all groups or for every other one. */
static void check_all(struct bound_case *b)
{
    static const uint32_t tiling[] = {1, 3, 8, 64};
    struct soma_lfa lfa;
    uint32_t n_valid = 0;
    soma_lfa_new(6, &b->c.arena, &lfa);
    for (int k = 0; k < 243 * 2 * 8; k++) {
        int borders = k % 243, half = k / 486 % 2;
        lfa.n_flc = 0;
        for (uint32_t i = 0; i < 6; i++) {
            int border = i == 0 ? 2 : borders % 3;
            borders = i == 0 ? borders : borders / 3;
            lfa.order[i] = i == 1 || i == 2 ? (k / 243 % 2 ? i : 3 - i) : i;
            if (border == 0)
                continue;
            lfa.flc[lfa.n_flc] = i;
            lfa.tiling[lfa.n_flc] = half && lfa.n_flc % 2 ? 1 : tiling[k / 972];
            lfa.dram_cut[lfa.n_flc++] = border == 2;
        }
        n_valid += check_lfa(b, &lfa);
    }
    assert_true(n_valid > 1500);
}

static void test_bound_is_below_every_scheme_of_a_small_network(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct bound_case b;
        open_case(&b, "tests/known/soma/tiny6.yaml", k & 1, k & 2 ? 4 : 1, 8 * MB, 16);
        assert_true(b.bound.cost > 0);
        check_all(&b);
        close_case(&b);
    }
}

static uint32_t walk(const char *path, bool compat, uint32_t streams, int n_step)
{
    struct bound_case b;
    struct soma_lfa lfa;
    struct soma_price price;
    struct plus_point now, next;
    struct random_stream stream = random_stream_make(11, compat, RANDOM_TEST);
    uint32_t n_valid = 0;
    open_streams(&b, path, compat, streams, 1, 256 * MB, 32);
    uint32_t n = b.c.network.n_layer, *where = arena_alloc(&b.c.arena, n, sizeof *where);
    soma_lfa_new(n, &b.c.arena, &lfa);
    plus_point_new(n, &b.c.arena, &now);
    plus_point_new(n, &b.c.arena, &next);
    check(plus_start(&b.search, 16, &b.scratch, &lfa, &price, &b.err), &b.err);
    plus_point_of(&lfa, &now);
    for (int i = 0; i < n_step; i++) {
        plus_point_copy(&now, &next);
        (void)plus_move(&b.search.context, &stream, where, &next);
        plus_point_lfa(&next, &lfa);
        for (uint32_t g = 0; g < lfa.n_flc; g++)
            if (lfa.tiling[g] > 64)
                lfa.tiling[g] = 64;
        if (!check_lfa(&b, &lfa))
            continue;
        n_valid++;
        plus_point_of(&lfa, &now);
    }
    close_case(&b);
    return n_valid;
}

static void test_bound_is_below_random_schemes(void **state)
{
    (void)state;
    uint32_t n_valid = 0;
    for (int compat = 0; compat <= 1; compat++) {
        n_valid += walk("tests/known/soma/diamond.yaml", compat, 0, 300);
        n_valid += walk("experiments/networks/resnet50_soma.yaml", compat, 0, 200);
        n_valid += walk("experiments/networks/randwire_small.yaml", compat, 0, 200);
        n_valid += walk("experiments/networks/gpt2_small_prefill512.yaml", compat, 0, 200);
        n_valid += walk("experiments/networks/gpt2_small_decode513.yaml", compat, 0, 200);
    }
    assert_true(n_valid > 500);
}

static void test_bound_is_below_schemes_where_tensors_stream(void **state)
{
    (void)state;
    uint32_t n_valid = 0;
    for (uint32_t streams = 1; streams < 8; streams += 2) {
        n_valid += walk("tests/known/soma/diamond.yaml", false, streams, 60);
        n_valid += walk("experiments/networks/resnet50_soma.yaml", false, streams, 15);
        n_valid += walk("experiments/networks/gpt2_small_decode513.yaml", false, streams, 8);
    }
    assert_true(n_valid > 80);
}

/* Random schemes as prefetching schedules them in a buffer of 4 MB, which ResNet-50's weights fill six
 * times. */
static void test_bound_is_below_schedules_in_a_small_buffer(void **state)
{
    (void)state;
    for (int compat = 0; compat <= 1; compat++) {
        struct bound_case b;
        struct soma_lfa lfa;
        struct soma_price price;
        struct plus_point now, next;
        struct fused_schedule schedule;
        struct random_stream stream = random_stream_make(12, (uint64_t)compat, RANDOM_TEST);
        uint32_t n_valid = 0;
        open_case(&b, "experiments/networks/resnet50_soma.yaml", compat, 1, 4 * MB, 64);
        assert_true(b.bound.cycle >
                    b.bound.compute_cycle + b.bound.compute_cycle / 10); /* for want of room */
        uint32_t n = b.c.network.n_layer, *where = arena_alloc(&b.c.arena, n, sizeof *where);
        soma_lfa_new(n, &b.c.arena, &lfa);
        plus_point_new(n, &b.c.arena, &now);
        plus_point_new(n, &b.c.arena, &next);
        check(plus_start(&b.search, 16, &b.scratch, &lfa, &price, &b.err), &b.err);
        plus_point_of(&lfa, &now);
        for (int i = 0; i < 300; i++) {
            plus_point_copy(&now, &next);
            (void)plus_move(&b.search.context, &stream, where, &next);
            plus_point_lfa(&next, &lfa);
            arena_reset(&b.scratch);
            check(
                plus_price(&b.search, &lfa, next.lead, INFINITY, &b.scratch, &schedule, &price, NULL, &b.err),
                &b.err);
            if (isinf(price.cost))
                continue;
            assert_true(b.bound.cycle <= price.cycle && b.bound.cost <= price.cost);
            plus_point_copy(&next, &now);
            n_valid++;
        }
        assert_true(n_valid > 60);
        close_case(&b);
    }
}

/* Transposed convolutions need some rows for many, and all that reach an output: by hand 792 bytes of input
 * (8 x 11 x 9), 4,752 of weights (1,152 + 512 + 576 + 576 + 1,152 + 128 + 256 + 144 + 256) and 53,248 of
 * output (4 x 128 x 104). */
static void test_bound_knows_what_transposed_convolutions_need(void **state)
{
    struct bound_case b;
    (void)state;
    open_case(&b, "tests/known/soma/transposed.yaml", false, 1, 8 * MB, 16);
    assert_int_equal(b.bound.dram_byte, 58792);
    close_case(&b);
    assert_true(walk("tests/known/soma/transposed.yaml", false, 0, 1500) > 500);
}

/* Only what the kernels read counts, not the rows that they skip. */
static void test_bound_leaves_out_what_no_window_reads(void **state)
{
    (void)state;
    assert_true(walk("tests/known/soma/odd_windows.yaml", false, 0, 400) > 200);
    assert_true(walk("tests/known/soma/odd_windows.yaml", true, 0, 400) > 200);
}

/* tests/known/soma/public.csv: cycles and energy of the published program. */
static void test_bound_is_below_the_published_results(void **state)
{
    (void)state;
    char line[256], network[64], path[128];
    unsigned buffer_mb, rate, stage, n = 0;
    double cycle, energy_pj;
    FILE *file = fopen("tests/known/soma/public.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct bound_case b;
        if (sscanf(line, "%63[^,],%u,%u,stage%u,%lf,%lf", network, &buffer_mb, &rate, &stage, &cycle,
                   &energy_pj) != 6 ||
            stage != 2 || strncmp(network, "inception", 9) == 0 || (buffer_mb != 8 && rate != 64))
            continue;
        (void)snprintf(path, sizeof path, "experiments/networks/%s.yaml", network);
        open_case(&b, path, true, 1, (uint64_t)buffer_mb * MB, rate);
        assert_true((double)b.bound.cycle <= cycle);
        assert_true(b.bound.energy_j * 1e12 <= energy_pj);
        if (strcmp(network, "resnet50_soma") == 0 && rate <= 16) /* and not far below */
            assert_true((double)b.bound.cycle * b.bound.energy_j * 1e12 * 1.02 >= cycle * energy_pj);
        close_case(&b);
        n++;
    }
    (void)fclose(file);
    assert_true(n >= 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_is_below_every_scheme_of_a_small_network),
        cmocka_unit_test(test_bound_is_below_random_schemes),
        cmocka_unit_test(test_bound_is_below_schemes_where_tensors_stream),
        cmocka_unit_test(test_bound_is_below_schedules_in_a_small_buffer),
        cmocka_unit_test(test_bound_leaves_out_what_no_window_reads),
        cmocka_unit_test(test_bound_knows_what_transposed_convolutions_need),
        cmocka_unit_test(test_bound_is_below_the_published_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
