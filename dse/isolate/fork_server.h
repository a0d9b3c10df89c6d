/* The process that forks workers. It is forked itself while the run has one thread, so that what it forks is
 * whole: no locks held by threads that are not there. */
#ifndef DSE_ISOLATE_FORK_SERVER_H
#define DSE_ISOLATE_FORK_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "dse/isolate/worker.h"
#include "dse/isolate/worker_protocol.h"

struct fork_server {
    pid_t pid;
    int control; /* SOCK_SEQPACKET */
    pthread_mutex_t lock;
};

/* A worker as the run sees it. */
struct forked_worker {
    int pid;    /* stays its own until fork_server_wait, as nobody else takes its status */
    int socket; /* SOCK_STREAM */
    int output; /* what it writes to standard output and error; does not block */
};

/* Fork the server. DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status fork_server_start(struct fork_server *server, const struct worker_setup *setup,
                                                 struct dse_error *err);

/* End it, and all workers with it. */
void fork_server_stop(struct fork_server *server);

/* Fork a worker; any thread. DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status fork_server_fork(struct fork_server *server, struct forked_worker *worker,
                                                struct dse_error *err);

/* Take the status of a worker that is about to end: send it `signal` first, or with 0 give it a moment before
 * SIGKILL. Closes its descriptors. DSE_INTERNAL: there is no server any more. */
DSE_MUST_CHECK enum dse_status fork_server_wait(struct fork_server *server, struct forked_worker *worker,
                                                int signal, struct server_reply *reply,
                                                struct dse_error *err);

#endif
