/* Putting the shards of one sweep together. */
#ifndef RESULTS_CUBE_MERGE_H
#define RESULTS_CUBE_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/record/provenance.h"
#include "results/record/schema.h"

struct merge_files; /* results/cube/merge_files.h */

enum { MERGE_MISSING_MAX = 10, MERGE_MISSING_TEXT_MAX = 512, MERGE_ABSENT_MAX = 16 };

struct merge_summary {
    uint64_t n_point;     /* points in the merged journal */
    uint64_t n_duplicate; /* points found in more than one shard (they agreed) */
    uint64_t n_chosen;    /* points that differed, since one failed, timed out or was ended by max_seconds */
    uint64_t n_expected;  /* points of the specification */
    uint64_t n_missing;   /* of these, those that no shard has */
    /* the first missing points by coordinates, "axis=value axis=value"; none when the specification */
    size_t n_example;
    char example[MERGE_MISSING_MAX]
                [MERGE_MISSING_TEXT_MAX]; /* leaves out cells, since the files do not say which */
    uint32_t n_shard;                     /* N of the shards K of N; 0: none of the files is a shard */
    uint32_t n_absent;                    /* how many of N were not there */
    uint32_t absent[MERGE_ABSENT_MAX];    /* the first of them, from 1 */
};

/* Adds rows to the end of a merge that has all points, by merge_files_add. These are in `files`, whose tables
 * can be read by journal_scan_open. */
typedef enum dse_status merge_further(void *user, const struct result_schema *schema,
                                      struct merge_files *files, struct dse_error *err);

struct merge_options {
    const struct provenance *provenance;
    merge_further *further; /* may be NULL */
    void *user;             /* of it */
};

/* Merge shards (each named by its .h5; OUT.csv and OUT.layers.csv lie beside it) into OUT.h5, OUT.csv,
 * OUT.layers.csv, rows in cell order, in constant memory. Lines are copied as they are, without exchanged
 * rows: where no point is missing `further` makes these anew. An existing journal
 * `out` is refused unless it is itself one of the shards; the lock of `out` is taken. A merge that was killed
 * while it renamed is finished first (merge_finish). DSE_BAD_INPUT: specification hash or columns differ,
 * shards of different N, the same shard twice, a bad line, one point with two different results (both places
 * are named; wall times may differ, and see n_chosen). DSE_BAD_USAGE: no shards, or `out` exists or is being
 * written. DSE_IO, DSE_NO_MEMORY. Whatever fails, `out` stays as it was. */
DSE_MUST_CHECK enum dse_status merge_shards(const char *out, const char *const *shard, size_t n_shard,
                                            const struct merge_options *options,
                                            struct merge_summary *summary, struct dse_error *err);

/* Give the files of a merge into `out` that was killed while it renamed them their names; `*finished` (may be
 * NULL): there was one. Whoever writes to `out` calls this first; it is cheap. DSE_BAD_USAGE: the merge is
 * still going on. DSE_IO, DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status merge_finish(const char *out, bool *finished, struct dse_error *err);

/* Look for the first missing points of the merged journal `out`, where the specification leaves out cells:
 * cell (n) are those of its points, ascending, as its owner knows. Fills the examples of `summary`.
 * DSE_BAD_INPUT, DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_missing_find(const char *out, const struct result_schema *schema,
                                                  const uint32_t *cell, size_t n,
                                                  struct merge_summary *summary, struct dse_error *err);

#endif
