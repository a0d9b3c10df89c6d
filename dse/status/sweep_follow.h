/* Following result files from outside, finished or growing: counts, failures by reason, how fast, best so
 * far. No lock is taken, each line is read once, or twice where rows were exchanged, and memory does not grow
 * with the lines. */
#ifndef DSE_STATUS_SWEEP_FOLLOW_H
#define DSE_STATUS_SWEEP_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/console/reason_groups.h"
#include "dse/status/best_slices.h"
#include "dse/status/front_points.h"
#include "results/journal/journal_read.h"
#include "results/journal/lock.h"
#include "results/record/axis_places.h"
#include "results/record/cell_set.h"
#include "results/record/schema.h"

enum follow_state {
    FOLLOW_ABSENT,  /* there is no OUT.csv, and nobody writes */
    FOLLOW_RUNNING, /* a run holds the lock */
    FOLLOW_COMPLETE,
    FOLLOW_STOPPED, /* points are missing and nobody writes */
    FOLLOW_KILLED   /* likewise, and the lock of who wrote is still there */
};

/* "running", "complete", ...: one word each. */
const char *follow_state_text(enum follow_state state);

enum { FOLLOW_SAMPLE_MAX = 64, FOLLOW_PATH_MAX = 4096 };

/* How many points there were when. */
struct follow_sample {
    double at_s; /* of clock_wall_s */
    uint64_t n_point;
};

/* One output. Members after `state` are what is known of it. */
struct follow {
    const char *out; /* as it was given; borrowed */
    char csv_path[FOLLOW_PATH_MAX], h5_path[FOLLOW_PATH_MAX];
    bool begun; /* OUT.csv is there; it is open while it is read only, as there may be many */
    uint64_t device, inode, size; /* of OUT.csv */
    struct line_reader reader;
    uint64_t next; /* byte up to which it was read */
    int number;    /* of the last line that was read */
    struct csv_row header, split;
    size_t at_status, at_reason, at_seconds, at_evaluations, at_metric, at_exchanged;
    struct arena arena; /* of the schema */
    struct result_schema schema;
    struct axis_places *places;
    struct cell_set exchanged; /* cells that have an exchanged row, which takes the place of the other */
    bool has_exchanged;        /* the set is there */
    bool again;                /* a row that was counted has been exchanged: all are to be read again */
    struct timespec h5_time;   /* of the OUT.h5 that was read */
    uint64_t h5_inode;
    size_t n_sample, first_sample;
    struct follow_sample sample[FOLLOW_SAMPLE_MAX]; /* ring */

    enum follow_state state;
    bool known;          /* OUT.h5 could be read: schema and n_expected are set */
    uint64_t n_expected; /* points that this output is to have; 0: not known */
    bool about;          /* n_expected is not exact: a shard written by an earlier version */
    uint64_t n_point;    /* whole lines that check and lie on the axes */
    uint64_t n_foreign;  /* whole lines that do not lie on the axes */
    uint64_t n_status[RESULT_STATUS_COUNT];
    uint64_t n_bad_line, first_bad_line; /* whole lines that do not check */
    uint64_t evaluations;                /* sums over points */
    double seconds;
    double modified_s;       /* time of the last change of OUT.csv, since 1970 UTC; 0: not known */
    struct lock_owner owner; /* who writes, or wrote when it was killed */
    double running_s;        /* since the lock was taken; NaN when nobody writes */
    double rate;             /* points per second of a running sweep; NaN: not known */
    double eta_s;            /* until it is complete; NaN: not known */
};

/* Several outputs of one sweep. */
struct follow_set {
    size_t n;
    struct follow *each; /* (n) owned */
    struct reason_groups *reasons;
    struct best_slices *best;   /* NULL: not asked for; borrowed */
    struct front_points *front; /* likewise */
};

/* Prepare to follow `out` (n; each an OUT.h5 or OUT.csv); `best` and `front` (may be NULL) are filled from
 * all of them. Nothing is read yet. Release with follow_set_close, also after a failure. DSE_NO_MEMORY,
 * DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status follow_set_open(struct follow_set *set, char *const *out, size_t n,
                                               struct best_slices *best, struct front_points *front,
                                               struct dse_error *err);
void follow_set_close(struct follow_set *set);

/* Read what is new. Files that were replaced are read again from the start. An output that is not there is
 * FOLLOW_ABSENT. DSE_IO, DSE_BAD_INPUT (no journal, other axes than asked for), DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status follow_set_poll(struct follow_set *set, struct dse_error *err);

/* Whether any output is in that state. */
bool follow_set_any(const struct follow_set *set, enum follow_state state);

/* Rate and ETA from the samples (n, oldest first) and from when the run began (`running_s` ago, at n_begin
 * points; UINT64_MAX: not known) at `now`. NaN when nothing can be said yet. */
double follow_rate(const struct follow_sample *sample, size_t n, double running_s, uint64_t n_begin);

#endif
