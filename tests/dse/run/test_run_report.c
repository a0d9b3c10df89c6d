/* Reasons in groups and the report at the end of a run. Expected groups are what a person would call the same
 * cause; counts are those of the loops below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/console/reason_groups.h"
#include "dse/run/run_report.h"
#include "dse/status/status_report.h"
#include "dse/status/sweep_follow.h"
#include "tests/results/sample.h"

static struct reason_groups *new_groups(void)
{
    struct reason_groups *groups = calloc(1, sizeof *groups);
    assert_non_null(groups);
    return groups;
}

static void add(struct reason_groups *groups, const char *reason, uint64_t order)
{
    char place[32];
    struct reason_group *group = reason_groups_add(groups, RESULT_INFEASIBLE, reason, order);
    snprintf(place, sizeof place, "p=%u", (unsigned)order);
    if (group)
        reason_group_place(group, place);
}

static void expect_text(const struct reason_group *group, const char *wanted)
{
    struct text_buffer text;
    text_init(&text);
    reason_group_text(group, &text);
    assert_string_equal(text.data, wanted);
    text_free(&text);
}

static void test_reason_groups_fold_numbers_units_and_layers(void **state)
{
    (void)state;
    /* pairs of the same cause, and how the group is shown */
    static const char *const same[][3] = {
        {"layer conv1: RF needs 576 B, has 1 B", "layer conv4_0_c: RF needs 1.5 KiB, has 1 B",
         "layer *: RF needs *, has 1 B"},
        {"layer fc: no mapping was found", "layer embedding: no mapping was found",
         "layer *: no mapping was found"},
        {"nothing found in 1 candidate; x", "nothing found in 1,204 candidates; x",
         "nothing found in * candidate; x"},
        {"more than 1 GiB of memory", "more than 1 GiB of memory", "more than 1 GiB of memory"},
        {"a.yaml:12: PE.mesh 4x4 is odd", "a.yaml:7: PE.mesh 16x2 is odd", "a.yaml:*: PE.mesh * is odd"},
        {"cost 1e-09 below 2.5e+3", "cost 3 below 4", "cost * below *"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct reason_groups *groups = new_groups();
        add(groups, same[i][0], 2);
        add(groups, same[i][1], 1);
        assert_int_equal(groups->n, 1);
        assert_int_equal(groups->group[0].n, 2);
        assert_string_equal(groups->group[0].place, "p=1"); /* the lowest order, though it came later */
        expect_text(&groups->group[0], same[i][2]);
        free(groups);
    }
    static const char *const other[][2] = {
        {"the engine crashed: SIGSEGV", "the engine crashed: SIGABRT"},
        {"RF needs 1 B", "GlobalBuffer needs 1 B"},
        {"layer a: RF needs 1 B", "layer a: RF has 1 B"},
    };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        struct reason_groups *groups = new_groups();
        add(groups, other[i][0], 1);
        add(groups, other[i][1], 2);
        assert_int_equal(groups->n, 2);
        free(groups);
    }
}

static void test_reason_groups_keep_the_status_apart(void **state)
{
    (void)state;
    struct reason_groups *groups = new_groups();
    assert_non_null(reason_groups_add(groups, RESULT_TIMEOUT, "no", 0));
    assert_non_null(reason_groups_add(groups, RESULT_FAILED, "no", 0));
    assert_int_equal(groups->n, 2);
    assert_int_equal(groups->n_status[RESULT_TIMEOUT], 1);
    free(groups);
}

static void test_reason_groups_stay_small_and_keep_the_frequent(void **state)
{
    (void)state;
    enum { N_RARE = 1000, N_OFTEN = 500 };
    char reason[64];
    struct reason_groups *groups = new_groups();
    for (unsigned i = 0; i < N_RARE; i++) {
        /* letters only: another cause each */
        snprintf(reason, sizeof reason, "cause %c%c%c", 'a' + (char)(i / 100), 'a' + (char)(i / 10 % 10),
                 'a' + (char)(i % 10));
        add(groups, reason, i);
        if (i % 2 == 0)
            add(groups, "the common one", i);
    }
    reason_groups_sort(groups);
    assert_int_equal(groups->n, REASON_GROUP_MAX);
    assert_int_equal(groups->group[0].n, N_OFTEN);
    expect_text(&groups->group[0], "the common one");
    uint64_t n = groups->n_other;
    for (size_t i = 0; i < groups->n; i++)
        n += groups->group[i].n;
    assert_int_equal(n, N_RARE + N_OFTEN);
    free(groups);
}

static void test_reason_groups_take_any_text(void **state)
{
    (void)state;
    char text[3000];
    struct reason_groups *groups = new_groups();
    memset(text, '7', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    add(groups, text, 1);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = i % 2 ? ' ' : '8'; /* more numbers than slots */
    add(groups, text, 2);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)(1 + i * 37 % 255);
    add(groups, text, 3);
    add(groups, "layer : x", 4);
    add(groups, "layer", 5);
    add(groups, "line\nbreak", 6);
    struct text_buffer out;
    text_init(&out);
    reason_groups_print(groups, 2, "", &out);
    assert_int_equal(out.failed, 0);
    assert_non_null(strstr(out.data, "more with other reasons"));
    text_free(&out);
    free(groups);
}

static void test_reason_groups_print_a_line_each_with_an_example(void **state)
{
    (void)state;
    struct text_buffer out;
    struct reason_groups *groups = new_groups();
    text_init(&out);
    for (unsigned i = 0; i < 1200; i++)
        add(groups, "RF needs 2 B", i);
    add(groups, "no such thing", 7);
    add(groups, "never", 9);
    reason_groups_print(groups, 2, "  ", &out);
    assert_string_equal(out.data, "  1,200 infeasible  RF needs 2 B\n"
                                  "                    e.g. p=0\n"
                                  "      1 infeasible  never\n"
                                  "                    at p=9\n"
                                  "  1 more with other reasons: see the columns status and reason\n");
    text_free(&out);
    free(groups);
}

/* ---------------------------------------- report */

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
    struct run_observer own = run_report_observer(report);
    struct observer_list list = {1, {&own}};
    struct run_observer observer = observer_of_list(&list);
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

/* ---------------------------------------- rate */

static void test_follow_rate_prefers_what_was_seen(void **state)
{
    (void)state;
    const struct follow_sample slow[] = {{100, 50}, {102, 51}}, fast[] = {{100, 50}, {102, 90}, {104, 250}};
    /* 200 points in 4 s */
    assert_true(fabs(follow_rate(fast, 3, 10, 0) - 50) < 1e-12);
    /* one point seen says little: 51 - 11 points in 20 s since the run began */
    assert_true(fabs(follow_rate(slow, 2, 20, 11) - 2) < 1e-12);
    /* when the run does not say where it began: 1 point in 2 s */
    assert_true(fabs(follow_rate(slow, 2, 20, UINT64_MAX) - 0.5) < 1e-12);
    assert_true(isnan(follow_rate(slow, 1, 20, UINT64_MAX)));
    assert_true(isnan(follow_rate(slow, 0, 20, 0)));
    assert_true(isnan(follow_rate(slow, 1, NAN, 3)));
    assert_true(isnan(follow_rate(slow, 1, 5, 50))); /* nothing done yet */
}

static void test_status_rate_is_readable_at_any_speed(void **state)
{
    (void)state;
    static const struct {
        double per_s;
        const char *wanted;
    } known[] = {
        {19132.4, "19,132 points/s"}, {12.34, "12.3 points/s"}, {1, "1.0 points/s"}, {0.5, "30.0 points/min"},
        {1.0 / 3600, "1.0 points/h"}, {0, "0.0 points/h"},      {NAN, "-"},          {INFINITY, "-"}};
    char text[64];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(status_rate(known[i].per_s, text, sizeof text), known[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reason_groups_fold_numbers_units_and_layers),
        cmocka_unit_test(test_reason_groups_keep_the_status_apart),
        cmocka_unit_test(test_reason_groups_stay_small_and_keep_the_frequent),
        cmocka_unit_test(test_reason_groups_take_any_text),
        cmocka_unit_test(test_reason_groups_print_a_line_each_with_an_example),
        cmocka_unit_test(test_run_report_is_silent_when_all_is_well),
        cmocka_unit_test(test_run_report_names_failures_and_the_slowest),
        cmocka_unit_test(test_follow_rate_prefers_what_was_seen),
        cmocka_unit_test(test_status_rate_is_readable_at_any_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
