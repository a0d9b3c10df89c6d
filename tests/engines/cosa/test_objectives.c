/* The optimum of CoSA's objective on every layer of the reference table, and the size of the model that gives
 * it.
 * Tests: model.c, speed_rows.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"
#include "engines/cosa/formulation.h"
#include "tests/support/random_case.h"

/* One line of tests/known/cosa/objectives.csv, which says where they come from. */
struct known {
    char network[24], layer[32], form[24], solver[8];
    uint32_t bound[7], stride_w, stride_h, n_integer, n_row, proved;
    double objective;
};

static bool read_known(const char *line, struct known *k)
{
    return sscanf(line, "%23[^,],%31[^,],%u,%u,%u,%u,%u,%u,%u,%u,%u,%23[^,],%7[^,],%u,%u,%u,%lf", k->network,
                  k->layer, &k->bound[0], &k->bound[1], &k->bound[2], &k->bound[3], &k->bound[4],
                  &k->bound[5], &k->bound[6], &k->stride_w, &k->stride_h, k->form, k->solver, &k->n_integer,
                  &k->n_row, &k->proved, &k->objective) == 17;
}

static void make_problem(const struct known *known, struct problem *problem)
{
    char inputs[64];
    (void)snprintf(inputs, sizeof inputs, "N C P*%u+R Q*%u+S", known->stride_w, known->stride_h);
    random_case_conv(problem, known->layer, known->bound, inputs);
}

static void make_settings(const char *form, struct cosa_settings *settings)
{
    cosa_settings_init(settings);
    if (strcmp(form, "all") == 0)
        settings->halo = COSA_HALO_ALL;
    if (strcmp(form, "at_dram") == 0)
        settings->halo = COSA_HALO_AT_DRAM;
    if (strcmp(form, "minmax") == 0) {
        settings->form = COSA_FORM_MINMAX;
        settings->halo = COSA_HALO_ALL;
        settings->limits.relative_gap = 1e-3;
    }
}

/* Both solvers stopped within `gap` of the optimum, so their objectives may differ by as much. A proved one
 * may not, except by what the rows' slack of 1e-9 and our own gap give. */
static void check_known(const struct known *known, const struct architecture *arch)
{
    struct problem problem;
    struct cosa_settings settings;
    struct cosa_shape shape;
    struct milp_result result;
    struct cosa_model *model;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    make_problem(known, &problem);
    make_settings(known->form, &settings);
    cosa_shape_init(&shape, &problem, arch, NULL, &settings);
    model = arena_alloc(&arena, 1, sizeof *model);
    assert_non_null(model);
    assert_int_equal(cosa_model_build(model, &shape, &settings, settings.halo, true, &arena, &err), DSE_OK);
    assert_int_equal(milp_integer_count(model->milp), known->n_integer);
    assert_int_equal(milp_row_count(model->milp), known->n_row);
    assert_int_equal(cosa_model_build(model, &shape, &settings, settings.halo, false, &arena, &err), DSE_OK);
    double allowed = strcmp(known->form, "minmax") == 0 ? 1e-3 : 1e-4;
    if (known->proved) { /* then ours is asked for as closely */
        settings.limits.relative_gap = 1e-7;
        allowed = 1e-6;
    }
    assert_int_equal(milp_solve(model->milp, &settings.limits, &arena, &result, &err), DSE_OK);
    assert_int_equal(result.status, MILP_OPTIMAL);
    if (!(fabs(result.objective - known->objective) <= allowed * known->objective))
        fail_msg("%s %s: %.7f, the table says %.7f", known->layer, known->form, result.objective,
                 known->objective);
    arena_free(&arena);
}

static void check_form(const char *form, uint32_t n_expected)
{
    struct architecture arch;
    struct dse_error err;
    char line[512];
    uint32_t n = 0;
    assert_int_equal(architecture_read("experiments/architectures/simba_tablev.yaml", &arch, &err), DSE_OK);
    FILE *file = fopen("tests/known/cosa/objectives.csv", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        struct known known;
        if (line[0] == '#')
            continue;
        assert_true(read_known(line, &known));
        if (strcmp(known.form, form) != 0)
            continue;
        check_known(&known, &arch);
        n++;
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(n, n_expected);
}

static void test_paper_objectives_are_those_of_the_table(void **state)
{
    (void)state;
    check_form("outermost_inner", 64); /* by GLPK and by CBC */
}

static void test_paper_objectives_with_other_halos_are_those_of_the_table(void **state)
{
    (void)state;
    check_form("at_dram", 32);
    check_form("all", 32);
}

static void test_minmax_objectives_are_those_of_the_table(void **state)
{
    (void)state;
    check_form("minmax", 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paper_objectives_are_those_of_the_table),
        cmocka_unit_test(test_paper_objectives_with_other_halos_are_those_of_the_table),
        cmocka_unit_test(test_minmax_objectives_are_those_of_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
