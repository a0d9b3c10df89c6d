/* Names of loops: a dimension is one of the seven if it has the name that our convolutions give it and lies
 * in the tensors that it lies in there; so the K of a matrix product is not taken for output channels. */
#include "costmodel/interstellar/loops.h"

#include <string.h>

static const struct loop_row {
    const char *name, *letter, *dim;
    uint32_t roles, either; /* bit r: lies in tensors of role r; in those of `either` or not */
} loop_rows[LOOP_COUNT] = {
    [LOOP_FX] = {"FX", "FX", "S", 1u << TENSOR_WEIGHT | 1u << TENSOR_INPUT, 0},
    [LOOP_FY] = {"FY", "FY", "R", 1u << TENSOR_WEIGHT | 1u << TENSOR_INPUT, 0},
    [LOOP_OX] = {"OX", "X", "Q", 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT, 0},
    [LOOP_OY] = {"OY", "Y", "P", 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT, 0},
    [LOOP_OC] = {"OC", "K", "K", 1u << TENSOR_WEIGHT | 1u << TENSOR_OUTPUT, 0},
    [LOOP_IC] = {"IC", "C", "C", 1u << TENSOR_WEIGHT | 1u << TENSOR_INPUT, 0},
    [LOOP_ON] = {"ON", "B", "N", 1u << TENSOR_INPUT | 1u << TENSOR_OUTPUT, 1u << TENSOR_WEIGHT},
};

/* Bit r: dimension d indexes a tensor of role r. */
static uint32_t roles_of(const struct problem *problem, uint32_t d)
{
    uint32_t roles = 0;
    for (uint32_t t = 0; t < problem->n_tensor; t++) {
        const struct tensor *tensor = &problem->tensor[t];
        for (uint32_t r = 0; r < tensor->n_rank; r++)
            for (uint32_t i = 0; i < tensor->rank[r].n_term; i++)
                if (tensor->rank[r].term[i].dim == d)
                    roles |= 1u << tensor->role;
    }
    return roles;
}

void interstellar_loops_of(const struct problem *problem, struct interstellar_loops *out)
{
    out->other = (1u << problem->n_dim) - 1;
    for (int l = 0; l < LOOP_COUNT; l++) {
        int d = problem_find_dim(problem, loop_rows[l].dim);
        if (d >= 0 && (roles_of(problem, (uint32_t)d) & ~loop_rows[l].either) != loop_rows[l].roles)
            d = -1;
        out->dim[l] = d;
    }
    bool convolution = out->dim[LOOP_OC] >= 0 && out->dim[LOOP_IC] >= 0;
    for (int l = 0; l < LOOP_COUNT; l++) {
        if (!convolution)
            out->dim[l] = -1;
        else if (out->dim[l] >= 0)
            out->other &= ~(1u << out->dim[l]);
    }
}

const char *interstellar_loop_name(enum interstellar_loop loop)
{
    return loop_rows[loop].name;
}

const char *interstellar_loop_letter(enum interstellar_loop loop)
{
    return loop_rows[loop].letter;
}

void interstellar_name_dims(const struct problem *problem, const char *name[PROBLEM_DIM_MAX])
{
    struct interstellar_loops loops;
    interstellar_loops_of(problem, &loops);
    for (uint32_t d = 0; d < problem->n_dim; d++)
        name[d] = problem->dim_name[d];
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] >= 0)
            name[loops.dim[l]] = loop_rows[l].name;
}

static bool is_text(const char *text, const char *name, size_t length)
{
    return strlen(text) == length && memcmp(text, name, length) == 0;
}

int interstellar_find_dim(const struct problem *problem, const char *name, size_t length)
{
    struct interstellar_loops loops;
    interstellar_loops_of(problem, &loops);
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] >= 0 && is_text(loop_rows[l].name, name, length))
            return loops.dim[l];
    for (uint32_t d = 0; d < problem->n_dim; d++)
        if (is_text(problem->dim_name[d], name, length))
            return (int)d;
    for (int l = 0; l < LOOP_COUNT; l++)
        if (loops.dim[l] >= 0 && is_text(loop_rows[l].letter, name, length))
            return loops.dim[l];
    return -1;
}
