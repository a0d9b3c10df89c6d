/* Supervisor, watchdog and workers together, in a small run: threads take tasks, some of which crash or loop;
 * rows are kept in shared memory, as a journal would keep them. Expected are counts: every task has one row,
 * and those of bad tasks say why.
 * Tests: supervisor.c, worker_pool.c. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "dse/isolate/supervisor.h"
#include "dse/isolate/worker_pool.h"

enum { N_TASK = 30, N_THREAD = 3, EVERY = 6 };

static const double grace_s = 0.8;

enum trouble { FINE, CRASH, HANG, LEAVE };

struct journal {
    enum trouble trouble; /* of every sixth task */
    atomic_int n_row[N_TASK], outcome[N_TASK];
    atomic_uint n_start, n_flush, n_lost;
    char reason[N_TASK][SOLVE_REASON_MAX];
};

struct run {
    struct journal *journal;
    struct crash_board *board;
    struct worker_pool *pool;
    struct watchdog dog;
    atomic_int next, done;
};

struct thread {
    struct run *run;
    size_t slot;
    pthread_t handle;
};

static bool is_bad(size_t task)
{
    return task % EVERY == EVERY - 1;
}

static enum dse_status search(void *user, size_t point, uint32_t task, int n_thread, struct arena *arena,
                              struct solve_result *result, struct dse_error *err)
{
    const struct journal *journal = user;
    (void)task, (void)n_thread, (void)arena, (void)err;
    measure_values_init(&result->measured);
    result->outcome = RESULT_INFEASIBLE;
    if (!is_bad(point))
        return DSE_OK;
    if (journal->trouble == CRASH) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (journal->trouble == LEAVE)
        _exit(3);
    for (volatile unsigned i = 0; journal->trouble == HANG; i++)
        continue;
    return DSE_OK;
}

static void work_on(struct run *run, size_t slot, size_t task)
{
    struct solve_result result;
    struct dse_error err = {0};
    enum dse_status status;
    double seconds_max = run->journal->trouble == HANG ? 0.2 : 0;
    double deadline_s = seconds_max > 0 ? clock_wall_s() + seconds_max + grace_s : 0;
    if (board_must_isolate(run->board, task, 0)) {
        const struct worker_job job = {task, 0, 1, seconds_max};
        status = worker_pool_solve(run->pool, slot, &job, NULL, &result, &err);
    } else {
        memset(&result, 0, sizeof result);
        board_enter(run->board, slot, task, 0, deadline_s);
        status = search(run->journal, task, 0, 1, NULL, &result, &err);
        board_leave(run->board, slot);
    }
    if (status != DSE_OK) {
        atomic_fetch_add(&run->journal->n_lost, 1);
        return;
    }
    snprintf(run->journal->reason[task], SOLVE_REASON_MAX, "%s", result.reason);
    atomic_store(&run->journal->outcome[task], (int)result.outcome);
    atomic_fetch_add(&run->journal->n_row[task], 1);
}

static void *thread_main(void *user)
{
    struct thread *thread = user;
    for (int t; (t = atomic_fetch_add(&thread->run->next, 1)) < N_TASK;)
        if (atomic_load(&thread->run->journal->n_row[t]) == 0)
            work_on(thread->run, thread->slot, (size_t)t);
    return NULL;
}

static void *watch_main(void *user)
{
    struct run *run = user;
    const struct timespec tenth = {0, 100 * 1000 * 1000};
    while (!atomic_load(&run->done)) {
        watchdog_tick(&run->dog, clock_wall_s(), false);
        nanosleep(&tenth, NULL);
    }
    return NULL;
}

static void count_flush(void *user)
{
    atomic_fetch_add(&((struct journal *)user)->n_flush, 1);
}

static int body(void *user, struct crash_board *board)
{
    const struct worker_limits limits = {(uint64_t)64 << 20, grace_s};
    struct run run = {.journal = user, .board = board};
    struct thread thread[N_THREAD];
    pthread_t watch;
    atomic_fetch_add(&run.journal->n_start, 1);
    if (board_isolates(board) &&
        worker_pool_new_for(search, run.journal, N_THREAD, &limits, &run.pool, NULL) != DSE_OK)
        return 99;
    run.dog = (struct watchdog){.board = board,
                                .n_slot = N_THREAD,
                                .grace_s = 10,
                                .flush = count_flush,
                                .user = run.journal,
                                .err = stderr};
    if (pthread_create(&watch, NULL, watch_main, &run) != 0)
        return 98;
    for (size_t i = 0; i < N_THREAD; i++) {
        thread[i] = (struct thread){.run = &run, .slot = i};
        if (pthread_create(&thread[i].handle, NULL, thread_main, &thread[i]) != 0)
            return 97;
    }
    for (size_t i = 0; i < N_THREAD; i++)
        pthread_join(thread[i].handle, NULL);
    atomic_store(&run.done, 1);
    pthread_join(watch, NULL);
    worker_pool_free(run.pool);
    return 0;
}

static struct journal *run_with(enum trouble trouble)
{
    char *said = NULL;
    size_t size;
    const struct console console = {.out = stdout, .err = open_memstream(&said, &size)};
    struct journal *journal =
        mmap(NULL, sizeof *journal, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(journal != MAP_FAILED);
    assert_non_null(console.err);
    journal->trouble = trouble;
    int code = supervise(body, journal, &console);
    fclose(console.err);
    print_message("%s", said);
    free(said);
    assert_int_equal(code, 0);
    assert_int_equal(atomic_load(&journal->n_lost), 0);
    return journal;
}

/* One row for each task; those of bad ones begin with `reason`. */
static void assert_rows(struct journal *journal, enum result_status outcome, const char *reason)
{
    for (size_t t = 0; t < N_TASK; t++) {
        assert_int_equal(atomic_load(&journal->n_row[t]), 1);
        assert_int_equal(atomic_load(&journal->outcome[t]), is_bad(t) ? outcome : RESULT_INFEASIBLE);
        assert_string_equal(journal->reason[t], is_bad(t) ? reason : "");
    }
    munmap(journal, sizeof *journal);
}

static void test_isolation_run_without_trouble_starts_once(void **state)
{
    struct journal *journal = run_with(FINE);
    (void)state;
    assert_int_equal(atomic_load(&journal->n_start), 1);
    assert_rows(journal, RESULT_INFEASIBLE, "");
}

/* At most three crashes: then the engine is isolated. */
static void test_isolation_crashes_cost_their_rows(void **state)
{
    struct journal *journal = run_with(CRASH);
    (void)state;
    assert_in_range(atomic_load(&journal->n_start), 2, 4);
    assert_rows(journal, RESULT_FAILED, "the engine crashed (SIGSEGV: invalid memory access)");
}

static void test_isolation_exits_cost_their_rows(void **state)
{
    struct journal *journal = run_with(LEAVE);
    (void)state;
    assert_in_range(atomic_load(&journal->n_start), 2, 4);
    assert_rows(journal, RESULT_FAILED, "the engine ended its process with exit code 3");
}

static void test_isolation_endless_searches_cost_their_rows(void **state)
{
    struct journal *journal = run_with(HANG);
    (void)state;
    assert_in_range(atomic_load(&journal->n_start), 2, 4);
    assert_int_equal(atomic_load(&journal->n_flush), atomic_load(&journal->n_start) - 1);
    assert_rows(journal, RESULT_TIMEOUT, "did not stop within max_seconds = 0.2 s and 0.8 s of grace");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_isolation_run_without_trouble_starts_once),
        cmocka_unit_test(test_isolation_crashes_cost_their_rows),
        cmocka_unit_test(test_isolation_exits_cost_their_rows),
        cmocka_unit_test(test_isolation_endless_searches_cost_their_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
