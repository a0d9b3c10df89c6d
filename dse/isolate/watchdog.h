/* Looks after searches in threads, which nobody can end one by one: when one overruns its limit and grace, or
 * a run that was told to stop does not, the whole process ends without losing a row. */
#ifndef DSE_ISOLATE_WATCHDOG_H
#define DSE_ISOLATE_WATCHDOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "dse/isolate/supervisor.h"

struct watchdog {
    struct crash_board *board; /* borrowed */
    size_t n_slot;
    double grace_s;
    void (*flush)(
        /* brings all finished rows into the files; must not wait for long: tries locks, and gives up */
        void *user);
    void *user;
    FILE *err;
    double last_s;     /* the tick before; 0: none */
    double quiet_s;    /* no verdict before this time: the process was stopped */
    double stopping_s; /* since when the run is told to stop; 0: it is not */
    bool said;
};

/* Watch slots 0 ... n_slot - 1 of `board`. `grace_s` is also how long a run that is told to stop may take. */
void watchdog_init(struct watchdog *watchdog, struct crash_board *board, size_t n_slot, double grace_s,
                   void (*flush)(void *user), void *user, FILE *err);

/* Call it about ten times a second with clock_wall_s(), always from the same thread. A search beyond its
 * deadline: under a supervisor it is noted, `flush` called and the process ended with SUPERVISOR_RESTART;
 * without one a line says so once. A run that is told to stop and has not within the grace: `flush`, and the
 * process ends with exit code 130. */
void watchdog_tick(struct watchdog *watchdog, double now_s);

/* The run has been told to stop (SIGINT, SIGTERM, SIGUSR1). The same thread as watchdog_tick. */
void watchdog_stopping(struct watchdog *watchdog, double now_s);

#endif
