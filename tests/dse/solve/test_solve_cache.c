/* What a thread keeps from search to search never shows: results with a cache are those without, bit for bit,
 * in whatever order machines, loop nests and seeds come. Expected values come from solve_task, which keeps
 * nothing.
 * Tests: solve.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "costmodel/loopnest/accounting_timeloop.h"
#include "dse/solve/solve_cache.h"
#include "tests/support/sweep_case.h"

/* Meshes of several sizes need scratch memory of several sizes. */
#define MAPPERS                                                                                              \
    "experiment: e\narchitecture: simba\nnetwork: alexnet\nlayers: [conv1, conv3, fc7]\n"                    \
    "limits: {max_evaluations: 60}\naxes:\n  engine: [drill, random, descent]\n"                             \
    "  GlobalBuffer.capacity: [64 B, 32 KiB, 64 KiB]\n  PE.mesh: [2x2, 4x4, 8x8]\n  seed: [1, 2]\n"

enum { N_DRAWN = 150 };

static struct sweep_case *open_text(const char *text)
{
    struct dse_error err = {0};
    struct sweep_case *opened = sweep_case_open(text, NULL, 0, &err);
    if (!opened)
        fail_msg("%s", err.text);
    return opened;
}

static struct solve_cache *new_cache(void)
{
    struct solve_cache *cache;
    assert_int_equal(solve_cache_new(&cache, NULL), DSE_OK);
    return cache;
}

static void assert_same(const struct solve_result *a, const struct solve_result *b)
{
    const struct evaluation *x = &a->found.evaluation, *y = &b->found.evaluation;
    assert_int_equal(a->outcome, b->outcome);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->bounded, b->bounded);
    assert_memory_equal(&a->bound, &b->bound, sizeof a->bound);
    assert_int_equal(a->found.stop, b->found.stop);
    assert_int_equal(a->found.n_evaluation, b->found.n_evaluation);
    assert_int_equal(a->found.n_draw, b->found.n_draw);
    assert_memory_equal(&a->found.cost, &b->found.cost, sizeof a->found.cost);
    assert_int_equal(a->found.n_trace, b->found.n_trace);
    for (uint32_t i = 0; i < a->found.n_trace; i++) { /* but for the seconds */
        assert_true(a->found.trace[i].evaluation == b->found.trace[i].evaluation);
        assert_memory_equal(&a->found.trace[i].cost, &b->found.trace[i].cost, sizeof(double));
    }
    assert_memory_equal(&a->found.mapping, &b->found.mapping, sizeof a->found.mapping);
    assert_int_equal(x->latency_cycle, y->latency_cycle);
    assert_memory_equal(&x->energy_j, &y->energy_j, sizeof x->energy_j);
    assert_memory_equal(x->level_energy_j, y->level_energy_j, sizeof x->level_energy_j);
    assert_memory_equal(x->level_byte, y->level_byte, sizeof x->level_byte);
}

static void test_solve_cache_never_changes_a_result(void **state)
{
    (void)state;
    struct sweep_case *opened = open_text(MAPPERS);
    struct solve_shared shared = {.n_thread = 1, .cache = new_cache()};
    struct random_stream stream = random_stream_make(7, 1, 0);
    size_t n_ok = 0, last = SIZE_MAX;
    struct arena arena;
    arena_init(&arena);
    for (uint64_t i = 0; i < N_DRAWN; i++) {
        struct solve_result kept, fresh;
        struct sweep_point point;
        struct architecture arch;
        size_t p = i % 3 && last != SIZE_MAX ? last : random_below(&stream, (uint32_t)opened->sweep.n_point);
        uint32_t t = random_below(&stream, 3);
        last = p;
        sweep_point(&opened->sweep, p, &point);
        assert_int_equal(sweep_point_build(&point, &arch, NULL), DSE_OK);
        solve_cache_machine(shared.cache, p); /* that other points have the same machine is not known here */
        const struct problem *problem = &point.workload->problem[t];
        arena_reset(&arena);
        assert_int_equal(solve_task_shared(&point.settings, problem, &arch, &shared, NULL, &arena, &kept),
                         DSE_OK);
        arena_reset(&arena);
        assert_int_equal(solve_task(&point.settings, problem, &arch, NULL, &arena, &fresh), DSE_OK);
        assert_same(&kept, &fresh);
        n_ok += kept.outcome == RESULT_OK;
    }
    assert_true(n_ok > N_DRAWN / 2);
    arena_free(&arena);
    solve_cache_free(shared.cache);
    sweep_case_close(opened);
}

static void test_solve_cache_compiles_once_per_machine(void **state)
{
    (void)state;
    struct sweep_case *opened = open_text(MAPPERS);
    struct solve_cache *cache = new_cache();
    const struct solve_compiled *first, *again;
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err;
    sweep_point(&opened->sweep, opened->sweep.n_point - 1, &point);
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    solve_cache_machine(cache, 1);
    assert_int_equal(
        solve_cache_get(cache, &accounting_timeloop, &point.workload->problem[0], &arch, &first, &err),
        DSE_OK);
    const struct evaluator *evaluator = first->evaluator;
    const struct lower_bound bound = first->bound;
    assert_int_equal(first->problem_key, problem_hash(&point.workload->problem[0]));
    arch.clock_hz *= 2; /* not announced: not looked at */
    assert_int_equal(
        solve_cache_get(cache, &accounting_timeloop, &point.workload->problem[0], &arch, &again, &err),
        DSE_OK);
    assert_ptr_equal(again->evaluator, evaluator);
    assert_memory_equal(&again->bound, &bound, sizeof bound);
    solve_cache_machine(cache, 2); /* half the time in twice the clock */
    assert_int_equal(
        solve_cache_get(cache, &accounting_timeloop, &point.workload->problem[0], &arch, &again, &err),
        DSE_OK);
    assert_true(again->bound.latency_s == bound.latency_s / 2);
    assert_true(evaluator_architecture(again->evaluator)->clock_hz == arch.clock_hz);
    solve_cache_free(cache);
    sweep_case_close(opened);
}

static void test_solve_cache_survives_a_machine_that_is_refused(void **state)
{
    (void)state;
    struct sweep_case *opened = open_text(MAPPERS);
    struct solve_cache *cache = new_cache();
    const struct solve_compiled *compiled;
    struct sweep_point point;
    struct architecture arch, bad;
    struct dse_error err;
    sweep_point(&opened->sweep, opened->sweep.n_point - 1, &point);
    const struct problem *problem = &point.workload->problem[0];
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    bad = arch;
    bad.level[0].word_bit = 0;
    solve_cache_machine(cache, 1);
    assert_int_equal(solve_cache_get(cache, &accounting_timeloop, problem, &arch, &compiled, &err), DSE_OK);
    const struct lower_bound bound = compiled->bound;
    solve_cache_machine(cache, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(solve_cache_get(cache, &accounting_timeloop, problem, &bad, &compiled, &err),
                         DSE_BAD_INPUT);
        assert_non_null(strstr(err.text, "word bits"));
    }
    solve_cache_machine(cache, 3);
    assert_int_equal(solve_cache_get(cache, &accounting_timeloop, problem, &arch, &compiled, &err), DSE_OK);
    assert_memory_equal(&compiled->bound, &bound, sizeof bound);
    solve_cache_free(cache);
    solve_cache_free(NULL);
    sweep_case_close(opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solve_cache_never_changes_a_result),
        cmocka_unit_test(test_solve_cache_compiles_once_per_machine),
        cmocka_unit_test(test_solve_cache_survives_a_machine_that_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
