/* A projection is a mapping of the space; where everything fits, the factors of a mapping lead back to it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/mapspace/mapspace_project.h"
#include "tests/engines/small_cases.h"

static void log_factors(const struct mapspace *space, const struct mapping *mapping,
                        double wish[][PROBLEM_DIM_MAX])
{
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    uint32_t n = mapspace_places(space, place);
    for (uint32_t s = 0; s < n; s++) {
        const struct mapping_level *level = &mapping->level[place[s].level];
        for (uint32_t i = 0; i < mapping->n_dim; i++) {
            uint32_t d = place[s].spatial ? level->spatial_order[i] : i;
            bool here = !place[s].spatial || place[s].on_y == (i >= level->split);
            wish[s][d] = here ? log(place[s].spatial ? level->spatial[d] : level->temporal[d]) : 0;
        }
    }
}

static void check_case(struct random_stream *stream, bool limits)
{
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping drawn = {0};
    double wish[MAPSPACE_PLACE_MAX][PROBLEM_DIM_MAX];
    const struct random_case_options options = {.limits = limits, .roles = random_below(stream, 2) != 0};
    arena_init(&arena);
    random_case_problem(stream, 20000, &problem);
    random_case_architecture(stream, &options, &arch);
    assert_int_equal(mapspace_new(&problem, &arch, NULL, true, &arena, &space, &err), DSE_OK);
    for (int i = 0; i < 20 && mapspace_draw(space, stream, &drawn, NULL, NULL); i++) {
        struct mapping near = drawn;
        log_factors(space, &drawn, wish);
        bool found = mapspace_project(space, wish, &near);
        assert_true(found || limits);
        if (found)
            assert_true(mapspace_contains(space, &near, NULL));
        for (uint32_t l = 0; l < arch.n_level && !limits; l++) {
            assert_memory_equal(near.level[l].temporal, drawn.level[l].temporal,
                                problem.n_dim * sizeof drawn.level[l].temporal[0]);
            assert_memory_equal(near.level[l].spatial, drawn.level[l].spatial,
                                problem.n_dim * sizeof drawn.level[l].spatial[0]);
            assert_int_equal(near.level[l].keep, drawn.level[l].keep);
        }
    }
    arena_free(&arena);
}

static void test_own_factors_lead_back(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(14, 1, RANDOM_TEST);
    for (int i = 0; i < 200; i++)
        check_case(&stream, false);
}

static void test_projections_fit(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(14, 2, RANDOM_TEST);
    for (int i = 0; i < 200; i++)
        check_case(&stream, true);
}

/* K = 12 on one lane, wished as 5 in the registers (4 words) and 2.4 outside: 4 and 3 are nearest of all, 6
 * does not fit with one word more of A and B each. */
static void test_the_nearest_that_fits(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    struct arena arena;
    struct dse_error err;
    const struct mapspace *space;
    struct mapping mapping;
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    double wish[MAPSPACE_PLACE_MAX][PROBLEM_DIM_MAX] = {{0}};
    arena_init(&arena);
    small_gemm(&problem, 1, 1, 12);
    small_machine(&arch, 9, 4096); /* 4 of A, 4 of B, 1 of Z */
    assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
    uint32_t n = mapspace_places(space, place);
    for (uint32_t s = 0; s < n; s++)
        if (!place[s].spatial)
            wish[s][2] = place[s].level == 0 ? log(5) : place[s].level == 2 ? log(2.4) : 0;
    mapping_init(&mapping, &problem, &arch);
    assert_true(mapspace_project(space, wish, &mapping));
    assert_int_equal(mapping.level[0].temporal[2], 4);
    assert_int_equal(mapping.level[2].temporal[2], 3);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_factors_lead_back),
        cmocka_unit_test(test_projections_fit),
        cmocka_unit_test(test_the_nearest_that_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
