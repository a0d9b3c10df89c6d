/* Tests: plan_timeline.c.
 * The rows of a schedule's timeline are those of its report `uops`, by accelerator and start. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "dse/console/report_print.h"
#include "engines/driver/schedule_format.h"
#include "engines/klotski/klotski_engines.h"
#include "results/timeline/timeline.h"
#include "tests/support/schedule_run.h"

static const struct schedule_report *find_report(const struct schedule_format *format, const char *name)
{
    for (size_t i = 0; i < format->n_report; i++)
        if (strcmp(format->report[i].name, name) == 0)
            return &format->report[i];
    fail_msg("no report %s", name);
    return NULL;
}

/* The line of a report's CSV that begins with the uop's name. */
static void assert_line(const char *csv, const struct timeline_uop *u)
{
    char line[256];
    (void)snprintf(line, sizeof line, "\n%s,%d,%d,%d,%d\n", u->uop, (int)u->core, (int)u->start,
                   (int)u->finish, (int)(u->finish - u->start));
    if (!strstr(csv, line))
        fail_msg("the report has no line%s", line);
}

static void test_rows_are_those_of_the_report(void **state)
{
    const struct arch_override set = {"Core.mesh", "3x2"};
    struct schedule_run run;
    struct dse_error err = {0};
    struct timeline t;
    struct report report;
    struct text_buffer csv;
    void *schedule;
    (void)state;
    schedule_run_open_on(&run, &engine_klotski, "experiments/networks/googlenet.yaml", "klotski", &set, 1);
    run.task.batch = 2;
    schedule_run_solve(&run);
    const char *text = run.result.schedule.text;
    const struct schedule_format *format = schedule_format_of(text, strlen(text));
    double given[SCHEDULE_OPTION_MAX];
    for (size_t i = 0; i < SCHEDULE_OPTION_MAX; i++)
        given[i] = NAN;
    const struct schedule_request request = {.arch = &run.arch,
                                             .network = &run.network,
                                             .batch = 2,
                                             .option = given,
                                             .path = "plan.yaml",
                                             .text = text,
                                             .length = strlen(text)};
    if (format->evaluate(&request, &run.arena, &schedule, &err) != DSE_OK ||
        format->timeline(schedule, "plan", &run.arena, &t, &err) != DSE_OK ||
        timeline_check(&t, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(t.kind, TIMELINE_UOPS);
    assert_int_equal(t.n_core, 6);
    assert_int_equal(t.columns, 3);
    assert_int_equal(t.cycle, run.result.schedule.latency_cycle);
    assert_string_equal(t.rules, "ideal, static");
    report_init(&report, "uops");
    text_init(&csv);
    assert_int_equal(find_report(format, "uops")->fill(schedule, &report, &err), DSE_OK);
    assert_int_equal(report_print(&report, REPORT_CSV, &csv, &err), DSE_OK);
    uint64_t work = 0;
    for (size_t i = 0; i < t.n_uop; i++) {
        const size_t length = strlen(t.uop[i].layer);
        assert_line(csv.data, &t.uop[i]);
        assert_memory_equal(t.uop[i].uop, t.uop[i].layer, length);
        assert_true(t.uop[i].uop[length] == '/');
        work += (uint64_t)(t.uop[i].finish - t.uop[i].start);
    }
    assert_int_equal(work, t.work_cycle);
    text_free(&csv);
    report_free(&report);
    schedule_run_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_those_of_the_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
