/* The inside of a worker pool, shared by worker_pool.c, fork_server.c and the worker*.c. Run, fork server and
 * workers are the same program, forked, so structs go between them as bytes. */
#ifndef DSE_ISOLATE_WORKER_H
#define DSE_ISOLATE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "dse/isolate/worker_pool.h"

/* ---- between the run and a worker: worker.c, worker_answer.c */

/* What workers are told once, by being forked. */
struct worker_setup {
    worker_search *search;
    void *user;
    uint64_t max_memory; /* bytes beyond what the worker has before a search */
};

/* To a worker: do this search. */
struct worker_request {
    uint64_t number; /* the answer repeats it */
    struct worker_job job;
};

/* From a worker; behind it come struct solve_result, the text of the schedule, and the name of its
 * accounting. */
struct worker_answer {
    uint64_t number;
    uint64_t resident;     /* bytes of memory that the worker has now */
    uint64_t n_schedule;   /* bytes, without a terminator; 0: none */
    uint64_t n_accounting; /* the same */
};

/* Take requests from `socket` until it is closed; standard output and error go to `output`. `parent` is the
 * process that forked it. Does not return. */
_Noreturn void worker_main(const struct worker_setup *setup, int socket, int output, pid_t parent);

/* Send all of it over a blocking socket, receive exactly so much. False when the other side is gone. */
bool worker_send(int fd, const void *data, size_t size);
bool worker_receive(int fd, void *data, size_t size);

/* Send an answer. */
bool worker_send_answer(int fd, uint64_t number, uint64_t resident, const struct solve_result *result);

/* Everything that the run takes as an index, a length or a text is checked: of the header before what is
 * behind it is received, of the result before its texts are. */
bool worker_answer_is_sound(const struct worker_answer *answer, uint64_t number);
bool worker_result_is_sound(const struct worker_answer *answer, const struct solve_result *result);

/* ---- the process that forks workers: fork_server.c */

struct fork_server {
    pid_t pid;   /* -1: there is none */
    int control; /* SOCK_SEQPACKET */
    pthread_mutex_t lock;
};

/* A worker as the run sees it. */
struct forked_worker {
    pid_t pid;  /* stays its own until fork_server_wait, as nobody else takes its status; 0: none */
    int socket; /* SOCK_STREAM */
    int output; /* what it writes to standard output and error; does not block */
};

/* How a worker ended. */
struct worker_end {
    int status;    /* of waitpid */
    bool forced;   /* it closed its socket, but did not end by itself */
    uint64_t peak; /* most bytes of memory it had */
};

/* Fork the server. DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status fork_server_start(struct fork_server *server, const struct worker_setup *setup,
                                                 struct dse_error *err);

/* End it, and all workers with it. */
void fork_server_stop(struct fork_server *server);

/* Fork a worker; any thread. DSE_INTERNAL. */
DSE_MUST_CHECK enum dse_status fork_server_fork(struct fork_server *server, struct forked_worker *worker,
                                                struct dse_error *err);

/* Take the status of a worker, which is ended at once (`now`), or given a moment to end by itself. Closes its
 * descriptors. DSE_INTERNAL: there is no server any more. */
DSE_MUST_CHECK enum dse_status fork_server_wait(struct fork_server *server, struct forked_worker *worker,
                                                bool now, struct worker_end *end, struct dse_error *err);

/* ---- what became of a search: worker_pool.c, worker_reason.c */

/* How an exchange with a worker ended. */
enum verdict { ANSWERED, DIED, LATE, TOO_LARGE, CANCELLED, NONSENSE, NO_MEMORY };

/* The last line that is not empty of what a process writes. Starts as all zero. */
struct last_line {
    char last[200];  /* the last whole line, terminated */
    char begun[200]; /* the one being written */
    size_t length;   /* of `begun` */
};

/* More output; control characters become '?', and long lines are cut. */
void last_line_add(struct last_line *line, const char *data, size_t size);

/* The memory of a worker, in bytes. */
struct worker_memory {
    uint64_t most;   /* that a search may take */
    bool is_share;   /* nobody said so: an even share of what there is */
    uint64_t before; /* resident, before the search */
};

/* What the words about a failure need besides the verdict. */
struct worker_failure {
    struct worker_memory memory;
    double seconds_max, grace_s, used_s;
    bool by_kernel; /* ended for lack of memory */
    struct worker_end end;
    const struct last_line *line;
};

/* The result of a search that has none: its outcome and reason. */
void worker_tell_failure(const struct worker_failure *failure, enum verdict verdict,
                         struct solve_result *result);

/* An engine that was refused memory says so itself; the row names the limit. */
void worker_name_limit(const struct worker_memory *memory, struct solve_result *result);

/* ---- worker_memory.c */

/* Bytes that one of `n_slot` workers may take when nobody says: nine tenths, shared evenly, of what this
 * process and its children may use: the least of what the machine has, the limits of its control groups (v1
 * and v2), SLURM_MEM_PER_NODE or SLURM_MEM_PER_CPU, and RLIMIT_AS. */
uint64_t worker_memory_share(size_t n_slot);

#endif
