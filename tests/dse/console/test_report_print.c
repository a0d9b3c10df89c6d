/* Reports in the three formats. Expected texts are written by hand from the rules in base/report.h and
 * dse/console/report_print.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dse/console/report_print.h"

static void expect(const struct report *report, enum report_format format, const char *wanted)
{
    struct text_buffer out;
    struct dse_error err = {0};
    text_init(&out);
    assert_int_equal(report_print(report, format, &out, &err), DSE_OK);
    assert_string_equal(out.data, wanted);
    text_free(&out);
}

static void test_report_rows_in_three_formats(void **state)
{
    static const struct cell_column column[] = {CELL_COLUMN("name", "who", LOOK_TEXT),
                                                CELL_COLUMN("n", NULL, LOOK_COUNT),
                                                CELL_ENERGY("energy_j", "energy"),
                                                CELL_COLUMN(NULL, "of all", LOOK_PERCENT),
                                                {.name = "long", .json_only = 1}};
    struct report report;
    (void)state;
    report_init(&report, "rows");
    report.has_total = 1;
    text_append(&report.head, "head\n");
    text_append(&report.foot, "foot\n");
    cells_init(&report.rows, column, 5);
    cells_text(&report.rows, "a, \"b\"");
    cells_count(&report.rows, UINT64_MAX);
    cells_real(&report.rows, 2); /* a whole number, but a real one */
    cells_real(&report.rows, 0.25);
    cells_text(&report.rows, "x\ny");
    cells_text(&report.rows, "all");
    cells_count(&report.rows, 1234567);
    cells_real(&report.rows, 0.1 + 0.2); /* seventeen digits */
    cells_real(&report.rows, INFINITY);
    cells_text(&report.rows, NULL);
    expect(&report, REPORT_TABLE,
           "head\n\nwho     energy  of all\n----------------------\n"
           "a, \"b\"  2.00 J  25.0 %\nall     300 mJ       -\nfoot\n");
    expect(&report, REPORT_CSV, "name,n,energy_j\n\"a, \"\"b\"\"\",,2.0\nall,1234567,0.30000000000000004\n");
    expect(&report, REPORT_JSON,
           "{\n  \"report\": \"rows\",\n  \"rows\": [\n    {\n      \"name\": \"a, \\\"b\\\"\",\n"
           "      \"n\": null,\n      \"energy_j\": 2.0,\n      \"long\": \"x\\ny\"\n    }\n  ],\n"
           "  \"total\": {\n    \"name\": \"all\",\n    \"n\": 1234567,\n"
           "    \"energy_j\": 0.30000000000000004,\n    \"long\": null\n  }\n}\n");
    report_free(&report);
}

static void test_report_list_is_an_object(void **state)
{
    struct report report;
    (void)state;
    report_init(&report, "summary");
    cells_text(&report.about, "network");
    cells_text(&report.about, "tiny6");
    cells_text(&report.rows, "latency_cycle");
    cells_whole(&report.rows, -1);
    cells_text(&report.rows, "keep");
    cells_switch(&report.rows, 7);
    cells_text(&report.rows, "edp_js");
    cells_real(&report.rows, NAN);
    text_append(&report.head, "head\n");
    expect(&report, REPORT_TABLE, "head\n");
    expect(&report, REPORT_CSV, "key,value\nlatency_cycle,-1\nkeep,1\nedp_js,\n");
    expect(&report, REPORT_JSON,
           "{\n  \"report\": \"summary\",\n  \"network\": \"tiny6\",\n  \"summary\": {\n"
           "    \"latency_cycle\": -1,\n    \"keep\": true,\n    \"edp_js\": null\n  }\n}\n");
    report_free(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_rows_in_three_formats),
        cmocka_unit_test(test_report_list_is_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
