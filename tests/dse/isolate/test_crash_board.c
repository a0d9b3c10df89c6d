/* The crash board and its watchdog of searches in threads. Times are those the test gives it: nothing waits.
 * Nothing is a known value. */
#include <setjmp.h>
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

#include "dse/isolate/supervisor.h"

struct fixture {
    struct crash_board *board;
    struct watchdog dog;
    int *n_flush; /* shared with children */
    FILE *err;
    char *text;
    size_t size;
};

static void count_flush(void *user)
{
    ++*(int *)user;
}

static struct watchdog dog_of(struct fixture *f, struct crash_board *board)
{
    return (struct watchdog){
        .board = board, .n_slot = 4, .grace_s = 10, .flush = count_flush, .user = f->n_flush, .err = f->err};
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct dse_error err;
    *state = f;
    if (!f || board_new(false, &f->board, &err) != DSE_OK)
        return -1;
    f->n_flush = mmap(NULL, sizeof *f->n_flush, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    f->err = open_memstream(&f->text, &f->size);
    f->dog = dog_of(f, f->board);
    return f->n_flush != MAP_FAILED && f->err ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fclose(f->err);
    free(f->text);
    board_free(f->board);
    munmap(f->n_flush, sizeof *f->n_flush);
    free(f);
    return 0;
}

/* Ticks every tenth of a second from the one time to the other. */
static void tick(struct watchdog *dog, double from_s, double to_s, bool stopping)
{
    for (int i = 0; from_s + 0.1 * i <= to_s; i++)
        watchdog_tick(dog, from_s + 0.1 * i, stopping);
}

/* The same in a child, which has been told to stop; returns its exit code, 0 when it was not ended. */
static int code_of_ticks(struct fixture *f, double from_s, double to_s)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        tick(&f->dog, from_s, to_s, true);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_watchdog_is_quiet_in_time(void **state)
{
    struct fixture *f = *state;
    board_enter(f->board, 0, 1, 0, 120);
    board_enter(f->board, 1, 2, 0, 0); /* no deadline */
    tick(&f->dog, 100, 119.9, false);
    board_leave(f->board, 0);
    tick(&f->dog, 120, 140, false);
    fflush(f->err);
    assert_true(!f->text || f->text[0] == '\0');
    assert_int_equal(*f->n_flush, 0);
}

static void test_watchdog_says_once_without_supervisor(void **state)
{
    struct fixture *f = *state;
    board_enter(f->board, 2, 1, 0, 105);
    tick(&f->dog, 100, 110, false);
    fflush(f->err);
    assert_string_equal(
        f->text, "dse: a search does not stop at its max_seconds, and cannot be ended in a thread; waiting "
                 "for it (isolation: process ends such searches)\n");
}

/* Hours in which the process was stopped (a job in the background, a laptop asleep) are not the search's. */
static void test_watchdog_forgives_stopped_time(void **state)
{
    struct fixture *f = *state;
    board_enter(f->board, 0, 1, 0, 110);
    tick(&f->dog, 100, 101, false);
    tick(&f->dog, 5000, 5009.8, false); /* within the grace after it went on */
    fflush(f->err);
    assert_true(!f->text || f->text[0] == '\0');
    tick(&f->dog, 5009.9, 5011, false);
    fflush(f->err);
    assert_true(f->text && f->text[0] != '\0');
}

static void test_watchdog_ends_run_that_does_not_stop(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(code_of_ticks(f, 100, 109.9), 0);
    assert_int_equal(*f->n_flush, 0);
    assert_int_equal(code_of_ticks(f, 100, 110.2), 130);
    assert_int_equal(*f->n_flush, 1);
}

static int late_body(void *user, struct crash_board *board)
{
    struct fixture *f = user;
    struct watchdog dog = dog_of(f, board);
    if (board_restarts(board) > 0)
        return board_must_isolate(board, 11, 0) && !board_must_isolate(board, 12, 0) && *f->n_flush == 1 ? 0
                                                                                                         : 99;
    board_enter(board, 0, 11, 0, 105);
    board_enter(board, 1, 12, 0, 1000);
    tick(&dog, 100, 110, false);
    return 98;
}

/* The late search is noted, finished rows are brought into the files, and the run begins again. */
static void test_watchdog_restarts_supervised_run(void **state)
{
    struct fixture *f = *state;
    const struct console console = {.out = stdout, .err = f->err};
    assert_int_equal(supervise(late_body, f, &console), 0);
    fflush(f->err);
    assert_string_equal(
        f->text, "dse: 1 search did not stop within limit and grace; going on with this one in a process of "
                 "its own\n");
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH(test_watchdog_is_quiet_in_time),        WITH(test_watchdog_says_once_without_supervisor),
        WITH(test_watchdog_forgives_stopped_time),   WITH(test_watchdog_ends_run_that_does_not_stop),
        WITH(test_watchdog_restarts_supervised_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
