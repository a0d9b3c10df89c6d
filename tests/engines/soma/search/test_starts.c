/* Searches that only count their rounds, run by an engine of this test. Shares are worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/soma/search/starts.h"
#include "tests/engines/small_cases.h"

enum { N = 3, LOG_MAX = 256 };

/* What the searches are to do, and what was seen. */
static struct {
    uint64_t length[N], round_max;
    uint64_t fail_at[N]; /* 0: never */
    uint64_t round[N];
    char log[LOG_MAX]; /* "012" for each step's reports */
} plan;

static enum dse_status step_one(void *engine, uint32_t i, uint64_t n, bool *done, struct dse_error *err)
{
    (void)engine;
    assert_true(n > 0 && n <= plan.round_max && !*done);
    uint64_t left = plan.length[i] - plan.round[i];
    plan.round[i] += n < left ? n : left;
    *done = plan.round[i] == plan.length[i];
    if (plan.fail_at[i] && plan.round[i] >= plan.fail_at[i])
        return dse_fail(err, DSE_LIMIT, "search %u", i);
    return DSE_OK;
}

static uint64_t rounds(const void *engine, uint32_t i)
{
    (void)engine;
    return plan.round[i];
}

static enum dse_status report(void *engine, uint32_t i, struct engine_context *context, struct dse_error *err)
{
    size_t at = strlen(plan.log);
    (void)engine;
    (void)context;
    (void)err;
    assert_true(at + 1 < LOG_MAX);
    plan.log[at] = (char)('0' + i);
    return DSE_OK;
}

static enum dse_status init(void *state, struct engine_context *context, struct dse_error *err)
{
    static const struct soma_starts_hooks hooks = {step_one, rounds, report};
    soma_starts_init(state, &hooks, NULL, plan.round_max, N, engine_context_arena(context));
    return arena_check(engine_context_arena(context), "searches", err);
}

static enum dse_status step(void *state, struct engine_context *context, enum engine_stop *stop,
                            struct dse_error *err)
{
    bool done;
    DSE_TRY(soma_starts_step(state, context, &done, err));
    if (done)
        *stop = STOP_CONVERGED;
    return DSE_OK;
}

static const struct engine engine = {.name = "counting",
                                     .summary = "Counts rounds.",
                                     .kind = ENGINE_MAPPER,
                                     .state_byte = sizeof(struct soma_starts),
                                     .init = init,
                                     .step = step};

static enum dse_status solve(uint64_t budget, int n_thread, struct engine_result *result,
                             struct dse_error *err)
{
    struct problem problem;
    struct architecture arch;
    struct evaluator *evaluator;
    struct arena arena;
    memset(plan.round, 0, sizeof plan.round);
    memset(plan.log, 0, sizeof plan.log);
    small_machine(&arch, 8, 60);
    small_gemm(&problem, 4, 4, 4);
    assert_int_equal(evaluator_new(&accounting_timeloop, &problem, &arch, &evaluator, err), DSE_OK);
    arena_init(&arena);
    const struct engine_task task = {.evaluator = evaluator,
                                     .architecture = &arch,
                                     .batch = 1,
                                     .objective = {0, 1},
                                     .budget = {.max_evaluations = budget},
                                     .n_thread = n_thread};
    engine_result_init(result);
    enum dse_status status = engine_solve(&engine, &task, &arena, result, err);
    evaluator_delete(evaluator);
    arena_free(&arena);
    return status;
}

static void set_plan(uint64_t a, uint64_t b, uint64_t c, uint64_t round_max)
{
    memset(&plan, 0, sizeof plan);
    memcpy(plan.length, (uint64_t[]){a, b, c}, sizeof plan.length);
    plan.round_max = round_max;
}

static void expect(uint64_t budget, uint64_t a, uint64_t b, uint64_t c, const char *log)
{
    struct engine_result result;
    struct dse_error err = {0};
    for (int n_thread = 0; n_thread <= 3; n_thread++) {
        if (solve(budget, n_thread, &result, &err) != DSE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(plan.round[0], a);
        assert_int_equal(plan.round[1], b);
        assert_int_equal(plan.round[2], c);
        assert_int_equal(result.n_evaluation, a + b + c);
        assert_string_equal(plan.log, log);
    }
}

/* Four rounds a step: the first is done in the second step, the next in the third, the last takes 25. */
static void test_all_are_advanced_until_they_are_done(void **state)
{
    char log[25 * N + 1];
    (void)state;
    for (size_t i = 0; i < 25 * N; i++)
        log[i] = (char)('0' + i % N);
    log[25 * N] = '\0';
    set_plan(5, 12, 100, 4);
    expect(0, 5, 12, 100, log);
}

/* What does not divide goes to the first ones; 7 = 3 + 2 + 2, 2 = 1 + 1 + 0. */
static void test_budget_is_shared_fairly(void **state)
{
    (void)state;
    set_plan(100, 100, 100, 50);
    expect(7, 3, 2, 2, "012");
    expect(2, 1, 1, 0, "012");
    expect(300, 100, 100, 100, "012012"); /* 50 each at most, twice */
}

/* 20: at most 3 each. Two steps are 3 + 1 done, 3, 3 and 3, 3; with 4 left 2 each for the others. */
static void test_those_that_are_done_leave_their_share(void **state)
{
    (void)state;
    set_plan(4, 100, 100, 3);
    expect(20, 4, 8, 8, "012012012");
}

static void test_error_of_the_first_search_counts(void **state)
{
    struct engine_result result;
    struct dse_error err = {0};
    (void)state;
    set_plan(100, 100, 100, 10);
    plan.fail_at[1] = plan.fail_at[2] = 20;
    for (int n_thread = 1; n_thread <= 3; n_thread += 2) {
        assert_int_equal(solve(0, n_thread, &result, &err), DSE_LIMIT);
        assert_non_null(strstr(err.text, "search 1"));
        assert_string_equal(plan.log, "0120"); /* those before it have reported */
    }
}

/* Each search has streams of its own; the first those of the task. */
static void test_streams_differ(void **state)
{
    uint64_t first[20];
    struct random_stream own = random_stream_make(7, 99, 3), of_first = soma_start_stream(7, 99, 0, 3);
    (void)state;
    assert_true(random_u64(&own) == random_u64(&of_first));
    for (uint32_t i = 0; i < 20; i++) {
        struct random_stream stream = soma_start_stream(7, 99, i / 2, i % 2);
        first[i] = random_u64(&stream);
        for (uint32_t k = 0; k < i; k++)
            assert_true(first[k] != first[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_advanced_until_they_are_done),
        cmocka_unit_test(test_budget_is_shared_fairly),
        cmocka_unit_test(test_those_that_are_done_leave_their_share),
        cmocka_unit_test(test_error_of_the_first_search_counts),
        cmocka_unit_test(test_streams_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
