/* Runs under a supervisor: exit codes, signals, crashes and restarts. Bodies here tell what they saw through
 * memory that both processes share. Nothing is a known value: exit codes and lines are those that
 * docs/isolation.md promises.
 * Tests: crash_board.c. */
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/process.h"
#include "dse/isolate/run_signals.h"
#include "dse/isolate/supervisor.h"

/* Shared by test and bodies. */
struct seen {
    int code, signal; /* what the body does: end with the code, or raise the signal */
    int engine, n_key;
    unsigned n_crash; /* how many starts misbehave */
    bool idle;        /* with nothing in flight */
    bool progress;    /* a search is finished by each start */
    bool exits;       /* without coming back */
    unsigned wait_us; /* after a signal */
    bool obeys;       /* searches that must be isolated are not done in the body */
    atomic_uint n_start;
    atomic_int pid;
    atomic_bool isolates, isolated_key, isolated_other, isolated_engine, ready;
};

struct fixture {
    struct seen *seen;
    char *text;
    size_t size;
    struct console console;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    *state = f;
    if (!f)
        return -1;
    f->seen = mmap(NULL, sizeof *f->seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    f->console.err = open_memstream(&f->text, &f->size);
    f->console.out = stdout;
    return f->seen != MAP_FAILED && f->console.err ? 0 : -1;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    fclose(f->console.err);
    free(f->text);
    munmap(f->seen, sizeof *f->seen);
    free(f);
    return 0;
}

static const char *said(struct fixture *f)
{
    fflush(f->console.err);
    return f->text ? f->text : "";
}

/* Searches with keys 0 ... n_key - 1 begin, each in a slot of its own; then the run ends as it is told. */
static int body(void *user, struct crash_board *board)
{
    struct seen *seen = user;
    unsigned n_start = atomic_fetch_add(&seen->n_start, 1) + 1;
    atomic_store(&seen->pid, getpid());
    if (board_restarts(board) != n_start - 1)
        return 99;
    atomic_store(&seen->isolates, board_isolates(board));
    atomic_store(&seen->isolated_key, board_must_isolate(board, 0, 0));
    atomic_store(&seen->isolated_other, board_must_isolate(board, 12345, 9));
    atomic_store(&seen->isolated_engine, board_must_isolate(board, 12345, (uint32_t)seen->engine));
    if (n_start > seen->n_crash)
        return seen->code;
    if (seen->progress) {
        board_enter(board, 7, 1, 0, 0);
        board_leave(board, 7);
    }
    for (int k = 0; k < seen->n_key && !seen->idle; k++)
        if (!seen->obeys || !board_must_isolate(board, (uint64_t)k, (uint32_t)seen->engine))
            board_enter(board, (size_t)k, (uint64_t)k, (uint32_t)seen->engine, 0);
    if (seen->signal) {
        signal(seen->signal, SIG_DFL); /* the sanitizers have handlers of their own */
        raise(seen->signal);
    }
    if (seen->exits)
        _exit(seen->code);
    return seen->code;
}

static void test_supervisor_passes_exit_code_through(void **state)
{
    struct fixture *f = *state;
    for (int code = 0; code < 3; code++) {
        *f->seen = (struct seen){.code = code};
        assert_int_equal(supervise(body, f->seen, &f->console), code);
        assert_int_equal(atomic_load(&f->seen->n_start), 1);
    }
    assert_int_not_equal(atomic_load(&f->seen->pid), getpid());
    assert_string_equal(said(f), "");
}

static void test_supervisor_restarts_after_crash(void **state)
{
    static const int fault[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        *f->seen = (struct seen){.code = 1, .signal = fault[i], .n_crash = 1, .n_key = 2, .engine = 3};
        assert_int_equal(supervise(body, f->seen, &f->console), 1);
        assert_int_equal(atomic_load(&f->seen->n_start), 2);
        assert_true(f->seen->isolates && f->seen->isolated_key);
        assert_false(f->seen->isolated_other || f->seen->isolated_engine);
    }
    assert_non_null(strstr(said(f),
                           "dse: the run crashed (SIGSEGV) while 2 searches were in flight; going on with "
                           "these in processes of their own\n"));
    assert_non_null(strstr(said(f), "dse: the run crashed (SIGFPE) while"));
}

/* Three crashes in which an engine has part: all its searches. Another engine's are not. */
static void test_supervisor_isolates_engine_after_three_crashes(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.signal = SIGSEGV, .n_crash = 3, .n_key = 1, .engine = 3, .progress = true};
    assert_int_equal(supervise(body, f->seen, &f->console), 0);
    assert_int_equal(atomic_load(&f->seen->n_start), 4);
    assert_true(f->seen->isolated_engine);
    assert_false(f->seen->isolated_other);
    assert_non_null(
        strstr(said(f), "while 1 search was in flight; going on with this one in a process of its own\n"));
}

static void test_supervisor_isolates_everything_when_it_does_not_get_on(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.signal = SIGABRT, .n_crash = 3, .n_key = 1, .engine = 3};
    assert_int_equal(supervise(body, f->seen, &f->console), 0);
    assert_true(f->seen->isolated_other);
}

/* A run that crashes for ever, without isolated searches being to blame: it ends. */
static void test_supervisor_gives_up(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.signal = SIGSEGV, .n_crash = 1000, .n_key = 1, .obeys = true};
    assert_int_equal(supervise(body, f->seen, &f->console), 2);
    assert_int_equal(atomic_load(&f->seen->n_start), 2); /* the one key is isolated by then */
    assert_non_null(strstr(said(f),
                           "dse: internal error: the run crashed (SIGSEGV) outside of any search; finished "
                           "points are kept, the same command resumes\n"));
}

static void test_supervisor_crash_outside_of_searches_is_final(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.signal = SIGSEGV, .n_crash = 1, .idle = true};
    assert_int_equal(supervise(body, f->seen, &f->console), 2);
    assert_int_equal(atomic_load(&f->seen->n_start), 1);
}

/* kill -9 on purpose: the kernel has ended nothing for lack of memory, so the run is not started again. 137 =
 * 128 + 9. */
static void test_supervisor_respects_kill(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.signal = SIGKILL, .n_crash = 1, .n_key = 1};
    assert_int_equal(supervise(body, f->seen, &f->console), 137);
    assert_string_equal(
        said(f), "dse: the run was ended by SIGKILL; finished points are kept, the same command resumes\n");
}

/* An engine that calls exit() in a thread takes the run along; that is not the end of the sweep. */
static void test_supervisor_restarts_after_exit_by_engine(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.code = 3, .exits = true, .n_crash = 1, .n_key = 1};
    assert_int_equal(supervise(body, f->seen, &f->console), 3); /* what the second start comes back with */
    assert_int_equal(atomic_load(&f->seen->n_start), 2);
    assert_true(f->seen->isolated_key);
    assert_string_equal(
        said(f), "dse: something ended the run with exit code 3 while 1 search was in flight; going on with "
                 "this one in a process of its own\n");
}

/* 130: the run has been told to stop twice and left at once. */
static void test_supervisor_interruption_is_no_crash(void **state)
{
    struct fixture *f = *state;
    *f->seen = (struct seen){.code = 130, .exits = true, .n_crash = 1, .n_key = 1};
    assert_int_equal(supervise(body, f->seen, &f->console), 130);
    assert_int_equal(atomic_load(&f->seen->n_start), 1);
}

/* Takes signals for a while, as a run does: a second one, or what is taken for one, would end it with exit
 * code 130. */
static int waiting_body(void *user, struct crash_board *board)
{
    struct seen *seen = user;
    struct watch watch;
    (void)board;
    watch_block(&watch);
    if (watch_start(&watch, NULL, NULL) != DSE_OK)
        return 99;
    atomic_store(&seen->ready, true);
    for (int i = 0; i < 5000 && !atomic_load(&watch.cancel); i++)
        usleep(2000);
    usleep(seen->wait_us);
    watch_stop(&watch);
    return atomic_load(&watch.signal);
}

/* A supervisor in a process group of its own; returns its pid when the body waits for signals. */
static pid_t start_supervisor(struct fixture *f, supervise_body *what)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        _exit(supervise(what, f->seen, &f->console));
    }
    for (int i = 0; i < 5000 && !atomic_load(&f->seen->ready); i++)
        usleep(2000);
    assert_true(atomic_load(&f->seen->ready));
    return pid;
}

static void assert_ends(pid_t pid, int code)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), code);
}

static void test_supervisor_passes_signals_on(void **state)
{
    static const int number[] = {SIGTERM, SIGUSR1, SIGINT};
    struct fixture *f = *state;
    for (size_t i = 0; i < 3; i++) {
        *f->seen = (struct seen){.code = 0};
        pid_t pid = start_supervisor(f, waiting_body);
        kill(pid, number[i]);
        assert_ends(pid, number[i]);
    }
}

/* Both have it: the run sees one signal, not two. */
static void test_supervisor_signal_to_group_counts_once(void **state)
{
    struct fixture *f = *state;
    f->seen->wait_us = 700 * 1000;
    pid_t pid = start_supervisor(f, waiting_body);
    kill(-pid, SIGTERM);
    assert_ends(pid, SIGTERM);
}

/* Two signals to the supervisor alone are two, however soon the second comes. */
static void test_supervisor_second_signal_ends_at_once(void **state)
{
    struct fixture *f = *state;
    f->seen->wait_us = 10 * 1000 * 1000;
    pid_t pid = start_supervisor(f, waiting_body);
    kill(pid, SIGTERM);
    usleep(300 * 1000);
    kill(pid, SIGTERM);
    assert_ends(pid, 130);
}

static int endless_body(void *user, struct crash_board *board)
{
    struct seen *seen = user;
    (void)board;
    atomic_store(&seen->pid, getpid());
    atomic_store(&seen->ready, true);
    while (pause() != 0)
        continue;
    return 0;
}

/* Becomes the process, within two seconds, stopped ('T') or not, or ('Z') gone or dead? */
static bool becomes(pid_t pid, char wanted)
{
    for (int i = 0; i < 1000; i++, usleep(2000)) {
        char state;
        uint64_t start;
        bool dead = !process_look(pid, &state, &start) || state == 'Z' || state == 'X';
        if (wanted == 'Z' ? dead : !dead && (state == 'T') == (wanted == 'T'))
            return true;
    }
    return false;
}

static void test_supervisor_death_ends_run(void **state)
{
    struct fixture *f = *state;
    int status;
    pid_t pid = start_supervisor(f, endless_body);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(becomes(atomic_load(&f->seen->pid), 'Z'));
}

static void test_supervisor_job_control_works(void **state)
{
    struct fixture *f = *state;
    const char *preload = getenv("LD_PRELOAD");
    int status;
    if (preload && strstr(preload, "vgpreload"))
        skip(); /* valgrind does not stop what it runs */
    pid_t pid = start_supervisor(f, endless_body), run = atomic_load(&f->seen->pid);
    for (int i = 0; i < 2; i++) {
        kill(i == 0 ? pid : -pid, SIGTSTP); /* as from a shell's kill, and to the whole job */
        assert_true(becomes(pid, 'T') && becomes(run, 'T'));
        kill(i == 0 ? pid : -pid, SIGCONT);
        assert_true(becomes(pid, 'S') && becomes(run, 'S'));
    }
    kill(-pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* What a body writes to standard output before it ends is there, once. */
static int writing_body(void *user, struct crash_board *board)
{
    (void)board;
    fprintf(user, "from the run\n");
    return 0;
}

static void test_supervisor_flushes_output(void **state)
{
    struct fixture *f = *state;
    char text[64] = "";
    FILE *file = tmpfile();
    assert_non_null(file);
    fprintf(file, "before\n");
    assert_int_equal(supervise(writing_body, file, &f->console), 0);
    rewind(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    assert_string_equal(text, "before\nfrom the run\n");
    fclose(file);
}

int main(void)
{
#define WITH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH(test_supervisor_passes_exit_code_through),
        WITH(test_supervisor_restarts_after_crash),
        WITH(test_supervisor_isolates_engine_after_three_crashes),
        WITH(test_supervisor_isolates_everything_when_it_does_not_get_on),
        WITH(test_supervisor_gives_up),
        WITH(test_supervisor_crash_outside_of_searches_is_final),
        WITH(test_supervisor_respects_kill),
        WITH(test_supervisor_restarts_after_exit_by_engine),
        WITH(test_supervisor_interruption_is_no_crash),
        WITH(test_supervisor_passes_signals_on),
        WITH(test_supervisor_signal_to_group_counts_once),
        WITH(test_supervisor_second_signal_ends_at_once),
        WITH(test_supervisor_death_ends_run),
        WITH(test_supervisor_job_control_works),
        WITH(test_supervisor_flushes_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
