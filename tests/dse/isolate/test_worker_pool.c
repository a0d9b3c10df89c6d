/* Searches in worker processes: what comes back, and what a row says when a search crashes, ends its process,
 * takes all memory, does not stop, or damages what it sends. The searches here are functions of the task's
 * number that misbehave on purpose; nothing is a known value: the texts are those that docs/isolation.md
 * promises.
 * Tests: fork_server.c, worker.c, worker_memory.c, worker_answer.c, worker_reason.c. */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/process.h"
#include "dse/isolate/worker.h"

enum fault {
    GOOD,
    SCHEDULE,
    SEGFAULT,
    DIVIDE,
    ABORT,
    EXIT,
    LOOP,
    LEAK,
    REFUSED,
    CHATTER,
    DEAF,
    NONSENSE_OUTCOME,
    NONSENSE_REASON,
    NONSENSE_TRACE,
    NONSENSE_SCHEDULE,
    TIME_BOMB,
    KEEP_MEMORY,
    TRAP,
    RAISE_KILL,
    THREADS
};

enum { LIMIT_MIB = 96, MIB = 1024 * 1024 };

#define ACCOUNTING "accounting of a test"

/* What searches know besides their numbers. */
struct told {
    unsigned n_done;    /* by this worker; every answer says it */
    atomic_int *n_kill; /* in memory that all processes share */
};

static unsigned n_done_by_worker(const struct solve_result *result)
{
    return (unsigned)result->found.n_draw;
}

static void good_result(size_t point, uint32_t task, struct solve_result *result)
{
    measure_values_init(&result->measured);
    result->outcome = RESULT_OK;
    result->found.feasible = true;
    result->found.mapping.n_level = result->found.mapping.n_dim = 1;
    result->found.mapping.level[0].temporal[0] = result->found.mapping.level[0].spatial[0] = 1;
    result->found.evaluation.latency_cycle = 1 + point;
    result->found.n_evaluation = task;
}

static void schedule_result(size_t point, struct solve_result *result)
{
    size_t length = 1000 * (point + 1);
    good_result(point, 0, result);
    result->schedule = malloc(length + 1);
    if (!result->schedule)
        return;
    memset(result->schedule, 'a' + (int)(point % 26), length);
    result->schedule[length] = '\0';
    result->found.schedule.text = result->schedule;
    result->found.schedule.text_length = length;
    result->found.schedule.accounting = ACCOUNTING;
    result->found.schedule.latency_cycle = 7;
}

static void take_memory(size_t n_mib, bool touch)
{
    for (size_t i = 0; i < n_mib; i++) {
        char *volatile block = malloc(MIB);
        if (!block)
            abort();
        if (touch)
            memset(block, 1, MIB);
    }
}

/* Without end, in a way that no compiler may leave out. */
static void loop_forever(bool chatter)
{
    for (volatile unsigned i = 0;; i++)
        if (chatter && i % 1024 == 0) {
            printf("still here %u\n", i);
            fflush(stdout);
        }
}

static void spoil(enum fault fault, struct solve_result *result)
{
    static const unsigned wild = 77777;
    if (fault == NONSENSE_OUTCOME)
        memcpy(&result->outcome, &wild, sizeof wild);
    if (fault == NONSENSE_REASON) {
        result->outcome = RESULT_FAILED;
        memset(result->reason, 'x', sizeof result->reason);
    }
    if (fault == NONSENSE_TRACE)
        result->found.n_trace = wild;
    if (fault == NONSENSE_SCHEDULE) {
        schedule_result(3, result);
        result->found.schedule.text_length = 2000; /* a wrong length that is within what is there */
        result->found.schedule.latency_cycle = 0;
    }
}

static void *add_one(void *user)
{
    ++*(int *)user;
    return NULL;
}

static enum dse_status misbehave(void *user, size_t point, uint32_t task, int n_thread, struct arena *arena,
                                 struct solve_result *result, struct dse_error *err)
{
    volatile int zero = 0;
    volatile uintptr_t nowhere = 8;
    struct told *told = user;
    pthread_t thread;
    int sum = n_thread;
    told->n_done++; /* the worker's own */
    (void)arena;
    good_result(point, task, result);
    result->found.n_draw = told->n_done;
    switch ((enum fault)task) {
    case SCHEDULE:
        schedule_result(point, result);
        break;
    case SEGFAULT:
        fprintf(stderr, "about to read address 8\n");
        *(volatile int *)nowhere = 1;
        break;
    case DIVIDE:
        raise(SIGFPE);
        result->found.n_evaluation = (uint64_t)(1 / (zero ? zero : 1));
        break;
    case ABORT:
        fprintf(stdout, "first line\n\nlast words\001 of it\n");
        abort();
    case EXIT:
        exit(3);
    case LOOP:
        loop_forever(false);
        break;
    case CHATTER:
        loop_forever(true);
        break;
    case LEAK:
        take_memory(1024, true);
        sleep(2); /* where no limit holds, the look at its memory comes ten times a second */
        break;
    case REFUSED:
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a test");
    case DEAF:
        for (int fd = 0; fd < 64; fd++)
            close(fd);
        sleep(30);
        break;
    case TIME_BOMB: /* damage by an earlier search in the same process */
        if (told->n_done > 1)
            raise(SIGSEGV);
        break;
    case KEEP_MEMORY:
        take_memory(120, true);
        break;
    case TRAP:
        feenableexcept(FE_DIVBYZERO | FE_INVALID);
        break;
    case RAISE_KILL:
        if (atomic_fetch_add(told->n_kill, 1) == 0)
            raise(SIGKILL);
        break;
    case THREADS:
        for (int i = 0; i < 3; i++)
            if (pthread_create(&thread, NULL, add_one, &sum) == 0)
                pthread_join(thread, NULL);
        result->found.n_evaluation = (uint64_t)sum;
        break;
    default:
        spoil((enum fault)task, result);
    }
    return DSE_OK;
}

struct fixture {
    struct worker_pool *pool;
    struct told told;
};

static int make_pool(struct fixture *f, size_t n_slot, uint64_t max_memory)
{
    const struct worker_limits limits = {max_memory, 0.3};
    struct dse_error err = {0};
    f->told.n_done = 0;
    f->told.n_kill =
        mmap(NULL, sizeof *f->told.n_kill, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (f->told.n_kill == MAP_FAILED)
        return -1;
    return worker_pool_new_for(misbehave, &f->told, n_slot, &limits, &f->pool, &err) == DSE_OK ? 0 : -1;
}

static void free_pool(struct fixture *f)
{
    worker_pool_free(f->pool);
    munmap(f->told.n_kill, sizeof *f->told.n_kill);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    return f ? make_pool(f, 2, (uint64_t)LIMIT_MIB * MIB) : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    free_pool(f);
    free(f);
    return 0;
}

static struct solve_result solve(struct fixture *f, size_t slot, size_t point, enum fault fault,
                                 double seconds_max)
{
    struct solve_result result;
    struct dse_error err = {0};
    const struct worker_job job = {point, fault, fault == THREADS ? 4 : 1, seconds_max};
    assert_int_equal(worker_pool_solve(f->pool, slot, &job, NULL, &result, &err), DSE_OK);
    return result;
}

static void assert_good(struct fixture *f, size_t slot, size_t point)
{
    struct solve_result result = solve(f, slot, point, GOOD, 0);
    assert_int_equal(result.outcome, RESULT_OK);
    assert_string_equal(result.reason, "");
    assert_int_equal(result.found.evaluation.latency_cycle, 1 + point);
}

static void test_worker_answers_many(void **state)
{
    struct fixture *f = *state;
    for (size_t p = 0; p < 200; p++)
        assert_good(f, p % 2, p);
    for (size_t s = 0; s < 2; s++) { /* of the same two workers */
        struct solve_result result = solve(f, s, 0, GOOD, 0);
        assert_int_equal(n_done_by_worker(&result), 101);
    }
}

static void test_worker_sends_schedule(void **state)
{
    for (size_t p = 0; p < 300; p += 60) { /* up to 300 kB, more than a socket holds */
        struct solve_result result = solve(*state, 0, p, SCHEDULE, 0);
        assert_int_equal(result.outcome, RESULT_OK);
        assert_int_equal(result.found.schedule.text_length, 1000 * (p + 1));
        assert_ptr_equal(result.found.schedule.text, result.schedule);
        assert_int_equal(strlen(result.schedule), 1000 * (p + 1));
        assert_int_equal(result.schedule[999], 'a' + p % 26);
        assert_string_equal(result.found.schedule.accounting, ACCOUNTING);
        assert_ptr_not_equal(result.found.schedule.accounting, ACCOUNTING);
        solve_result_clear(&result);
    }
}

/* A row with this outcome and reason, and the slot is of use after it. */
static void assert_row(struct fixture *f, enum fault fault, double seconds_max, enum result_status outcome,
                       const char *reason)
{
    struct solve_result result = solve(f, 0, 0, fault, seconds_max);
    assert_int_equal(result.outcome, outcome);
    assert_string_equal(result.reason, reason);
    assert_null(result.schedule);
    assert_good(f, 0, 5);
    assert_good(f, 1, 6);
}

static void test_worker_crashes_become_rows(void **state)
{
    struct fixture *f = *state;
    assert_row(f, SEGFAULT, 0, RESULT_FAILED,
               "the engine crashed (SIGSEGV: invalid memory access): about to read address 8");
    assert_row(f, DIVIDE, 0, RESULT_FAILED, "the engine crashed (SIGFPE: arithmetic fault)");
    assert_row(f, ABORT, 0, RESULT_FAILED, "the engine crashed (SIGABRT): last words? of it");
    assert_row(f, EXIT, 0, RESULT_FAILED, "the engine ended its process with exit code 3");
}

static void test_worker_deaf_is_ended(void **state)
{
    assert_row(*state, DEAF, 0, RESULT_FAILED, "the engine closed its connection to the run");
}

static void test_worker_loop_is_ended(void **state)
{
    double start_s = clock_wall_s();
    struct solve_result result = solve(*state, 0, 0, LOOP, 0.2);
    double seconds = clock_wall_s() - start_s;
    assert_int_equal(result.outcome, RESULT_TIMEOUT);
    assert_int_equal(result.found.stop, STOP_MAX_SECONDS);
    assert_string_equal(result.reason, "did not stop within max_seconds = 0.2 s and 0.3 s of grace");
    assert_true(seconds >= 0.5 && seconds < 3);
    assert_good(*state, 0, 1);
    assert_row(*state, CHATTER, 0.2, RESULT_TIMEOUT,
               "did not stop within max_seconds = 0.2 s and 0.3 s of grace");
}

/* Where the address space cannot be limited the process is ended, else malloc fails and the engine aborts. */
static void test_worker_leak_is_ended(void **state)
{
    assert_row(*state, LEAK, 0, RESULT_FAILED,
               process_can_limit_memory()
                   ? "needed more than max_memory = 96 MiB: the engine crashed (SIGABRT)"
                   : "needed more than max_memory = 96 MiB");
}

static void test_worker_refused_memory_names_limit(void **state)
{
    assert_row(*state, REFUSED, 0, RESULT_FAILED,
               "needed more than max_memory = 96 MiB: out of memory for a test");
}

static void test_worker_share_is_named(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(make_pool(&f, 4, 0), 0);
    struct solve_result result = solve(&f, 3, 0, REFUSED, 0);
    assert_non_null(
        strstr(result.reason, "of memory, an even share of what there is (max_memory sets another"));
    free_pool(&f);
}

static void test_worker_nonsense_is_refused(void **state)
{
    static const enum fault fault[] = {NONSENSE_OUTCOME, NONSENSE_REASON, NONSENSE_TRACE, NONSENSE_SCHEDULE};
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++)
        assert_row(*state, fault[i], 0, RESULT_FAILED,
                   "the engine damaged the memory of its process: what came back makes no sense");
}

/* A search that is innocent is done again in a new process. */
static void test_worker_damage_of_earlier_search_is_not_blamed(void **state)
{
    struct fixture *f = *state;
    assert_good(f, 0, 1);
    struct solve_result result = solve(f, 0, 0, TIME_BOMB, 0);
    assert_int_equal(result.outcome, RESULT_OK);
    assert_int_equal(n_done_by_worker(&result), 1);
}

static void test_worker_killed_from_outside_is_tried_again(void **state)
{
    struct fixture *f = *state;
    struct solve_result result = solve(f, 0, 0, RAISE_KILL, 0);
    assert_string_equal(result.reason, "");
    assert_int_equal(result.outcome, RESULT_OK);
    assert_int_equal(atomic_load(f->told.n_kill), 2);
}

/* The limit is for what one search takes, so a worker that has grown is replaced. */
static void test_worker_growth_is_not_kept(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(make_pool(&f, 1, (uint64_t)512 * MIB), 0);
    for (size_t i = 0; i < 4; i++) {
        struct solve_result result = solve(&f, 0, i, KEEP_MEMORY, 0);
        assert_string_equal(result.reason, "");
        assert_int_equal(n_done_by_worker(&result), 1);
    }
    free_pool(&f);
}

static void test_worker_float_traps_do_not_outlive_search(void **state)
{
    struct fixture *f = *state;
    struct solve_result result = solve(f, 0, 0, TRAP, 0);
    assert_int_equal(result.outcome, RESULT_OK);
    result = solve(f, 0, 0, DIVIDE, 0);
    assert_string_equal(result.reason, "the engine crashed (SIGFPE: arithmetic fault)");
}

static void test_worker_threads_are_told(void **state)
{
    struct fixture *f = *state;
    struct solve_result result = solve(f, 0, 0, THREADS, 0);
    assert_int_equal(result.found.n_evaluation, 4 + 3);
}

static void *set_soon(void *flag)
{
    usleep(100 * 1000);
    atomic_store((atomic_int *)flag, 1);
    return NULL;
}

static void test_worker_cancel_ends_search(void **state)
{
    struct fixture *f = *state;
    struct solve_result result;
    struct dse_error err = {0};
    atomic_int cancel = 0;
    const struct worker_job job = {0, LOOP, 1, 0};
    pthread_t thread;
    double start_s = clock_wall_s();
    assert_int_equal(pthread_create(&thread, NULL, set_soon, &cancel), 0);
    assert_int_equal(worker_pool_solve(f->pool, 0, &job, &cancel, &result, &err), DSE_INTERRUPTED);
    assert_true(clock_wall_s() - start_s < 3);
    pthread_join(thread, NULL);
    assert_good(f, 0, 1);
}

struct job {
    struct fixture *f;
    size_t slot;
    int n_bad;
};

static void *work_on_slot(void *user)
{
    struct job *job = user;
    for (size_t i = 0; i < 30; i++) {
        struct solve_result result;
        enum fault fault = i % 10 == job->slot ? SEGFAULT : GOOD;
        struct dse_error err = {0};
        const struct worker_job search = {i, fault, 1, 5};
        if (worker_pool_solve(job->f->pool, job->slot, &search, NULL, &result, &err) != DSE_OK ||
            result.outcome != (fault == GOOD ? RESULT_OK : RESULT_FAILED))
            job->n_bad++;
    }
    return NULL;
}

static void test_worker_slots_are_independent(void **state)
{
    struct fixture f;
    struct job job[4];
    pthread_t thread[4];
    (void)state;
    assert_int_equal(make_pool(&f, 4, (uint64_t)LIMIT_MIB * MIB), 0);
    for (size_t i = 0; i < 4; i++) {
        job[i] = (struct job){&f, i, 0};
        assert_int_equal(pthread_create(&thread[i], NULL, work_on_slot, &job[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(job[i].n_bad, 0);
    }
    free_pool(&f);
}

/* A process with a pool that dies takes its workers along, even when they loop. */
static void test_worker_dies_with_run(void **state)
{
    int answer[2], status;
    char byte;
    (void)state;
    assert_int_equal(pipe(answer), 0); /* held open by all of them; closed when the last is gone */
    pid_t run = fork();
    if (run == 0) {
        struct fixture f;
        struct solve_result result;
        close(answer[0]);
        if (dup2(answer[1], 1) < 0 || make_pool(&f, 1, 0) != 0)
            _exit(1);
        alarm(1);
        (void)!worker_pool_solve(f.pool, 0, &(struct worker_job){0, LOOP, 1, 0}, NULL, &result, NULL);
        _exit(2);
    }
    close(answer[1]);
    assert_int_equal(waitpid(run, &status, 0), run);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
    alarm(10);
    assert_int_equal(read(answer[0], &byte, 1), 0);
    alarm(0);
    close(answer[0]);
}

static void test_worker_memory_of_machine(void **state)
{
    (void)state;
    assert_true(worker_memory_share(1) > 64 * (uint64_t)MIB);
    assert_true(worker_memory_share(3) <= worker_memory_share(1) / 3);
    setenv("SLURM_MEM_PER_NODE", "100", 1); /* MiB, as sbatch(1) says; nine tenths of them */
    assert_int_equal(worker_memory_share(1), 90 * (uint64_t)MIB);
    unsetenv("SLURM_MEM_PER_NODE");
}

int main(void)
{
#define WITH_POOL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_POOL(test_worker_answers_many),
        WITH_POOL(test_worker_sends_schedule),
        WITH_POOL(test_worker_crashes_become_rows),
        WITH_POOL(test_worker_deaf_is_ended),
        WITH_POOL(test_worker_loop_is_ended),
        WITH_POOL(test_worker_leak_is_ended),
        WITH_POOL(test_worker_refused_memory_names_limit),
        cmocka_unit_test(test_worker_share_is_named),
        WITH_POOL(test_worker_nonsense_is_refused),
        WITH_POOL(test_worker_damage_of_earlier_search_is_not_blamed),
        WITH_POOL(test_worker_killed_from_outside_is_tried_again),
        cmocka_unit_test(test_worker_growth_is_not_kept),
        WITH_POOL(test_worker_float_traps_do_not_outlive_search),
        WITH_POOL(test_worker_threads_are_told),
        WITH_POOL(test_worker_cancel_ends_search),
        cmocka_unit_test(test_worker_slots_are_independent),
        cmocka_unit_test(test_worker_dies_with_run),
        cmocka_unit_test(test_worker_memory_of_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
