/* What becomes of the rows of a cell that takes another's schedule. The numbers are made up. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dse/exchange/exchange_row.h"

static const struct metric metric[] = {
    {.name = "n_tile", .unit = "1", .type = METRIC_U64, .offset = 0},
    {.name = "stage1_latency_cycle", .unit = "cycle", .type = METRIC_U64, .offset = 8},
};
static const struct metric_group group = {"made-up", metric, 2};

static void test_exchange_row_keeps_what_the_search_did(void **state)
{
    (void)state;
    /* the columns stand in another order than the group */
    const struct metric *const extra[] = {&metric[1], &schedule_group.metric[0], &metric[0]};
    const struct result_schema schema = {.schedules = true, .n_extra = {3, 0}, .extra = {extra, NULL}};
    const struct engine engine = {.name = "made-up", .kind = ENGINE_SCHEDULER, .group = &group};
    const struct solve_settings settings = {.engine = &engine, .objective = {1, 1}};
    const struct network network = {.n_layer = 6};
    const struct workload workload = {.network = &network};
    struct point_record point;
    struct layer_record layer;
    struct engine_schedule priced;
    point_record_init(&point);
    layer_record_init(&layer);
    point.outcome = layer.outcome = RESULT_OK;
    point.energy_j = 2;
    point.latency_s = 3;
    point.stop = layer.stop = "converged";
    point.evaluations = layer.evaluations = 99;
    layer.trace = "1:7 50:6";
    layer.mapping = "own";
    point.extra[0].u64 = 4321;
    point.extra[1].f64 = 1.5; /* so the bound is 6 / 1.5 = 4 */
    point.extra[2].u64 = 10;
    engine_schedule_init(&priced);
    priced.energy_j = 1;
    priced.latency_s = 5;
    priced.accounting = "soma";
    priced.own[0].u64 = 20; /* the other is the search's, and missing */
    const struct exchange_answer answer = {&priced, "theirs", "a=1 b=2"};
    exchange_row(&schema, &settings, &workload, &answer, &point, &layer);
    assert_true(point.energy_j == 1 && point.latency_s == 5 && layer.latency_s == 5);
    assert_string_equal(point.exchanged_from, "a=1 b=2");
    assert_string_equal(point.accounting, "soma");
    assert_string_equal(layer.mapping, "theirs");
    assert_string_equal(layer.trace, "1:7 50:6");
    assert_string_equal(point.stop, "converged");
    assert_int_equal(point.evaluations, 99);
    assert_int_equal(point.extra[0].u64, 4321);
    assert_true(point.extra[1].f64 == 1.25); /* 5 over 4 */
    assert_int_equal(point.extra[2].u64, 20);

    /* a cell that had nothing */
    point_record_init(&point);
    layer_record_init(&layer);
    point.outcome = layer.outcome = RESULT_INFEASIBLE;
    point.reason = layer.reason = "no schedule was found";
    exchange_row(&schema, &settings, &workload, &answer, &point, &layer);
    assert_int_equal(point.outcome, RESULT_OK);
    assert_int_equal(layer.outcome, RESULT_OK);
    assert_null(point.reason);
    assert_null(layer.reason);
    assert_int_equal(point.n_layer_mapped, 6);
    assert_true(isnan(point.extra[1].f64));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exchange_row_keeps_what_the_search_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
