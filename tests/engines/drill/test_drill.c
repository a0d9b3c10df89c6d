/* The engine drill: its plain mapping, its faults, and that the driver catches the lies.
 * Tests: fault.c. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "engines/drill/drill.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "tests/engines/small_cases.h"
#include "tests/support/mapping_same.h"

enum { OPTION_MAX = 8, CHILD_DONE = 42, CHILD_REFUSED = 43 };

/* One task and what came of it. */
struct drill_case {
    struct problem problem;
    struct architecture arch;
    struct mapspace_constraints *constraints;
    struct engine_budget budget;
    double option[OPTION_MAX];
    uint64_t seed;
    struct objective objective;
    struct engine_result result;
    struct dse_error err;
};

static void setup(struct drill_case *c)
{
    *c = (struct drill_case){.objective = {1, 1}};
    small_gemm(&c->problem, 8, 4, 6);
    small_machine(&c->arch, 8, 60);
    engine_option_defaults(&engine_drill, c->option);
}

static void set(struct drill_case *c, const char *name, const char *value)
{
    assert_int_equal(engine_option_set(&engine_drill, name, value, c->option, &c->err), DSE_OK);
}

static enum dse_status solve(struct drill_case *c)
{
    struct evaluator *evaluator;
    struct arena arena;
    arena_init(&arena);
    assert_int_equal(evaluator_new(&accounting_timeloop, &c->problem, &c->arch, &evaluator, &c->err), DSE_OK);
    struct engine_task task = {.evaluator = evaluator,
                               .constraints = c->constraints,
                               .architecture = &c->arch,
                               .batch = 1,
                               .objective = c->objective,
                               .option = c->option,
                               .seed = c->seed,
                               .budget = c->budget};
    enum dse_status status = engine_solve(&engine_drill, &task, &arena, &c->result, &c->err);
    evaluator_delete(evaluator);
    arena_free(&arena);
    return status;
}

static void test_drill_takes_the_plain_mapping_at_once(void **state)
{
    (void)state;
    struct drill_case c;
    struct mapping plain;
    setup(&c);
    assert_int_equal(solve(&c), DSE_OK);
    mapping_init(&plain, &c.problem, &c.arch);
    assert_true(c.result.feasible && mapping_same(&c.result.mapping, &plain));
    assert_int_equal(c.result.n_evaluation, 1);
    assert_int_equal(c.result.stop, STOP_CONVERGED);
}

/* Registers of 3 words hold one of each tensor; the constraints ask for a K of 3 in the buffer, where the
 * plain mapping has 1. */
static void test_drill_keeps_to_constraints(void **state)
{
    (void)state;
    struct drill_case c;
    struct mapspace_constraints constraints;
    setup(&c);
    small_machine(&c.arch, 3, 60);
    mapspace_constraints_init(&constraints, &c.problem, &c.arch);
    constraints.level[1].temporal.fixed[2] = 3;
    c.constraints = &constraints;
    assert_int_equal(solve(&c), DSE_OK);
    assert_true(c.result.feasible);
    assert_int_equal(c.result.n_evaluation, 1);
    assert_int_equal(c.result.mapping.level[1].temporal[2], 3);
    assert_int_equal(c.result.mapping.level[2].temporal[2], 2); /* 6 = 3 * 2 */
    assert_int_equal(c.result.mapping.level[2].temporal[0], 8);
    assert_int_equal(c.result.mapping.level[2].temporal[1], 4);
}

/* A tenth of 60 words at least; the plain mapping has 3 in the buffer. */
static void test_drill_reaches_a_minimum_utilisation(void **state)
{
    (void)state;
    struct drill_case c;
    setup(&c);
    c.arch.level[1].min_utilization = 0.1;
    assert_int_equal(solve(&c), DSE_OK);
    assert_true(c.result.feasible);
    assert_int_equal(c.result.n_evaluation, 1);
}

/* The whole problem has 8*6 + 6*4 + 8*4 = 104 words: a DRAM of 100 holds no mapping. */
static void test_drill_says_why_there_is_no_mapping(void **state)
{
    (void)state;
    struct drill_case c;
    setup(&c);
    c.arch.level[2].size_word = 100;
    assert_int_equal(solve(&c), DSE_OK);
    assert_false(c.result.feasible);
    assert_string_equal(c.result.reason, "DRAM needs 104 B for A+B+Z, has 100 B");
}

static void test_driver_catches_every_lie(void **state)
{
    (void)state;
    static const char *const said[DRILL_N_FAULT] = {
        [DRILL_INVALID] = "the independent checker refuses its mapping",
        [DRILL_TOO_GOOD] = "and what it found costs",
        [DRILL_BELOW_BOUND] = "below the lower bound of",
    };
    static const struct objective objective[] = {{1, 1}, {0, 1}, {1, 0}, {1, 2}};
    for (int fault = DRILL_INVALID; fault < DRILL_N_FAULT; fault++)
        for (size_t i = 0; i < sizeof objective / sizeof objective[0]; i++) {
            struct drill_case c;
            setup(&c);
            c.objective = objective[i];
            set(&c, "fault", drill_fault_name[fault]);
            assert_int_equal(solve(&c), DSE_INTERNAL);
            if (!strstr(c.err.text, said[fault]) ||
                !strstr(c.err.text, "the engine's answer does not hold: ") ||
                !strstr(c.err.text, "; this is a fault of the engine"))
                fail_msg("%s: %s", drill_fault_name[fault], c.err.text);
        }
}

static void test_fault_every_chooses_by_the_seed(void **state)
{
    (void)state;
    struct drill_case c;
    setup(&c);
    set(&c, "fault", "invalid");
    set(&c, "fault_every", "3");
    for (c.seed = 0; c.seed < 7; c.seed++)
        assert_int_equal(solve(&c), c.seed % 3 == 0 ? DSE_INTERNAL : DSE_OK);
}

/* Do it in a child with the signals as they are by default; the sanitizers have handlers of their own. */
static pid_t start_child(struct drill_case *c)
{
    (void)fflush(NULL); /* else exit() in the child writes it again */
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    (void)signal(SIGSEGV, SIG_DFL);
    (void)signal(SIGFPE, SIG_DFL);
    (void)signal(SIGABRT, SIG_DFL);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    enum dse_status status = solve(c);
    _exit(status == DSE_OK && c->result.feasible ? CHILD_DONE : CHILD_REFUSED);
}

static void test_faults_are_real(void **state)
{
    (void)state;
    static const struct {
        enum drill_fault fault;
        int signal, code;
    } expected[] = {
        {DRILL_NONE, 0, CHILD_DONE},       {DRILL_LEAK, 0, CHILD_DONE}, {DRILL_ABORT, SIGABRT, 0},
        {DRILL_SEGFAULT, SIGSEGV, 0},      {DRILL_DIVIDE, SIGFPE, 0},   {DRILL_FLOAT_TRAP, SIGFPE, 0},
        {DRILL_INVALID, 0, CHILD_REFUSED},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct drill_case c;
        int end;
        setup(&c);
        set(&c, "fault", drill_fault_name[expected[i].fault]);
        set(&c, "leak_byte", "100000000");
        pid_t child = start_child(&c);
        assert_int_equal(waitpid(child, &end, 0), child);
        if (expected[i].signal ? !WIFSIGNALED(end) || WTERMSIG(end) != expected[i].signal
                               : !WIFEXITED(end) || WEXITSTATUS(end) != expected[i].code)
            fail_msg("%s: status %#x", drill_fault_name[expected[i].fault], (unsigned)end);
    }
}

/* exit() runs what was registered, such as the leak check of a test run, which may change the code: so only
 * that it does not come back. */
static void test_throw_away_ends_the_process(void **state)
{
    (void)state;
    struct drill_case c;
    int end;
    setup(&c);
    set(&c, "fault", "throw_away");
    pid_t child = start_child(&c);
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end));
    assert_true(WEXITSTATUS(end) != CHILD_DONE && WEXITSTATUS(end) != CHILD_REFUSED);
}

/* Its limit is 10 ms, and it is still there after 300 ms. */
static void test_loop_ignores_its_budget(void **state)
{
    (void)state;
    struct drill_case c;
    int end;
    setup(&c);
    set(&c, "fault", "loop");
    c.budget.max_seconds = 0.01;
    pid_t child = start_child(&c);
    (void)nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    assert_int_equal(waitpid(child, &end, WNOHANG), 0);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &end, 0), child);
}

static void test_work_burns_time_and_keeps_to_the_limit(void **state)
{
    (void)state;
    struct drill_case c;
    setup(&c);
    set(&c, "work", "0.02");
    set(&c, "memory", "10000000");
    assert_int_equal(solve(&c), DSE_OK);
    assert_true(c.result.feasible && c.result.seconds >= 0.02);
    set(&c, "work", "1e6");
    c.budget.max_seconds = 0.02;
    assert_int_equal(solve(&c), DSE_OK);
    assert_false(c.result.feasible);
    assert_int_equal(c.result.stop, STOP_MAX_SECONDS);
}

/* More than any address space has. */
static void test_memory_that_is_not_there_is_said(void **state)
{
    (void)state;
    struct drill_case c;
    setup(&c);
    set(&c, "memory", "1e15");
    assert_int_equal(solve(&c), DSE_NO_MEMORY);
    assert_non_null(strstr(c.err.text, "option memory"));
}

static void test_only_what_breaks_the_process_is_untrusted(void **state)
{
    (void)state;
    for (int fault = 0; fault < DRILL_N_FAULT; fault++) {
        struct drill_case c;
        setup(&c);
        set(&c, "fault", drill_fault_name[fault]);
        assert_int_equal(engine_is_untrusted(&engine_drill, c.option),
                         fault != DRILL_NONE && fault < DRILL_INVALID);
    }
    assert_false(engine_is_untrusted(engine_find("random"), NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drill_takes_the_plain_mapping_at_once),
        cmocka_unit_test(test_drill_keeps_to_constraints),
        cmocka_unit_test(test_drill_reaches_a_minimum_utilisation),
        cmocka_unit_test(test_drill_says_why_there_is_no_mapping),
        cmocka_unit_test(test_driver_catches_every_lie),
        cmocka_unit_test(test_fault_every_chooses_by_the_seed),
        cmocka_unit_test(test_faults_are_real),
        cmocka_unit_test(test_throw_away_ends_the_process),
        cmocka_unit_test(test_loop_ignores_its_budget),
        cmocka_unit_test(test_work_burns_time_and_keeps_to_the_limit),
        cmocka_unit_test(test_memory_that_is_not_there_is_said),
        cmocka_unit_test(test_only_what_breaks_the_process_is_untrusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
