/* The shared genetic algorithm on a search space that is no mapping: strings of 24 bits whose cost is 1 + the
 * distance to a target, with 4 bits that must not all be set (infeasible). The optimum, cost 1, is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/search/genetic.h"

enum { N_BIT = 24 };
#define TARGET 0x5a5a5au
#define FORBIDDEN 0x800421u

struct bits {
    uint64_t left, used; /* evaluations */
    double best;
};

static bool bits_draw(void *self, struct random_stream *stream, void *point)
{
    (void)self;
    uint32_t value = random_u32(stream) & ((1u << N_BIT) - 1);
    memcpy(point, &value, sizeof value);
    return true;
}

static enum search_outcome bits_evaluate(void *self, const void *point, double *cost)
{
    struct bits *bits = self;
    uint32_t value;
    memcpy(&value, point, sizeof value);
    if (bits->left == 0)
        return SEARCH_OVER;
    bits->left--;
    bits->used++;
    if ((value & FORBIDDEN) == FORBIDDEN)
        return SEARCH_INFEASIBLE;
    *cost = 1 + __builtin_popcount(value ^ TARGET);
    bits->best = *cost < bits->best ? *cost : bits->best;
    return SEARCH_PRICED;
}

static bool bits_neighbour(void *self, struct random_stream *stream, const void *from, void *to)
{
    (void)self;
    uint32_t value;
    memcpy(&value, from, sizeof value);
    value ^= 1u << random_below(stream, N_BIT);
    memcpy(to, &value, sizeof value);
    return true;
}

static bool bits_crossover(void *self, struct random_stream *stream, const void *a, const void *b,
                           void *child)
{
    (void)self;
    uint32_t x, y, mask = random_u32(stream);
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    x = (x & mask) | (y & ~mask);
    memcpy(child, &x, sizeof x);
    return true;
}

static struct search_space make_space(struct bits *bits, uint64_t left)
{
    *bits = (struct bits){.left = left, .best = 1e9};
    return (struct search_space){.self = bits,
                                 .point_byte = sizeof(uint32_t),
                                 .draw = bits_draw,
                                 .evaluate = bits_evaluate,
                                 .neighbour = bits_neighbour,
                                 .crossover = bits_crossover};
}

static void run_genetic_in(const struct search_space *space, double mutation_chance, uint64_t seed)
{
    const struct genetic_options options = {.n_population = 60,
                                            .n_generation = 60,
                                            .n_elite = 2,
                                            .n_tournament = 3,
                                            .crossover_chance = 0.7,
                                            .mutation_chance = mutation_chance};
    struct genetic *genetic;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    assert_int_equal(
        genetic_new(space, &options, random_stream_make(seed, 0, RANDOM_TEST), &arena, &genetic, &err),
        DSE_OK);
    while (genetic_step(genetic, 100))
        ;
    assert_false(genetic_step(genetic, 100));
    arena_free(&arena);
}

static void run_genetic(struct bits *bits, uint64_t left, uint64_t seed)
{
    const struct search_space space = make_space(bits, left);
    run_genetic_in(&space, 0.5, seed);
}

static void test_genetic_finds_the_optimum(void **state)
{
    (void)state;
    struct bits bits;
    for (uint64_t seed = 0; seed < 10; seed++) {
        run_genetic(&bits, UINT64_MAX, seed);
        assert_true(bits.best == 1);
        assert_in_range(bits.used, 60 + 60 * 58,
                        60 + 60 * 58 + 20); /* a population, then 60 times all but the elite */
    }
}

static bool bits_mutate(void *self, struct random_stream *stream, double chance, const void *from, void *to)
{
    uint32_t value, changed = 0;
    (void)self;
    for (uint32_t i = 0; i < N_BIT; i++)
        changed |= (uint32_t)(random_unit(stream) < chance) << i;
    memcpy(&value, from, sizeof value);
    value ^= changed;
    memcpy(to, &value, sizeof value);
    return changed != 0;
}

/* The same with a chance for each bit, where the space mutates parts. */
static void test_genetic_mutates_parts(void **state)
{
    (void)state;
    struct bits bits;
    for (uint64_t seed = 0; seed < 10; seed++) {
        struct search_space space = make_space(&bits, UINT64_MAX);
        space.mutate = bits_mutate;
        run_genetic_in(&space, 0.04, seed);
        assert_true(bits.best == 1);
        assert_in_range(bits.used, 60 + 60 * 58, 60 + 60 * 58 + 20);
    }
}

static void test_genetic_keeps_the_budget(void **state)
{
    (void)state;
    struct bits bits;
    run_genetic(&bits, 500, 1);
    assert_int_equal(bits.used, 500);
}

static void test_genetic_refuses_an_elite_of_all(void **state)
{
    (void)state;
    struct bits bits;
    const struct search_space space = make_space(&bits, UINT64_MAX);
    const struct genetic_options options = {.n_population = 7, .n_elite = 7, .n_tournament = 1};
    struct genetic *genetic;
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    assert_int_equal(
        genetic_new(&space, &options, random_stream_make(1, 0, RANDOM_TEST), &arena, &genetic, &err),
        DSE_BAD_USAGE);
    assert_string_equal(err.text, "elite is 7, it must be less than the population of 7");
    arena_free(&arena);
}

/* A step ends early however large the elite is: who lives on counts as a child does. */
static void test_genetic_counts_its_elite(void **state)
{
    (void)state;
    struct bits bits;
    const struct search_space space = make_space(&bits, UINT64_MAX);
    const struct genetic_options options = {
        .n_population = 1000, .n_generation = 2, .n_elite = 999, .n_tournament = 1};
    struct genetic *genetic;
    struct arena arena;
    struct dse_error err;
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    arena_init(&arena);
    assert_int_equal(genetic_new(&space, &options, stream, &arena, &genetic, &err), DSE_OK);
    uint64_t used;
    do { /* until the first of the elite lives on; a draw may be infeasible */
        used = bits.used;
        assert_true(genetic_step(genetic, 1));
    } while (bits.used > used);
    assert_in_range(used, 1000, 1200);
    assert_true(genetic_step(genetic, 998));
    assert_int_equal(bits.used, used);
    assert_true(genetic_step(genetic, 1));
    assert_int_equal(bits.used, used + 1);
    assert_true(genetic_step(genetic, 999));
    assert_int_equal(bits.used, used + 1);
    assert_true(genetic_step(genetic, 1));
    assert_int_equal(bits.used, used + 2);
    assert_false(genetic_step(genetic, 1));
    arena_free(&arena);
}

static bool draw_nothing(void *self, struct random_stream *stream, void *point)
{
    (void)self;
    (void)stream;
    (void)point;
    return false;
}

static void test_genetic_ends_without_a_first_point(void **state)
{
    (void)state;
    struct bits bits;
    struct search_space space = make_space(&bits, UINT64_MAX);
    const struct genetic_options genetic_options = {.n_population = 2, .n_generation = 1, .n_tournament = 1};
    struct genetic *genetic;
    struct arena arena;
    struct dse_error err;
    struct random_stream stream = random_stream_make(1, 0, RANDOM_TEST);
    arena_init(&arena);
    space.draw = draw_nothing;
    assert_int_equal(genetic_new(&space, &genetic_options, stream, &arena, &genetic, &err), DSE_OK);
    assert_false(genetic_step(genetic, 100000));
    assert_int_equal(bits.used, 0);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_genetic_finds_the_optimum),
        cmocka_unit_test(test_genetic_mutates_parts),
        cmocka_unit_test(test_genetic_keeps_the_budget),
        cmocka_unit_test(test_genetic_refuses_an_elite_of_all),
        cmocka_unit_test(test_genetic_counts_its_elite),
        cmocka_unit_test(test_genetic_ends_without_a_first_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
