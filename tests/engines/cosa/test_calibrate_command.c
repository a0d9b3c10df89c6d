/* What `dse calibrate` reports is what calibrate() says, whose numbers have their own test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "engines/cosa/calibrate.h"
#include "engines/cosa/cosa_engines.h"
#include "tests/engines/small_cases.h"

enum { POINT_COLUMNS = 7, LAYER_COLUMNS = 5, N_LAYER = 12, ORIGIN = 6 };

static struct architecture arch;
static struct calibration c;
static struct report report;

static enum dse_status calibrate_it(const atomic_int *cancel, struct dse_error *err)
{
    const struct engine_command_task task = {
        .architecture = &arch, .objective = {0, 1}, .n_thread = 2, .cancel = cancel};
    report_init(&report, "calibrate");
    return engine_command_calibrate.run(&task, &report, err);
}

static const char *text_at(const struct cells *cells, size_t i)
{
    assert_int_equal(cells_at(cells, i)->kind, CELL_TEXT);
    return cells_text_at(cells, cells_at(cells, i));
}

static void assert_rows(void)
{
    assert_int_equal(report.rows.n_column, POINT_COLUMNS);
    assert_int_equal(report.rows.n_cell, c.n_point * POINT_COLUMNS);
    for (uint32_t p = 0; p < c.n_point; p++) {
        char origin[CALIBRATE_ORIGIN_MAX + 16];
        const size_t at = (size_t)p * POINT_COLUMNS;
        const double wanted[] = {c.point[p].weight_util, c.point[p].weight_comp, c.point[p].weight_traf,
                                 c.point[p].ratio, c.point[p].edp_ratio};
        for (size_t i = 0; i < 5; i++)
            assert_true(cells_at(&report.rows, at + i)->real == wanted[i]);
        snprintf(origin, sizeof origin, "%s%s", c.point[p].origin, p == c.best ? "  <- best" : "");
        assert_string_equal(text_at(&report.rows, at + ORIGIN), origin);
    }
    assert_string_equal(text_at(&report.rows, ORIGIN - 1), "12/12");
}

/* Three words of registers, ten of buffer: every micro-benchmark has a mapping, and searches are short. */
static void test_report_has_points_layers_and_the_options(void **state)
{
    struct dse_error err = {0};
    const struct objective latency = {0, 1};
    double util, comp, traf;
    (void)state;
    small_machine(&arch, 3, 10);
    assert_int_equal(calibrate(&arch, &latency, 2, NULL, &c, &err), DSE_OK);
    assert_int_equal(calibrate_it(NULL, &err), DSE_OK);
    assert_false(report_failed(&report));
    assert_rows();
    assert_int_equal(report.parts.n_cell, N_LAYER * LAYER_COLUMNS);
    for (size_t i = 0; i < N_LAYER; i++) {
        assert_string_equal(text_at(&report.parts, i * LAYER_COLUMNS), c.layer[i].problem.name);
        assert_true(cells_at(&report.parts, i * LAYER_COLUMNS + 1)->real == c.point[0].cost[i]);
        assert_true(cells_at(&report.parts, i * LAYER_COLUMNS + 3)->real ==
                    c.point[c.best].cost[i] / c.point[0].cost[i]);
    }
    /* the foot is what a specification takes: a comment and one line of YAML */
    assert_non_null(
        strstr(report.foot.data, "\n# weights of CoSA's objective for small, objective latency, on 12 "));
    assert_int_equal(sscanf(strstr(report.foot.data, "\noptions:"),
                            "\noptions: {weight_util: %lf, weight_comp: %lf, weight_traf: %lf}\n", &util,
                            &comp, &traf),
                     3);
    assert_true(fabs(util - c.point[c.best].weight_util) <= 1e-9 * fabs(util));
    assert_true(fabs(comp - c.point[c.best].weight_comp) <= 1e-9 * fabs(comp));
    assert_true(traf == c.point[c.best].weight_traf);
    report_free(&report);
}

static void test_failures_are_those_of_the_calibration(void **state)
{
    const atomic_int cancel = 1;
    struct dse_error err = {0};
    (void)state;
    small_machine(&arch, 1, 4000); /* a word of registers does not hold one of each of three tensors */
    assert_int_equal(calibrate_it(NULL, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "no weights give any of the 12 micro-benchmarks a mapping"));
    report_free(&report);
    assert_int_equal(calibrate_it(&cancel, &err), DSE_INTERRUPTED);
    assert_int_equal(report.rows.n_cell, 0);
    report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_has_points_layers_and_the_options),
        cmocka_unit_test(test_failures_are_those_of_the_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
