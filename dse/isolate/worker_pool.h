/* Searches in processes of their own: one that crashes, loops or takes all memory costs its own row. A fork
 * server, forked while the run has one thread, forks a worker for each slot that is used; workers live on
 * from search to search. Who is who: docs/isolation.md. */
#ifndef DSE_ISOLATE_WORKER_POOL_H
#define DSE_ISOLATE_WORKER_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/solve/solve.h"
#include "dse/spec/sweep.h"

struct worker_pool;

/* Limits of one search in a worker. */
struct worker_limits {
    /* bytes beyond what the worker has at its start; 0: an even share of what there is */
    uint64_t max_memory;
    double grace_s; /* seconds after its limit until a search that does not stop is ended */
};

/* A search: number `task` of point number `point`. */
struct worker_job {
    size_t point;
    uint32_t task;
    int n_thread;       /* that it may use, as solve_shared.n_thread; at least 1 */
    double seconds_max; /* the limit that the search itself keeps; 0: none */
};

/* A pool for the searches of `sweep` (borrowed, const from now on) on `n_slot` threads. Call it while the
 * process has one thread, which outlives the pool: before the first parallel region, and before any output
 * file or lock is open. Workers ignore SIGINT, SIGTERM, SIGHUP and SIGUSR1, which are for the run to handle,
 * run on the processors of the thread that uses their slot, and end with the run, however it ends. `limits`
 * is copied. DSE_NO_MEMORY; DSE_INTERNAL when no process can be made. */
DSE_MUST_CHECK enum dse_status worker_pool_new(const struct sweep *sweep, size_t n_slot,
                                               const struct worker_limits *limits, struct worker_pool **pool,
                                               struct dse_error *err);

/* End all workers; NULL is fine. */
void worker_pool_free(struct worker_pool *pool);

/* Build the machine of the job's point and do the search, as sweep_point_build and sweep_point_solve, in the
 * worker of `slot`. Threads may call it at once, each with a slot of its own. Beyond limit and grace the
 * worker is ended. What goes wrong is the outcome with its reason: a crash, too much memory, a search that
 * does not stop, an answer that makes no sense. Release `result` with solve_result_clear. Returns
 * DSE_INTERRUPTED soon after `cancel` (may be NULL) is set, with the worker ended and no result;
 * DSE_INTERNAL when there is no fork server any more or no worker can be made; else DSE_OK. */
DSE_MUST_CHECK enum dse_status worker_pool_solve(struct worker_pool *pool, size_t slot,
                                                 const struct worker_job *job, const atomic_int *cancel,
                                                 struct solve_result *result, struct dse_error *err);

/* What a worker does with a search; the rest of a pool does not know about sweeps. A status other than DSE_OK
 * becomes the outcome "failed" with the text of `err`. */
typedef enum dse_status worker_search(void *user, size_t point, uint32_t task, int n_thread,
                                      struct arena *arena, struct solve_result *result,
                                      struct dse_error *err);

/* worker_pool_new for another kind of search. Each worker has a copy of what `user` points to, as it is now;
 * the caller may change or free his. */
DSE_MUST_CHECK enum dse_status worker_pool_new_for(worker_search *search, void *user, size_t n_slot,
                                                   const struct worker_limits *limits,
                                                   struct worker_pool **pool, struct dse_error *err);

#endif
