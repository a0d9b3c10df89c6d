/* A thread beside the workers that waits for signals and prints progress. */
#ifndef DSE_ISOLATE_RUN_SIGNALS_H
#define DSE_ISOLATE_RUN_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "dse/console/progress.h"

struct watch {
    pthread_t thread;
    sigset_t signals, before; /* blocked while watching; the mask to restore */
    atomic_int cancel;        /* set by one of the signals: workers stop as soon as they can */
    atomic_int signal;        /* which one it was */
    atomic_int stop;
    struct progress *progress; /* borrowed; NULL: nothing is printed */
    int taken; /* the last signal that was no echo, whether a supervisor passed it on, and when */
    bool taken_passed_on;
    double taken_s;
    /* called about ten times a second; or NULL. Set it before watch_start */
    void (*tick)(void *user, double now_s);
    void *user;
};

/* Is `signal` ignored, as nohup has it for SIGHUP? Blocked it would come all the same. */
bool watch_ignores(int signal);

/* Block SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored, SIGHUP in this thread and in all that it starts
 * from now on. Call it before the first parallel region: OpenMP keeps its threads, and one that does not
 * block a signal would be killed by it. */
void watch_block(struct watch *watch);

/* Start watching, again after watch_stop; `progress` may be NULL. A second signal ends the program at once
 * with exit code 130; the journal is safe. One that comes from the parent by sigqueue within a second of the
 * same one from elsewhere, or the other way round, is its echo: the supervisor passes on what a whole process
 * group has had. DSE_INTERNAL when no thread can be made. */
DSE_MUST_CHECK enum dse_status watch_start(struct watch *watch, struct progress *progress,
                                           struct dse_error *err);

/* Stop watching. */
void watch_stop(struct watch *watch);

/* Restore the signal mask of before watch_block. */
void watch_unblock(struct watch *watch);

#endif
