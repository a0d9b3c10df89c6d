/* The in-place annealing on small spaces whose course can be worked out: a line of numbers, and a string of
 * bits with a known optimum. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/search/annealing.h"

enum { N_BIT = 24 };
#define TARGET 0x5a5a5au
#define FORBIDDEN 0x800421u

/* Bits to be set as in TARGET; cost 1 + the distance. */
struct bits {
    uint32_t value, before, kept;
    uint64_t n_propose, n_undo, n_keep, n_restore, left;
    double best;
};

static double bits_cost(uint32_t value)
{
    return 1 + __builtin_popcount(value ^ TARGET);
}

static enum search_outcome bits_propose(void *self, struct random_stream *stream, double *cost)
{
    struct bits *bits = self;
    if (bits->left == 0)
        return SEARCH_OVER;
    bits->left--;
    bits->n_propose++;
    uint32_t next = bits->value ^ 1u << random_below(stream, N_BIT);
    if ((next & FORBIDDEN) == FORBIDDEN)
        return SEARCH_INFEASIBLE;
    bits->before = bits->value;
    bits->value = next;
    *cost = bits_cost(next);
    return SEARCH_PRICED;
}

static void bits_undo(void *self)
{
    struct bits *bits = self;
    bits->n_undo++;
    bits->value = bits->before;
}

static void bits_keep(void *self)
{
    struct bits *bits = self;
    bits->n_keep++;
    bits->kept = bits->value;
}

static void bits_restore(void *self)
{
    struct bits *bits = self;
    bits->n_restore++;
    bits->value = bits->kept;
}

static struct annealing *start(struct bits *bits, const struct annealing_options *options, uint64_t seed,
                               struct arena *arena)
{
    const struct annealing_space space = {bits, bits_propose, bits_undo, bits_keep, bits_restore};
    struct annealing *walk;
    struct dse_error err;
    *bits = (struct bits){.left = UINT64_MAX};
    assert_int_equal(annealing_new(&space, options, bits_cost(0), random_stream_make(seed, 0, RANDOM_TEST),
                                   arena, &walk, &err),
                     DSE_OK);
    return walk;
}

static const struct annealing_options usual = {
    .n_round = 2000, .first_temperature = 0.1, .alpha = 8, .return_share = 0.9, .greedy_round = 100};

static void test_walk_finds_the_optimum_and_keeps_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct arena arena;
        struct bits bits;
        arena_init(&arena);
        struct annealing *walk = start(&bits, &usual, seed, &arena);
        while (annealing_step(walk, 7)) {
        }
        assert_int_equal(bits.kept, TARGET);
        assert_int_equal(annealing_rounds(walk), 2100);
        assert_int_equal(bits.n_propose, 2100);
        assert_false(annealing_step(walk, 1));
        assert_int_equal(bits.n_propose, 2100);
        arena_free(&arena);
    }
}

static void test_walk_does_not_depend_on_the_size_of_steps(void **state)
{
    (void)state;
    struct arena arena;
    struct bits one, other;
    arena_init(&arena);
    struct annealing *a = start(&one, &usual, 3, &arena), *b = start(&other, &usual, 3, &arena);
    while (annealing_step(a, 1)) {
    }
    while (annealing_step(b, 1000)) {
    }
    assert_int_equal(one.value, other.value);
    assert_int_equal(one.n_undo, other.n_undo);
    assert_int_equal(one.n_keep, other.n_keep);
    assert_int_equal(one.n_restore, other.n_restore);
    arena_free(&arena);
}

/* At temperature 0, and in greedy rounds, a worse point is never the present one. */
static void test_walk_only_gets_better_without_temperature(void **state)
{
    (void)state;
    const struct annealing_options cold = {.n_round = 300, .return_share = 1},
                                   greedy = {.greedy_round = 300, .return_share = 1};
    for (int g = 0; g < 2; g++) {
        struct arena arena;
        struct bits bits;
        arena_init(&arena);
        struct annealing *walk = start(&bits, g ? &greedy : &cold, 5, &arena);
        double last = bits_cost(0);
        uint64_t n = 0;
        for (bool more = true; more; n++) {
            more = annealing_step(walk, 1);
            assert_true(bits_cost(bits.value) <= last);
            last = bits_cost(bits.value);
        }
        assert_int_equal(n, 300);
        assert_true(bits_cost(bits.kept) == last);
        arena_free(&arena);
    }
}

/* Every proposal costs `change` more than the start. */
struct step_up {
    double cost, change;
    uint64_t accepted;
};

static enum search_outcome up_propose(void *self, struct random_stream *stream, double *cost)
{
    struct step_up *up = self;
    (void)stream;
    up->accepted++;
    *cost = up->cost + up->change;
    return SEARCH_PRICED;
}

static void up_undo(void *self)
{
    ((struct step_up *)self)->accepted--;
}

static void up_keep(void *self)
{
    (void)self;
}

/* How often, over many seeds, the first round takes a point that costs `change` more than 10. */
static double first_round_share(enum annealing_rule rule, double reference, double change)
{
    int taken = 0;
    enum { N = 20000 };
    for (uint64_t seed = 0; seed < N; seed++) {
        struct arena arena;
        struct step_up up = {.cost = 10, .change = change};
        struct annealing *walk;
        struct dse_error err;
        const struct annealing_space space = {&up, up_propose, up_undo, up_keep, up_keep};
        const struct annealing_options options = {.rule = rule,
                                                  .n_round = 100,
                                                  .first_temperature = 0.1,
                                                  .last_temperature = 0.1,
                                                  .alpha = 8,
                                                  .reference = reference,
                                                  .return_share = 1};
        arena_init(&arena);
        assert_int_equal(annealing_new(&space, &options, 10, random_stream_make(seed, 1, RANDOM_TEST), &arena,
                                       &walk, &err),
                         DSE_OK);
        assert_true(annealing_step(walk, 1));
        taken += up.accepted == 1;
        arena_free(&arena);
    }
    return (double)taken / N;
}

/* exp(-change / T) by hand; 20000 draws have a standard deviation of 0.0035. */
static void test_walk_accepts_with_the_papers_probability(void **state)
{
    (void)state;
    assert_true(fabs(first_round_share(ANNEALING_RELATIVE, 0, 0.5) - 0.60653) <
                0.014); /* 5 % of 10 at T = 0.1 */
    assert_true(fabs(first_round_share(ANNEALING_RELATIVE, 0, 2) - 0.13534) < 0.014); /* 20 % */
    assert_true(fabs(first_round_share(ANNEALING_RELATIVE, 8, 0.5) - 0.08208) <
                0.014);                                            /* 25 % of the 2 above the reference */
    assert_true(first_round_share(ANNEALING_RELATIVE, 0, 0) == 1); /* equal costs are taken */
    assert_true(first_round_share(ANNEALING_RELATIVE, 10, 0.001) == 0); /* nothing is above the reference */
}

/* x^(-1/T) by hand, at T = 0.1: 1.05^-10 and 1.2^-10. */
static void test_walk_accepts_by_ratios(void **state)
{
    (void)state;
    assert_true(fabs(first_round_share(ANNEALING_RATIO, 0, 0.5) - 0.61391) < 0.014);
    assert_true(fabs(first_round_share(ANNEALING_RATIO, 0, 2) - 0.16151) < 0.014);
    assert_true(first_round_share(ANNEALING_RATIO, 0, 0) == 1);
}

/* exp(-change / T) by hand, at T = 0.1: change 0.05 and 0.2. */
static void test_walk_accepts_by_differences(void **state)
{
    (void)state;
    assert_true(fabs(first_round_share(ANNEALING_ABSOLUTE, 0, 0.05) - 0.60653) < 0.014);
    assert_true(fabs(first_round_share(ANNEALING_ABSOLUTE, 0, 0.2) - 0.13534) < 0.014);
    assert_true(first_round_share(ANNEALING_ABSOLUTE, 0, 0) == 1);
}

/* Three descents of 700 rounds, each from the best point; whatever the steps. */
static void test_walk_restarts_from_the_best(void **state)
{
    (void)state;
    const struct annealing_options options = {.rule = ANNEALING_RATIO,
                                              .n_round = 700,
                                              .n_restart = 2,
                                              .first_temperature = 100,
                                              .last_temperature = 0.01,
                                              .return_share = 1};
    for (uint64_t step = 1; step <= 700; step += 699) {
        struct arena arena;
        struct bits bits;
        arena_init(&arena);
        struct annealing *walk = start(&bits, &options, 4, &arena);
        while (annealing_rounds(walk) < 700)
            assert_true(annealing_step(walk, step));
        assert_int_equal(bits.n_restore, 1);
        assert_int_equal(bits.value, bits.kept);
        while (annealing_step(walk, step)) {
        }
        assert_int_equal(annealing_rounds(walk), 2100);
        assert_in_range(bits.n_restore, 2, 3);
        assert_int_equal(bits.kept, TARGET);
        annealing_end_early(walk);
        assert_false(annealing_step(walk, 1));
        arena_free(&arena);
    }
}

static void test_walk_goes_back_once(void **state)
{
    (void)state;
    struct arena arena;
    struct bits bits;
    /* So hot that the walk is hardly ever at its best: it goes back at 90 %, not at 100 % again. */
    const struct annealing_options hot = {.n_round = 1000, .first_temperature = 100, .return_share = 0.9};
    arena_init(&arena);
    struct annealing *walk = start(&bits, &hot, 11, &arena);
    assert_true(annealing_step(walk, 899));
    assert_int_equal(bits.n_restore, 0);
    assert_true(bits.value != bits.kept);
    assert_true(annealing_step(walk, 1));
    assert_int_equal(bits.n_restore, 1);
    assert_int_equal(bits.value, bits.kept);
    assert_true(annealing_step(walk, 99));
    assert_int_equal(bits.n_restore, 1);
    arena_free(&arena);
}

static void test_walk_ends_early_with_greedy_rounds(void **state)
{
    (void)state;
    struct arena arena;
    struct bits bits;
    arena_init(&arena);
    struct annealing *walk = start(&bits, &usual, 2, &arena);
    assert_true(annealing_step(walk, 50));
    annealing_end_early(walk);
    annealing_end_early(walk);
    assert_false(annealing_step(walk, 100000));
    assert_int_equal(annealing_rounds(walk), 150);
    annealing_end_early(walk);
    assert_false(annealing_step(walk, 1));
    arena_free(&arena);
}

static void test_walk_stops_when_the_space_is_over(void **state)
{
    (void)state;
    struct arena arena;
    struct bits bits;
    arena_init(&arena);
    struct annealing *walk = start(&bits, &usual, 2, &arena);
    bits.left = 10;
    assert_false(annealing_step(walk, 100000));
    assert_int_equal(bits.n_propose, 10);
    assert_false(annealing_step(walk, 1));
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk_finds_the_optimum_and_keeps_it),
        cmocka_unit_test(test_walk_does_not_depend_on_the_size_of_steps),
        cmocka_unit_test(test_walk_only_gets_better_without_temperature),
        cmocka_unit_test(test_walk_accepts_with_the_papers_probability),
        cmocka_unit_test(test_walk_accepts_by_ratios),
        cmocka_unit_test(test_walk_accepts_by_differences),
        cmocka_unit_test(test_walk_restarts_from_the_best),
        cmocka_unit_test(test_walk_goes_back_once),
        cmocka_unit_test(test_walk_ends_early_with_greedy_rounds),
        cmocka_unit_test(test_walk_stops_when_the_space_is_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
