/* The rows of a point: sums over layers, outcomes, and texts that read back. Expected values follow from the
 * layers' own results by the rules in record.h; the check of the mapping line is that evaluating what is read
 * back costs the same.
 * Tests: measure_choice.c, measure_settings.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/noc/noc.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/solve/record.h"
#include "engines/cosa/cosa.h"
#include "tests/support/mapping_same.h"

static const char network_text[] = "network: tiny\nkind: layers\nlayers:\n"
                                   "- {name: one, type: conv, C: 4, K: 8, P: 8, Q: 8, R: 3, S: 3, count: 3}\n"
                                   "- {name: two, type: linear, C: 16, K: 8}\n"
                                   "- {name: again, type: conv, C: 4, K: 8, P: 8, Q: 8, R: 3, S: 3}\n";

static const char *const level_name[] = {
    "Registers", "AccumulationBuffer", "WeightBuffer", "InputBuffer", "GlobalBuffer", "DRAM", "Elsewhere"};

enum { N_LEVEL = 7, N_PROBLEM = 2, N_LAYER = 3 };

struct fixture {
    struct network network;
    struct workload workload;
    struct architecture arch;
    struct solve_settings settings;
    struct solve_result result[N_PROBLEM];
    const struct solve_result *view[N_PROBLEM];
    struct arena arena;
    struct point_record point;
    struct layer_record layer[N_LAYER];
    struct record_source source;
};

static void make(struct fixture *f)
{
    struct dse_error err = {0};
    struct arena scratch;
    memset(f, 0, sizeof *f);
    arena_init(&f->arena);
    arena_init(&scratch);
    assert_int_equal(network_parse("tiny.yaml", network_text, sizeof network_text - 1, &f->network, &err),
                     DSE_OK);
    assert_int_equal(workload_init(&f->workload, &f->network, 2, NULL, 0, 0, &err), DSE_OK);
    assert_int_equal(f->workload.n_problem, N_PROBLEM); /* one and again are the same loop nest */
    assert_int_equal(workload_count(&f->workload, 0), 4);
    assert_int_equal(architecture_read("experiments/architectures/simba.yaml", &f->arch, &err), DSE_OK);
    assert_int_equal(solve_settings_init(&f->settings, "random", &err), DSE_OK);
    f->settings.max_evaluations = 200;
    for (uint32_t p = 0; p < N_PROBLEM; p++) {
        assert_int_equal(
            solve_task(&f->settings, &f->workload.problem[p], &f->arch, NULL, &scratch, &f->result[p]),
            DSE_OK);
        f->view[p] = &f->result[p];
    }
    arena_free(&scratch);
    f->source = (struct record_source){.workload = &f->workload,
                                       .arch = &f->arch,
                                       .result = f->view,
                                       .n_level = N_LEVEL,
                                       .level = level_name,
                                       .accounting = "timeloop",
                                       .texts = true,
                                       .measure = &f->settings.measure};
}

static void drop(struct fixture *f)
{
    workload_free(&f->workload);
    network_free(&f->network);
    arena_free(&f->arena);
}

static void assert_near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-12 * fabs(b));
}

static void test_record_sums_over_layers(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err = {0};
    make(&f);
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    const struct evaluation *a = &f.result[0].found.evaluation, *b = &f.result[1].found.evaluation;
    assert_int_equal(f.point.outcome, RESULT_OK);
    assert_int_equal(f.point.latency_cycle, 4 * a->latency_cycle + b->latency_cycle);
    assert_int_equal(f.point.n_mac, 2 * (4 * 4 * 8 * 8 * 8 * 9 + 16 * 8)); /* batch 2 */
    assert_int_equal(f.point.n_layer_mapped, 5);
    assert_int_equal(f.point.evaluations, 400);
    assert_int_equal(f.point.draws, f.result[0].found.n_draw + f.result[1].found.n_draw);
    assert_true(f.point.draws >= 400);
    assert_int_equal(f.layer[2].draws, f.result[0].found.n_draw);
    assert_string_equal(f.layer[0].padded, "");
    assert_near(f.point.energy_j, 4 * a->energy_j + b->energy_j);
    assert_near(f.point.latency_s, 4 * a->latency_s + b->latency_s);
    assert_near(f.point.edp_js, f.point.energy_j * f.point.latency_s);
    assert_near(f.point.energy_mac_j + f.point.energy_buffer_j + f.point.energy_noc_j + f.point.energy_dram_j,
                f.point.energy_j);
    assert_near(f.point.level[5].byte, f.point.dram_byte);
    assert_true(isnan(f.point.level[6].energy_j)); /* not a level of this machine */
    assert_near(f.point.utilization, (double)f.point.n_mac / (1024.0 * (double)f.point.latency_cycle));
    assert_true(f.point.bound_latency_ratio >= 1 && f.point.bound_energy_ratio >= 1 &&
                f.point.bound_edp_ratio >= 1);
    assert_near(f.point.bound_latency_ratio,
                f.point.latency_s / (4 * f.result[0].bound.latency_s + f.result[1].bound.latency_s));
    assert_string_equal(f.point.stop, "max_evaluations");
    f.result[0].found.stop = STOP_CONVERGED;
    f.result[1].found.stop = STOP_SOLVER_LIMIT; /* the weakest of the layers' stops is the point's */
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_string_equal(f.point.stop, "solver_limit");
    drop(&f);
}

/* An engine that enlarged a dimension: the row says which, and its mapping is one of the enlarged loop
 * nest. */
static void test_record_padding_is_told(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err = {0};
    make(&f);
    struct engine_result *found = &f.result[1].found;
    int c = problem_find_dim(&f.workload.problem[1], "C");
    assert_true(c >= 0);
    found->padded = true;
    memcpy(found->padded_bound, f.workload.problem[1].bound, sizeof found->padded_bound);
    found->padded_bound[c] = 18;
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_string_equal(f.layer[0].padded, "");
    assert_string_equal(f.layer[1].padded, "C 16->18");
    drop(&f);
}

/* Sums over layers times their counts, and missing as soon as one of them is. */
static void test_record_measured_values_are_summed(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err = {0};
    make(&f);
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_int_equal(f.point.extra[0].u64, METRIC_U64_MISSING); /* nothing was asked for */
    assert_true(isnan(f.layer[0].extra[4].f64));
    assert_int_equal(measure_add_list(&f.settings.measure, "cosa,noc", &err), DSE_OK);
    f.result[0].measured.value[0].u64 = 100; /* noc_latency_cycle, then CoSA's terms */
    f.result[1].measured.value[0].u64 = 7;
    f.result[1].measured.value[3].f64 = 2.5;
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_int_equal(f.point.extra[0].u64, 3 * 100 + 7 + 100);
    assert_int_equal(f.layer[1].extra[0].u64, 7);
    assert_true(f.layer[1].extra[3].f64 == 2.5);
    f.result[0].measured.value[0].u64 = METRIC_U64_MISSING;
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_int_equal(f.point.extra[0].u64, METRIC_U64_MISSING);
    assert_int_equal(f.layer[1].extra[0].u64, 7);
    drop(&f);
}

/* What a task measures is what the simulator and the objective say of its mapping. */
static void test_record_task_measures_its_mapping(void **state)
{
    (void)state;
    struct fixture f;
    struct arena scratch;
    struct dse_error err = {0};
    struct noc_latency latency;
    struct cosa_settings cosa;
    struct cosa_terms terms;
    make(&f);
    arena_init(&scratch);
    assert_int_equal(measure_add_list(&f.settings.measure, "cosa,noc", &err), DSE_OK);
    f.settings.measure.limit[measure_find("noc")] = 20;
    uint64_t cycle = f.result[0].found.evaluation.latency_cycle;
    assert_int_equal(solve_task(&f.settings, &f.workload.problem[0], &f.arch, NULL, &scratch, &f.result[0]),
                     DSE_OK);
    const struct mapping *mapping = &f.result[0].found.mapping;
    assert_int_equal(f.result[0].found.evaluation.latency_cycle, cycle); /* the search is the same */
    assert_int_equal(
        noc_latency_of(&f.workload.problem[0], &f.arch, mapping, 20, NULL, &scratch, &latency, &err), DSE_OK);
    assert_true(latency.cycle > 0);
    assert_int_equal(f.result[0].measured.value[0].u64, latency.cycle);
    cosa_settings_init(&cosa);
    cosa_terms_of(&f.workload.problem[0], &f.arch, &cosa, mapping, &terms);
    const union metric_value *value = f.result[0].measured.value;
    assert_true(value[1].f64 == terms.util && value[2].f64 == terms.comp && value[3].f64 == terms.traf &&
                value[4].f64 == terms.objective);
    arena_free(&scratch);
    drop(&f);
}

/* The latency that chose the mapping is the simulator's, and no higher than that of the mapping that costs
 * least; a choice among one simulates that one. */
static void test_record_task_chooses_its_mapping(void **state)
{
    (void)state;
    struct fixture f;
    struct arena scratch;
    struct dse_error err = {0};
    struct noc_latency latency;
    const struct metric *metric[MEASURE_VALUE_MAX];
    struct measure_settings *measure = &f.settings.measure;
    const union metric_value *value;
    uint64_t plain = 0;
    make(&f);
    arena_init(&scratch);
    value = f.result[0].measured.value;
    f.settings.objective = (struct objective){0, 1};
    assert_int_equal(measure_choose(measure, measure_find("noc"), 4, &err), DSE_BAD_INPUT);
    assert_int_equal(measure_add_list(measure, "cosa,noc", &err), DSE_OK);
    assert_int_equal(measure_choose(measure, measure_find("cosa"), 4, &err), DSE_BAD_INPUT);
    assert_int_equal(measure_choose(measure, measure_find("noc"), 0, &err), DSE_BAD_INPUT);
    for (uint32_t n = 0; n <= 12; n += 6) {
        if (n)
            assert_int_equal(measure_choose(measure, measure_find("noc"), n, &err), DSE_OK);
        assert_int_equal(
            solve_task(&f.settings, &f.workload.problem[0], &f.arch, NULL, &scratch, &f.result[0]), DSE_OK);
        assert_int_equal(f.result[0].outcome, RESULT_OK);
        assert_int_equal(noc_latency_of(&f.workload.problem[0], &f.arch, &f.result[0].found.mapping,
                                        NOC_LATENCY_STEPS, NULL, &scratch, &latency, &err),
                         DSE_OK);
        assert_int_equal(value[0].u64, latency.cycle);
        plain = n ? plain : latency.cycle;
        assert_true(latency.cycle <= plain);
    }
    assert_int_equal(measure_columns(measure, true, metric), 1);
    assert_int_equal(measure_columns(measure, false, metric), 6);
    assert_string_equal(metric[1]->name, "noc_simulations");
    assert_int_equal(value[1].u64, 12);
    assert_true(value[2].f64 > 0); /* cosa_util */
    arena_free(&scratch);
    drop(&f);
}

static void test_record_mapping_line_reads_back(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err = {0};
    struct yaml_doc doc;
    struct mapping mapping;
    make(&f);
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    for (uint32_t i = 0; i < N_LAYER; i++) {
        uint32_t p = f.workload.problem_of[i];
        assert_null(strchr(f.layer[i].mapping, '\n'));
        assert_int_equal(yaml_parse(&doc, "line", f.layer[i].mapping, strlen(f.layer[i].mapping), &err),
                         DSE_OK);
        assert_int_equal(mapping_build(&doc, &f.workload.problem[p], &f.arch, &mapping, &err), DSE_OK);
        assert_true(mapping_same(&mapping, &f.result[p].found.mapping));
        yaml_doc_free(&doc);
    }
    drop(&f);
}

static void test_record_outcome_is_the_worst_layer(void **state)
{
    (void)state;
    struct fixture f;
    struct dse_error err = {0};
    make(&f);
    f.result[0].outcome = RESULT_INFEASIBLE;
    snprintf(f.result[0].reason, sizeof f.result[0].reason, "no room");
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_int_equal(f.point.outcome, RESULT_INFEASIBLE);
    assert_string_equal(f.point.reason, "layer one: no room");
    assert_true(isnan(f.point.latency_s) && isnan(f.point.energy_j));
    assert_int_equal(f.point.n_layer_mapped, 1);
    f.result[1].outcome = RESULT_FAILED;
    snprintf(f.result[1].reason, sizeof f.result[1].reason, "broke");
    assert_int_equal(record_make(&f.source, &f.arena, &f.point, f.layer, &err), DSE_OK);
    assert_int_equal(f.point.outcome, RESULT_FAILED);
    assert_string_equal(f.point.reason, "layer two: broke");
    drop(&f);
}

static void test_record_timeout_without_a_mapping(void **state)
{
    (void)state;
    struct fixture f;
    struct arena scratch;
    make(&f);
    arena_init(&scratch);
    f.settings.max_seconds =
        1e-9; /* over before the first batch has found anything, or with a first mapping */
    assert_int_equal(solve_task(&f.settings, &f.workload.problem[0], &f.arch, NULL, &scratch, &f.result[0]),
                     DSE_OK);
    assert_true(f.result[0].outcome == RESULT_TIMEOUT || f.result[0].outcome == RESULT_OK);
    if (f.result[0].outcome == RESULT_TIMEOUT)
        assert_non_null(strstr(f.result[0].reason, "nothing found"));
    arena_free(&scratch);
    drop(&f);
}

static void test_record_infeasible_says_what_is_proved(void **state)
{
    (void)state;
    struct fixture f;
    struct arena scratch;
    make(&f);
    arena_init(&scratch);
    f.settings.max_evaluations = 10;
    f.arch.level[4].min_utilization =
        0.9; /* GlobalBuffer: the layer is too small to fill it, seen only by looking */
    assert_int_equal(solve_task(&f.settings, &f.workload.problem[0], &f.arch, NULL, &scratch, &f.result[0]),
                     DSE_OK);
    assert_int_equal(f.result[0].outcome, RESULT_INFEASIBLE);
    assert_int_equal(strncmp(f.result[0].reason, "nothing found in ", 17), 0);
    assert_non_null(strstr(f.result[0].reason, "; the most frequent misfit: GlobalBuffer "));
    f.arch.level[4].min_utilization = 0;
    f.arch.level[4].size_word = 1; /* no room for a word of each tensor: known before the search */
    assert_int_equal(solve_task(&f.settings, &f.workload.problem[0], &f.arch, NULL, &scratch, &f.result[0]),
                     DSE_OK);
    assert_int_equal(f.result[0].outcome, RESULT_INFEASIBLE);
    assert_int_equal(strncmp(f.result[0].reason, "GlobalBuffer needs ", 19), 0);
    arena_free(&scratch);
    drop(&f);
}

static void test_record_cancelled_search_has_no_result(void **state)
{
    (void)state;
    struct fixture f;
    struct arena scratch;
    atomic_int cancel;
    make(&f);
    arena_init(&scratch);
    atomic_init(&cancel, 1);
    f.settings.max_evaluations = 0;
    assert_int_equal(
        solve_task(&f.settings, &f.workload.problem[0], &f.arch, &cancel, &scratch, &f.result[0]),
        DSE_INTERRUPTED);
    arena_free(&scratch);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_record_sums_over_layers),
        cmocka_unit_test(test_record_padding_is_told),
        cmocka_unit_test(test_record_measured_values_are_summed),
        cmocka_unit_test(test_record_task_measures_its_mapping),
        cmocka_unit_test(test_record_task_chooses_its_mapping),
        cmocka_unit_test(test_record_mapping_line_reads_back),
        cmocka_unit_test(test_record_outcome_is_the_worst_layer),
        cmocka_unit_test(test_record_timeout_without_a_mapping),
        cmocka_unit_test(test_record_infeasible_says_what_is_proved),
        cmocka_unit_test(test_record_cancelled_search_has_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
