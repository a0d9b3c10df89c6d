/* The rows of a scheduler's point, its text as one line, and what a plan makes of scheduler points. Numbers
 * of rows are those put into the result by hand; those of plans are counted in the specification.
 * Tests: workload.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "dse/run/plan.h"
#include "dse/solve/record.h"
#include "engines/soma/soma_metrics.h"
#include "tests/support/sweep_case.h"

#define SPEC                                                                                                 \
    "experiment: e\narchitecture: soma_edge\nnetwork: resnet50_soma\naxes:\n"                                \
    "  engine: [unfused, random]\n  batch: [1, 8]\n  GBUF.capacity: [4 MiB, 8 MiB]\n"

static char text[] =
    "# a comment\nsoma: 1\nnetwork: n\ngroups:\n- {cut: true, tiles: 2, layers: [a, \"b, c\"]} # x\n";

static struct solve_result example(void)
{
    struct solve_result r = {.outcome = RESULT_OK};
    r.found = (struct engine_result){.feasible = true,
                                     .cost = 6e-9,
                                     .bound = 4e-9,
                                     .stop = STOP_MAX_EVALUATIONS,
                                     .n_evaluation = 70,
                                     .n_draw = 70,
                                     .seconds = 0.5,
                                     .n_trace = 1};
    r.found.trace[0] = (struct trace_point){70, 6e-9, 0.25};
    struct engine_schedule *s = &r.found.schedule;
    engine_schedule_init(s);
    s->latency_cycle = 2000;
    s->latency_s = 2e-6;
    s->energy_j = 3e-3;
    s->edp_js = 6e-9;
    s->energy_mac_j = 1e-3;
    s->energy_buffer_j = 5e-4;
    s->energy_noc_j = 2e-4;
    s->energy_dram_j = 1.3e-3;
    s->dram_byte = 640;
    s->n_mac = 123;
    s->utilization = 0.25;
    s->accounting = "soma";
    s->text = text;
    s->text_length = sizeof text - 1;
    struct soma_metrics own;
    soma_metrics_init(&own);
    own.compute_cycle = 900;
    own.stall_cycle = 1100;
    own.buffer_average_byte = 33.5;
    own.stage1_energy_j = 3.1e-3;
    own.n_cut_layer = 4;
    own.stream_byte = 96;
    soma_metrics_put(&own, s);
    return r;
}

struct rows {
    struct sweep_case *sweep;
    struct arena arena;
    struct point_record point;
    struct layer_record layer;
};

static void make(struct rows *rows, const struct solve_result *result)
{
    struct dse_error err = {0};
    struct architecture arch = {.n_level = 0};
    arena_init(&rows->arena);
    rows->sweep = sweep_case_open(SPEC, NULL, 0, &err);
    if (!rows->sweep)
        fail_msg("%s", err.text);
    const struct result_schema *schema = &rows->sweep->sweep.schema;
    const struct record_source source = {.workload = &rows->sweep->sweep.workload[0],
                                         .arch = &arch,
                                         .result = &result,
                                         .texts = true,
                                         .group = &soma_group,
                                         .n_extra = schema->n_extra[RESULT_POINTS],
                                         .extra = schema->extra[RESULT_POINTS]};
    rows->point = (struct point_record){.key = 5};
    assert_int_equal(record_make_network(&source, &rows->arena, &rows->point, &rows->layer, &err), DSE_OK);
    assert_int_equal(rows->point.key, 5);
}

static void drop(struct rows *rows)
{
    sweep_case_close(rows->sweep);
    arena_free(&rows->arena);
}

/* A further column of the point, by its name. */
static double number_of(const struct rows *rows, const char *name)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n = schema_columns(&rows->sweep->sweep.schema, RESULT_POINTS, column), i = 0;
    while (i < n && strcmp(column[i].metric->name, name) != 0)
        i++;
    assert_true(i < n);
    return metric_number(column[i].metric, (const char *)&rows->point + column[i].offset);
}

static void test_network_row_has_every_number_of_the_schedule(void **state)
{
    (void)state;
    struct rows rows;
    struct solve_result result = example();
    make(&rows, &result);
    const struct point_record *p = &rows.point;
    assert_int_equal(p->outcome, RESULT_OK);
    assert_null(p->reason);
    assert_true(p->latency_s == 2e-6 && p->latency_cycle == 2000 && p->energy_j == 3e-3);
    assert_true(p->edp_js == 2e-6 * 3e-3 && p->utilization == 0.25 && p->dram_byte == 640 && p->n_mac == 123);
    assert_true(p->energy_mac_j == 1e-3 && p->energy_buffer_j == 5e-4 && p->energy_noc_j == 2e-4 &&
                p->energy_dram_j == 1.3e-3);
    assert_int_equal(rows.sweep->sweep.schema.n_extra[RESULT_POINTS], 20);
    assert_true(number_of(&rows, "compute_cycle") == 900 && number_of(&rows, "stall_cycle") == 1100);
    assert_true(number_of(&rows, "buffer_average_byte") == 33.5 && isnan(number_of(&rows, "n_tile")));
    assert_true(number_of(&rows, "stage1_energy_j") == 3.1e-3);
    assert_true(number_of(&rows, "n_cut_layer") == 4 && number_of(&rows, "stream_byte") == 96);
    assert_true(isnan(number_of(&rows, "n_repeated_layer")));
    assert_true(number_of(&rows, "bound_cost_ratio") == 6e-9 / 4e-9);
    assert_true(isnan(p->bound_edp_ratio) && isnan(p->onchip_byte) && p->level == NULL);
    assert_int_equal(p->n_layer_mapped, 72); /* layers of ResNet-50 in resnet50_soma.yaml */
    assert_int_equal(p->n_layer, 1);
    assert_string_equal(p->accounting, "soma");
    assert_string_equal(p->stop, "max_evaluations");
    assert_true(p->evaluations == 70 && p->draws == 70 && p->seconds == 0.5);
    const struct layer_record *l = &rows.layer;
    assert_string_equal(l->layer, "(network)");
    assert_true(l->count == 1 && l->latency_cycle == 2000 && l->energy_dram_j == 1.3e-3 && l->n_mac == 123);
    assert_string_equal(l->trace, "70:6e-09");
    assert_string_equal(l->trace_seconds, "0.25");
    assert_string_equal(l->mapping,
                        "{soma: 1, network: n, groups: [{cut: true, tiles: 2, layers: [a, \"b, c\"]}]}");
    drop(&rows);
}

static void test_network_row_leaves_out_what_is_not_known(void **state)
{
    (void)state;
    struct rows rows;
    struct solve_result result = example();
    result.found.bound = 0;
    make(&rows, &result);
    assert_true(isnan(number_of(&rows, "bound_cost_ratio")) && isnan(number_of(&rows, "dram_cycle")));
    drop(&rows);
}

static void test_network_row_says_why_there_is_no_schedule(void **state)
{
    (void)state;
    struct rows rows;
    struct solve_result result = example();
    result.outcome = RESULT_INFEASIBLE;
    (void)snprintf(result.reason, sizeof result.reason, "layer x does not fit");
    make(&rows, &result);
    assert_int_equal(rows.point.outcome, RESULT_INFEASIBLE);
    assert_string_equal(rows.point.reason, "layer x does not fit");
    assert_string_equal(rows.layer.reason, "layer x does not fit");
    assert_true(isnan(rows.point.latency_s) && isnan(number_of(&rows, "compute_cycle")));
    assert_true(rows.point.n_layer_mapped == 0 && rows.point.n_layer == 1 && rows.point.evaluations == 70);
    assert_null(rows.layer.mapping);
    drop(&rows);
}

static bool same_tree(const struct ynode *a, const struct ynode *b)
{
    if (a->kind != b->kind || a->n_item != b->n_item)
        return false;
    if (a->kind == YNODE_SCALAR)
        return strcmp(a->text, b->text) == 0;
    for (size_t i = 0; i < a->n_item; i++)
        if (!same_tree(a->item[i], b->item[i]) || (a->key && strcmp(a->key[i], b->key[i]) != 0))
            return false;
    return true;
}

/* Commas, braces, quotes, line breaks, comment signs and empty texts inside scalars. */
static void test_schedule_line_reads_back_to_the_same_tree(void **state)
{
    (void)state;
    static const char block[] =
        "a: 1\nb: \"x, {y}: [z] # no comment\"\nc: 'it''s \"quoted\" \\ back'\nd: |\n  two\n  lines\n"
        "e: ''\nf:\n- [-1, 2.5, 1e-3]\n- {g: \"tab\\there\", h: yes, i: \"12\"}\nj: []\nk: a b\n";
    struct arena arena;
    struct dse_error err;
    struct yaml_doc first, again;
    char *line;
    arena_init(&arena);
    assert_int_equal(record_schedule_line(block, sizeof block - 1, &arena, &line, &err), DSE_OK);
    assert_null(strpbrk(line, "\r\n"));
    assert_int_equal(yaml_parse(&first, "block", block, sizeof block - 1, &err), DSE_OK);
    assert_int_equal(yaml_parse(&again, "line", line, strlen(line), &err), DSE_OK);
    assert_true(same_tree(first.root, again.root));
    yaml_doc_free(&first);
    yaml_doc_free(&again);
    assert_int_equal(record_schedule_line("a: [", 4, &arena, &line, &err), DSE_BAD_INPUT);
    arena_free(&arena);
}

/* 8 points: 4 of the scheduler with one search each, 4 of the mapper with one for each different layer. */
static void test_plan_has_one_task_for_a_schedulers_point(void **state)
{
    (void)state;
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(SPEC, NULL, 0, &err);
    struct queue_entry entry[8];
    struct machine machine;
    struct plan *plan;
    size_t n_scheduler = 0;
    if (!opened)
        fail_msg("%s", err.text);
    assert_int_equal(opened->sweep.n_point, 8);
    assert_int_equal(opened->sweep.n_scheduler, 1);
    for (uint32_t p = 0; p < 8; p++)
        entry[p] = (struct queue_entry){p, 1};
    machine_init(&machine, &opened->sweep);
    assert_int_equal(plan_new(&opened->sweep, entry, 8, &machine, &plan, &err), DSE_OK);
    uint32_t n_problem = opened->sweep.workload[0].n_problem;
    assert_int_equal(plan->n_link, 4 + 4 * n_problem);
    for (size_t p = 0; p < 8; p++) {
        struct sweep_point point;
        sweep_point(&opened->sweep, plan->point[p].number, &point);
        bool scheduler = solve_is_scheduler(&point.settings);
        assert_int_equal(plan->point[p].n_task, scheduler ? 1 : n_problem);
        n_scheduler += scheduler;
        for (size_t q = 0; q < p; q++)
            assert_true(plan->point[p].key != plan->point[q].key);
    }
    assert_int_equal(n_scheduler, 4);
    plan_free(plan);
    sweep_case_close(opened);
}

/* Two networks that differ in nothing but an edge, and two batches, are other tasks. */
static void test_workload_hash_sees_the_whole_network(void **state)
{
    (void)state;
    static const char *const from[] = {"two", "one", "two"};
    uint64_t hash[3];
    for (size_t i = 0; i < 3; i++) {
        char yaml[512];
        struct network network;
        struct workload workload;
        struct dse_error err = {0};
        int n = snprintf(yaml, sizeof yaml,
                         "network: n\ninput: {C: 4, H: 4, W: 4}\nlayers:\n"
                         "- {name: one, type: activation, C: 4, P: 4, Q: 4, from: input}\n"
                         "- {name: two, type: activation, C: 4, P: 4, Q: 4, from: one}\n"
                         "- {name: three, type: activation, C: 4, P: 4, Q: 4, from: %s}\n",
                         from[i]);
        if (network_parse("n.yaml", yaml, (size_t)n, &network, &err) != DSE_OK)
            fail_msg("%s", err.text);
        workload_init_whole(&workload, &network, i == 2 ? 2 : 1);
        hash[i] = workload.network_hash;
        assert_true(workload.hash == workload.network_hash && workload.n_problem == 0);
        workload_free(&workload);
        network_free(&network);
    }
    assert_true(hash[0] != hash[1] && hash[0] != hash[2] && hash[1] != hash[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_network_row_has_every_number_of_the_schedule),
        cmocka_unit_test(test_network_row_leaves_out_what_is_not_known),
        cmocka_unit_test(test_network_row_says_why_there_is_no_schedule),
        cmocka_unit_test(test_schedule_line_reads_back_to_the_same_tree),
        cmocka_unit_test(test_plan_has_one_task_for_a_schedulers_point),
        cmocka_unit_test(test_workload_hash_sees_the_whole_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
