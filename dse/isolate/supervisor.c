/* The parent's loop: passes signals on, waits for the child, judges how it ended and starts it again or
 * gives its exit code. */
#include "dse/isolate/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "dse/isolate/run_signals.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

enum {
    KILLED_MAX = 2,    /* restarts after SIGKILL */
    ECHO_WAIT_MS = 50, /* so that a signal to the whole process group reaches the run before its echo */
    SIGNAL_CODE = 128, /* exit code of a process that signal N ended: this + N, as shells have it */
};

/* The parent. */
struct supervisor {
    struct crash_board *board;
    supervise_body *body;
    void *user;
    const struct console *console;
    sigset_t signals, before; /* what it waits for; the mask to restore */
    pid_t child;
    uint64_t oom_count; /* before the child */
    unsigned n_killed;
};

/* ---------------------------------------- in the child */

/* The child leaves without going back to the caller, who is in the parent as well. */
static _Noreturn void run_child(struct supervisor *s, pid_t parent)
{
    process_end_with(parent);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    int code = s->body(s->user, s->board);
    fflush(NULL);
#if defined(__SANITIZE_ADDRESS__)
    if (__lsan_do_recoverable_leak_check())
        code = 23;
#endif
    board_set_returned(s->board, code);
    _exit(code);
}

/* ---------------------------------------- in the parent */

/* The job is stopped and goes on: with it this process, and the run when it has not had the signal itself. */
static void stop(struct supervisor *s, const siginfo_t *info)
{
    sigset_t only;
    if (info->si_code <= 0)
        kill(s->child, SIGTSTP);
    sigemptyset(&only);
    sigaddset(&only, SIGTSTP);
    raise(SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &only, NULL); /* stops here */
    sigprocmask(SIG_BLOCK, &only, NULL);
    kill(s->child, SIGCONT);
}

/* si_code <= 0: another process sent it; the terminal sends to the whole group, which the run is in. */
static void pass_on(const struct supervisor *s, const siginfo_t *info)
{
    const struct timespec wait = {0, ECHO_WAIT_MS * 1000000L};
    const union sigval no_value = {0};
    if (info->si_code > 0)
        return;
    nanosleep(&wait, NULL);
    if (sigqueue(s->child, info->si_signo, no_value) != 0)
        kill(s->child, info->si_signo); /* the queue is full */
}

/* Returns the wait status. */
static int wait_for_child(struct supervisor *s)
{
    siginfo_t info;
    int status;
    for (;;) {
        pid_t got = waitpid(s->child, &status, WNOHANG);
        if (got == s->child)
            return status;
        if (got < 0 && errno != EINTR)
            return 0;
        int number = sigwaitinfo(&s->signals, &info);
        if (number == SIGTSTP)
            stop(s, &info);
        else if (number > 0 && number != SIGCHLD)
            pass_on(s, &info);
    }
}

static void say(const struct supervisor *s, const char *what, const char *then)
{
    FILE *err = s->console->err, *terminal = s->console->err_terminal;
    if (terminal) {
        fputs("\r\033[K", terminal); /* the progress bar of the run */
        fflush(terminal);
    }
    fprintf(err, "dse: %s%s\n", what, then);
    fflush(err);
}

/* What ended a run that did not come to its end. */
static void describe(int status, bool starved, char *text, size_t size)
{
    char name[32];
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == 0)
        snprintf(text, size, "something ended the run with exit code %d", WEXITSTATUS(status));
    else if (process_signal_is_fault(number))
        snprintf(text, size, "the run crashed (%s)", process_signal(number, name, sizeof name));
    else if (starved)
        snprintf(text, size, "the run was ended by the system for lack of memory");
    else
        snprintf(text, size, "the run was ended by %s", process_signal(number, name, sizeof name));
}

static void say_next(const struct supervisor *s, const char *what, bool overran, size_t n)
{
    char text[256];
    if (overran)
        snprintf(text, sizeof text, "%zu search%s did not stop within limit and grace", n,
                 n == 1 ? "" : "es");
    else
        snprintf(text, sizeof text, "%s while %zu search%s in flight", what, n, n == 1 ? " was" : "es were");
    say(s, text,
        n == 1 ? "; going on with this one in a process of its own"
               : "; going on with these in processes of their own");
}

/* Shall the run be started again? Else the exit code of the program is in `*code`. */
static bool goes_on(struct supervisor *s, int status, int *code)
{
    static const char kept[] = "; finished points are kept, the same command resumes";
    char what[128];
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool overran = number == 0 && board_has_overrun(s->board);
    bool starved = number == SIGKILL && process_oom_count() != s->oom_count;
    *code = number ? SIGNAL_CODE + number : WEXITSTATUS(status);
    if (number == 0 && board_has_returned(s->board, code))
        return false;
    if (number == 0 && *code == EXIT_INTERRUPTED && !overran) /* told to stop twice, or too slow to stop */
        return false;
    describe(status, starved, what, sizeof what);
    if (number != 0 && !process_signal_is_fault(number) && !(starved && s->n_killed++ < KILLED_MAX)) {
        say(s, what, kept);
        return false;
    }
    size_t n = board_blame(s->board, overran);
    if (n > 0) {
        say_next(s, what, overran, n);
        return true;
    }
    fprintf(s->console->err, "dse: internal error: %s outside of any search%s\n", what, kept);
    *code = EXIT_BAD_USE;
    return false;
}

static void block_signals(struct supervisor *s, struct sigaction *child_action)
{
    static const int waited[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGTSTP};
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigemptyset(&s->signals);
    for (size_t i = 0; i < sizeof waited / sizeof waited[0]; i++)
        sigaddset(&s->signals, waited[i]);
    if (!watch_ignores(SIGHUP))
        sigaddset(&s->signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &s->signals, &s->before);
    sigaction(SIGCHLD, &standard, child_action); /* where it is ignored there would be no status */
}

static int run_until_done(struct supervisor *s)
{
    int code = EXIT_BAD_USE, status = 0;
    pid_t self = getpid();
    do {
        s->oom_count = process_oom_count();
        fflush(NULL);
        s->child = fork();
        if (s->child == 0)
            run_child(s, self);
        if (s->child < 0) {
            fprintf(s->console->err, "dse: no process for the run: %s\n", strerror(errno));
            return EXIT_BAD_USE;
        }
        status = wait_for_child(s);
    } while (goes_on(s, status, &code));
    return code;
}

int supervise(supervise_body *body, void *user, const struct console *console)
{
    struct supervisor s = {.body = body, .user = user, .console = console};
    struct sigaction child_action;
    struct dse_error err = {0};
    enum dse_status status = board_new(true, &s.board, &err);
    if (status != DSE_OK)
        return cli_report(console, status, &err);
    block_signals(&s, &child_action);
    int code = run_until_done(&s);
    sigaction(SIGCHLD, &child_action, NULL);
    sigprocmask(SIG_SETMASK, &s.before, NULL);
    board_free(s.board);
    return code;
}
