/* A problem: one perfectly nested loop over named dimensions, with tensors as affine projections of the
 * iteration space (Timeloop v3 "problem shape"; conv, GEMM, MTTKRP, any einsum). Plain data, copied by
 * value. */
#ifndef COSTMODEL_MODEL_PROBLEM_H
#define COSTMODEL_MODEL_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Documented limits; readers refuse what lies beyond them by name. */
enum {
    PROBLEM_DIM_MAX = 16,
    PROBLEM_TENSOR_MAX = 8,
    PROBLEM_RANK_MAX = 8,
    PROBLEM_TERM_MAX = 4, /* dimensions added up in one rank */
    PROBLEM_DIM_NAME_MAX = 24,
    PROBLEM_NAME_MAX = 96
};

/* What a tensor is to an accelerator: architectures say by role what a level keeps. A read-only tensor named
 * "Weights"/"Filters" is WEIGHT, another read-only one INPUT; the read-write tensor is OUTPUT. */
enum tensor_role { TENSOR_WEIGHT, TENSOR_INPUT, TENSOR_OUTPUT, TENSOR_ROLE_COUNT };

/* coefficient * dimension; coefficient >= 1 */
struct projection_term {
    uint32_t dim;
    uint32_t coefficient;
};

/* The coordinate of one tensor rank: the sum of its terms. */
struct tensor_rank {
    uint32_t n_term;
    struct projection_term term[PROBLEM_TERM_MAX];
};

struct tensor {
    char name[PROBLEM_NAME_MAX];
    enum tensor_role role;
    bool read_write; /* the reduction target */
    uint32_t n_rank;
    struct tensor_rank rank[PROBLEM_RANK_MAX];
};

struct problem {
    char name[PROBLEM_NAME_MAX];
    uint32_t n_dim;
    char dim_name[PROBLEM_DIM_MAX][PROBLEM_DIM_NAME_MAX];
    uint32_t bound[PROBLEM_DIM_MAX]; /* (n_dim) loop bounds, >= 1 */
    uint32_t n_tensor;
    struct tensor tensor[PROBLEM_TENSOR_MAX];
};

/* Limits, names, bounds >= 1, at least one tensor, exactly one read-write tensor; the total
 * MAC count and every tensor below 2^53 so that counts stay exact in doubles. DSE_BAD_INPUT or DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status problem_check(const struct problem *problem, struct dse_error *err);

/* Index of a dimension or tensor by name, or -1. */
int problem_find_dim(const struct problem *problem, const char *name);
int problem_find_tensor(const struct problem *problem, const char *name);

/* Multiply-accumulates: the product of all bounds. */
uint64_t problem_macs(const struct problem *problem);

/* Bit d: dimension d tells words of the tensor apart; a loop over any other reuses them. */
uint32_t tensor_dims(const struct tensor *tensor);

/* Words of the bounding box of tensor `t` when dimension d spans extent[d] iterations (n_dim): prod over
 * ranks of 1 + sum coefficient * (extent - 1). docs/cost-model.md, "Tiles". */
uint64_t problem_tile_words(const struct problem *problem, uint32_t t, const uint32_t *extent);

/* Words of the whole tensor: the same at the problem's bounds. */
uint64_t problem_tensor_words(const struct problem *problem, uint32_t t);

/* Content hash of everything that determines a result (the problem's name does not). */
uint64_t problem_hash(const struct problem *problem);

#endif
