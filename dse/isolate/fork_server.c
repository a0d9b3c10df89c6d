/* Both sides of the process that forks workers: its loop, and the calls with which the run asks for one. It
 * is forked itself while the run has one thread, so that what it forks is whole: no locks held by threads
 * that are not there. */
#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "dse/isolate/worker.h"

enum {
    FORK_TRIES = 10,    /* while the system is short of processes or memory */
    FORK_WAIT_MS = 200, /* between two */
    END_WAIT_MS = 2000, /* for a worker that has closed its socket to end */
};

/* To the server: fork a worker (pid 0), or take the status of this one, which has been ended (now) or may
 * take a moment. */
struct request {
    pid_t pid;
    bool now;
};

/* From the server; with a new worker its descriptors come along. */
struct reply {
    pid_t pid; /* of the new worker; -1: none could be made */
    int error; /* errno of what failed */
    struct worker_end end;
};

static void sleep_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* ---------------------------------------- two descriptors beside a reply */

union control {
    struct cmsghdr header;
    char byte[CMSG_SPACE(2 * sizeof(int))];
};

static bool send_reply(int fd, struct reply *reply, const int descriptor[2])
{
    union control control = {0};
    struct iovec part = {reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.byte,
                             .msg_controllen = sizeof control.byte};
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(2 * sizeof(int));
    memcpy(CMSG_DATA(&control.header), descriptor, 2 * sizeof(int));
    ssize_t n;
    do
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *reply;
}

/* Descriptors that do not come are -1. */
static bool receive_reply(int fd, struct reply *reply, int descriptor[2])
{
    union control control = {0};
    struct iovec part = {reply, sizeof *reply};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.byte,
                             .msg_controllen = sizeof control.byte};
    ssize_t n;
    do
        n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    descriptor[0] = descriptor[1] = -1;
    const struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
        header->cmsg_len == CMSG_LEN(2 * sizeof(int)))
        memcpy(descriptor, CMSG_DATA(header), 2 * sizeof(int));
    return n == (ssize_t)sizeof *reply;
}

/* ---------------------------------------- in the server */

static void close_pair(const int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0)
            close(pair[i]);
}

static bool serve_fork(int control, const struct worker_setup *setup)
{
    int talk[2] = {-1, -1}, output[2] = {-1, -1};
    pid_t self = getpid(), pid = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, talk) == 0 && pipe2(output, O_CLOEXEC) == 0 &&
        fcntl(output[0], F_SETFL, O_NONBLOCK) == 0)
        pid = fork();
    if (pid == 0) {
        close(control);
        close(talk[0]);
        close(output[0]);
        worker_main(setup, talk[1], output[1], self);
    }
    struct reply reply = {.pid = pid, .error = pid < 0 ? errno : 0};
    const int theirs[2] = {talk[0], output[0]};
    bool sent = pid > 0 ? send_reply(control, &reply, theirs) : worker_send(control, &reply, sizeof reply);
    close_pair(talk);
    close_pair(output);
    return sent;
}

static bool serve_wait(int control, const struct request *request)
{
    struct reply reply = {0};
    struct rusage usage = {0};
    pid_t got = 0;
    for (int ms = 0; got == 0 && !request->now && ms < END_WAIT_MS; ms++) {
        got = wait4(request->pid, &reply.end.status, WNOHANG, &usage);
        if (got == 0)
            sleep_ms(1);
    }
    if (got == 0) {
        kill(request->pid, SIGKILL);
        (void)wait4(request->pid, &reply.end.status, 0, &usage);
        reply.end.forced = !request->now;
    }
    reply.end.peak = (uint64_t)usage.ru_maxrss * 1024;
    return worker_send(control, &reply, sizeof reply);
}

/* Only the control socket stays open, besides standard input, output and error. */
static void close_others(int control)
{
    if (control > 3)
        (void)close_range(3, (unsigned)control - 1, 0);
    (void)close_range((unsigned)control + 1, ~0U, 0);
}

/* What workers inherit: signals for the run are not for them; faults end them, whatever handles these in the
 * run, and without a core. */
static void set_signals(void)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ};
    static const int standard[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGCHLD};
    const struct rlimit no_core = {0, 0};
    sigset_t none;
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++)
        signal(standard[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setrlimit(RLIMIT_CORE, &no_core);
}

static _Noreturn void server_main(int control, const struct worker_setup *setup, pid_t parent)
{
    struct request request;
    bool heard = true;
    process_end_with(parent);
    set_signals();
    close_others(control);
    /* messages of older C libraries go to standard error, not to the terminal */
    setenv("LIBC_FATAL_STDERR_", "1", 1);
    while (heard && worker_receive(control, &request, sizeof request))
        heard = request.pid == 0 ? serve_fork(control, setup) : serve_wait(control, &request);
    _exit(0);
}

/* ---------------------------------------- in the run */

enum dse_status fork_server_start(struct fork_server *server, const struct worker_setup *setup,
                                  struct dse_error *err)
{
    int control[2];
    pid_t self = getpid();
    server->pid = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0)
        return dse_fail(err, DSE_INTERNAL, "no socket for worker processes: %s", strerror(errno));
    /* Threads that OpenMP keeps from an earlier parallel region would be missing in the child, which does not
     * know. */
    (void)omp_pause_resource_all(omp_pause_soft);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(control[0]);
        server_main(control[1], setup, self);
    }
    close(control[1]);
    if (pid < 0) {
        close(control[0]);
        return dse_fail(err, DSE_INTERNAL, "no process for workers: %s", strerror(errno));
    }
    server->pid = pid;
    server->control = control[0];
    pthread_mutex_init(&server->lock, NULL);
    return DSE_OK;
}

void fork_server_stop(struct fork_server *server)
{
    if (server->pid < 0)
        return;
    close(server->control);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    pthread_mutex_destroy(&server->lock);
    server->pid = -1;
}

static enum dse_status ask(struct fork_server *server, const struct request *request, struct reply *reply,
                           int descriptor[2], struct dse_error *err)
{
    pthread_mutex_lock(&server->lock);
    bool good = worker_send(server->control, request, sizeof *request) &&
                receive_reply(server->control, reply, descriptor);
    pthread_mutex_unlock(&server->lock);
    if (good)
        return DSE_OK;
    return dse_fail(err, DSE_INTERNAL,
                    "the process that starts worker processes is gone; the same command resumes the run");
}

enum dse_status fork_server_fork(struct fork_server *server, struct forked_worker *worker,
                                 struct dse_error *err)
{
    const struct request request = {0};
    struct reply reply = {0};
    int descriptor[2];
    for (int i = 0; i < FORK_TRIES; i++) {
        DSE_TRY(ask(server, &request, &reply, descriptor, err));
        if (reply.pid > 0 && descriptor[0] >= 0) {
            *worker = (struct forked_worker){reply.pid, descriptor[0], descriptor[1]};
            return DSE_OK;
        }
        if (reply.pid > 0) /* descriptors are short in this process: it got none of them */
            reply.error = EMFILE;
        sleep_ms(FORK_WAIT_MS);
    }
    return dse_fail(err, DSE_INTERNAL, "no worker process can be made: %s", strerror(reply.error));
}

enum dse_status fork_server_wait(struct fork_server *server, struct forked_worker *worker, bool now,
                                 struct worker_end *end, struct dse_error *err)
{
    const struct request request = {worker->pid, now};
    struct reply reply = {0};
    int none[2];
    if (now) /* the server may be busy with another */
        kill(worker->pid, SIGKILL);
    close(worker->socket);
    close(worker->output);
    *worker = (struct forked_worker){.socket = -1, .output = -1};
    enum dse_status status = ask(server, &request, &reply, none, err);
    *end = reply.end;
    return status;
}
