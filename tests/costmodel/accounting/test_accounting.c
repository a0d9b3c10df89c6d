/* Every accounting of mappings of the registry, and one more of the tests: on random small cases the fast
 * evaluation is the plain one, the independent checker agrees with both, and no cost is below the bound.
 * Tests: evaluator.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/fused/accounting_soma.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/support/accounting_refetch.h"
#include "tests/support/random_case.h"

enum { N_CASE = 60, N_MAPPING = 20 };

struct price_case {
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    struct eval_workspace *workspace;
    uint32_t n_fit, n_bounded;
};

/* One mapping: both evaluations, the checker, the bound. */
static void price(struct price_case *c, const struct mapping *mapping, const struct lower_bound *bound)
{
    struct arena arena;
    struct dse_error err;
    struct evaluation fast;
    static struct evaluation_detail plain;
    char reason[256];
    arena_init(&arena);
    bool fits = evaluator_run(c->evaluator, c->workspace, mapping, &fast);
    assert_int_equal(evaluator_detail(c->evaluator, mapping, &arena, &plain, &err), DSE_OK);
    assert_int_equal(plain.total.fit.what, fast.fit.what);
    assert_int_equal(evaluator_check(c->evaluator, mapping, reason, sizeof reason), fits);
    if (fits) {
        c->n_fit++;
        assert_int_equal(fast.latency_cycle, plain.total.latency_cycle);
        assert_true(fabs(fast.energy_j - plain.total.energy_j) <= 1e-9 * fast.energy_j);
        assert_true(fast.latency_s == (double)fast.latency_cycle / c->arch.clock_hz ||
                    fabs(fast.latency_s * c->arch.clock_hz / (double)fast.latency_cycle - 1) < 1e-12);
    }
    if (fits && evaluator_bound_applies(c->evaluator, mapping)) {
        c->n_bounded++;
        assert_true(fast.latency_s >= bound->latency_s && fast.energy_j >= bound->energy_j &&
                    fast.edp_js >= bound->edp_js * (1 - 1e-12));
    }
    arena_free(&arena);
}

static void walk(const struct accounting *accounting)
{
    struct random_stream stream = random_stream_make(7, 11, RANDOM_TEST);
    const struct random_case_options options = {.limits = true, .roles = true, .network_cost = true};
    struct price_case c = {.n_fit = 0};
    for (int i = 0; i < N_CASE; i++) {
        struct dse_error err;
        struct lower_bound bound;
        struct mapping mapping;
        random_case_problem(&stream, 2000, &c.problem);
        random_case_architecture(&stream, &options, &c.arch);
        if (evaluator_new(accounting, &c.problem, &c.arch, &c.evaluator, &err) != DSE_OK)
            fail_msg("%s: %s", accounting->name, err.text);
        assert_ptr_equal(evaluator_accounting(c.evaluator), accounting);
        assert_int_equal(eval_workspace_new(c.evaluator, &c.workspace, &err), DSE_OK);
        assert_true(eval_workspace_fits(c.workspace, c.evaluator));
        evaluator_bound(c.evaluator, &bound);
        assert_int_equal(bound.energy_j > 0, accounting->bound != NULL);
        for (int k = 0; k < N_MAPPING; k++) {
            random_case_mapping(&stream, &c.problem, &c.arch, false, &mapping);
            price(&c, &mapping, &bound);
        }
        assert_int_equal(evaluator_move(c.evaluator, &c.arch, &err), DSE_OK);
        eval_workspace_delete(c.workspace);
        evaluator_delete(c.evaluator);
    }
    assert_true(c.n_fit >= 100);
    assert_true(accounting->bound ? c.n_bounded >= 100 : c.n_bounded == 0);
}

static void test_accounting_of_mappings_agrees_with_itself(void **state)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    (void)state;
    for (size_t i = 0; i < n; i++)
        if (all[i]->kind == ACCOUNTING_MAPPING)
            walk(all[i]);
    walk(&accounting_refetch);
}

static void test_accounting_workspaces_are_of_one_accounting(void **state)
{
    struct random_stream stream = random_stream_make(3, 1, RANDOM_TEST);
    const struct random_case_options options = {.limits = false};
    struct price_case c;
    struct evaluator *other;
    struct dse_error err;
    (void)state;
    random_case_problem(&stream, 2000, &c.problem);
    random_case_architecture(&stream, &options, &c.arch);
    assert_int_equal(evaluator_new(&accounting_timeloop, &c.problem, &c.arch, &c.evaluator, &err), DSE_OK);
    assert_int_equal(evaluator_new(&accounting_refetch, &c.problem, &c.arch, &other, &err), DSE_OK);
    assert_int_equal(eval_workspace_new(other, &c.workspace, &err), DSE_OK);
    assert_false(eval_workspace_fits(c.workspace, c.evaluator));
    eval_workspace_delete(c.workspace);
    evaluator_delete(other);
    evaluator_delete(c.evaluator);
    assert_int_equal(evaluator_new(&accounting_soma, &c.problem, &c.arch, &other, &err), DSE_BAD_USAGE);
    random_case_gpu(&stream, &c.arch);
    assert_int_equal(evaluator_new(&accounting_refetch, &c.problem, &c.arch, &other, &err),
                     c.arch.gpu.present ? DSE_BAD_INPUT : DSE_OK);
    evaluator_delete(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accounting_of_mappings_agrees_with_itself),
        cmocka_unit_test(test_accounting_workspaces_are_of_one_accounting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
