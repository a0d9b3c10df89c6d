/* Reuse of tensors: which loops leave a word where it is, and how often a level serves it. */
#include "costmodel/interstellar/reuse.h"

#include <math.h>
#include <string.h>

/* Bit d: dimension d indexes the output, so it is not reduced. */
static uint32_t kept_dims(const struct problem *problem)
{
    uint32_t dims = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        dims |= problem->tensor[t].read_write ? tensor_dims(&problem->tensor[t]) : 0;
    return dims;
}

/* The terms of a rank that tell its words apart. Of a sum of reduced dimensions alone it is the first. */
static uint32_t relevant_of_rank(const struct tensor_rank *rank, uint32_t kept)
{
    uint32_t dims = 0;
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (kept >> rank->term[i].dim & 1)
            dims |= 1u << rank->term[i].dim;
    return dims || rank->n_term == 0 ? dims : 1u << rank->term[0].dim;
}

/* The smallest step that a relevant dimension makes along the rank. */
static uint32_t stride_of_rank(const struct tensor_rank *rank, uint32_t relevant)
{
    uint32_t stride = UINT32_MAX;
    for (uint32_t i = 0; i < rank->n_term; i++)
        if (relevant >> rank->term[i].dim & 1 && rank->term[i].coefficient < stride)
            stride = rank->term[i].coefficient;
    return stride == UINT32_MAX ? 1 : stride;
}

static void compile_tensor(const struct problem *problem, uint32_t t, uint32_t kept, struct reuse_tensor *out)
{
    const struct tensor *tensor = &problem->tensor[t];
    const uint32_t all = (1u << problem->n_dim) - 1;
    out->role = tensor->role;
    out->output = tensor->read_write;
    out->size_word = (double)problem_tensor_words(problem, t);
    out->stride = 1;
    for (uint32_t r = 0; r < tensor->n_rank; r++)
        out->relevant |= relevant_of_rank(&tensor->rank[r], tensor->read_write ? all : kept);
    out->reuse = out->plain = all & ~out->relevant;
    for (uint32_t r = 0; r < tensor->n_rank && !tensor->read_write; r++) {
        struct reuse_axis axis = {0, stride_of_rank(&tensor->rank[r], out->relevant)};
        for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
            axis.dims |= 1u << tensor->rank[r].term[i].dim & out->plain;
        if (axis.stride == 1)
            continue;
        out->plain &= ~axis.dims;
        out->stride *= axis.stride;
        out->axis[out->n_axis++] = axis;
    }
}

void interstellar_reuse_compile(const struct problem *problem, struct interstellar_reuse *out)
{
    const uint32_t kept = kept_dims(problem);
    memset(out, 0, sizeof(*out));
    out->n_dim = problem->n_dim;
    out->n_tensor = problem->n_tensor;
    for (uint32_t t = 0; t < problem->n_tensor; t++)
        compile_tensor(problem, t, kept, &out->tensor[t]);
}

static double product_of(uint32_t dims, const double *product)
{
    double all = 1;
    for (; dims; dims &= dims - 1)
        all *= product[__builtin_ctz(dims)];
    return all;
}

double reuse_count(const struct reuse_tensor *tensor, enum reuse_rule rule, const double *product)
{
    if (tensor->n_axis == 0)
        return product_of(tensor->reuse, product);
    if (rule == REUSE_COMPAT)
        return floor(product_of(tensor->reuse, product) / tensor->stride);
    double count = product_of(tensor->plain, product);
    for (uint32_t a = 0; a < tensor->n_axis; a++)
        count *= fmax(1, product_of(tensor->axis[a].dims, product) / tensor->axis[a].stride);
    return count;
}
