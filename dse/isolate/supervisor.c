/* The parent's loop: passes signals on, waits for the child, judges how it ended and starts it again or
 * gives its exit code. */
#include "dse/isolate/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dse/console/table.h"
#include "dse/isolate/crash_board.h"
#include "dse/isolate/run_signals.h"
#include "dse/isolate/worker_limits.h"
#include "dse/isolate/worker_reason.h"

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
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    int code = s->body(s->user, s->board);
    fflush(NULL);
#if defined(__SANITIZE_ADDRESS__)
    if (__lsan_do_recoverable_leak_check())
        code = 23;
#endif
    board_set_returned(s->board);
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
    FILE *err = s->console->err;
    int fd = fileno(err);
    if (fd >= 0 && isatty(fd))
        fputs("\r\033[K", err); /* the progress bar of the run */
    fprintf(err, "dse: %s%s\n", what, then);
    fflush(err);
}

/* How a run ended that did not come to its end. */
enum ending { OVERRAN, CRASHED, OUT_OF_MEMORY, ENDED_BY_SIGNAL, ENDED_ITSELF, RETURNED };

/* An exit code that the run gives when it is told to stop twice, or too slow to stop, is its own as well. */
static enum ending judge(const struct supervisor *s, int status)
{
    if (WIFEXITED(status)) {
        int code = WEXITSTATUS(status);
        if (code == SUPERVISOR_RESTART && board_take_overrun(s->board))
            return OVERRAN;
        return board_has_returned(s->board) || code == EXIT_INTERRUPTED ? RETURNED : ENDED_ITSELF;
    }
    int number = WTERMSIG(status);
    if (reason_is_fault(number))
        return CRASHED;
    return number == SIGKILL && worker_oom_count() != s->oom_count ? OUT_OF_MEMORY : ENDED_BY_SIGNAL;
}

/* "the run crashed (SIGSEGV)". */
static void describe(int status, enum ending ending, char *text, size_t size)
{
    char name[32];
    if (ending == ENDED_ITSELF)
        snprintf(text, size, "something ended the run with exit code %d", WEXITSTATUS(status));
    else if (ending == ENDED_BY_SIGNAL)
        snprintf(text, size, "the run was ended by %s", reason_signal(WTERMSIG(status), name, sizeof name));
    else if (ending == OUT_OF_MEMORY)
        snprintf(text, size, "the run was ended by the system for lack of memory");
    else
        snprintf(text, size, "the run crashed (%s)", reason_signal(WTERMSIG(status), name, sizeof name));
}

static void say_next(const struct supervisor *s, enum ending ending, const char *what)
{
    unsigned n = board_count_marked(s->board);
    const char *more = n == 1 ? "" : "es";
    char text[256];
    if (ending == OVERRAN)
        snprintf(text, sizeof text, "%u search%s did not stop within limit and grace", n, more);
    else
        snprintf(text, sizeof text, "%s while %u search%s in flight", what, n, n == 1 ? " was" : "es were");
    say(s, text,
        n == 1 ? "; going on with this one in a process of its own"
               : "; going on with these in processes of their own");
}

static const char kept[] = "; finished points are kept, the same command resumes";

/* Shall the run be started again? Else the exit code of the program is in `*code`. */
static bool goes_on(struct supervisor *s, int status, int *code)
{
    char what[128];
    enum ending ending = judge(s, status);
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : SIGNAL_CODE + WTERMSIG(status);
    if (ending == RETURNED)
        return false;
    describe(status, ending, what, sizeof what);
    if (ending == ENDED_BY_SIGNAL || (ending == OUT_OF_MEMORY && s->n_killed++ >= KILLED_MAX)) {
        say(s, what, kept);
        return false;
    }
    if (ending == OVERRAN || board_blame(s->board)) {
        say_next(s, ending, what);
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
        s->oom_count = worker_oom_count();
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
    enum dse_status status = board_new(&s.board, &err);
    if (status != DSE_OK)
        return cli_report(console, status, &err);
    board_set_supervised(s.board);
    block_signals(&s, &child_action);
    int code = run_until_done(&s);
    sigaction(SIGCHLD, &child_action, NULL);
    sigprocmask(SIG_SETMASK, &s.before, NULL);
    board_free(s.board);
    return code;
}
