/* A worker process: does one search after the other. */
#ifndef DSE_ISOLATE_WORKER_H
#define DSE_ISOLATE_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "dse/isolate/worker_pool.h"

/* What workers are told once. */
struct worker_setup {
    worker_search *search;
    void *user;
    uint64_t max_memory; /* bytes beyond what the worker has before a search */
};

/* Take requests from `socket` until it is closed; standard output and error go to `output`. `parent` is the
 * process that forked it. Does not return. */
_Noreturn void worker_main(const struct worker_setup *setup, int socket, int output, int parent);

/* Can RLIMIT_AS be set? Not where the program runs under a checker that takes terabytes of address space or
 * keeps memory of its own. */
bool worker_can_limit(void);

#endif
