/* What evaluator_new precomputes; private to the cost model. */
#ifndef COSTMODEL_LOOPNEST_COMPILED_H
#define COSTMODEL_LOOPNEST_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* Moves of a tensor's box are vectors in its rank coordinates. They are packed into one integer with a mixed
 * radix wide enough that sums and differences of two moves are equal exactly when the integers are. */
struct tensor_code {
    int64_t dim[PROBLEM_DIM_MAX]; /* (n_dim) code of one step of the dimension; 0 = irrelevant */
    uint32_t step[PROBLEM_RANK_MAX][PROBLEM_DIM_MAX]; /* (n_rank, n_dim) the same as a vector */
    uint32_t relevant;                                /* bit d: the dimension moves the tensor */
    uint32_t shares_rank[PROBLEM_DIM_MAX];            /* (n_dim) other dimensions that move a rank d moves */
};

/* How to count the words of a tensor's box: a product of plain extents and of sums (convolution inputs). */
struct tile_plan {
    uint32_t n_plain;
    uint8_t plain[PROBLEM_RANK_MAX]; /* dimensions of the ranks that are one dimension with coefficient 1 */
    uint32_t n_sum;
    struct tensor_rank sum[PROBLEM_RANK_MAX]; /* the other ranks */
};

struct evaluator {
    struct problem problem;
    struct architecture arch;
    struct tensor_code code[PROBLEM_TENSOR_MAX];           /* (n_tensor) */
    struct tile_plan plan[PROBLEM_TENSOR_MAX];             /* (n_tensor) */
    uint32_t output;                                       /* the read-write tensor */
    uint64_t fan_x[ARCH_LEVEL_MAX], fan_y[ARCH_LEVEL_MAX]; /* (n_level) physical fan-out below level l */
    uint64_t usable_word[ARCH_LEVEL_MAX];                  /* UINT64_MAX when unlimited */
    double least_word[ARCH_LEVEL_MAX];                     /* usable size times the minimum utilisation */
    uint32_t may_keep[ARCH_LEVEL_MAX];                     /* bit t: the level can hold tensor t */
    uint64_t n_cluster[ARCH_LEVEL_MAX];                    /* instances / cluster_size */
    int block_shift[ARCH_LEVEL_MAX];    /* log2(block_word), or -1 when not a power of two */
    bool network_costs[ARCH_LEVEL_MAX]; /* any energy attribute of the network below is set */
    bool bandwidth_limited[ARCH_LEVEL_MAX];
    double most_word; /* no mapping counts more words than these, reads, fills and updates of all tensors */
    uint64_t max_children; /* the widest fan-out a mapping can use at one level */
};

#endif
