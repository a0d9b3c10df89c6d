/* The CSV journal of a sweep, the truth from which everything else is built: OUT.csv with one line per point and
 * OUT.layers.csv with one line per layer of a point. A line is one write(2); its last column is the checksum of all that
 * stands before it (XXH3-64 of the bytes up to and including the comma before the checksum, 16 hex digits).
 * A point counts when its line in OUT.csv is whole; its layer lines are written before. Format: docs/results.md. */
#ifndef RESULTS_JOURNAL_H
#define RESULTS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/schema.h"

struct journal; /* open for appending, holds the lock */

/* How to open. */
struct journal_options {
    bool fresh; /* start anew: what is there is thrown away (after the lock is ours) */
    bool sync;  /* fdatasync after each point: safe against power failure, not only against kill -9 */
};

/* Open or create OUT.csv and OUT.layers.csv (`out` may be the .h5 or the .csv path) and take the lock.
 * An existing journal is checked in full first: a torn last line is cut off, as are layer lines of a point that never got
 * its own line. Anything else that does not check is DSE_BAD_INPUT with file and line, and both files stay as they are.
 * The schema is borrowed and must outlive the journal.
 * DSE_BAD_INPUT: other columns (another specification), a bad line. DSE_BAD_USAGE: another run holds the lock.
 * DSE_IO, DSE_NO_MEMORY. On failure `*out_journal` is NULL. */
DSE_MUST_CHECK enum dse_status journal_open(const char *out, const struct result_schema *schema,
                                            struct journal_options options, struct journal **out_journal,
                                            struct dse_error *err);

/* Points that are in the journal; grows with each append. */
size_t journal_count(const struct journal *journal);

/* The key of entry `i` (0 .. journal_count - 1), in file order. */
uint64_t journal_key(const struct journal *journal, size_t i);

/* Whether `key` is there; `*status` (may be NULL) gets its outcome. */
bool journal_find(const struct journal *journal, uint64_t key, enum result_status *status);

/* Append one point with its layers (n_layer; may be 0). Not thread-safe: one writer. DSE_BAD_USAGE when the key is there
 * already, DSE_IO when the disk is full or gone: the file is cut back to what it was, and if even that fails the journal
 * takes no more points. */
DSE_MUST_CHECK enum dse_status journal_append(struct journal *journal, const struct point_record *point,
                                              const struct layer_record *layer, size_t n_layer,
                                              struct dse_error *err);

/* Close and release the lock; NULL is fine. */
void journal_close(struct journal *journal);

/* What `dse status` shows, read without a lock from a journal that may be growing. */
struct journal_summary {
    uint64_t n_point; /* whole lines that check */
    uint64_t n_status[RESULT_STATUS_COUNT];
    uint64_t n_bad_line;  /* whole lines that do not check */
    int first_bad_line;   /* 0: none */
    bool torn;            /* the last line is not whole (being written, or cut off) */
    bool running;         /* a run holds the lock */
    uint64_t evaluations; /* sum over points */
    double seconds;       /* sum over points */
    double modified_s;    /* time of the last change, seconds since 1970 UTC */
};

/* Summarise OUT.csv. Needs no schema. DSE_IO when it cannot be read, DSE_BAD_INPUT when it is no journal. */
DSE_MUST_CHECK enum dse_status journal_summarise(const char *out, struct journal_summary *summary,
                                                 struct dse_error *err);

/* Called for every point that is not ok, in file order: `place` is "axis=value axis=value". Return false to stop. */
typedef bool journal_visit(void *user, uint64_t key, const char *place, const char *status,
                           const char *reason);

/* Walk the points that are not ok (for the list at the end of a run and in `dse status`). No lock, no schema. */
DSE_MUST_CHECK enum dse_status journal_each_not_ok(const char *out, journal_visit *visit, void *user,
                                                   struct dse_error *err);

#endif
