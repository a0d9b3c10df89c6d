/* CoSA on random problems and machines: whatever comes out as a mapping passes the independent checker, its
 * terms are those of the model's optimum, and without a mapping there is a reason.
 * Tests: map.c, extract.c, rows.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/cosa/formulation.h"
#include "engines/mapspace/mapspace.h"
#include "tests/support/random_case.h"

enum { N_CASE = 150 };

/* One case: a solution by `settings` that is right whatever it is. */
static void check_case(struct random_stream *stream, const struct cosa_settings *settings,
                       uint32_t *n_feasible)
{
    struct problem problem;
    struct architecture arch;
    struct cosa_solution solution;
    struct dse_error err;
    struct arena arena;
    char reason[256];
    const struct random_case_options options = {.limits = true, .roles = true};
    arena_init(&arena);
    random_case_problem(stream, 20000, &problem);
    random_case_architecture(stream, &options, &arch);
    if (cosa_map(&problem, &arch, NULL, settings, &arena, &solution, &err) != DSE_OK)
        fail_msg("%s", err.text);
    if (solution.feasible) {
        (*n_feasible)++;
        if (!checker_accepts(&problem, &arch, &solution.mapping, reason, sizeof reason))
            fail_msg("%s: %s", problem.name, reason);
        assert_int_equal(solution.reason[0], '\0');
        if (settings->form == COSA_FORM_PAPER &&
            solution.terms.objective >
                solution.milp_objective + 1e-6 * fmax(1, fabs(solution.milp_objective)))
            fail_msg("%s: the mapping costs %.9g, the model said %.9g", problem.name,
                     solution.terms.objective, solution.milp_objective);
    } else {
        const struct mapspace *space;
        assert_true(solution.reason[0] != '\0');
        assert_int_equal(mapspace_new(&problem, &arch, NULL, false, &arena, &space, &err), DSE_OK);
        assert_true(solution.proved == (mapspace_is_empty(space) != NULL));
    }
    arena_free(&arena);
}

static void check_form(enum cosa_form form, enum cosa_halo halo, uint32_t use)
{
    struct cosa_settings settings;
    struct random_stream stream = random_stream_make(17, use, RANDOM_TEST);
    uint32_t n_feasible = 0;
    cosa_settings_init(&settings);
    settings.form = form;
    settings.halo = halo;
    for (int i = 0; i < N_CASE; i++)
        check_case(&stream, &settings, &n_feasible);
    assert_true(n_feasible > N_CASE / 2);
}

static void test_paper_form_is_valid_on_random_cases(void **state)
{
    (void)state;
    check_form(COSA_FORM_PAPER, COSA_HALO_OUTERMOST_INNER, 1);
    check_form(COSA_FORM_PAPER, COSA_HALO_SAFE, 2);
    check_form(COSA_FORM_PAPER, COSA_HALO_AT_DRAM, 3);
}

static void test_minmax_form_is_valid_on_random_cases(void **state)
{
    (void)state;
    check_form(COSA_FORM_MINMAX, COSA_HALO_ALL, 4);
    check_form(COSA_FORM_MINMAX, COSA_HALO_OUTERMOST_INNER, 5);
}

static double optimum(const struct cosa_shape *shape, const struct cosa_settings *settings, bool plain,
                      struct arena *arena)
{
    struct cosa_model *model = arena_alloc(arena, 1, sizeof *model);
    struct milp_result result;
    struct dse_error err;
    assert_non_null(model);
    assert_int_equal(cosa_model_build(model, shape, settings, settings->halo, plain, arena, &err), DSE_OK);
    assert_int_equal(milp_solve(model->milp, &settings->limits, arena, &result, &err), DSE_OK);
    if (result.status == MILP_FEASIBLE || result.status == MILP_NOT_SOLVED)
        return -INFINITY; /* too hard for a quick test */
    return result.status == MILP_OPTIMAL ? result.objective : INFINITY;
}

/* The rows that only speed solves up (mirror images, spatial patterns) exclude no optimum: with and without
 * them it is the same. */
static void test_speed_rows_keep_the_optimum(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(17, 6, RANDOM_TEST);
    const struct random_case_options options = {.limits = true, .roles = true};
    uint32_t n_compared = 0;
    for (int i = 0; i < N_CASE; i++) {
        struct problem problem;
        struct architecture arch;
        struct cosa_settings settings;
        struct cosa_shape shape;
        struct arena arena;
        arena_init(&arena);
        random_case_problem(&stream, 20000, &problem);
        random_case_architecture(&stream, &options, &arch);
        cosa_settings_init(&settings);
        settings.form = i % 2 ? COSA_FORM_MINMAX : COSA_FORM_PAPER;
        settings.limits.relative_gap = 1e-9;
        settings.limits.max_nodes = 2000;
        cosa_shape_init(&shape, &problem, &arch, NULL, &settings);
        double plain = optimum(&shape, &settings, true, &arena);
        double full = optimum(&shape, &settings, false, &arena);
        if (plain > -INFINITY && full > -INFINITY) {
            n_compared++;
            if (plain != full && !(fabs(plain - full) <= 1e-6 * fmax(1, fabs(plain))))
                fail_msg("case %d, %s: %.9g without the rows, %.9g with them", i, problem.name, plain, full);
        }
        arena_free(&arena);
    }
    assert_true(n_compared > N_CASE * 3 / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_form_is_valid_on_random_cases),
        cmocka_unit_test(test_minmax_form_is_valid_on_random_cases),
        cmocka_unit_test(test_speed_rows_keep_the_optimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
