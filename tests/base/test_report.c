/* Cells as they are put in and taken out; how they are printed is tested beside report_print.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/report.h"

static const struct cell_column column[] = {CELL_COLUMN("name", "who", LOOK_TEXT),
                                            CELL_COLUMN("n", "count", LOOK_COUNT),
                                            CELL_ENERGY("energy_j", "energy")};

static void assert_text(const struct cells *cells, size_t i, const char *wanted)
{
    assert_int_equal(cells_at(cells, i)->kind, CELL_TEXT);
    assert_string_equal(cells_text_at(cells, cells_at(cells, i)), wanted);
}

static void test_cells_keep_their_kind_and_order(void **state)
{
    struct cells cells;
    (void)state;
    cells_init(&cells, column, 3);
    assert_int_equal(cells.n_cell, 0);
    cells_text(&cells, "one");
    cells_count(&cells, 12);
    cells_real(&cells, 0.5);
    cells_text(&cells, ""); /* a text, and not a missing one */
    cells_whole(&cells, -3);
    cells_real(&cells, INFINITY);
    cells_format(&cells, "%d of %s", 2, "three");
    cells_switch(&cells, 5);
    assert_int_equal(cells.n_cell, 8);
    assert_text(&cells, 0, "one");
    assert_int_equal(cells_at(&cells, 1)->kind, CELL_WHOLE);
    assert_int_equal(cells_at(&cells, 1)->whole, 12);
    assert_int_equal(cells_at(&cells, 2)->kind, CELL_REAL);
    assert_true(cells_at(&cells, 2)->real == 0.5);
    assert_text(&cells, 3, "");
    assert_int_equal(cells_at(&cells, 4)->whole, -3);
    assert_true(isinf(cells_at(&cells, 5)->real));
    assert_text(&cells, 6, "2 of three");
    assert_int_equal(cells_at(&cells, 7)->kind, CELL_SWITCH);
    assert_int_equal(cells_at(&cells, 7)->whole, 1);
    assert_string_equal(cells_text_at(&cells, cells_at(&cells, 1)), ""); /* it is no text */
    cells_free(&cells);
}

static void test_cells_know_missing_values(void **state)
{
    struct cells cells;
    (void)state;
    cells_init(&cells, column, 3);
    cells_text(&cells, NULL);
    cells_count(&cells, UINT64_MAX);
    cells_real(&cells, NAN);
    cells_none(&cells);
    assert_int_equal(cells.n_cell, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cells_at(&cells, i)->kind, CELL_NONE);
    cells_count(&cells, UINT64_MAX - 1); /* not missing; a whole cell goes to 2^63 - 1 only */
    assert_int_equal(cells_at(&cells, 4)->kind, CELL_WHOLE);
    assert_true(cells_at(&cells, 4)->whole == INT64_MAX);
    cells_free(&cells);
}

/* A copy has a text of its own: it outlives the cells that it is from. */
static void test_cells_copy_is_independent(void **state)
{
    struct cells from, to;
    (void)state;
    cells_init(&from, column, 3);
    cells_init(&to, column, 3);
    cells_text(&from, "first");
    cells_text(&from, "second");
    cells_real(&from, 2.5);
    cells_none(&from);
    for (size_t i = 4; i-- > 1;)
        cells_copy(&to, &from, i);
    cells_free(&from);
    assert_int_equal(to.n_cell, 3);
    assert_int_equal(cells_at(&to, 0)->kind, CELL_NONE);
    assert_true(cells_at(&to, 1)->real == 2.5);
    assert_text(&to, 2, "second");
    cells_free(&to);
}

static void test_long_formatted_text_is_cut(void **state)
{
    struct cells cells;
    (void)state;
    cells_init(&cells, column, 3);
    cells_format(&cells, "%0600d", 7);
    cells_text(&cells, "next");
    assert_int_equal(strlen(cells_text_at(&cells, cells_at(&cells, 0))), 511);
    assert_text(&cells, 1, "next");
    cells_free(&cells);
}

/* As when an append got no memory: a text without its bytes is missing, a cell without room is none. */
static void test_cells_without_memory_are_not_there(void **state)
{
    struct cells cells;
    (void)state;
    cells_init(&cells, column, 3);
    cells_text(&cells, "one");
    cells.text.failed = true;
    cells_text(&cells, "two");
    assert_int_equal(cells_at(&cells, 1)->kind, CELL_NONE);
    cells.cell.failed = true;
    cells_real(&cells, 3);
    assert_int_equal(cells.n_cell, 2);
    assert_text(&cells, 0, "one");
    cells_free(&cells);
}

/* Lists begin with key and value; one buffer that got no memory, any of the eight, fails the report. */
static void test_report_fails_with_any_of_its_parts(void **state)
{
    struct report report;
    (void)state;
    report_init(&report, "r");
    const struct cells *list[] = {&report.about, &report.rows, &report.parts};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list[i]->n_column, REPORT_LIST_COLUMNS);
        assert_string_equal(list[i]->column[0].name, "key");
        assert_string_equal(list[i]->column[1].name, "value");
    }
    struct text_buffer *part[] = {&report.head,       &report.foot,      &report.about.cell,
                                  &report.about.text, &report.rows.cell, &report.rows.text,
                                  &report.parts.cell, &report.parts.text};
    assert_false(report_failed(&report));
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        part[i]->failed = true;
        assert_true(report_failed(&report));
        part[i]->failed = false;
    }
    assert_false(report_failed(&report));
    report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_keep_their_kind_and_order),
        cmocka_unit_test(test_cells_know_missing_values),
        cmocka_unit_test(test_cells_copy_is_independent),
        cmocka_unit_test(test_long_formatted_text_is_cut),
        cmocka_unit_test(test_cells_without_memory_are_not_there),
        cmocka_unit_test(test_report_fails_with_any_of_its_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
