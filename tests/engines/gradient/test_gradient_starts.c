/* What descents lead to: mappings of the space, constraints and bypasses included, each with the value that
 * the relaxed model gives it, best first; few choices are all made. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/gradient/gradient_starts.h"
#include "tests/engines/small_cases.h"

static const struct objective edp = {1, 1};

static void check_starts(struct gradient_starts *starts, const struct mapspace *space,
                         const struct problem *problem, const struct architecture *arch, struct arena *arena)
{
    uint32_t n;
    struct dse_error err;
    struct relaxed *model;
    relaxed_factors factor;
    const struct relaxed_terms exact = {.sharpness = 6};
    const struct gradient_start *start = gradient_starts_best(starts, &n);
    assert_int_equal(relaxed_new(problem, arch, space, &edp, arena, &model, &err), DSE_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_true(mapspace_contains(space, &start[i].mapping, NULL));
        assert_true(i == 0 || start[i - 1].value <= start[i].value);
        relaxed_choose(model, &start[i].mapping);
        relaxed_factors_of(model, &start[i].mapping, factor);
        assert_true(fabs(relaxed_value(model, factor, &exact, NULL) - start[i].value) < 1e-9);
    }
}

static void test_starts_are_valid_and_sorted(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(14, 3, RANDOM_TEST);
    const struct gradient_setting setting = {{20, 0.3}, 12, 4};
    uint32_t n_found = 0;
    for (int i = 0; i < 200; i++) {
        struct problem problem;
        struct architecture arch;
        struct mapspace_constraints constraints;
        const struct mapspace *space;
        struct gradient_starts *starts;
        struct arena arena;
        struct dse_error err;
        uint32_t n;
        const struct random_case_options options = {
            .links = i % 7 == 0, .limits = i % 4 != 0, .roles = i % 3 == 0, .network_cost = i % 5 == 0};
        arena_init(&arena);
        random_case_problem(&stream, 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        mapspace_constraints_init(&constraints, &problem, &arch);
        if (i % 2) {
            uint32_t d = random_below(&stream, problem.n_dim);
            constraints.level[0].temporal.highest[d] = 2;
            constraints.level[1].temporal.fixed[d] = 1;
            constraints.level[1].temporal.n_order = 1;
            constraints.level[1].temporal.order[0] = (uint8_t)d;
        }
        assert_int_equal(mapspace_new(&problem, &arch, &constraints, i % 3 != 1, &arena, &space, &err),
                         DSE_OK);
        if (!mapspace_is_empty(space)) {
            assert_int_equal(
                gradient_starts_new(space, &problem, &arch, &edp, &setting, &arena, &starts, &err), DSE_OK);
            while (gradient_starts_step(starts, &stream))
                ;
            check_starts(starts, space, &problem, &arch, &arena);
            (void)gradient_starts_best(starts, &n);
            n_found += n;
        }
        arena_free(&arena);
    }
    assert_true(n_found > 500);
}

/* One tensor more or less at one level, with room for all: both keeps must come out. */
static void test_few_choices_are_all_made(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints constraints;
    const struct mapspace *space;
    struct gradient_starts *starts;
    struct arena arena;
    struct dse_error err;
    struct random_stream stream = random_stream_make(14, 4, RANDOM_TEST);
    const struct gradient_setting setting = {{5, 0.3}, 200, 0};
    uint32_t n, seen = 0;
    arena_init(&arena);
    small_gemm(&problem, 8, 8, 8);
    small_machine(&arch, 4096, 4096);
    mapspace_constraints_init(&constraints, &problem, &arch);
    constraints.level[0].keep = 7;
    constraints.level[1].keep = 5;
    assert_int_equal(mapspace_new(&problem, &arch, &constraints, true, &arena, &space, &err), DSE_OK);
    assert_int_equal(gradient_starts_new(space, &problem, &arch, &edp, &setting, &arena, &starts, &err),
                     DSE_OK);
    while (gradient_starts_step(starts, &stream))
        ;
    const struct gradient_start *start = gradient_starts_best(starts, &n);
    for (uint32_t i = 0; i < n; i++)
        seen |= 1u << start[i].mapping.level[1].keep;
    assert_int_equal(seen, 1u << 7 | 1u << 5);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_starts_are_valid_and_sorted),
        cmocka_unit_test(test_few_choices_are_all_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
