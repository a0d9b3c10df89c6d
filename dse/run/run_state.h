/* The inside of a run, shared by runner.c and the run_*.c beside it. */
#ifndef DSE_RUN_RUN_STATE_H
#define DSE_RUN_RUN_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bits.h"
#include "dse/console/progress.h"
#include "dse/isolate/crash_board.h"
#include "dse/isolate/run_signals.h"
#include "dse/isolate/worker_pool.h"
#include "dse/run/plan.h"
#include "dse/run/queue.h"
#include "dse/run/runner.h"
#include "dse/run/search_time.h"
#include "dse/solve/solve_cache.h"
#include "dse/spec/keys.h"
#include "results/journal/journal.h"
#include "results/record/provenance.h"

/* One run. Workers share it; what comes after `lock` is only touched while holding it. */
struct run {
    const struct sweep *sweep;
    const struct run_options *options;
    struct run_summary *summary;
    struct result_schema schema;
    struct provenance provenance;
    struct progress progress;
    struct watch watch;
    struct watchdog watchdog;
    struct crash_board *board; /* borrowed, or own_board */
    struct crash_board *own_board;
    struct worker_pool *pool; /* NULL: no search needs a process of its own */
    struct solve_shared shared;
    int n_worker;           /* threads that take searches; each search may use shared.n_thread */
    struct bits mine, done; /* (n_point) of this shard; in the journal when the run began */
    pthread_mutex_t lock;
    pthread_cond_t planned; /* a plan was added, or there will be none */
    struct journal *journal;
    struct queue queue; /* only touched by who has set `planning` */
    struct plan *plan;  /* live plans, oldest first */
    struct search_time *search_time;
    bool planning;                            /* somebody makes the next plan */
    bool building;                            /* somebody builds the cube */
    double sort_queue_due_s, sort_plan_due_s; /* when the order is to be made again from what was learnt */
    double cube_due_s;                        /* when the cube is to be built again */
    bool cube_is_current;   /* OUT.h5 is what would be built of the rows that were there at first */
    double cube_took_s;     /* the last building, */
    size_t cube_n;          /* and its points */
    bool blocked;           /* signals are */
    bool watching;          /* the thread of `watch` runs */
    enum dse_status status; /* the first failure, which ends the run */
    struct dse_error *err;
};

enum { RUN_BATCH_MAX = 64 };

/* A search that was handed out. */
struct run_job {
    struct plan *plan;
    struct plan_task *task;
    bool done;        /* else interrupted */
    double seconds;   /* that the search took */
    uint32_t number;  /* of the point in the sweep that it was made for, */
    uint32_t problem; /* and which of its searches it is */
};

/* A point whose lines are made and not in the journal yet. */
struct run_row {
    struct plan *plan;
    struct plan_point *point;
    uint32_t index[SPEC_VARIABLE_MAX];
    struct point_record record;
};

/* One thread of a run. */
struct worker {
    struct run *run;
    size_t slot;
    struct arena own_arena; /* of the run: layer and result */
    struct arena arena;     /* of a search */
    struct arena row_arena; /* of the rows at hand */
    struct machine machine;
    struct solve_cache *cache;
    struct sweep_point point;
    struct layer_record *layer;         /* (most layers of any point) */
    const struct solve_result **result; /* (most searches of any point) */
    size_t n_row;
    struct run_row row[RUN_BATCH_MAX];
    struct journal_lines lines; /* (n_row) of them */
    size_t n_job, batch;        /* how many searches to take at once: cheap ones in handfuls */
    struct run_job job[RUN_BATCH_MAX];
    double busy_s; /* not waiting */
    double idle_from_s;
};

DSE_MUST_CHECK enum dse_status worker_init(struct worker *worker, struct run *run, size_t slot,
                                           struct dse_error *err);
void worker_free(struct worker *worker);

/* Take and do searches until there are none (run_work.c). */
void run_work(struct worker *worker);

/* Make the next plan from the queue, if there is more, and add it; rows of points without a machine are
 * written. Called by who has set run->planning, which it clears. Without the lock. */
void run_plan_next(struct worker *worker);

/* Make the lines of a point whose searches are all done; they wait in the worker (run_rows.c). Without the
 * lock. */
DSE_MUST_CHECK enum dse_status run_add_row(struct worker *worker, struct plan *plan, struct plan_point *point,
                                           struct dse_error *err);

/* What waits in the worker into the journal, and what `worker->job` took (n_job) into the search times.
 * Without the lock. */
DSE_MUST_CHECK enum dse_status run_write_rows(struct worker *worker, struct dse_error *err);

/* Tell all observers of a point. Under the lock, once threads work. */
void run_tell_point(const struct run *run, size_t number, const struct point_record *record, bool reused);

/* Note the first failure and end the run. Takes the lock. */
void run_fail(struct run *run, enum dse_status status, const struct dse_error *err);

/* Whether its cells exchange schedules in the end: those of shards do when they are merged (run_resume.c). */
bool run_exchanges(const struct run *run);

/* Open the journal and mark what is there (run_resume.c). */
DSE_MUST_CHECK enum dse_status run_resume(struct run *run, struct dse_error *err);

/* Build the cube of all points so far; without the lock, one at a time. */
DSE_MUST_CHECK enum dse_status run_build_cube(struct run *run, struct dse_error *err);

#endif
