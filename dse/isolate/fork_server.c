/* Both sides: the server's loop that forks and reaps workers on request, and the calls with which the run
 * asks for it over a socket. */
#include "dse/isolate/fork_server.h"

#include <errno.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FORK_TRIES = 10,    /* while the system is short of processes or memory */
    FORK_WAIT_MS = 200, /* between two */
    END_WAIT_MS = 2000, /* for a worker that has closed its socket to end */
};

static void sleep_ms(long ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* ---------------------------------------- in the server */

static void close_pair(int pair[2])
{
    if (pair[0] >= 0)
        close(pair[0]);
    if (pair[1] >= 0)
        close(pair[1]);
    pair[0] = pair[1] = -1;
}

static void serve_fork(int control, const struct worker_setup *setup)
{
    struct server_reply reply = {0};
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
    reply.pid = pid;
    reply.error = pid < 0 ? errno : 0;
    const int theirs[2] = {talk[0], output[0]};
    bool sent = protocol_send_message(control, &reply, sizeof reply, pid > 0 ? theirs : NULL);
    close_pair(talk);
    close_pair(output);
    if (!sent)
        _exit(0);
}

static void serve_wait(int control, const struct server_request *request)
{
    struct server_reply reply = {.pid = request->pid};
    struct rusage usage = {0};
    int status = 0;
    pid_t got = 0;
    if (request->signal)
        kill(request->pid, request->signal);
    for (int ms = 0; got == 0 && ms < END_WAIT_MS; ms++) {
        got = wait4(request->pid, &status, WNOHANG, &usage);
        if (got == 0)
            sleep_ms(1);
    }
    if (got == 0) {
        kill(request->pid, SIGKILL);
        got = wait4(request->pid, &status, 0, &usage);
        reply.forced = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    }
    reply.error = got < 0 ? errno : 0;
    reply.status = status;
    reply.peak = (uint64_t)usage.ru_maxrss * 1024;
    if (!protocol_send_message(control, &reply, sizeof reply, NULL))
        _exit(0);
}

/* Only the control socket stays open, besides standard input, output and error. */
static void close_others(int control)
{
    if (control > 3)
        (void)close_range(3, (unsigned)control - 1, 0);
    (void)close_range((unsigned)control + 1, ~0U, 0);
}

static _Noreturn void server_main(int control, const struct worker_setup *setup, pid_t parent)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE};
    struct server_request request;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    for (size_t i = 0; i < sizeof ignored / sizeof ignored[0]; i++)
        signal(ignored[i], SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* else there would be no status to take */
    close_others(control);
    setenv("LIBC_FATAL_STDERR_", "1",
           1); /* messages of older C libraries go to standard error, not to the terminal */
    while (protocol_receive_message(control, &request, sizeof request, NULL))
        if (request.task == SERVER_FORK)
            serve_fork(control, setup);
        else
            serve_wait(control, &request);
    _exit(0);
}

/* ---------------------------------------- in the run */

enum dse_status fork_server_start(struct fork_server *server, const struct worker_setup *setup,
                                  struct dse_error *err)
{
    int control[2];
    pid_t self = getpid();
    server->pid = -1;
    server->control = -1;
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

static enum dse_status ask(struct fork_server *server, const struct server_request *request,
                           struct server_reply *reply, int *descriptor, struct dse_error *err)
{
    pthread_mutex_lock(&server->lock);
    bool good = protocol_send_message(server->control, request, sizeof *request, NULL) &&
                protocol_receive_message(server->control, reply, sizeof *reply, descriptor);
    pthread_mutex_unlock(&server->lock);
    return good ? DSE_OK
                : dse_fail(err, DSE_INTERNAL,
                           "the process that starts worker processes is gone; the same "
                           "command resumes the run");
}

enum dse_status fork_server_fork(struct fork_server *server, struct forked_worker *worker,
                                 struct dse_error *err)
{
    const struct server_request request = {.task = SERVER_FORK};
    struct server_reply reply = {0};
    int descriptor[2];
    for (int i = 0; i < FORK_TRIES; i++) {
        DSE_TRY(ask(server, &request, &reply, descriptor, err));
        if (reply.pid > 0 && descriptor[0] >= 0 && descriptor[1] >= 0) {
            *worker = (struct forked_worker){reply.pid, descriptor[0], descriptor[1]};
            return DSE_OK;
        }
        if (reply.pid > 0) /* descriptors are short in this process: it got none of them */
            reply.error = EMFILE;
        sleep_ms(FORK_WAIT_MS);
    }
    return dse_fail(err, DSE_INTERNAL, "no worker process can be made: %s", strerror(reply.error));
}

enum dse_status fork_server_wait(struct fork_server *server, struct forked_worker *worker, int signal_number,
                                 struct server_reply *reply, struct dse_error *err)
{
    const struct server_request request = {SERVER_WAIT, worker->pid, signal_number};
    close(worker->socket);
    close(worker->output);
    worker->socket = worker->output = -1;
    worker->pid = 0;
    return ask(server, &request, reply, NULL, err);
}
