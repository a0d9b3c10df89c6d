/* Changing a journal so that it can be stopped at any moment: new files beside the old ones, synced, then
 * renamed, and rows that leave it kept in files of their own. */
#ifndef RESULTS_JOURNAL_JOURNAL_REWRITE_H
#define RESULTS_JOURNAL_JOURNAL_REWRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "results/journal/journal.h"

enum { REWRITE_PATH_MAX = 4096 };

/* A pair of files being written: OUT.csv.new and OUT.layers.csv.new, or those of rows moved aside. */
struct journal_pair {
    FILE *csv, *layers; /* NULL: not begun */
    char csv_path[REWRITE_PATH_MAX],
        layer_path[REWRITE_PATH_MAX]; /* as they are to be called; with ".new" now */
};

struct journal_rewrite {
    const struct result_schema *schema; /* borrowed */
    const char *out;                    /* borrowed */
    const struct journal_scan
        *scan;            /* that the rows come from: lines of an earlier version are widened; borrowed */
    int csv_fd, layer_fd; /* of the files as they are, to copy from; borrowed; -1: there is none */
    struct journal_pair kept, dropped, damaged;
    int held_fd; /* the new OUT.csv, held by flock; owned; -1: not begun, or taken by the caller */
};

/* Begin the new journal with the first bytes of the old one, which end behind the headers or later.
 * DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_rewrite_begin(struct journal_rewrite *rewrite, uint64_t csv_byte,
                                                     uint64_t layer_byte, struct dse_error *err);

/* Begin OUT.dropped.csv or OUT.damaged.csv with its header, unless it has been: `word` is ".dropped" or
 * ".damaged". A number is added when such a file is there from earlier. DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_aside_begin(struct journal_rewrite *rewrite, struct journal_pair *pair,
                                                   const char *word, struct dse_error *err);

/* Copy whole lines of the old OUT.csv and OUT.layers.csv to a pair. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status journal_pair_copy(struct journal_rewrite *rewrite, struct journal_pair *pair,
                                                 uint64_t offset, uint64_t length, uint64_t layer_offset,
                                                 uint64_t layer_length, struct dse_error *err);

/* Add the lines of points that the old files do not have. DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_pair_add(struct journal_pair *pair, const struct journal_lines *lines,
                                                struct dse_error *err);

/* Copy the whole lines from a byte to the end, and count those of OUT.csv. DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_pair_copy_rest(struct journal_rewrite *rewrite,
                                                      struct journal_pair *pair, uint64_t offset,
                                                      uint64_t layer_offset, uint64_t *n_line,
                                                      struct dse_error *err);

/* Give the pairs that were begun their names: first those of rows moved aside, then OUT.csv, then
 * OUT.layers.csv, each safe on disk before the next. DSE_IO. */
DSE_MUST_CHECK enum dse_status journal_rewrite_commit(struct journal_rewrite *rewrite, struct dse_error *err);

/* Remove what was begun and not committed. */
void journal_rewrite_abandon(struct journal_rewrite *rewrite);

/* Remove what a process left that was killed. */
void journal_rewrite_clean(const char *out);

#endif
