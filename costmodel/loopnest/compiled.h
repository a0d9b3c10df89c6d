/* What Timeloop's accounting precomputes for a loop nest and a machine, and the functions behind
 * accounting_timeloop; private to the room. */
#ifndef COSTMODEL_LOOPNEST_COMPILED_H
#define COSTMODEL_LOOPNEST_COMPILED_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/accounting/evaluator.h"
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

struct compiled {
    struct evaluator base;
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
    bool leaks;       /* the machine */
    double most_word; /* no mapping counts more words than these, reads, fills and updates of all tensors */
    uint64_t max_children; /* the widest fan-out a mapping can use at one level */
};

/* The compiled form that an evaluator of this accounting begins. */
static inline const struct compiled *compiled_of(const struct evaluator *evaluator)
{
    return (const struct compiled *)evaluator;
}

/* The hooks of accounting_timeloop (costmodel/accounting/accounting.h). */
DSE_MUST_CHECK enum dse_status compiled_new(struct evaluator *evaluator, const struct architecture *arch,
                                            struct dse_error *err);
DSE_MUST_CHECK enum dse_status compiled_move(struct evaluator *evaluator, const struct architecture *arch,
                                             struct dse_error *err);
DSE_MUST_CHECK enum dse_status fast_workspace_new(const struct evaluator *evaluator,
                                                  struct eval_workspace **out, struct dse_error *err);
bool fast_workspace_fits(const struct eval_workspace *workspace, const struct evaluator *evaluator);
void fast_workspace_delete(struct eval_workspace *workspace);
bool fast_run(const struct evaluator *evaluator, struct eval_workspace *workspace,
              const struct mapping *mapping, struct evaluation *out);
double fast_tensor_energy(const struct evaluator *evaluator, const struct eval_workspace *workspace,
                          uint32_t level, uint32_t tensor);
DSE_MUST_CHECK enum dse_status plain_detail(const struct evaluator *evaluator, const struct mapping *mapping,
                                            struct arena *arena, struct evaluation_detail *out,
                                            struct dse_error *err);

#endif
