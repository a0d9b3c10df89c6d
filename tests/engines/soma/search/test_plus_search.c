/* The joint search on a network of six layers: the price it reports is that of the scheme it reports, and it
 * depends on the stream alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engines/soma/search/plus_price.h"
#include "engines/soma/search/plus_search.h"
#include "engines/soma/search/plus_start.h"
#include "tests/support/soma_case.h"

enum { KB = 1 << 10, ROUNDS = 400 };

struct fixture {
    struct soma_case c;
    struct soma_search search;
    struct arena scratch;
    struct soma_lfa start;
    struct soma_price start_price; /* of the joint search */
    struct plus_options options;
};

static struct soma_price price_of(struct fixture *f, const struct soma_lfa *lfa, const int32_t *lead,
                                  struct plus_limits *limits)
{
    struct fused_schedule schedule;
    struct soma_price price;
    arena_reset(&f->scratch);
    if (plus_price(&f->search, lfa, lead, INFINITY, &f->scratch, &schedule, &price, limits, &f->c.err) !=
        DSE_OK)
        fail_msg("%s", f->c.err.text);
    return price;
}

static int open_fixture(void **state)
{
    static struct fixture f;
    struct soma_price price;
    soma_case_open(&f.c, "tests/known/soma/tiny6.yaml", 64 * KB);
    soma_case_cache(&f.c);
    f.search = soma_case_search(&f.c, 64 * KB, 4);
    f.options = (struct plus_options){.n_round = ROUNDS, .first_temperature = 0.002, .alpha = 8};
    arena_init(&f.scratch);
    soma_lfa_new(f.c.network.n_layer, &f.c.arena, &f.start);
    if (plus_start(&f.search, 16, &f.scratch, &f.start, &price, &f.c.err) != DSE_OK || isinf(price.cost))
        return 1;
    f.start_price = price_of(&f, &f.start, NULL, NULL);
    *state = &f;
    return 0;
}

static int close_fixture(void **state)
{
    struct fixture *f = *state;
    arena_free(&f->scratch);
    soma_case_close(&f->c);
    return 0;
}

static struct plus_search *new_search(struct fixture *f, uint64_t seed)
{
    struct plus_search *search;
    if (plus_search_new(&f->search, &f->options, &f->start, NULL, random_stream_make(seed, 1, RANDOM_TEST),
                        &f->c.arena, &search, &f->c.err) != DSE_OK)
        fail_msg("%s", f->c.err.text);
    return search;
}

/* To the end, `n` rounds at a time. */
static void run(struct fixture *f, struct plus_search *search, uint64_t n)
{
    bool done = false;
    for (double cost = plus_search_cost(search); !done; cost = plus_search_cost(search)) {
        assert_int_equal(plus_search_step(search, n, &done, &f->c.err), DSE_OK);
        assert_true(plus_search_cost(search) <= cost); /* of the best */
    }
}

static void test_search_begins_at_its_start(void **state)
{
    struct fixture *f = *state;
    struct plus_search *search = new_search(f, 1);
    assert_true(plus_search_cost(search) == f->start_price.cost);
    assert_int_equal(plus_search_rounds(search), 0);
    plus_search_free(search);
    plus_search_free(NULL);
}

static void test_best_is_priced_as_it_says(void **state)
{
    struct fixture *f = *state;
    struct soma_price price, again;
    struct soma_lfa lfa;
    struct plus_point point;
    const int32_t *lead;
    struct plus_limits limits;
    soma_lfa_new(f->c.network.n_layer, &f->c.arena, &lfa);
    plus_point_new(f->c.network.n_layer, &f->c.arena, &point);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct plus_search *search = new_search(f, seed);
        run(f, search, 50);
        assert_true(plus_search_rounds(search) > 0 && plus_search_rounds(search) <= ROUNDS);
        plus_search_best(search, &lfa, &lead, &price);
        assert_true(price.cost == plus_search_cost(search));
        assert_true(price.cost < f->start_price.cost);
        again = price_of(f, &lfa, lead, &limits);
        assert_true(again.cost == price.cost && again.cycle == price.cycle &&
                    again.energy_j == price.energy_j);
        assert_true(limits.bound <= price.cost && limits.full == UINT32_MAX &&
                    price.buffer_max_byte <= 64 * KB);
        plus_search_point(search, &point);
        plus_point_lfa(&point, &lfa);
        assert_true(price_of(f, &lfa, point.lead, NULL).cost == price.cost);
        plus_search_free(search);
    }
}

static void test_same_stream_is_the_same_search(void **state)
{
    struct fixture *f = *state;
    struct plus_search *one = new_search(f, 5), *two = new_search(f, 5);
    run(f, one, 7);
    run(f, two, 7);
    assert_true(plus_search_cost(one) == plus_search_cost(two));
    assert_int_equal(plus_search_rounds(one), plus_search_rounds(two));
    plus_search_free(one);
    plus_search_free(two);
}

/* Whatever moves are made one after another: a layer stands behind what it reads, groups have one tiling
 * number, the first layer begins a layer group. */
static void test_moves_keep_points_whole(void **state)
{
    struct fixture *f = *state;
    uint32_t n = f->c.network.n_layer, *where = arena_alloc(&f->c.arena, n, sizeof *where);
    const struct soma_graph *graph = f->search.context.graph;
    struct random_stream stream = random_stream_make(3, 1, RANDOM_TEST);
    struct plus_point point;
    plus_point_new(n, &f->c.arena, &point);
    plus_point_of(&f->start, &point);
    for (int k = 0; k < 20000; k++) {
        (void)plus_move(&f->search.context, &stream, where, &point);
        for (uint32_t i = 0; i < n; i++)
            where[i] = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t l = point.order[i];
            assert_true(l < n && where[l] == UINT32_MAX);
            where[l] = i;
            for (uint32_t o = graph->first_operand[l]; o < graph->first_operand[l + 1]; o++)
                assert_true(graph->operand[o].source < 0 || where[graph->operand[o].source] < i);
            assert_true(point.tiling[i] > 0 && point.border[i] <= PLUS_CUT);
            assert_true(i == 0 ? point.border[i] == PLUS_CUT
                               : point.border[i] != PLUS_NONE || point.tiling[i] == point.tiling[i - 1]);
        }
    }
}

/* One group of one tile, in which the value and query matrices stand far behind what they read: one move puts
 * both there, in a group of their own with it that has more tiles, and leaves all others as they are. */
static void test_readers_move_together(void **state)
{
    struct soma_case c;
    struct soma_lfa lfa;
    struct plus_point start, point;
    struct random_stream stream = random_stream_make(4, 1, RANDOM_TEST);
    uint32_t value = 0, n_found = 0;
    (void)state;
    soma_case_open(&c, "experiments/networks/gpt2_small_prefill512.yaml", 64 * KB);
    uint32_t n = c.network.n_layer, *where = arena_alloc(&c.arena, n, sizeof *where);
    plus_point_new(n, &c.arena, &start);
    plus_point_new(n, &c.arena, &point);
    soma_lfa_new(n, &c.arena, &lfa);
    while (strcmp(c.network.layer[value].name, "attention_V") != 0)
        value++;
    assert_string_equal(c.network.layer[0].name, "norm1");
    assert_string_equal(c.network.layer[1].name, "attention_Q");
    for (uint32_t i = 0; i < n; i++)
        lfa.order[i] = i == 0 || i > value ? i : i < value ? i + 1 : 1;
    lfa.n_layer = n;
    lfa.n_flc = lfa.tiling[0] = 1;
    lfa.flc[0] = 0;
    lfa.dram_cut[0] = true;
    plus_point_of(&lfa, &start);
    memset(start.lead, 0, n * sizeof *start.lead);
    for (int k = 0; k < 40000; k++) {
        plus_point_copy(&start, &point);
        bool found = plus_move(&c.context, &stream, where, &point) && point.order[1] == value &&
                     point.order[2] == 1 && point.border[1] == PLUS_NONE && point.border[2] == PLUS_NONE &&
                     point.border[3] == PLUS_GROUP && point.tiling[0] > 1;
        for (uint32_t i = 3; i < n && found; i++) {
            assert_int_equal(point.order[i], i <= value ? i - 1 : i);
            assert_int_equal(point.tiling[i], 1);
            assert_true(i == 3 || point.border[i] == PLUS_NONE);
        }
        n_found += found;
    }
    assert_true(n_found > 0);
    soma_case_close(&c);
}

/* All layers but the last as one group of one tile: 4 samples of 32 x 32 points and 32 channels are twice the
 * buffer. Twice the tiles of the layer that does not fit, again and again, make it fit; a group that fits
 * keeps its own. */
static void test_tiles_are_refined_where_they_do_not_fit(void **state)
{
    struct fixture *f = *state;
    uint32_t n = f->c.network.n_layer, start[] = {0, n - 1}, tiling[] = {1, 1};
    bool cut[] = {true, true};
    struct soma_lfa lfa = {n, f->start.order, 2, start, tiling, cut}, finer;
    struct plus_limits limits;
    struct plus_point point;
    plus_point_new(n, &f->c.arena, &point);
    soma_lfa_new(n, &f->c.arena, &finer);
    plus_point_of(&lfa, &point);
    uint32_t n_finer = 0;
    assert_true(isinf(price_of(f, &lfa, NULL, &limits).cost));
    for (; limits.full != UINT32_MAX && n_finer < 8; n_finer++) {
        assert_true(limits.full != point.order[n - 1]); /* 4 samples of 8 x 8 points, 64 channels: 16 KB */
        assert_true(plus_refine(&point, limits.full));
        plus_point_lfa(&point, &finer);
        (void)price_of(f, &finer, NULL, &limits);
    }
    assert_true(n_finer > 0 && isfinite(price_of(f, &finer, NULL, &limits).cost));
    assert_true(finer.n_flc == 2 && finer.tiling[0] == 1U << n_finer && finer.tiling[1] == 1);
    point.tiling[n - 1] = 1 << 16;
    assert_false(plus_refine(&point, point.order[n - 1]));
}

/* A cancelled search is over with the best so far, here the start. */
static void test_cancelled_search_is_over(void **state)
{
    struct fixture *f = *state;
    const atomic_int cancel = 1;
    f->search.cancel = &cancel;
    struct plus_search *search = new_search(f, 1);
    bool done;
    assert_int_equal(plus_search_step(search, 100, &done, &f->c.err), DSE_OK);
    assert_true(done);
    assert_true(plus_search_cost(search) == f->start_price.cost);
    plus_search_free(search);
    f->search.cancel = NULL;
}

/* What a search of few rounds finds. */
static double short_search(struct fixture *f, uint64_t seed)
{
    struct plus_search *search = new_search(f, seed);
    run(f, search, 30);
    double cost = plus_search_cost(search);
    plus_search_free(search);
    return cost;
}

/* A donor of the same order that is far better is taken over: with grafts, few rounds find more. */
static void test_donors_are_used(void **state)
{
    struct fixture *f = *state;
    struct plus_point donor, point;
    struct plus_search *search = new_search(f, 1);
    const struct plus_options options = f->options;
    uint32_t n = f->c.network.n_layer;
    double with = 0, without = 0;
    run(f, search, 100);
    plus_point_new(n, &f->c.arena, &donor);
    plus_point_new(n, &f->c.arena, &point);
    plus_search_point(search, &donor);
    plus_search_free(search);
    plus_point_copy(&donor, &point);
    for (uint32_t i = 0; i < n; i++) { /* every layer alone */
        point.border[i] = PLUS_CUT;
        point.tiling[i] = 16;
    }
    plus_point_lfa(&point, &f->start);
    f->options.n_round = 30;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        f->options.n_donor = 0;
        without += short_search(f, seed);
        f->options.donor = &donor;
        f->options.n_donor = 1;
        with += short_search(f, seed);
    }
    assert_true(with < without);
    f->options = options;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_begins_at_its_start),
        cmocka_unit_test(test_best_is_priced_as_it_says),
        cmocka_unit_test(test_same_stream_is_the_same_search),
        cmocka_unit_test(test_moves_keep_points_whole),
        cmocka_unit_test(test_readers_move_together),
        cmocka_unit_test(test_tiles_are_refined_where_they_do_not_fit),
        cmocka_unit_test(test_cancelled_search_is_over),
        cmocka_unit_test(test_donors_are_used),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
