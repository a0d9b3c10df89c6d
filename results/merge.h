/* Putting the shards of one sweep together. */
#ifndef RESULTS_MERGE_H
#define RESULTS_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/provenance.h"

struct merge_summary {
    uint64_t n_point;     /* points in the merged journal */
    uint64_t n_duplicate; /* points found in more than one shard (they agreed) */
    uint64_t n_expected;  /* points of the specification */
};

/* Merge shards (each named by its .h5; OUT.csv and OUT.layers.csv lie beside it) into OUT.h5, OUT.csv, OUT.layers.csv, rows
 * in cell order. An existing journal `out` is refused unless it is itself one of the shards.
 * DSE_BAD_INPUT: specification hash or columns differ, a bad line, one point with two different results (both places are
 * named; wall times may differ). DSE_BAD_USAGE: no shards, or `out` exists. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_shards(const char *out, const char *const *shard, size_t n_shard,
                                            const struct provenance *provenance,
                                            struct merge_summary *summary, struct dse_error *err);

#endif
