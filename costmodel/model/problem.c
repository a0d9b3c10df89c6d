/* Look-ups, tile sizes and the check that keeps every count exact; the hash of shape and bounds that goes
 * into keys. */
#include "costmodel/model/problem.h"

#include <ctype.h>
#include <string.h>

#include "base/hash.h"

/* Counts are kept in doubles in places; beyond 2^53 they would no longer be exact. */
#define EXACT_COUNT_MAX ((uint64_t)1 << 53)

int problem_find_dim(const struct problem *problem, const char *name)
{
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (strcmp(problem->dim_name[d], name) == 0)
            return (int)d;
    return -1;
}

int problem_find_tensor(const struct problem *problem, const char *name)
{
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        if (strcmp(problem->tensor[t].name, name) == 0)
            return (int)t;
    return -1;
}

uint64_t problem_macs(const struct problem *problem)
{
    uint64_t macs = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        macs *= problem->bound[d];
    return macs;
}

uint32_t tensor_dims(const struct tensor *tensor)
{
    uint32_t dims = 0;
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            dims |= 1u << tensor->rank[r].term[i].dim;
    return dims;
}

uint64_t problem_tile_words(const struct problem *problem, uint32_t t, const uint32_t *extent)
{
    const struct tensor *tensor = &problem->tensor[t];
    uint64_t words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        uint64_t width = 1;
        for (uint32_t k = 0; k < rank->n_term; k++)
            width += (uint64_t)rank->term[k].coefficient * (extent[rank->term[k].dim] - 1u);
        words *= width;
    }
    return words;
}

uint64_t problem_tensor_words(const struct problem *problem, uint32_t t)
{
    return problem_tile_words(problem, t, problem->bound);
}

/* The bounding box in double arithmetic: cannot wrap, so it may be compared with the limit first. */
static double tensor_words_estimate(const struct problem *problem, uint32_t t)
{
    const struct tensor *tensor = &problem->tensor[t];
    double words = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        double width = 1;
        for (uint32_t k = 0; k < rank->n_term; k++)
            width += (double)rank->term[k].coefficient * (problem->bound[rank->term[k].dim] - 1.0);
        words *= width;
    }
    return words;
}

static enum dse_status check_dims(const struct problem *problem, struct dse_error *err)
{
    if (problem->n_dim < 1 || problem->n_dim > PROBLEM_DIM_MAX)
        return dse_fail(err, DSE_LIMIT, "problem %s has %u dimensions; from 1 to %d are supported",
                        problem->name, problem->n_dim, PROBLEM_DIM_MAX);
    double macs = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        const char *name = problem->dim_name[d];
        if (name[0] == '\0' || !(isalpha((unsigned char)name[0]) || name[0] == '_'))
            return dse_fail(err, DSE_BAD_INPUT, "dimension name \"%s\" does not start with a letter", name);
        if (problem_find_dim(problem, name) != (int)d)
            return dse_fail(err, DSE_BAD_INPUT, "dimension %s is named twice", name);
        if (problem->bound[d] < 1)
            return dse_fail(err, DSE_BAD_INPUT, "dimension %s is 0; every dimension must be at least 1",
                            name);
        macs *= problem->bound[d];
    }
    if (macs >= (double)EXACT_COUNT_MAX)
        return dse_fail(err, DSE_LIMIT,
                        "problem %s has %.3g multiply-accumulates; below 2^53 = 9.007e15 are supported",
                        problem->name, macs);
    return DSE_OK;
}

static enum dse_status check_tensor(const struct problem *problem, uint32_t t, struct dse_error *err)
{
    const struct tensor *tensor = &problem->tensor[t];
    if (tensor->name[0] == '\0' || problem_find_tensor(problem, tensor->name) != (int)t)
        return dse_fail(err, DSE_BAD_INPUT, "tensor %u needs a name of its own, has \"%s\"", t, tensor->name);
    if (tensor->n_rank > PROBLEM_RANK_MAX)
        return dse_fail(err, DSE_LIMIT, "tensor %s has %u ranks; up to %d are supported", tensor->name,
                        tensor->n_rank, PROBLEM_RANK_MAX);
    if ((tensor->role == TENSOR_OUTPUT) != tensor->read_write)
        return dse_fail(err, DSE_BAD_INPUT, "tensor %s: exactly the read-write tensor has the role output",
                        tensor->name);
    for (uint32_t r = 0; r < tensor->n_rank; r++) {
        const struct tensor_rank *rank = &tensor->rank[r];
        if (rank->n_term < 1 || rank->n_term > PROBLEM_TERM_MAX)
            return dse_fail(err, DSE_LIMIT,
                            "rank %u of tensor %s adds %u dimensions; from 1 to %d are supported", r,
                            tensor->name, rank->n_term, PROBLEM_TERM_MAX);
        for (uint32_t k = 0; k < rank->n_term; k++) {
            if (rank->term[k].dim >= problem->n_dim || rank->term[k].coefficient < 1)
                return dse_fail(
                    err, DSE_BAD_INPUT,
                    "rank %u of tensor %s: every term is coefficient >= 1 times a dimension of the problem",
                    r, tensor->name);
        }
    }
    if (tensor_words_estimate(problem, t) >= (double)EXACT_COUNT_MAX)
        return dse_fail(err, DSE_LIMIT, "tensor %s has %.3g words; below 2^53 are supported", tensor->name,
                        tensor_words_estimate(problem, t));
    return DSE_OK;
}

enum dse_status problem_check(const struct problem *problem, struct dse_error *err)
{
    DSE_TRY(check_dims(problem, err));
    if (problem->n_tensor < 1 || problem->n_tensor > PROBLEM_TENSOR_MAX)
        return dse_fail(err, DSE_LIMIT, "problem %s has %u tensors; from 1 to %d are supported",
                        problem->name, problem->n_tensor, PROBLEM_TENSOR_MAX);
    uint32_t n_output = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        DSE_TRY(check_tensor(problem, t, err));
        n_output += problem->tensor[t].read_write;
    }
    if (n_output != 1)
        return dse_fail(err, DSE_BAD_INPUT, "problem %s has %u read-write tensors; exactly one is the output",
                        problem->name, n_output);
    return DSE_OK;
}

uint64_t problem_hash(const struct problem *problem)
{
    struct hash_state hash;
    hash_begin(&hash);
    hash_u64(&hash, problem->n_dim);
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        hash_text(&hash, problem->dim_name[d]);
        hash_u64(&hash, problem->bound[d]);
    }
    hash_u64(&hash, problem->n_tensor);
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        hash_text(&hash, tensor->name);
        hash_u64(&hash, tensor->role);
        hash_u64(&hash, tensor->read_write);
        hash_u64(&hash, tensor->n_rank);
        for (uint32_t r = 0; r < tensor->n_rank; r++) {
            hash_u64(&hash, tensor->rank[r].n_term);
            for (uint32_t k = 0; k < tensor->rank[r].n_term; k++) {
                hash_u64(&hash, tensor->rank[r].term[k].dim);
                hash_u64(&hash, tensor->rank[r].term[k].coefficient);
            }
        }
    }
    return hash_end(&hash);
}
