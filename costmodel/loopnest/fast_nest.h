/* The loop nest as the fast evaluation wants it: temporal and spatial loops apart, tiles and weights ready.
 * Private. */
#ifndef COSTMODEL_LOOPNEST_FAST_NEST_H
#define COSTMODEL_LOOPNEST_FAST_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/model/mapping.h"

/* Room for every loop even of a mapping whose factors turn out wrong. */
enum { FAST_LOOP_MAX = ARCH_LEVEL_MAX * PROBLEM_DIM_MAX + 1 };

struct fast_nest {
    uint32_t n_temporal, n_spatial;
    uint32_t temporal_begin[ARCH_LEVEL_MAX + 1]; /* first temporal loop of level l; [n_level] = n_temporal */
    uint8_t temporal_dim[FAST_LOOP_MAX];         /* (n_temporal) non-unit loops, innermost first */
    uint32_t temporal_bound[FAST_LOOP_MAX];
    uint64_t temporal_stride[FAST_LOOP_MAX];
    double weight[FAST_LOOP_MAX]; /* (n_temporal) how often the loop advances: (n_j - 1) prod_{l>j} n_l */
    double visits[FAST_LOOP_MAX]; /* (n_temporal + 1) product of the bounds of loops j, j+1, ... */
    uint32_t spatial_begin[ARCH_LEVEL_MAX + 1]; /* first spatial loop of level l */
    uint8_t spatial_dim[FAST_LOOP_MAX];
    bool spatial_on_y[FAST_LOOP_MAX];
    uint32_t spatial_bound[FAST_LOOP_MAX];
    uint64_t spatial_stride[FAST_LOOP_MAX];
    uint32_t tile[ARCH_LEVEL_MAX][PROBLEM_DIM_MAX];    /* (n_level, n_dim) */
    uint64_t word[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX]; /* (n_level, n_tensor) tile words; set where kept */
    double n_group[ARCH_LEVEL_MAX]
                  [PROBLEM_TENSOR_MAX]; /* (n_level, n_tensor) multicast groups; set where spatial */
    uint32_t uneven[ARCH_LEVEL_MAX]; /* bit t: two spatial loops move one rank of t, n_group does not hold */
    uint64_t loop_x[ARCH_LEVEL_MAX],
        loop_y[ARCH_LEVEL_MAX]; /* columns and rows that level l's spatial loops span */
    uint64_t used_x[ARCH_LEVEL_MAX], used_y[ARCH_LEVEL_MAX];
    uint64_t mac_used;
    uint64_t compute_cycle;
};

/* Fill `nest`; false when the mapping does not fit (the caller asks nest_build and nest_fits for the reason).
 * The orders must be permutations. */
bool fast_nest_build(const struct compiled *evaluator, const struct mapping *mapping, struct fast_nest *nest);

/* Words of tensor t's box for these extents (n_dim). */
static inline uint64_t fast_tile_words(const struct compiled *evaluator, uint32_t t, const uint32_t *extent)
{
    const struct tile_plan *plan = &evaluator->plan[t];
    uint64_t words = 1;
    for (uint32_t r = 0; r < plan->n_plain; r++)
        words *= extent[plan->plain[r]];
    for (uint32_t r = 0; r < plan->n_sum; r++) {
        uint64_t width = 1;
        for (uint32_t k = 0; k < plan->sum[r].n_term; k++)
            width += (uint64_t)plan->sum[r].term[k].coefficient * (extent[plan->sum[r].term[k].dim] - 1);
        words *= width;
    }
    return words;
}

#endif
