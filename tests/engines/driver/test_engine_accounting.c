/* Which accounting prices a search: every mapper works with an accounting that it has never heard of, the
 * option that is the same choice follows, and what contradicts it is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/fused/accounting_soma.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "tests/engines/small_cases.h"
#include "tests/support/accounting_refetch.h"
#include "tests/support/mapping_same.h"

enum { OPTION_MAX = 64 };

/* Search edp on a small convolution. */
static enum dse_status solve(const struct engine *engine, const struct accounting *accounting,
                             struct engine_result *result, struct dse_error *err)
{
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    struct arena arena;
    double option[OPTION_MAX];
    small_conv(&problem, 3, 4, 4, 2);
    small_machine(&arch, 8, 60);
    assert_true(engine->n_option <= OPTION_MAX);
    engine_option_defaults(engine, option);
    assert_int_equal(evaluator_new(accounting, &problem, &arch, &evaluator, err), DSE_OK);
    const struct engine_task task = {.evaluator = evaluator,
                                     .architecture = &arch,
                                     .batch = 1,
                                     .objective = {1, 1},
                                     .option = option,
                                     .seed = 1,
                                     .key = 99,
                                     .budget = {.max_evaluations = 3000}};
    arena_init(&arena);
    enum dse_status status = engine_solve(engine, &task, &arena, result, err);
    if (status == DSE_OK && result->feasible && engine->kind == ENGINE_MAPPER && !result->padded) {
        static struct evaluation_detail again;
        assert_int_equal(evaluator_detail(evaluator, &result->mapping, &arena, &again, err), DSE_OK);
        assert_true(again.total.latency_cycle == result->evaluation.latency_cycle);
        assert_true(fabs(again.total.energy_j / result->evaluation.energy_j - 1) < 1e-9);
    }
    arena_free(&arena);
    evaluator_delete(evaluator);
    return status;
}

static void test_engine_accounting_prices_every_mapper(void **state)
{
    size_t n, n_tried = 0, n_other = 0;
    const struct engine *const *all = engine_all(&n);
    static struct engine_result by_timeloop, by_refetch;
    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct dse_error err;
        if (all[i]->kind != ENGINE_MAPPER || all[i]->accounting || all[i]->takes_machine)
            continue;
        if (solve(all[i], &accounting_timeloop, &by_timeloop, &err) != DSE_OK ||
            solve(all[i], &accounting_refetch, &by_refetch, &err) != DSE_OK)
            fail_msg("%s: %s", all[i]->name, err.text);
        assert_true(by_timeloop.feasible && by_refetch.feasible);
        assert_true(by_timeloop.bound > 0 && by_refetch.bound == 0);
        assert_true(by_refetch.stop != STOP_OPTIMAL && by_refetch.cost != by_timeloop.cost);
        n_other += !mapping_same(&by_timeloop.mapping, &by_refetch.mapping);
        n_tried++;
    }
    assert_true(n_tried >= 6);
    assert_true(n_other >= 4); /* searches for another cost end elsewhere */
}

static void test_engine_accounting_of_a_proof_is_fixed(void **state)
{
    const struct engine *exhaustive = engine_find("exhaustive");
    static struct engine_result result;
    struct dse_error err;
    (void)state;
    assert_int_equal(solve(exhaustive, &accounting_refetch, &result, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text,
                        "engine exhaustive cannot be priced by accounting refetch, only by timeloop");
}

static void test_engine_accounting_is_the_first_that_takes_the_machine(void **state)
{
    static const struct engine_accounting both[] = {
        {&accounting_refetch, NULL, 0}, {&accounting_timeloop, NULL, 0}, {NULL, NULL, 0}};
    const struct engine engine = {.name = "two", .kind = ENGINE_MAPPER, .accounting = both};
    struct architecture arch;
    (void)state;
    small_machine(&arch, 8, 60);
    assert_ptr_equal(engine_accounting(&engine, NULL, NULL), &accounting_refetch);
    assert_ptr_equal(engine_accounting(&engine, NULL, &arch), &accounting_refetch);
    arch.gpu.present = true;
    assert_ptr_equal(engine_accounting(&engine, NULL, &arch), &accounting_timeloop);
}

static void test_engine_accounting_follows_and_sets_its_option(void **state)
{
    static const char *const family[] = {"unfused", "cocco", "soma", "soma-plus"};
    (void)state;
    for (size_t i = 0; i < sizeof family / sizeof *family; i++) {
        const struct engine *engine = engine_find(family[i]);
        double option[OPTION_MAX];
        struct dse_error err;
        engine_option_defaults(engine, option);
        assert_ptr_equal(engine_accounting(engine, option, NULL), &accounting_soma);
        assert_int_equal(engine_accounting_choose(engine, &accounting_soma_compat, option, &err), DSE_OK);
        assert_ptr_equal(engine_accounting(engine, option, NULL), &accounting_soma_compat);
        assert_int_equal(engine_accounting_check(engine, &accounting_soma_compat, option, &err), DSE_OK);
        assert_int_equal(engine_option_set(engine, "compat", "no", option, &err), DSE_OK);
        assert_int_equal(engine_accounting_check(engine, &accounting_soma_compat, option, &err),
                         DSE_BAD_INPUT);
        assert_non_null(strstr(err.text, "accounting soma-compat is option compat=true, but compat=false"));
        assert_int_equal(engine_accounting_choose(engine, &accounting_timeloop, option, &err), DSE_BAD_INPUT);
        assert_non_null(strstr(err.text, "only by soma, soma-compat"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engine_accounting_prices_every_mapper),
        cmocka_unit_test(test_engine_accounting_of_a_proof_is_fixed),
        cmocka_unit_test(test_engine_accounting_is_the_first_that_takes_the_machine),
        cmocka_unit_test(test_engine_accounting_follows_and_sets_its_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
