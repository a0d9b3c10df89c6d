/* The engine on every search that the authors' program or the independent one was run on: the same findings,
 * energies and numbers of points. By other objectives: the bound holds, and what is called optimal is.
 * Tests: interstellar_engine.c, mapping_words.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/interstellar/mapping_words.h"
#include "tests/support/interstellar_search.h"

static const struct objective energy = {1, 0}, latency = {0, 1}, edp = {1, 1};

static void solve(const struct interstellar_search *search, bool free, bool compat, const char *option,
                  const struct objective *objective, struct engine_budget budget,
                  struct engine_result *result)
{
    struct interstellar_task task;
    struct dse_error err;
    interstellar_task_init(&task, search, free);
    if (interstellar_task_solve(&task, compat, option, objective, budget, result, &err) != DSE_OK)
        fail_msg("%s %s %s: %s", search->arch, search->layer, search->schedule, err.text);
    interstellar_task_free(&task);
}

static void compare(const struct interstellar_search *search, const struct engine_result *result)
{
    const double found_pj = 1e12 * (result->evaluation.energy_j - result->evaluation.energy_mac_j);
    if (result->feasible != search->feasible ||
        (result->feasible && fabs(found_pj - search->energy_pj) > 1e-9 * search->energy_pj))
        fail_msg("%s %s %s: %s, %.17g pJ; the authors' program: %s, %.17g pJ", search->arch, search->layer,
                 search->schedule, result->feasible ? "found" : result->reason, found_pj,
                 search->feasible ? "found" : "nothing", search->energy_pj);
    assert_int_equal(result->stop, result->feasible ? STOP_OPTIMAL : STOP_CONVERGED);
}

static void test_every_known_search_is_proved(void **state)
{
    static struct interstellar_search search[INTERSTELLAR_SEARCH_MAX];
    struct engine_result result;
    const int n = interstellar_searches_load(search, INTERSTELLAR_SEARCH_MAX);
    (void)state;
    assert_int_equal(n, 297);
    for (int i = 0; i < n; i++) {
        solve(&search[i], false, true, NULL, &energy, (struct engine_budget){0}, &result);
        compare(&search[i], &result);
    }
}

/* Every search with up to 30,000 points: the points are those of the authors' program, too. */
static void test_enumeration_prices_the_same_points(void **state)
{
    static struct interstellar_search search[INTERSTELLAR_SEARCH_MAX];
    struct engine_result result;
    const int n = interstellar_searches_load(search, INTERSTELLAR_SEARCH_MAX);
    int n_compared = 0;
    (void)state;
    for (int i = 0; i < n; i++) {
        if (search[i].n_point > 30000)
            continue;
        solve(&search[i], false, true, "mode=enumerate", &energy, (struct engine_budget){0}, &result);
        compare(&search[i], &result);
        if (search[i].n_point > 0)
            assert_int_equal(result.n_evaluation, (uint64_t)search[i].n_point);
        n_compared += search[i].n_point > 0;
    }
    assert_true(n_compared > 200);
}

/* The row of a machine, layer and schedule. */
static struct interstellar_search row(const char *arch, const char *layer, const char *schedule)
{
    static struct interstellar_search search[INTERSTELLAR_SEARCH_MAX];
    const int n = interstellar_searches_load(search, INTERSTELLAR_SEARCH_MAX);
    for (int i = 0; i < n; i++)
        if (strcmp(search[i].arch, arch) == 0 && strcmp(search[i].layer, layer) == 0 &&
            strcmp(search[i].schedule, schedule) == 0)
            return search[i];
    fail_msg("no row %s %s %s", arch, layer, schedule);
    return search[0];
}

static void test_budget_of_points_is_kept(void **state)
{
    const struct interstellar_search search = row("eyeriss512", "CONV3", "CK16");
    const uint64_t limits[] = {1, 2, 4095, 4097, 10412};
    struct engine_result result;
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        solve(&search, false, true, "mode=enumerate", &energy,
              (struct engine_budget){.max_evaluations = limits[i]}, &result);
        assert_int_equal(result.stop, STOP_MAX_EVALUATIONS);
        assert_int_equal(result.n_evaluation, limits[i]);
        assert_true(result.feasible);
    }
}

/* Over before its space is listed, a search still answers; where time counts, with more than one PE. */
static void test_no_time_at_all(void **state)
{
    const struct interstellar_search search = row("rf64", "CONV3", "CK16");
    const struct objective *const objective[] = {&energy, &edp};
    struct engine_result result;
    (void)state;
    for (int i = 0; i < 2; i++) {
        solve(&search, true, false, "ragged=4", objective[i], (struct engine_budget){.max_seconds = 1e-9},
              &result);
        assert_int_equal(result.stop, STOP_MAX_SECONDS);
        assert_true(result.feasible && (i == 0 || result.evaluation.n_mac_used > 1));
        assert_in_range(result.n_evaluation, 2, 2000);
    }
    solve(&search, false, true, "mode=enumerate", &energy, (struct engine_budget){.max_seconds = 1e-9},
          &result);
    assert_int_equal(result.stop, STOP_MAX_SECONDS);
}

/* All dataflows at once: not above C|K with the rule that half of a memory is used. Two loops on a side do
 * not lose against one. */
static void test_freedom_does_not_cost(void **state)
{
    const struct interstellar_search search = row("rf64", "CONV5", "CK16");
    struct engine_result all, one, hinted;
    (void)state;
    solve(&search, true, false, NULL, &energy, (struct engine_budget){0}, &all);
    solve(&search, true, false, "loops=1", &energy, (struct engine_budget){0}, &one);
    solve(&search, false, false, NULL, &energy, (struct engine_budget){0}, &hinted);
    assert_int_equal(all.stop, STOP_OPTIMAL);
    assert_true(all.cost <= one.cost && one.cost <= hinted.cost);
    assert_true(1e12 * (all.evaluation.energy_j - all.evaluation.energy_mac_j) < 0.91 * search.energy_pj);
}

/* 13 x 13 outputs of 13 channels on 4 x 4 units: 13 is prime, so padding to 14, 15 or 16 pays. */
static void test_padding_pays_on_primes(void **state)
{
    const struct interstellar_search search = {
        .arch = "ws16", .layer = "prime", .schedule = "", .bound = {1, 13, 13, 13, 13, 1, 1, 1}};
    struct engine_result exact, padded;
    (void)state;
    solve(&search, true, false, NULL, &energy, (struct engine_budget){0}, &exact);
    solve(&search, true, false, "ragged=1.25", &energy, (struct engine_budget){0}, &padded);
    assert_int_equal(exact.stop, STOP_OPTIMAL);
    assert_int_equal(padded.stop, STOP_OPTIMAL);
    assert_true(padded.cost < 0.95 * exact.cost);
}

/* Without a limit of bandwidth other objectives are proved, too. The least latency has all 256 MACs at work
 * where the loops allow it. */
static void test_other_objectives(void **state)
{
    const struct interstellar_search search = row("rf64", "CONV5", "CK16");
    struct engine_result least_energy, least_latency, least_edp;
    (void)state;
    solve(&search, true, false, NULL, &energy, (struct engine_budget){0}, &least_energy);
    solve(&search, true, false, NULL, &latency, (struct engine_budget){0}, &least_latency);
    solve(&search, true, false, NULL, &edp, (struct engine_budget){0}, &least_edp);
    assert_int_equal(least_latency.stop, STOP_OPTIMAL);
    assert_int_equal(least_edp.stop, STOP_OPTIMAL);
    assert_int_equal(least_latency.evaluation.n_mac_used, 256);
    assert_true(least_edp.evaluation.edp_js <= least_latency.evaluation.edp_js);
    assert_true(least_edp.evaluation.edp_js <= least_energy.evaluation.edp_js);
    assert_true(least_edp.evaluation.energy_j >= least_energy.evaluation.energy_j);
}

/* Left after ten tiles: an answer, and a bound that is none too high. */
static void test_effort_ends_a_proof_with_a_bound(void **state)
{
    const struct interstellar_search search = row("rf64", "CONV5", "CK16");
    static const struct objective *const objective[] = {&energy, &latency, &edp};
    struct engine_result all, some;
    (void)state;
    for (int i = 0; i < 3; i++) {
        solve(&search, true, false, "effort=0", objective[i], (struct engine_budget){0}, &all);
        solve(&search, true, false, "effort=0.00001", objective[i], (struct engine_budget){0}, &some);
        assert_int_equal(all.stop, STOP_OPTIMAL);
        assert_true(some.feasible);
        assert_true(some.cost >= all.cost * (1 - 1e-12));
        assert_true(some.bound > 0 && some.bound <= all.cost * (1 + 1e-12));
    }
}

static void test_columns_say_the_mapping(void **state)
{
    const struct interstellar_search search = row("eyeriss512", "CONV3", "CK16");
    struct interstellar_task task;
    struct engine_result result;
    struct cells cells;
    (void)state;
    solve(&search, false, true, NULL, &energy, (struct engine_budget){0}, &result);
    interstellar_task_init(&task, &search, false);
    cells_init(&cells, interstellar_columns.column, interstellar_columns.n);
    interstellar_columns.add(&task.problem, &task.arch, &result.mapping, &result.evaluation, &cells);
    assert_int_equal(cells.n_cell, interstellar_columns.n);
    assert_true(fabs(cells_at(&cells, 0)->real - search.energy_pj) <= 1e-9 * search.energy_pj);
    const char *name = cells_text_at(&cells, cells_at(&cells, 1));
    const char *key = cells_text_at(&cells, cells_at(&cells, 2));
    assert_true(strcmp(name, "C|K") == 0 || strcmp(name, "K|C") == 0);
    assert_string_equal(key, name[0] == 'C' ? "(5)(4)" : "(4)(5)");
    assert_string_equal(cells_text_at(&cells, cells_at(&cells, 4)),
                        name[0] == 'C' ? "L0 IC:16 | OC:16" : "L0 OC:16 | IC:16");
    assert_non_null(strstr(cells_text_at(&cells, cells_at(&cells, 3)), "] / ["));
    cells_free(&cells);
    interstellar_task_free(&task);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_known_search_is_proved),
        cmocka_unit_test(test_enumeration_prices_the_same_points),
        cmocka_unit_test(test_budget_of_points_is_kept),
        cmocka_unit_test(test_no_time_at_all),
        cmocka_unit_test(test_freedom_does_not_cost),
        cmocka_unit_test(test_padding_pays_on_primes),
        cmocka_unit_test(test_other_objectives),
        cmocka_unit_test(test_effort_ends_a_proof_with_a_bound),
        cmocka_unit_test(test_columns_say_the_mapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
