/* Who is writing an output: OUT.lock beside OUT.csv, a text of four lines ("host: x", "pid: n", "since: UTC",
 * "command: ..."). It is held by flock where the file system can. Where it cannot, the text decides: on the
 * same host by whether that process is alive, from another host by the time of the last lock_touch. */
#ifndef RESULTS_JOURNAL_LOCK_H
#define RESULTS_JOURNAL_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum {
    LOCK_TOUCH_S = 30,
    LOCK_STALE_S = 300
}; /* how often to touch; when a holder on another host counts as gone */

struct lock; /* held */

/* What a lock file says. */
struct lock_owner {
    bool held;         /* by a process that is alive, as far as can be told; else the file is left over */
    long pid;          /* 0: not known */
    uint64_t start;    /* when that process began, clock ticks since its host started; 0: not known */
    char host[256];    /* "" when not known */
    char since[32];    /* "2026-01-31 12:00:00 UTC" */
    uint64_t n_point;  /* rows that were there when it began to write; UINT64_MAX: not known */
    char command[512]; /* its command line, cut when longer */
};

/* Take the lock of `out` (the .h5 or the .csv path). A holder that is just ending is waited for, 1 s at most.
 * A lock that nobody holds any more is taken over; what it said is in `*stale` (may be NULL), whose pid is 0
 * when there was none. DSE_BAD_USAGE names host, pid and since of the holder. DSE_IO: cannot be written (a
 * folder without write permission). */
DSE_MUST_CHECK enum dse_status lock_take(const char *out, const char *command, struct lock **lock,
                                         struct lock_owner *stale, struct dse_error *err);

/* Who held the lock when lock_take began and ended while it waited; pid 0: nobody. Borrowed. */
const struct lock_owner *lock_awaited(const struct lock *lock);

/* Say that the holder is alive; to be called every LOCK_TOUCH_S. Any thread. NULL is fine. */
void lock_touch(const struct lock *lock);

/* Add how many rows there were when the holder began, so that `dse status` can tell how fast it is. NULL is
 * fine. */
void lock_note_points(const struct lock *lock, uint64_t n_point);

/* Remove the lock file and release; NULL is fine. */
void lock_release(struct lock *lock);

/* Who holds the lock of `out`, without disturbing him; false when there is no lock file. */
bool lock_read(const char *out, struct lock_owner *owner);

/* How lock_take works, for tests: without flock as on file systems that have none, as another host, without
 * waiting. */
struct lock_manner {
    bool no_flock;
    const char *host; /* NULL: this one */
    double wait_s;
};

DSE_MUST_CHECK enum dse_status lock_take_so(const char *out, const char *command,
                                            const struct lock_manner *manner, struct lock **lock,
                                            struct lock_owner *stale, struct dse_error *err);

#endif
