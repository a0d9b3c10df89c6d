/* Moves and search of stage 1 on a network whose fusions can all be enumerated: 2 orders; a first group of 5
 * possible tiling numbers (1 .. 16 for 16 points), and before each of the other 3 layers nothing or a border
 * of 2 kinds with 5 tiling numbers: 2 x 5 x 11^3 = 13,310.
 * Tests: lfa_move.c, search.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/lfa_move.h"
#include "engines/soma/search/lfa_price.h"
#include "tests/support/soma_case.h"

enum { N_LAYER = 4, N_TILING = 5, N_BORDER = 1 + 2 * N_TILING, N_LFA = 2 * N_TILING * 11 * 11 * 11 };

struct search_case {
    struct soma_case base;
    struct soma_search search;
    struct soma_mover mover;
    struct soma_lfa lfa;
    struct arena scratch;
    uint64_t buffer_byte;
};

static void open_case(struct search_case *c, const char *network, enum soma_moves moves, uint64_t buffer_byte)
{
    soma_case_open(&c->base, network, buffer_byte);
    c->buffer_byte = buffer_byte;
    c->search = soma_case_search(&c->base, buffer_byte, 4);
    arena_init(&c->scratch);
    soma_mover_init(&c->search, moves, NULL, &c->base.arena, &c->mover);
    soma_lfa_new(c->base.network.n_layer, &c->base.arena, &c->lfa);
}

static void close_case(struct search_case *c)
{
    arena_free(&c->scratch);
    soma_case_close(&c->base);
}

/* The LFA of a number below N_LFA, and back. */
static void make_lfa(uint32_t number, struct soma_lfa *lfa)
{
    bool swapped = number % 2;
    const uint32_t order[2][N_LAYER] = {{0, 1, 2, 3}, {0, 2, 1, 3}};
    number /= 2;
    lfa->n_layer = N_LAYER;
    memcpy(lfa->order, order[swapped], sizeof order[0]);
    lfa->flc[0] = 0;
    lfa->tiling[0] = 1u << number % N_TILING;
    lfa->dram_cut[0] = true;
    lfa->n_flc = 1;
    number /= N_TILING;
    for (uint32_t i = 1; i < N_LAYER; i++, number /= N_BORDER) {
        uint32_t border = number % N_BORDER;
        if (border == 0)
            continue;
        lfa->flc[lfa->n_flc] = i;
        lfa->tiling[lfa->n_flc] = 1u << (border - 1) / 2;
        lfa->dram_cut[lfa->n_flc++] = border % 2;
    }
}

static uint32_t log_of(uint32_t power)
{
    return (uint32_t)__builtin_ctz(power);
}

static uint32_t number_of(const struct soma_lfa *lfa)
{
    uint32_t number = 0;
    for (uint32_t i = N_LAYER - 1, g = lfa->n_flc; i > 0; i--) {
        bool border = g > 0 && lfa->flc[g - 1] == i;
        if (border)
            g--;
        number = number * N_BORDER + (border ? 1 + 2 * log_of(lfa->tiling[g]) + !lfa->dram_cut[g] : 0);
    }
    return (number * N_TILING + log_of(lfa->tiling[0])) * 2 + (lfa->order[1] == 2);
}

static void check_lfa(const struct search_case *c, const struct soma_lfa *lfa)
{
    uint32_t place[256], n = c->base.network.n_layer;
    memset(place, 0xff, sizeof place);
    assert_int_equal(lfa->n_layer, n);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(lfa->order[i] < n && place[lfa->order[i]] == UINT32_MAX);
        place[lfa->order[i]] = i;
    }
    for (uint32_t o = 0; o < c->base.graph.n_operand; o++)
        if (c->base.graph.operand[o].source >= 0)
            assert_true(place[c->base.graph.operand[o].source] < place[c->base.graph.operand[o].layer]);
    assert_true(lfa->n_flc >= 1 && lfa->flc[0] == 0 && lfa->dram_cut[0]);
    for (uint32_t g = 0; g < lfa->n_flc; g++) {
        assert_true(lfa->tiling[g] >= 1 && lfa->flc[g] < n);
        assert_true(g == 0 || lfa->flc[g] > lfa->flc[g - 1]);
    }
}

static void test_moves_keep_an_lfa_valid(void **state)
{
    static const char *const network[] = {
        "tests/known/soma/diamond.yaml", "tests/known/soma/tiny6.yaml", "tests/known/soma/heads.yaml",
        "experiments/networks/resnet50_soma.yaml", "experiments/networks/randwire_small.yaml"};
    (void)state;
    for (size_t i = 0; i < sizeof network / sizeof network[0]; i++)
        for (int moves = SOMA_MOVES_PAPER; moves <= SOMA_MOVES_COCCO; moves++) {
            struct search_case c;
            struct soma_price price;
            struct random_stream stream = random_stream_make(i, (uint64_t)moves, RANDOM_TEST);
            open_case(&c, network[i], (enum soma_moves)moves, 8 << 20);
            assert_int_equal(
                soma_initial_lfa(&c.search, SOMA_MOVES_PUBLISHED, 8 << 20, NULL, &c.lfa, &price, &c.base.err),
                DSE_OK);
            uint32_t n_changed = 0;
            for (int n = 0; n < 5000; n++) {
                n_changed += soma_lfa_move(&c.mover, &stream, &c.lfa);
                check_lfa(&c, &c.lfa);
                for (uint32_t g = 0; g < c.lfa.n_flc && moves == SOMA_MOVES_COCCO; g++)
                    assert_true(c.lfa.dram_cut[g]);
            }
            assert_true(n_changed > 1000);
            close_case(&c);
        }
}

/* From any LFA to any other: what many single moves lead to, and what those lead to, and so on, is
 * everything; from two starts. */
static void test_papers_moves_reach_every_lfa(void **state)
{
    enum { N_MOVE = 100 };
    (void)state;
    for (uint32_t start = 0; start < 2; start++) {
        struct search_case c;
        struct random_stream stream = random_stream_make(start, 0, RANDOM_TEST);
        open_case(&c, "tests/known/soma/diamond.yaml", SOMA_MOVES_PAPER, 8 << 20);
        bool *seen = calloc(N_LFA, sizeof *seen);
        uint32_t *queue = calloc(N_LFA, sizeof *queue), n_seen = 1;
        assert_true(seen && queue);
        queue[0] = start * (N_LFA - 1);
        seen[queue[0]] = true;
        for (uint32_t i = 0; i < n_seen && n_seen < N_LFA; i++)
            for (int k = 0; k < N_MOVE; k++) {
                make_lfa(queue[i], &c.lfa);
                assert_int_equal(number_of(&c.lfa), queue[i]);
                (void)soma_lfa_move(&c.mover, &stream, &c.lfa);
                uint32_t number = number_of(&c.lfa);
                assert_true(number < N_LFA);
                if (!seen[number])
                    queue[n_seen++] = number;
                seen[number] = true;
            }
        assert_int_equal(n_seen, N_LFA);
        free(seen);
        free(queue);
        close_case(&c);
    }
}

/* The least cost of all LFAs by the plain price. */
static double enumerate(struct search_case *c)
{
    double best = INFINITY;
    for (uint32_t number = 0; number < N_LFA; number++) {
        struct soma_price price;
        make_lfa(number, &c->lfa);
        arena_reset(&c->scratch);
        assert_int_equal(
            soma_price_lfa(&c->search, &c->lfa, c->buffer_byte, &c->scratch, NULL, &price, &c->base.err),
            DSE_OK);
        best = fmin(best, price.cost);
    }
    return best;
}

static double run(struct search_case *c, const struct soma_lfa_options *options, uint64_t seed,
                  uint64_t rounds_per_step, struct soma_lfa *found)
{
    struct arena arena;
    struct soma_lfa_search *search;
    struct soma_price price;
    bool done = false;
    struct dse_error *err = &c->base.err;
    arena_init(&arena);
    assert_int_equal(soma_initial_lfa(&c->search, options->moves, c->buffer_byte, NULL, &c->lfa, &price, err),
                     DSE_OK);
    assert_true(isfinite(price.cost));
    assert_int_equal(soma_lfa_search_new(&c->search, options, &c->lfa, c->buffer_byte,
                                         random_stream_make(seed, 0, RANDOM_MOVE), &arena, &search, err),
                     DSE_OK);
    while (!done)
        assert_int_equal(soma_lfa_search_step(search, rounds_per_step, &done, err), DSE_OK);
    soma_lfa_copy(soma_lfa_search_best(search, &price), found);
    soma_lfa_search_free(search);
    arena_free(&arena);
    struct soma_price plain; /* the walk went back and forth to the LFA that it says it kept */
    arena_reset(&c->scratch);
    assert_int_equal(soma_price_lfa(&c->search, found, c->buffer_byte, &c->scratch, NULL, &plain, err),
                     DSE_OK);
    assert_int_equal(plain.cycle, price.cycle);
    assert_true(fabs(plain.cost - price.cost) <= 1e-12 * plain.cost);
    return price.cost;
}

static const struct soma_lfa_options usual = {
    .n_round = 4000, .first_temperature = 0.1, .alpha = 8, .return_share = 0.9};

/* With buffers of which the small one holds no two layers at once in whole. */
static void test_search_finds_the_best_of_all_lfas(void **state)
{
    static const uint64_t buffer_byte[] = {6000, 8 << 10, 64 << 10};
    (void)state;
    for (size_t i = 0; i < sizeof buffer_byte / sizeof buffer_byte[0]; i++) {
        struct search_case c;
        struct soma_lfa found;
        struct soma_lfa_options options = usual;
        options.moves = SOMA_MOVES_PAPER;
        open_case(&c, "tests/known/soma/diamond.yaml", SOMA_MOVES_PAPER, buffer_byte[i]);
        soma_lfa_new(N_LAYER, &c.base.arena, &found);
        double best = enumerate(&c);
        assert_true(isfinite(best));
        for (uint64_t seed = 0; seed < 3; seed++) {
            double cost = run(&c, &options, seed, 1000, &found);
            assert_true(fabs(cost - best) <= 1e-12 * best);
        }
        close_case(&c);
    }
}

static void test_search_does_not_depend_on_steps_or_kept_prices(void **state)
{
    (void)state;
    for (int moves = SOMA_MOVES_PAPER; moves <= SOMA_MOVES_COCCO; moves++) {
        struct search_case c;
        struct soma_lfa found[2];
        struct soma_lfa_options options = usual;
        struct dse_error err;
        struct soma_lfa_prices *prices;
        options.moves = (enum soma_moves)moves;
        options.n_round = 1500;
        options.greedy_round = 100;
        open_case(&c, "tests/known/soma/tiny6.yaml", options.moves, 256 << 10);
        assert_int_equal(soma_lfa_prices_new(&c.search, &prices, &err), DSE_OK);
        for (int i = 0; i < 2; i++)
            soma_lfa_new(6, &c.base.arena, &found[i]);
        double cost = run(&c, &options, 7, 1, &found[0]);
        options.prices = prices;
        for (int i = 0; i < 2; i++) {
            assert_true(run(&c, &options, 7, 999, &found[1]) == cost);
            assert_int_equal(found[0].n_flc, found[1].n_flc);
            assert_memory_equal(found[0].order, found[1].order, 6 * sizeof(uint32_t));
            assert_memory_equal(found[0].flc, found[1].flc, found[0].n_flc * sizeof(uint32_t));
            assert_memory_equal(found[0].tiling, found[1].tiling, found[0].n_flc * sizeof(uint32_t));
        }
        soma_lfa_prices_free(prices);
        close_case(&c);
    }
}

/* What the first stage of the published program finds on its edge chip (8 MB, 16 GB/s; reference results):
 * 5.3707e15 pJ ns. */
static void test_search_finds_what_the_published_stage_1_finds(void **state)
{
    (void)state;
    struct search_case c;
    struct soma_lfa found;
    struct soma_lfa_options options = usual;
    options.moves = SOMA_MOVES_PUBLISHED;
    options.n_round = 7200;
    open_case(&c, "experiments/networks/resnet50_soma.yaml", options.moves, 8 << 20);
    c.search.machine.dram_rate = (struct byte_rate){16, 1};
    soma_lfa_new(c.base.network.n_layer, &c.base.arena, &found);
    assert_true(run(&c, &options, 1, 7200, &found) <= 1.02 * 5.370713487873e-6);
    close_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves_keep_an_lfa_valid),
        cmocka_unit_test(test_papers_moves_reach_every_lfa),
        cmocka_unit_test(test_search_finds_the_best_of_all_lfas),
        cmocka_unit_test(test_search_does_not_depend_on_steps_or_kept_prices),
        cmocka_unit_test(test_search_finds_what_the_published_stage_1_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
