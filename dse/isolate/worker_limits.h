/* What a search in a worker process may take, and how much memory there is to share out. */
#ifndef DSE_ISOLATE_WORKER_LIMITS_H
#define DSE_ISOLATE_WORKER_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of one search in a worker. */
struct worker_limits {
    /* bytes beyond what the worker has at its start; 0: an even share of what there is */
    uint64_t max_memory;
    double grace_s; /* seconds after its limit until a search that does not stop is ended */
};

/* Bytes of memory that this process and its children may use: the least of what the machine has, the limits
 * of its control groups (v1 and v2), SLURM_MEM_PER_NODE or SLURM_MEM_PER_CPU, and RLIMIT_AS. */
uint64_t worker_memory_all(void);

/* What one of `n_slot` workers may take when nobody says: nine tenths of worker_memory_all, shared evenly. */
uint64_t worker_memory_share(size_t n_slot);

/* Address space and resident memory of a process in bytes (0: this one). Returns false when it is gone. */
bool worker_memory_of(int pid, uint64_t *space, uint64_t *resident);

/* How many processes the kernel has ended so far for lack of memory; UINT64_MAX when it does not say. */
uint64_t worker_oom_count(void);

#endif
