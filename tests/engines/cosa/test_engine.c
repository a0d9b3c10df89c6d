/* The engine cosa: its options reach the model, its one mapping is priced once, its reasons and stops reach
 * the result.
 * Tests: cosa_options.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "engines/cosa/cosa.h"
#include "engines/cosa/cosa_options.h"
#include "tests/engines/small_cases.h"
#include "tests/support/engine_case.h"
#include "tests/support/mapping_same.h"

enum { OPTION_MAX = 40, SETTING_MAX = 8 };
enum { R, S, P, Q, C, K, N };

struct one_case {
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints *constraints; /* NULL: none */
    struct engine_budget budget;
};

/* 1x1 convolution with P = Q = `size`, C = K = 64 on the machine of Table V. */
static void make_case(struct one_case *c, uint32_t size)
{
    struct dse_error err;
    const uint32_t bound[] = {1, 1, size, size, 64, 64, 1};
    memset(c, 0, sizeof *c);
    assert_int_equal(architecture_read("experiments/architectures/simba_tablev.yaml", &c->arch, &err),
                     DSE_OK);
    random_case_conv(&c->problem, "layer", bound, "N C P+R Q+S");
}

/* Run the engine with options "name", "value", ..., NULL. */
static void solve(const struct one_case *c, const char *const *setting, struct engine_result *result)
{
    struct engine_setting set[SETTING_MAX];
    struct dse_error err;
    size_t n = 0;
    for (; setting && setting[2 * n]; n++) {
        assert_true(n < SETTING_MAX);
        set[n] = (struct engine_setting){setting[2 * n], setting[2 * n + 1]};
    }
    struct engine_task task = {.constraints = c->constraints, .objective = {1, 1}, .budget = c->budget};
    if (engine_case_solve("cosa", set, n, &c->problem, &c->arch, task, result, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

/* A level that the machine has not, or its outermost one (Table V: 0 to 5), has no loop order to choose. */
static void test_permutation_level_must_be_inside_the_outermost(void **state)
{
    (void)state;
    static const char *const name[] = {"cosa", "cosa-best"};
    struct one_case c;
    struct engine_result result;
    make_case(&c, 7);
    for (size_t e = 0; e < 2; e++)
        for (int level = 4; level <= 6; level++) {
            const struct engine *engine = engine_find(name[e]);
            struct evaluator *evaluator;
            struct arena arena;
            struct dse_error err;
            double option[OPTION_MAX];
            arena_init(&arena);
            engine_option_defaults(engine, option);
            option[COSA_OPTION_PERMUTATION_LEVEL] = level;
            assert_int_equal(evaluator_new(&accounting_timeloop, &c.problem, &c.arch, &evaluator, &err),
                             DSE_OK);
            struct engine_task task = {.evaluator = evaluator,
                                       .architecture = &c.arch,
                                       .batch = 1,
                                       .objective = {1, 1},
                                       .option = option,
                                       .budget = {.max_evaluations = 1}};
            enum dse_status status = engine_solve(engine, &task, &arena, &result, &err);
            assert_int_equal(status, level == 4 ? DSE_OK : DSE_BAD_USAGE);
            if (level > 4)
                assert_non_null(strstr(err.text, "this machine has levels 0 to 5"));
            evaluator_delete(evaluator);
            arena_free(&arena);
        }
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_engine_prices_the_mapping_of_cosa_map(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result r;
    struct cosa_settings settings;
    struct cosa_solution solution;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    make_case(&c, 28);
    cosa_settings_init(&settings);
    assert_int_equal(cosa_map(&c.problem, &c.arch, NULL, &settings, &arena, &solution, &err), DSE_OK);
    solve(&c, NULL, &r); /* the options' defaults are those of cosa_settings_init */
    assert_true(r.feasible && r.n_evaluation == 1 && r.n_trace == 1);
    assert_true(r.stop == STOP_CONVERGED || r.stop == STOP_OPTIMAL);
    assert_true(mapping_same(&r.mapping, &solution.mapping));
    arena_free(&arena);
}

/* Of a layer too large for its buffers: another form, other weights, shares and stationary tensors give other
 * mappings. */
static void test_options_reach_the_model(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result plain, r;
    make_case(&c, 112);
    c.problem.bound[C] = c.problem.bound[K] = 512;
    solve(&c, NULL, &plain);
    solve(&c, WITH("stationary", "Outputs"), &r);
    for (uint32_t i = 0; i < 3; i++) /* R, S and C innermost */
        assert_true((1u << R | 1u << S | 1u << C) >> r.mapping.level[4].temporal_order[i] & 1u);
    solve(&c, WITH("stationary", "Weights"), &r);
    for (uint32_t i = 0; i < 3; i++)
        assert_true((1u << P | 1u << Q | 1u << N) >> r.mapping.level[4].temporal_order[i] & 1u);
    solve(&c, WITH("weight_comp", "0", "weight_traf", "0", "weight_util", "1"), &r);
    assert_true(r.feasible &&
                !mapping_same(&r.mapping, &plain.mapping)); /* full buffers, whatever the time */
    assert_true(r.evaluation.compute_cycle > plain.evaluation.compute_cycle);
    solve(&c, WITH("share_input", "0.01", "share_output", "0.99"), &r);
    assert_true(r.feasible && !mapping_same(&r.mapping, &plain.mapping));
    solve(&c, WITH("form", "minmax", "halo", "all", "gap", "0.001"), &r);
    assert_true(r.feasible && r.evaluation.latency_cycle <= plain.evaluation.latency_cycle);
}

/* 53 is prime and wider than any fan-out; padded to 54 = 2 * 3^3 the loops are a little longer but can be
 * spread. By hand: the padded loops are 54^2 * 64^2 = 11,943,936 on 1,024 MACs at most, not less than 11,664
 * cycles. */
static void test_padding_spreads_large_primes(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result plain, padded, off;
    char text[128], reason[256];
    make_case(&c, 53);
    solve(&c, NULL, &plain);
    solve(&c, WITH("pad", "7"), &padded);
    solve(&c, WITH("pad", "53"), &off); /* 53 is allowed: nothing to pad */
    assert_false(plain.padded);
    assert_false(off.padded);
    assert_true(mapping_same(&plain.mapping, &off.mapping));
    assert_true(padded.feasible && padded.padded);
    assert_string_equal(engine_result_padding_text(&padded, &c.problem, text, sizeof text),
                        "P 53->54, Q 53->54");
    assert_true(padded.evaluation.compute_cycle >= 11664);
    assert_true(padded.evaluation.utilization <= 53.0 * 53 / (54 * 54)); /* useful work only */
    c.problem.bound[P] = c.problem.bound[Q] = 54;
    assert_true(checker_accepts(&c.problem, &c.arch, &padded.mapping, reason, sizeof reason));
}

/* 4099 x 4093 on a K80 (blocks of 1024 threads, 13 multiprocessors) is 16,777,207 compute cycles without
 * padding, 4099 * 4093: no factor can be spread. The best of the explicit wishes, 13, takes 29,511 cycles. A
 * bound that is no prime, and one whose prime matters little, stay. */
static void test_primes_that_no_array_holds_are_padded(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result off, standard;
    struct dse_error err;
    make_case(&c, 1);
    assert_int_equal(architecture_read("experiments/architectures/k80.yaml", &c.arch, &err), DSE_OK);
    c.problem.bound[C] = 4099;
    c.problem.bound[K] = 4093;
    solve(&c, WITH("pad", "0"), &off);
    solve(&c, NULL, &standard);
    assert_false(off.padded);
    assert_int_equal(off.evaluation.compute_cycle, 16777207);
    assert_true(standard.padded);
    assert_true(standard.evaluation.latency_cycle <= 29511);
    make_case(&c, 53); /* C and K fill the array */
    c.problem.bound[R] = c.problem.bound[S] = 11;
    solve(&c, NULL, &standard);
    assert_false(standard.padded);
    c.problem.bound[C] = 61;
    solve(&c, NULL, &standard);
    assert_true(standard.padded); /* costs a seventh */
    assert_int_equal(standard.padded_bound[R], 11);
    assert_int_equal(standard.padded_bound[K], 64);
}

/* ResNet-50's conv2_0_c where the input buffers give one word a cycle: minmax that looked at the DRAM alone
 * took 3,311,616 cycles. Each PE's buffer gives at least its share of the inputs once, 56 * 56 * 64 / 16. */
static void test_minmax_heeds_a_slow_inner_level(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result r;
    make_case(&c, 56);
    c.problem.bound[K] = 256;
    c.arch.level[3].shared_bandwidth_word_per_cycle = 1;
    assert_string_equal(c.arch.level[3].name, "InputBuffer");
    solve(&c, WITH("form", "minmax", "halo", "all"), &r);
    assert_true(r.evaluation.latency_cycle >= 12544);
    assert_true(r.evaluation.latency_cycle <= 100000);
}

static void test_solver_limit_is_said(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result r;
    make_case(&c, 56);
    c.problem.bound[R] = c.problem.bound[S] = 2;
    c.problem.bound[C] = 360;
    c.problem.bound[K] = 1680;
    c.problem.bound[N] = 3; /* needs some hundred nodes */
    solve(&c, WITH("max_nodes", "60"), &r);
    assert_true(r.feasible);
    assert_int_equal(r.stop, STOP_SOLVER_LIMIT);
    assert_string_equal(engine_stop_text(r.stop), "solver_limit");
}

/* C may lie nowhere but at the DRAM, and there only once: the map space finds no single reason, the MILP is
 * infeasible. */
static void test_reasons_reach_the_result(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result r;
    struct mapspace_constraints constraints;
    make_case(&c, 28);
    mapspace_constraints_init(&constraints, &c.problem, &c.arch);
    c.constraints = &constraints;
    for (uint32_t l = 0; l < c.arch.n_level; l++) {
        constraints.level[l].temporal.highest[C] = 1;
        constraints.level[l].spatial.highest[C] = 1;
    }
    solve(&c, NULL, &r);
    assert_false(r.feasible);
    assert_int_equal(r.n_evaluation, 0);
    assert_true(r.stop == STOP_CONVERGED);
    assert_non_null(strstr(r.reason, "infeasible"));
    assert_non_null(strstr(r.reason, "not proved"));
}

/* Seven solves, some tenths of a second together, share the seconds; what ended them is said. */
static void test_budget_of_seconds_is_one_for_all_solves(void **state)
{
    (void)state;
    struct one_case c;
    struct engine_result r;
    make_case(&c, 60);
    c.problem.bound[R] = c.problem.bound[S] = 11;
    c.problem.bound[C] = 512;
    c.problem.bound[K] = 600;
    c.problem.bound[N] = 6;
    c.budget.max_seconds = 0.02;
    solve(&c, NULL, &r);
    assert_int_equal(r.stop, STOP_MAX_SECONDS);
}

/* The trials of padding do not use up what the solve needs; that they were cut off is said. */
static void test_trials_of_padding_leave_an_answer(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct one_case c;
        struct engine_result r;
        make_case(&c, 60);
        c.problem.bound[C] = 1021;
        c.problem.bound[K] = 2039;
        c.budget.max_seconds = i ? 1e-9 : 1e-3;
        solve(&c, NULL, &r);
        assert_true(r.feasible);
        assert_int_equal(r.stop, STOP_MAX_SECONDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_prices_the_mapping_of_cosa_map),
        cmocka_unit_test(test_permutation_level_must_be_inside_the_outermost),
        cmocka_unit_test(test_options_reach_the_model),
        cmocka_unit_test(test_padding_spreads_large_primes),
        cmocka_unit_test(test_primes_that_no_array_holds_are_padded),
        cmocka_unit_test(test_minmax_heeds_a_slow_inner_level),
        cmocka_unit_test(test_solver_limit_is_said),
        cmocka_unit_test(test_reasons_reach_the_result),
        cmocka_unit_test(test_budget_of_seconds_is_one_for_all_solves),
        cmocka_unit_test(test_trials_of_padding_leave_an_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
