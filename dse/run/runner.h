/* Running a sweep: searches on OpenMP threads, one journal, resume, interruption. */
#ifndef DSE_RUN_RUNNER_H
#define DSE_RUN_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bits.h"
#include "base/status.h"
#include "dse/exchange/exchange.h"
#include "dse/spec/sweep.h"
#include "results/record/provenance.h"
#include "results/record/schema.h"

struct crash_board; /* dse/isolate/crash_board.h */

/* Told what happens in a run, one call at a time, from any thread; must be quick. Members may be NULL. */
struct run_observer {
    const struct run_observer *next; /* who is told as well; NULL: nobody; borrowed */
    void *user;
    /* The journal has been read: `n_point` of this shard, of which `n_reused` are there. */
    void (*begun)(void *user, size_t n_point, size_t n_reused, int n_thread);
    /* A point is done, or (`reused`) was in the journal; then of `record` only index, key, outcome, reason
     * and seconds are set. */
    void (*point)(void *user, size_t number, const struct point_record *record, bool reused);
    /* OUT.h5 has been built. */
    void (*cube)(void *user, double seconds);
    /* About ten times a second, and before the process ends itself: what is kept back should be written
     * now. */
    void (*tick)(void *user);
};

struct run_options {
    const char *out;         /* OUT.h5; OUT.csv and OUT.layers.csv lie beside it */
    int n_thread;            /* at least 1 */
    uint32_t shard, n_shard; /* 1 of 1, or 0 of 0: all points; else see runner_shard */
    bool fresh;              /* throw away what is there */
    bool update; /* rows that are no points of this sweep are moved aside, else they are refused */
    bool repair; /* lines of the journal that do not check are moved aside, else they are refused */
    enum isolation isolation; /* where searches run */
    bool retry; /* points that failed or timed out are computed again; their rows are moved aside */
    const struct run_observer *observer; /* NULL: nobody is told */
    struct crash_board *board;           /* of the supervisor; NULL: there is none */
    size_t window;                       /* searches that are planned at once; 0: PLAN_LINK_MAX */
    const char *command;                 /* the command line, for provenance */
    FILE *err;                           /* progress */
    FILE *err_terminal;                  /* the same, where lines may be written over; NULL: no terminal */
};

struct run_summary {
    size_t n_point;   /* of this shard */
    size_t n_reused;  /* were in the journal */
    size_t n_dropped; /* rows of the journal that were moved aside, and where to */
    char dropped_path[4096];
    size_t n_status[RESULT_STATUS_COUNT]; /* written by this run */
    struct exchange_summary exchange;     /* what came of it; all 0 where there was none */
    size_t n_task, n_shared;              /* searches planned, and further uses of their results */
    int n_thread;                         /* threads that took searches */
    double seconds;                       /* of the whole run */
    double work_s;                        /* from the first search to the last, wall time */
    double busy_s; /* time that threads searched and wrote, summed: work_s * n_thread at most */
    double tail_s; /* from when the first thread found nothing more to do to the end */
    bool interrupted;
    int signal;       /* that interrupted it; 0: none */
    bool cube_is_old; /* interrupted, and building the cube would have taken too long */
};

/* Costs of tiles that the searches of a run share at most; about 120 bytes each. */
enum { RUN_CORE_COST_MAX = 1 << 20 };

/* Finished rows are on the disk after so long at most, safe against power failure. */
#define RUN_SYNC_S 1.0

/* Run what is missing. Finished points are in the journal a tenth of a second later; the cube is rebuilt
 * every half minute and at the end. Points that go wrong become rows. Forks worker processes, when searches
 * need them, and so must be called while the process has one thread. DSE_BAD_INPUT, DSE_BAD_USAGE, DSE_IO
 * from journal and cube; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status runner_run(const struct sweep *sweep, const struct run_options *options,
                                          struct run_summary *summary, struct dse_error *err);

/* The points of the shard, as bits by point number; release with bits_free. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status runner_shard(const struct sweep *sweep, const struct run_options *options,
                                            struct bits *mine, struct dse_error *err);

struct run_estimate {
    size_t n_point, n_reused; /* of this shard */
    size_t n_foreign;         /* rows that are there and not of this specification */
    size_t n_task, n_shared;  /* estimated from the first ones when the sweep is large */
    double seconds;           /* NaN when unknown */
    bool at_least;            /* the sample was cut short */
    double byte;              /* of all result files */
};

/* What runner_run would do, without writing anything: reads the journal, and tries a few searches to learn
 * how long they take. */
DSE_MUST_CHECK enum dse_status runner_estimate(const struct sweep *sweep, const struct run_options *options,
                                               struct run_estimate *estimate, struct dse_error *err);

#endif
