/* Points of real sweeps in worker processes: the same results as in a thread, and faults of the engine drill
 * as reasons of rows. The results are compared with sweep_point_solve in this process; the texts are those
 * that docs/isolation.md promises.
 * Tests: worker_pool.c, worker.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/isolate/worker_pool.h"
#include "tests/support/sweep_case.h"

#define DRILL                                                                                                \
    "experiment: e\narchitecture: simba\nnetwork: alexnet\nlayers: [conv3]\nengine: drill\n"                 \
    "options: {leak_byte: 500000000}\naxes:\n"                                                               \
    "  option.fault: [none, abort, segfault, divide, float_trap, throw_away, loop, leak, invalid]\n"
#define RANDOM                                                                                               \
    "experiment: e\narchitecture: simba\nnetwork: alexnet\nlayers: [conv1, conv3]\nengine: random\n"         \
    "limits: {max_evaluations: 200}\naxes:\n  GlobalBuffer.capacity: [32 KiB, 64 KiB]\n  seed: [1, 2]\n"
#define SCHEDULERS                                                                                           \
    "experiment: e\narchitecture: soma_edge\nnetwork: resnet50\nlimits: {max_evaluations: 50}\naxes:\n"      \
    "  engine: [unfused, cocco]\n"

#define THREADED                                                                                             \
    "experiment: e\narchitecture: soma_edge\nnetwork: resnet50\nengine: soma-plus\n"                         \
    "limits: {max_evaluations: 60}\naxes:\n  seed: [1, 2]\n"

enum { LIMIT_MIB = 96, MIB = 1024 * 1024 };

/* The variant for ThreadSanitizer: its runtime does not survive new teams, nor the exit of clang's OpenMP, in
 * a forked process. */
#ifdef __clang__
#define CLANG 1
#else
#define CLANG 0
#endif

struct opened {
    struct sweep_case *from;
    struct worker_pool *pool;
};

static struct opened open_sweep(const char *text)
{
    const struct worker_limits limits = {(uint64_t)LIMIT_MIB * MIB, 0.3};
    struct opened opened;
    struct dse_error err = {0};
    opened.from = sweep_case_open(text, NULL, 0, &err);
    if (!opened.from)
        fail_msg("%s", err.text);
    assert_int_equal(worker_pool_new(&opened.from->sweep, 1, &limits, &opened.pool, &err), DSE_OK);
    return opened;
}

static void close_sweep(struct opened *opened)
{
    worker_pool_free(opened->pool);
    sweep_case_close(opened->from);
}

static void solve_here(const struct sweep *sweep, size_t p, uint32_t task, struct solve_result *result)
{
    const struct solve_shared shared = {.n_thread = 1};
    struct sweep_point point;
    struct architecture arch;
    struct dse_error err;
    struct arena arena;
    arena_init(&arena);
    sweep_point(sweep, p, &point);
    assert_int_equal(sweep_point_build(&point, &arch, &err), DSE_OK);
    assert_int_equal(sweep_point_solve(&point, task, &arch, &shared, NULL, &arena, result), DSE_OK);
    arena_free(&arena);
}

/* All but the time it took. */
static void assert_same(const struct solve_result *a, const struct solve_result *b)
{
    assert_int_equal(a->outcome, b->outcome);
    assert_string_equal(a->reason, b->reason);
    assert_int_equal(a->found.stop, b->found.stop);
    assert_int_equal(a->found.n_evaluation, b->found.n_evaluation);
    assert_int_equal(a->found.n_draw, b->found.n_draw);
    assert_memory_equal(&a->found.cost, &b->found.cost, sizeof a->found.cost);
    assert_memory_equal(&a->bound, &b->bound, sizeof a->bound);
    assert_int_equal(a->found.n_trace, b->found.n_trace);
    for (uint32_t i = 0; i < a->found.n_trace; i++) { /* but for the seconds */
        assert_true(a->found.trace[i].evaluation == b->found.trace[i].evaluation);
        assert_memory_equal(&a->found.trace[i].cost, &b->found.trace[i].cost, sizeof(double));
    }
    assert_memory_equal(&a->found.mapping, &b->found.mapping, sizeof a->found.mapping);
    assert_int_equal(a->found.evaluation.latency_cycle, b->found.evaluation.latency_cycle);
    assert_memory_equal(&a->found.evaluation.energy_j, &b->found.evaluation.energy_j, sizeof(double));
}

static void assert_same_sweep(const char *text, int n_thread)
{
    struct opened opened = open_sweep(text);
    for (size_t p = 0; p < opened.from->sweep.n_point; p++) {
        struct sweep_point point;
        sweep_point(&opened.from->sweep, p, &point);
        for (uint32_t t = 0; t < sweep_point_n_task(&point); t++) {
            struct solve_result here, there;
            struct dse_error err = {0};
            solve_here(&opened.from->sweep, p, t, &here);
            const struct worker_job job = {p, t, n_thread, 0};
            assert_int_equal(worker_pool_solve(opened.pool, 0, &job, NULL, &there, &err), DSE_OK);
            assert_string_equal(there.reason, "");
            assert_same(&here, &there);
            if (here.schedule) {
                assert_string_equal(here.schedule, there.schedule);
                assert_string_equal(here.found.schedule.accounting, there.found.schedule.accounting);
                assert_int_equal(here.found.schedule.latency_cycle, there.found.schedule.latency_cycle);
            }
            solve_result_clear(&here);
            solve_result_clear(&there);
        }
    }
    close_sweep(&opened);
}

static void test_worker_mappings_are_the_same(void **state)
{
    (void)state;
    assert_same_sweep(RANDOM, 1);
}

static void test_worker_schedules_are_the_same(void **state)
{
    (void)state;
    assert_same_sweep(SCHEDULERS, 1);
}

/* Searches that use threads of their own, in a process forked from one that had some: OpenMP keeps them, and
 * a fork loses them. */
static void test_worker_searches_may_use_threads(void **state)
{
    int n = 0;
    (void)state;
    if (CLANG)
        skip();
#pragma omp parallel num_threads(4) reduction(+ : n)
    n++;
    assert_true(n >= 1);
    assert_same_sweep(THREADED, 4);
}

/* Points in the order of the axis. A reason that is a prefix: the engine or the C library may add words of
 * its own. */
static void test_worker_faults_cost_their_own_row(void **state)
{
    const struct {
        enum result_status outcome;
        const char *reason;
    } expected[] = {
        {RESULT_OK, ""},
        {RESULT_FAILED, "the engine crashed (SIGABRT)"},
        {RESULT_FAILED, "the engine crashed (SIGSEGV: invalid memory access)"},
        {RESULT_FAILED, "the engine crashed (SIGFPE: arithmetic fault)"},
        {RESULT_FAILED, "the engine crashed (SIGFPE: arithmetic fault)"},
        {RESULT_FAILED, CLANG ? "the engine " : "the engine ended its process with exit code 3"},
        {RESULT_TIMEOUT, "did not stop within max_seconds = 1.5 s and 0.3 s of grace"},
        {RESULT_FAILED, "needed more than max_memory = 96 MiB"},
        {RESULT_FAILED, "the engine's answer does not hold"},
    };
    struct opened opened = open_sweep(DRILL);
    struct solve_result good, result;
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(opened.from->sweep.n_point, sizeof expected / sizeof expected[0]);
    solve_here(&opened.from->sweep, 0, 0, &good);
    for (size_t p = 0; p < opened.from->sweep.n_point; p++) {
        double limit_s = expected[p].outcome == RESULT_TIMEOUT ? 1.5 : 60; /* room for slow machines */
        const struct worker_job bad = {p, 0, 1, limit_s}, other = {0, 0, 1, 60};
        assert_int_equal(worker_pool_solve(opened.pool, 0, &bad, NULL, &result, &err), DSE_OK);
        print_message("%s\n", result.reason);
        assert_int_equal(result.outcome, expected[p].outcome);
        assert_memory_equal(result.reason, expected[p].reason, strlen(expected[p].reason));
        assert_int_equal(worker_pool_solve(opened.pool, 0, &other, NULL, &result, &err), DSE_OK);
        assert_same(&good, &result);
    }
    close_sweep(&opened);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_mappings_are_the_same),
        cmocka_unit_test(test_worker_schedules_are_the_same),
        cmocka_unit_test(test_worker_searches_may_use_threads),
        cmocka_unit_test(test_worker_faults_cost_their_own_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
