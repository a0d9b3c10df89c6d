/* What goes between the run, its fork server and its workers. All three are the same program, forked, so
 * structs go as bytes. */
#ifndef DSE_ISOLATE_WORKER_PROTOCOL_H
#define DSE_ISOLATE_WORKER_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dse/solve/solve.h"

/* To a worker: do this search. */
struct worker_request {
    uint64_t number; /* the answer repeats it */
    uint64_t point;
    uint32_t task;
    int32_t n_thread;
};

/* From a worker; behind it come struct solve_result, the text of the schedule, and the name of its
 * accounting. */
struct worker_answer {
    uint64_t magic;
    uint64_t number;
    uint64_t resident;     /* bytes of memory that the worker has now */
    uint64_t n_schedule;   /* bytes, without a terminator; 0: none */
    uint64_t n_accounting; /* the same */
};

/* To the fork server. */
enum server_task { SERVER_FORK, SERVER_WAIT };

struct server_request {
    int32_t task;
    int32_t pid;    /* SERVER_WAIT: of this worker */
    int32_t signal; /* SERVER_WAIT: send it first; 0: wait for a moment, then SIGKILL */
};

/* From the fork server; with SERVER_FORK two descriptors come along: the worker's socket and what it
 * writes. */
struct server_reply {
    int32_t pid;
    int32_t error;  /* errno of what failed; 0: nothing */
    int32_t status; /* of waitpid */
    int32_t forced; /* it did not end by itself */
    uint64_t peak;  /* most bytes of memory it had */
};

enum { WORKER_ACCOUNTING_MAX = 64 };

/* Send all of it over a blocking socket. Returns false when the other side is gone. */
bool protocol_send(int fd, const void *data, size_t size);

/* Receive exactly `size` bytes over a blocking socket. Returns false at the end or on an error. */
bool protocol_receive(int fd, void *data, size_t size);

/* One message with up to two descriptors (-1: none) over a SOCK_SEQPACKET socket; what is received is to be
 * closed. */
bool protocol_send_message(int fd, const void *data, size_t size, const int *descriptor);
bool protocol_receive_message(int fd, void *data, size_t size, int *descriptor);

/* Send an answer. */
bool protocol_answer(int fd, uint64_t number, uint64_t resident, const struct solve_result *result);

/* Bytes behind the header of an answer; 0 when the header makes no sense. */
size_t protocol_answer_size(const struct worker_answer *answer, uint64_t number);

/* Make a result of those bytes: texts are copied into result->schedule, pointers are set, and everything that
 * the run takes as an index, a length or a text is checked. False: it makes no sense, or memory is short;
 * then `result` owns nothing. */
bool protocol_read_result(const struct worker_answer *answer, const void *data, struct solve_result *result);

#endif
