/* What the supervisor and the run know of each other, in memory that both share: which searches are in flight
 * in threads, and which must be isolated. With the run's watchdog, who ends a run when one of them, or the
 * whole run, does not stop. */
#ifndef DSE_ISOLATE_CRASH_BOARD_H
#define DSE_ISOLATE_CRASH_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum {
    BOARD_SLOT_MAX = 4096, /* threads */
    BOARD_ENGINE_MAX = 64, /* numbers of engines; larger ones share the last */
};

struct crash_board;

/* A board for runs under a supervisor or, for isolation in threads only, without one. Release with
 * board_free. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status board_new(bool supervised, struct crash_board **board, struct dse_error *err);
void board_free(struct crash_board *board);

/* ---- the run's threads */

/* How often the run has been started before. Not 0: it resumes, whatever --fresh says. */
unsigned board_restarts(const struct crash_board *board);

/* A search begins or ends in the thread of `slot` (below BOARD_SLOT_MAX), not in a worker. `key` is the
 * task's; `engine` any number that is the same for the same engine; `deadline_s` (clock_wall_s; 0: none) is
 * when it has overrun limit and grace. A few nanoseconds. */
void board_enter(struct crash_board *board, size_t slot, uint64_t key, uint32_t engine, double deadline_s);
void board_leave(struct crash_board *board, size_t slot);

/* Must this search run in a worker process: because it was in flight at a crash, its engine has crashed three
 * times, or the run crashes without getting on? Does not change while a run lives. */
bool board_must_isolate(const struct crash_board *board, uint64_t key, uint32_t engine);

/* Is there anything that board_must_isolate says yes to? Then the run needs a worker pool from the start. */
bool board_isolates(const struct crash_board *board);

/* ---- the run's watchdog */

/* Set the first members, the others are 0 at first. */
struct watchdog {
    struct crash_board *board; /* borrowed */
    size_t n_slot;             /* slots to look at */
    double grace_s;            /* how long a run that is told to stop may take */
    /* brings all finished rows into the files; must not wait for long: tries locks, and gives up */
    void (*flush)(void *user);
    void *user;
    FILE *err;
    double last_s;     /* the tick before; 0: none */
    double quiet_s;    /* no verdict before this time: the process was stopped */
    double stopping_s; /* since when the run is told to stop; 0: it is not */
    bool said;
};

/* Call it about ten times a second with clock_wall_s(), always from the same thread. A search beyond its
 * deadline: under a supervisor it is noted, `flush` called and the process ended, to be started again;
 * without one a line says so once. A run that has been told to stop (`stopping`) and has not within the
 * grace: `flush`, and the process ends with exit code 130. */
void watchdog_tick(struct watchdog *watchdog, double now_s, bool stopping);

/* ---- the supervisor, when the run is gone */

/* The run has come to its end, with this exit code: it is its own, and not that of an engine that ended the
 * process. Called in the run. */
void board_set_returned(struct crash_board *board, int code);
bool board_has_returned(const struct crash_board *board, int *code);

/* Did the watchdog end the run because of a search? */
bool board_has_overrun(const struct crash_board *board);

/* The searches that overran (`overrun`), or all that were in flight, are isolated from the next start on,
 * which is counted; their engines have crashed once more. Returns how many they are. */
size_t board_blame(struct crash_board *board, bool overrun);

#endif
