/* The report at the end of a run. Expected texts are written by hand; counts are those of the loops below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/run/run_report.h"
#include "tests/results/sample.h"

static void tell(const struct run_observer *observer, unsigned cell, enum result_status outcome,
                 double seconds, bool reused)
{
    uint32_t index[3];
    struct point_record record;
    point_record_init(&record);
    sample_index(cell, index);
    record.index = index;
    record.outcome = outcome;
    record.seconds = seconds;
    record.reason = outcome == RESULT_OK ? "" : "max_seconds = 3 s";
    observer->point(observer->user, cell, &record, reused);
}

static void expect_report(struct run_report *report, double seconds, const char *wanted)
{
    struct text_buffer out;
    struct run_summary summary = {.seconds = seconds};
    text_init(&out);
    run_report_print(report, &summary, &out);
    assert_string_equal(out.data ? out.data : "", wanted);
    text_free(&out);
}

static void test_run_report_is_silent_when_all_is_well(void **state)
{
    (void)state;
    struct run_report *report;
    struct dse_error err;
    assert_int_equal(run_report_new(&sample_schema, &report, &err), DSE_OK);
    struct run_observer observer = run_report_observer(report);
    for (unsigned i = 0; i < 8; i++)
        tell(&observer, i, RESULT_OK, 1, false);
    expect_report(report, 2, "");
    expect_report(report, 100, ""); /* none is slower than the others */
    assert_int_equal(run_report_count(report, RESULT_OK), 8);
    run_report_free(report);
}

static void test_run_report_names_failures_and_the_slowest(void **state)
{
    (void)state;
    struct run_report *report;
    struct dse_error err;
    assert_int_equal(run_report_new(&sample_schema, &report, &err), DSE_OK);
    struct run_observer observer = run_report_observer(report);
    tell(&observer, 20, RESULT_TIMEOUT, 99,
         true); /* of an earlier run: counts, but did not take this one's time */
    for (unsigned i = 0; i < 8; i++)
        tell(&observer, i, RESULT_OK, i == 5 ? 30 : i == 2 ? 4 : i == 3 ? 4 : 1, false);
    tell(&observer, 9, RESULT_TIMEOUT, 0.5, false);
    assert_int_equal(run_report_count(report, RESULT_TIMEOUT), 2);
    /* places from sample_index: 9 = (1, 0, 1), 5 = (0, 2, 1), 2 = (0, 1, 0), 3 = (0, 1, 1) */
    expect_report(
        report, 20,
        "  2 timeout     max_seconds = 3 s\n"
        "                e.g. global_buffer=128 KiB dram=4 GB/s dram_preset=LPDDR4 x16 "
        "network=r\xc3\xa9snet\n"
        "dse: the slowest points:\n"
        "        30 s  global_buffer=64 KiB dram=16 GB/s dram_preset=LPDDR4 x64 network=r\xc3\xa9snet\n"
        "       4.0 s  global_buffer=64 KiB dram=8 GB/s dram_preset=LPDDR4 x32 network=alexnet\n"
        "       4.0 s  global_buffer=64 KiB dram=8 GB/s dram_preset=LPDDR4 x32 network=r\xc3\xa9snet\n");
    run_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_report_is_silent_when_all_is_well),
        cmocka_unit_test(test_run_report_names_failures_and_the_slowest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
