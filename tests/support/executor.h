/* The plain executor: runs a mapping's loop nest on real integers, one multiply-accumulate after the other,
 * and counts buffer traffic by watching addresses. A second opinion for small problems; slow by design and
 * without a formula.
 *
 * Order. Time advances with the temporal loops (outermost level outermost, each level's order respected); in
 * every cycle all points of the spatial loops run. An instance of level l is one choice of the spatial
 * indices of the levels outside l. Its tile lasts as long as the temporal loops outside l stand still (one
 * visit). It holds exactly the words touched during the visit; when the next visit begins, words of the last
 * visit are still there and all others have gone.
 *
 * What is counted, for a tensor t kept at level l, summed over all instances:
 *  - arrivals: words touched in a visit that the visit before did not touch (with no_temporal_reuse: every
 *    word touched).
 *  - fills: arrivals; for the output only arrivals of words this instance has held before (a partial sum
 *    comes back, the first arrival is a zero and moves nothing). None at the outermost level that keeps t.
 *  - reads of an input: the words sent to the next inner level that keeps t, or to the MACs when there is
 *    none. Children of one instance whose arrivals in a visit are the same set share one read (multicast;
 *    each child its own read where a network between has no_multicast). MACs keep nothing: in each cycle, one
 *    read per different word.
 *  - updates of the output: the same number in the other direction. Whatever arrived leaves once; children
 *    with the same set are added up on the way (spatial reduction).
 *  - reads of the output: updates less the first one of each word in each instance.
 * These are Timeloop's definitions (docs/cost-model.md, "Counts") with the true sets in place of its boxes
 * and its two-iteration walk; docs/cost-model-exactness.md says where the two must agree and how far they may
 * differ. Link transfers are not modelled. */
#ifndef TESTS_SUPPORT_EXECUTOR_H
#define TESTS_SUPPORT_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* Iterations beyond which the executor refuses to start. */
#define EXECUTOR_MAC_MAX ((uint64_t)1 << 22)

/* Of one tensor at one level, all instances together. Zero where the tensor is not kept. */
struct executor_counts {
    uint64_t reads, fills, updates;
    uint64_t first; /* different words that each instance held, summed over the instances */
};

struct executor_result {
    bool each_mac_once;   /* every iteration of the problem ran exactly once */
    bool output_is_right; /* the output equals the direct computation, word by word */
    struct executor_counts count[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX]; /* (n_level, n_tensor) */
};

/* Run `mapping` (its factors multiply to the bounds, every tensor is kept somewhere). Inputs are random
 * integers of the stream (seed, RANDOM_TEST). Scratch from `arena`. DSE_LIMIT beyond EXECUTOR_MAC_MAX,
 * DSE_BAD_INPUT when the factors do not cover the problem, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status executor_run(const struct problem *problem, const struct mapping *mapping,
                                            uint64_t seed, struct arena *arena, struct executor_result *out,
                                            struct dse_error *err);

#endif
