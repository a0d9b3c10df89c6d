/* The two algorithms of Mind Mappings (CNN layers and MTTKRP; K. Hegde et al., "Mind Mappings: Enabling
 * Efficient Algorithm-Accelerator Mapping Space Search", ASPLOS 2021, section 5.1) and their machine, found
 * in an architecture: a DRAM, one shared buffer per tensor, an array of PEs in one row, one private buffer
 * per tensor in each; the shared buffers are one group of banks, the private ones another
 * (experiments/architectures/mindmappings_banks.yaml, mindmappings_mttkrp_banks.yaml). */
#ifndef ENGINES_MINDMAPPINGS_MM_MACHINE_H
#define ENGINES_MINDMAPPINGS_MM_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

enum {
    MM_DIM_MAX = 7,
    MM_PE_MAX = 1024,
    MM_SIZE_MAX = 1 << 24,
    MM_TENSOR_MAX = 4,
    MM_VALUE_MAX = 62, /* values of a vector */
    MM_COST_MAX = 15   /* values of a cost vector */
};

/* The blocks of loops of a mapping, outermost first. All but MM_SPATIAL have an order. */
enum mm_block { MM_DRAM, MM_SHARED, MM_SPATIAL, MM_PRIVATE, MM_BLOCK_COUNT };

/* The blocks with an order, and the groups of banks, each outermost first. */
enum mm_nest { MM_NEST_DRAM, MM_NEST_SHARED, MM_NEST_PRIVATE, MM_NEST_COUNT };
enum mm_memory { MM_MEMORY_SHARED, MM_MEMORY_PRIVATE, MM_MEMORY_COUNT };

/* The algorithmic minima that costs are divided by (mm_price.h). */
enum mm_minimum {
    MM_MINIMUM_CODE,   /* of the authors' program: words once at each level, and MACs */
    MM_MINIMUM_NO_MAC, /* of the paper's text: without the MACs */
    MM_MINIMUM_HALO,   /* the first, with the inputs' halo and the machine's own private buffers */
    MM_MINIMUM_COUNT
};

/* What an algorithm's vectors are. */
struct mm_algorithm {
    const char *name; /* "cnn", "mttkrp" */
    uint32_t n_dim, n_tensor;
    const char *dim[MM_DIM_MAX]; /* (n_dim) in the order of vectors */
    uint32_t n_value;            /* of a vector: 62, 40 */
    uint32_t n_cost;             /* of a cost vector: 12, 15 */
    /* of a mapping: the factors of a dimension (n_dim), an order (3), a share of banks (2): 12, 9 */
    uint32_t n_attribute;
    bool loops_innermost; /* the private block is at the innermost private buffer, else the outermost */
    double private_pj;    /* energy of a word in a private buffer */
};

enum mm_algorithm_id { MM_CNN, MM_MTTKRP, MM_ALGORITHM_COUNT };

/* The algorithm of that number. */
const struct mm_algorithm *mm_algorithm(enum mm_algorithm_id id);

/* The algorithm of that name, or NULL. */
static inline const struct mm_algorithm *mm_algorithm_find(const char *name)
{
    for (int i = 0; i < MM_ALGORITHM_COUNT; i++)
        if (strcmp(mm_algorithm((enum mm_algorithm_id)i)->name, name) == 0)
            return mm_algorithm((enum mm_algorithm_id)i);
    return NULL;
}

struct mm_machine {
    const struct mm_algorithm *algorithm;
    const struct architecture *arch;
    struct problem shape; /* one of its problems, all sizes 1: names of tensors and dimensions */
    uint32_t n_pe;
    uint32_t dram;                                      /* its level */
    uint32_t level[MM_MEMORY_COUNT][MM_TENSOR_MAX];     /* (2, n_tensor) of the file, outermost first */
    uint32_t tensor[MM_MEMORY_COUNT][MM_TENSOR_MAX];    /* (2, n_tensor) the tensor that each keeps */
    uint32_t banks[MM_MEMORY_COUNT];                    /* of a group */
    uint64_t bank_word[MM_MEMORY_COUNT][MM_TENSOR_MAX]; /* (2, n_tensor) as level */
};

/* Find it; `arch` must outlive it. DSE_BAD_INPUT says what of the machine is another. */
DSE_MUST_CHECK enum dse_status mm_machine_of(const struct architecture *arch, struct mm_machine *out,
                                             struct dse_error *err);

/* The problem of these sizes (n_dim, in the order of vectors): a convolution of unit stride, or
 * A[i,j] += B[i,k,l] C[j,k] D[j,l]. DSE_BAD_INPUT, DSE_LIMIT: of problem_check. */
DSE_MUST_CHECK enum dse_status mm_problem(const struct mm_algorithm *algorithm, const uint32_t *size,
                                          struct problem *out, struct dse_error *err);

/* The other way round: the sizes of a problem that is one of the algorithm's, whatever the order and place of
 * its dimensions. DSE_BAD_INPUT says what is another. */
DSE_MUST_CHECK enum dse_status mm_problem_sizes(const struct mm_algorithm *algorithm,
                                                const struct problem *problem, uint32_t *size,
                                                struct dse_error *err);

#endif
