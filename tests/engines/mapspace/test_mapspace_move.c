/* Neighbours, children and moves stay in the space, can be undone, and connect a tiny space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "engines/mapspace/mapspace_move.h"
#include "engines/mapspace/mapspace_private.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

/* One random case after the other that has a mapping. */
struct cases {
    struct random_stream stream;
    uint64_t i;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    const struct mapspace *space;
};

/* Two dimensions of some level have their places. */
static void fix_order(struct cases *c, struct mapspace_constraints *constraints)
{
    mapspace_constraints_init(constraints, &c->problem, &c->arch);
    struct loop_constraints *loops = &constraints->level[random_below(&c->stream, c->arch.n_level)].temporal;
    if (c->problem.n_dim < 2)
        return;
    loops->order[0] = (uint8_t)random_below(&c->stream, c->problem.n_dim);
    loops->order[1] = (uint8_t)((loops->order[0] + 1) % c->problem.n_dim);
    loops->n_order = 2;
}

static void next_case(struct cases *c)
{
    struct dse_error err;
    struct mapspace_constraints constraints;
    do {
        struct random_case_options options = {
            .links = c->i % 2, .limits = true, .roles = c->i % 3 == 0, .network_cost = c->i % 5 == 0};
        arena_reset(&c->arena);
        random_case_problem(&c->stream, 20000, &c->problem);
        random_case_architecture(&c->stream, &options, &c->arch);
        if (c->i % 3 == 1)
            fix_order(c, &constraints);
        assert_int_equal(mapspace_new(&c->problem, &c->arch, c->i % 3 == 1 ? &constraints : NULL,
                                      c->i % 4 == 3, &c->arena, &c->space, &err),
                         DSE_OK);
        c->i++;
    } while (mapspace_is_empty(c->space));
}

static void check(const struct cases *c, const struct mapping *mapping)
{
    char reason[256];
    if (!checker_accepts(&c->problem, &c->arch, mapping, reason, sizeof reason))
        fail_msg("case %d: %s", (int)c->i, reason);
    assert_true(mapspace_contains(c->space, mapping, NULL));
}

static void test_neighbours_are_valid_and_differ(void **state)
{
    (void)state;
    struct cases c = {.stream = random_stream_make(5, 1, RANDOM_TEST)};
    struct mapping from = {0}, to = {0};
    int n_found = 0, n_same = 0;
    for (int i = 0; i < 50; i++) {
        next_case(&c);
        assert_true(mapspace_draw(c.space, &c.stream, &from, NULL, NULL));
        for (int k = 0; k < 200; k++) {
            if (!mapspace_neighbour(c.space, &c.stream, &from, &to))
                continue;
            n_found++;
            n_same += mapping_same(&from, &to);
            check(&c, &to);
            from = to;
        }
    }
    assert_true(n_found > 9000);
    assert_true(n_same < n_found / 4); /* orders of unit loops may change without an effect */
    arena_free(&c.arena);
}

/* From any mapping of a small space, random steps reach any other: all 26 (counted in
 * test_mapspace_draw.c). */
static void test_neighbours_connect_a_tiny_space(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping seen[64], now = {0}, next = {0};
    int n_seen = 0;
    struct random_stream stream = random_stream_make(5, 2, RANDOM_TEST);
    arena_init(&arena);
    small_gemm(&problem, 2, 2, 1);
    small_machine(&arch, 8, 64);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    assert_true(mapspace_draw(space, &stream, &now, NULL, NULL));
    for (int i = 0; i < 20000; i++) {
        bool known = false;
        for (int k = 0; k < n_seen && !known; k++)
            known = mapping_same(&seen[k], &now);
        if (!known)
            seen[n_seen++] = now;
        assert_true(n_seen <= 26);
        if (mapspace_neighbour(space, &stream, &now, &next))
            now = next;
    }
    assert_int_equal(n_seen, 26);
    arena_free(&arena);
}

static void test_children_are_valid(void **state)
{
    (void)state;
    struct cases c = {.stream = random_stream_make(5, 3, RANDOM_TEST)};
    struct mapping a = {0}, b = {0}, child = {0};
    int n_found = 0, n_like_a = 0;
    for (int i = 0; i < 50; i++) {
        next_case(&c);
        for (int k = 0; k < 100; k++) {
            assert_true(mapspace_draw(c.space, &c.stream, &a, NULL, NULL));
            assert_true(mapspace_draw(c.space, &c.stream, &b, NULL, NULL));
            if (!mapspace_crossover(c.space, &c.stream, &a, &b, &child))
                continue;
            n_found++;
            check(&c, &child);
            n_like_a += mapping_same(&a, &child);
        }
    }
    assert_true(n_found > 4500);
    assert_true(n_like_a < n_found / 2);
    arena_free(&c.arena);
}

/* The child of a mapping with itself is that mapping. */
static void test_child_of_one_parent_is_the_parent(void **state)
{
    (void)state;
    struct cases c = {.stream = random_stream_make(5, 4, RANDOM_TEST)};
    struct mapping a = {0}, child = {0};
    for (int i = 0; i < 30; i++) {
        next_case(&c);
        assert_true(mapspace_draw(c.space, &c.stream, &a, NULL, NULL));
        assert_true(mapspace_crossover(c.space, &c.stream, &a, &a, &child));
        assert_true(mapping_same(&a, &child));
    }
    arena_free(&c.arena);
}

static void test_moves_apply_and_undo(void **state)
{
    (void)state;
    struct cases c = {.stream = random_stream_make(5, 5, RANDOM_TEST)};
    struct mapping mapping = {0};
    struct factor_move move[64];
    struct move_undo undo;
    int n_applied = 0, n_refused = 0;
    for (int i = 0; i < 50; i++) {
        next_case(&c);
        assert_true(mapspace_draw(c.space, &c.stream, &mapping, NULL, NULL));
        const struct mapping before = mapping;
        uint32_t n_slot = c.space->n_slot;
        for (uint32_t a = 0; a < n_slot; a++)
            for (uint32_t b = 0; b < n_slot; b++) {
                uint32_t n = a == b ? 0 : mapspace_moves_between(c.space, &mapping, a, b, move, 64);
                for (uint32_t k = 0; k < n; k++) {
                    if (mapspace_apply(c.space, &mapping, &move[k], NULL, &undo)) {
                        check(&c, &mapping);
                        mapspace_undo(&mapping, &undo);
                        n_applied++;
                    } else {
                        n_refused++;
                    }
                    assert_true(mapping_same(&mapping, &before));
                }
            }
    }
    assert_true(n_applied > 100 && n_refused > 100);
    arena_free(&c.arena);
}

static void test_gather_brings_a_dimension_together(void **state)
{
    (void)state;
    struct cases c = {.stream = random_stream_make(5, 6, RANDOM_TEST)};
    struct mapping mapping = {0};
    int n_done = 0;
    for (int i = 0; i < 100; i++) {
        next_case(&c);
        assert_true(mapspace_draw(c.space, &c.stream, &mapping, NULL, NULL));
        const struct mapping before = mapping;
        uint32_t d = random_below(&c.stream, c.problem.n_dim);
        if (mapspace_gather(c.space, &mapping, d, 0)) {
            check(&c, &mapping);
            assert_int_equal(mapping.level[mapping.n_level - 1].temporal[d], c.problem.bound[d]);
            n_done++;
        } else {
            assert_true(mapping_same(&mapping, &before));
        }
    }
    assert_true(n_done > 30);
    arena_free(&c.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours_are_valid_and_differ),
        cmocka_unit_test(test_neighbours_connect_a_tiny_space),
        cmocka_unit_test(test_children_are_valid),
        cmocka_unit_test(test_child_of_one_parent_is_the_parent),
        cmocka_unit_test(test_moves_apply_and_undo),
        cmocka_unit_test(test_gather_brings_a_dimension_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
