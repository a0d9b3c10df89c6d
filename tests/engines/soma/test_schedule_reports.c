/* What the summary of a schedule says when the accounting knows no lower bound: nothing of it, and the cells
 * are missing. With one it is that of docs/soma.md, the larger of computing and DRAM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/fused/schedule_pricer.h"
#include "dse/inputs/inputs.h"
#include "engines/driver/schedule_format.h"
#include "engines/soma/schedule_evaluate.h"

static const char tiny[] = "soma: 1\nnetwork: tiny6\ngroups:\n"
                           "- {cut: true, tiles: 2, layers: [A_conv3x3, B_conv3x3, C_conv1x1, D_add]}\n"
                           "- {cut: true, tiles: 2, layers: [E_pool2x2, F_conv3x3s2]}\n";

static const struct cell *value_of(const struct cells *list, const char *key)
{
    for (size_t i = 0; i < list->n_cell; i += 2)
        if (strcmp(cells_text_at(list, cells_at(list, i)), key) == 0)
            return cells_at(list, i + 1);
    fail_msg("no %s", key);
    return NULL;
}

static void summarise(const struct accounting *accounting, struct report *report)
{
    const struct schedule_format *format = schedule_format_of(tiny, strlen(tiny));
    const double option[SCHEDULE_OPTION_MAX] = {0, 1};
    struct architecture arch;
    struct network network;
    struct arena arena;
    struct dse_error err = {0};
    void *schedule;
    arena_init(&arena);
    assert_int_equal(input_architecture("soma_edge", NULL, &arch, &err), DSE_OK);
    assert_int_equal(input_network("tests/known/soma/tiny6.yaml", NULL, &network, &err), DSE_OK);
    const struct schedule_request request = {.arch = &arch,
                                             .network = &network,
                                             .batch = 1,
                                             .accounting = accounting,
                                             .option = option,
                                             .path = "tiny.yaml",
                                             .text = tiny,
                                             .length = strlen(tiny)};
    if (format->evaluate(&request, &arena, &schedule, &err) != DSE_OK)
        fail_msg("%s", err.text);
    report_init(report, "summary");
    assert_int_equal(format->report[0].fill(schedule, report, &err), DSE_OK);
    network_free(&network);
    arena_free(&arena);
}

/* What was evaluated in runs has totals alone. */
static void test_lists_of_a_long_schedule_are_refused(void **state)
{
    const struct schedule_format *format = schedule_format_of(tiny, strlen(tiny));
    const struct soma_schedule s = {.fused = {.n_tile = 30000000}, .is_long = true};
    struct timeline timeline;
    struct arena arena;
    (void)state;
    arena_init(&arena);
    for (size_t i = 1; i < format->n_report; i++) {
        struct report report;
        struct dse_error err = {0};
        report_init(&report, format->report[i].name);
        assert_int_equal(format->report[i].fill(&s, &report, &err), DSE_LIMIT);
        assert_non_null(strstr(err.text, "the schedule has 30,000,000 tiles"));
        report_free(&report);
    }
    struct dse_error err = {0};
    assert_int_equal(format->timeline(&s, "", &arena, &timeline, &err), DSE_LIMIT);
    arena_free(&arena);
}

static void test_summary_leaves_out_a_bound_that_is_not_known(void **state)
{
    struct schedule_accounting hooks = *accounting_soma.schedule;
    struct accounting unbound = accounting_soma;
    struct report with, without;
    (void)state;
    hooks.bound_cycle = NULL;
    unbound.schedule = &hooks;
    summarise(&accounting_soma, &with);
    summarise(&unbound, &without);
    assert_non_null(strstr(with.head.data, "lower bound"));
    assert_null(strstr(without.head.data, "lower bound"));
    int64_t compute = value_of(&with.rows, "compute_cycle")->whole;
    int64_t dram = value_of(&with.rows, "dram_cycle")->whole;
    assert_int_equal(value_of(&with.rows, "bound_latency_cycle")->whole, compute > dram ? compute : dram);
    assert_int_equal(value_of(&with.rows, "bound_latency_ratio")->kind, CELL_REAL);
    assert_int_equal(value_of(&without.rows, "bound_latency_cycle")->kind, CELL_NONE);
    assert_int_equal(value_of(&without.rows, "bound_latency_ratio")->kind, CELL_NONE);
    assert_int_equal(value_of(&without.rows, "latency_cycle")->whole,
                     value_of(&with.rows, "latency_cycle")->whole);
    report_free(&with);
    report_free(&without);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary_leaves_out_a_bound_that_is_not_known),
        cmocka_unit_test(test_lists_of_a_long_schedule_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
