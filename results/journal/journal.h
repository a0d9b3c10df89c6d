/* The CSV journal of a sweep, the truth from which everything else is built: OUT.csv with one line per point
 * and OUT.layers.csv with one line per layer of a point, in the order of the points. The last column of a
 * line is the checksum of all that stands before it (XXH3-64 of the bytes up to and including the comma
 * before the checksum, 16 hex digits). A point counts when its line in OUT.csv is whole and all its layer
 * lines are. An exchanged row (struct journal_row) stands behind that of its cell and takes its place.
 * Format: docs/results.md. */
#ifndef RESULTS_JOURNAL_JOURNAL_H
#define RESULTS_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/journal/journal_scan.h"
#include "results/journal/lock.h"
#include "results/record/same_text.h"
#include "results/record/schema.h"

struct cell_set;
struct journal_lines;
struct journal; /* open for appending, holds the lock */

enum journal_verdict {
    JOURNAL_KEEP,
    JOURNAL_DROP,  /* move the row aside into OUT.dropped.csv and OUT.dropped.layers.csv */
    JOURNAL_FORGET /* leave the row out: it can be made again from the others */
};

/* Shown every row that is there, in file order, then NULL once: the last chance to refuse, when nothing has
 * been changed yet. `*verdict` is JOURNAL_KEEP. A status other than DSE_OK ends journal_open with it. */
typedef enum dse_status journal_visit_row(void *user, const struct journal_row *row,
                                          enum journal_verdict *verdict, struct dse_error *err);

/* With `repair`, when all rows have been seen (`seen`, cells): further points from elsewhere, as lines added
 * to `lines`, which is empty; called until `*more`, which is true, is set to false. */
typedef enum dse_status journal_restore(void *user, const struct cell_set *seen, struct journal_lines *lines,
                                        bool *more, struct dse_error *err);

/* How to open. */
struct journal_options {
    /* start anew: what is there is thrown away, once the lock is ours and nothing can be refused any more */
    bool fresh;
    bool repair; /* lines that do not check are moved aside into OUT.damaged.csv and OUT.damaged.layers.csv */
    double sync_s;            /* journal_sync does so at most this often; 0: each time */
    const char *command;      /* for the lock; may be NULL */
    journal_visit_row *visit; /* may be NULL */
    journal_restore *restore; /* may be NULL */
    void *user;
};

/* What opening found and did. */
struct journal_report {
    uint64_t n_point;   /* rows kept; exchanged ones do not count */
    uint64_t n_dropped; /* rows moved aside because `visit` said so */
    uint64_t n_damaged; /* lines and points moved aside because they did not check (repair) */
    uint64_t n_cut; /* whole points behind the last one whose layers are all there, moved aside likewise */
    uint64_t n_restored; /* points that `restore` gave */
    uint64_t n_orphan;   /* layer lines without a point, removed */
    bool mended;     /* a byte order mark, Windows line ends or a damaged header were put right (repair) */
    bool torn;       /* a piece of a line was cut off */
    bool widened;    /* the tables were of an earlier version, and have got the columns that they lacked */
    uint64_t digest; /* as of journal_scan_place; 0: the journal has been changed */
    char dropped_path[4096]; /* where dropped points are; "" when there are none */
    char damaged_path[4096]; /* where damaged and cut lines are; "" when there are none */
    struct lock_owner stale; /* of a lock that was taken over; pid 0: none */
};

/* Open or create OUT.csv and OUT.layers.csv (`out` may be the .h5 or the .csv path) and take the lock
 * OUT.lock. An existing journal is read in full first, in constant memory. A torn tail (the files may be cut
 * at any byte) is cut back to the longest run of points with all their layers. Anything else that does not
 * check is DSE_BAD_INPUT with file and line, and both files stay as they are, unless `repair`. The schema is
 * borrowed and must outlive the journal. DSE_BAD_INPUT: other columns (another specification), a bad line,
 * two rows of one cell. DSE_BAD_USAGE: another run holds the lock. DSE_IO, DSE_NO_MEMORY. On failure
 * `*out_journal` is NULL. */
DSE_MUST_CHECK enum dse_status journal_open(const char *out, const struct result_schema *schema,
                                            struct journal_options options, struct journal **out_journal,
                                            struct dse_error *err);

/* Borrowed from the journal. */
const struct journal_report *journal_report(const struct journal *journal);

/* Points that are in the journal; grows with each append. */
size_t journal_count(const struct journal *journal);

/* The lines of some points. */
struct journal_lines {
    struct text_buffer point, layers;
    size_t n_point;
    struct same_text same; /* of the point being added */
};

void journal_lines_init(struct journal_lines *lines);
void journal_lines_free(struct journal_lines *lines);

/* Make the lines of a point with its layers (n_layer; may be 0), behind what is in `lines`, which a failure
 * leaves as it was. A mapping that an earlier layer of the point has is stored there only (same_as). Needs
 * no lock: workers call it. DSE_INTERNAL: a layer that the schema does not know. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status journal_format(const struct result_schema *schema,
                                              const struct point_record *point,
                                              const struct layer_record *layer, size_t n_layer,
                                              struct journal_lines *lines, struct dse_error *err);

void journal_lines_clear(struct journal_lines *lines);

/* Append the points of `lines`, all or none. They go to a buffer, and from there to the kernel when 64 KiB
 * are waiting or the last writing is longer ago than 0.1 s, layers first. One writer at a time. DSE_IO when
 * the disk is full or gone: the files are cut back to the last whole point that they hold, and the journal
 * takes no more points; opening it again resumes. */
DSE_MUST_CHECK enum dse_status journal_append(struct journal *journal, const struct journal_lines *lines,
                                              struct dse_error *err);

/* Everything to the kernel now: safe against kill -9. Like journal_append, one writer at a time. DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_flush(struct journal *journal, struct dse_error *err);

/* What is with the kernel to the disk (safe against power loss), if the last time is longer ago than
 * `sync_s`. Also touches the lock. May run in another thread than the writer's. DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_sync(struct journal *journal, struct dse_error *err);

/* The same at once, without the lock's touch: before something is built from the rows that must not outlive
 * them. Waits for a sync of another thread. */
DSE_MUST_CHECK enum dse_status journal_sync_now(struct journal *journal, struct dse_error *err);

/* Flush, sync, close and release the lock; NULL is fine. DSE_IO: what was not flushed before is lost. */
DSE_MUST_CHECK enum dse_status journal_finish(struct journal *journal, struct dse_error *err);

/* The same where nobody can be told of a failure. */
void journal_close(struct journal *journal);

/* Called for every point that is not ok, in file order: `place` is "axis=value axis=value". Return false to
 * stop. */
typedef bool journal_visit(void *user, uint64_t key, const char *place, const char *status,
                           const char *reason);

/* Walk the points that are not ok (for the list at the end of a run and in `dse status`). No lock, no
 * schema. */
DSE_MUST_CHECK enum dse_status journal_each_not_ok(const char *out, journal_visit *visit, void *user,
                                                   struct dse_error *err);

#endif
