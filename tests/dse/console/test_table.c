/* Tables and numbers for people. Expected texts are written by hand from the rules in table.h.
 * Tests: progress.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dse/console/progress.h"
#include "dse/console/table.h"

static void test_table_aligns_columns(void **state)
{
    (void)state;
    static const char *const header[] = {"name", "value"};
    struct table table;
    struct text_buffer out;
    table_init(&table, header, 2, 1);
    table_cell(&table, "%s", "a");
    table_cell(&table, "%d", 7);
    table_cell(&table, "%s", "\xc3\xa9t\xc3\xa9s");
    table_cell(&table, "%d", 1234567);
    text_init(&out);
    table_print(&table, &out);
    assert_string_equal(out.data, "name    value\n"
                                  "-------------\n"
                                  "a           7\n"
                                  "\xc3\xa9t\xc3\xa9s  1234567\n");
    text_free(&out);
    table_free(&table);
}

static void test_table_lines_have_no_blanks_at_the_end(void **state)
{
    (void)state;
    static const char *const header[] = {"axis", "values", ""};
    struct table table;
    struct text_buffer out;
    table_init(&table, header, 3, 1 | 4);
    table_cell(&table, "%s", "a");
    table_cell(&table, "%d", 7);
    table_cell(&table, "%s", "b");
    text_init(&out);
    table_print(&table, &out);
    assert_string_equal(out.data, "axis  values\n---------------\na          7  b\n");
    text_free(&out);
    table_free(&table);
}

static void test_table_durations(void **state)
{
    (void)state;
    char text[48];
    assert_string_equal(table_duration(4.21, text, sizeof text), "4.2 s");
    assert_string_equal(table_duration(59.4, text, sizeof text), "59 s");
    assert_string_equal(table_duration(200, text, sizeof text), "3 min 20 s");
    assert_string_equal(table_duration(7500, text, sizeof text), "2 h 5 min");
    assert_string_equal(table_duration(273600, text, sizeof text), "3 d 4 h");
    assert_string_equal(table_duration(INFINITY, text, sizeof text), "?");
}

static void test_progress_line(void **state)
{
    (void)state;
    char line[160];
    struct progress progress;
    progress_init(&progress, stderr, NULL, 10, 100);
    atomic_store(&progress.task_done, 25);
    atomic_store(&progress.point_done, 2);
    assert_string_equal(progress_print(&progress, progress.start_s + 50, line, sizeof line),
                        "[######..................]  25 %  2/10 points  0.5 layers/s  ETA 2 min 30 s");
    atomic_store(&progress.not_ok, 1);
    assert_non_null(
        strstr(progress_print(&progress, progress.start_s + 50, line, sizeof line), "  1 not ok"));
    progress_init(&progress, stderr, NULL, 0, 0); /* nothing to do: all of it is done */
    assert_non_null(strstr(progress_print(&progress, progress.start_s, line, sizeof line), "100 %"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_aligns_columns),
        cmocka_unit_test(test_table_lines_have_no_blanks_at_the_end),
        cmocka_unit_test(test_table_durations),
        cmocka_unit_test(test_progress_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
