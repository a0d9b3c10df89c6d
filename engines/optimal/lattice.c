/* The nodes of the lattice, and minima over divisors: one pass for each prime, as a prefix minimum along one
 * axis leaves the others alone. */
#include "engines/optimal/lattice.h"

#include <math.h>

/* The axes of dimension d; returns how many. `count` and `prime` of each. */
static uint32_t factorise(uint32_t bound, struct lattice_axis *axis)
{
    uint32_t n = 0;
    for (uint32_t p = 2; bound > 1; p++) {
        if ((uint64_t)p * p > bound)
            p = bound;
        if (bound % p != 0)
            continue;
        axis[n] = (struct lattice_axis){.prime = p};
        for (; bound % p == 0; bound /= p)
            axis[n].count++;
        n++;
    }
    return n;
}

double lattice_size(const struct problem *problem)
{
    struct lattice_axis axis[LATTICE_AXIS_MAX];
    double size = 1;
    for (uint32_t d = 0; d < problem->n_dim; d++)
        for (uint32_t i = factorise(problem->bound[d], axis); i-- > 0;)
            size *= axis[i].count + 1;
    return size;
}

enum dse_status lattice_new(const struct problem *problem, struct arena *arena, struct lattice *out,
                            struct dse_error *err)
{
    *out = (struct lattice){.n = 1, .n_dim = problem->n_dim};
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        uint32_t more = factorise(problem->bound[d], &out->axis[out->n_axis]);
        for (; more > 0; more--) {
            struct lattice_axis *axis = &out->axis[out->n_axis++];
            axis->dim = d;
            axis->stride = out->n;
            out->n *= axis->count + 1;
        }
    }
    uint32_t *extent[PROBLEM_DIM_MAX], *part[PROBLEM_DIM_MAX];
    for (uint32_t d = 0; d < problem->n_dim; d++) {
        out->extent[d] = extent[d] = arena_alloc(arena, out->n, sizeof *extent[d]);
        out->part[d] = part[d] = arena_alloc(arena, out->n, sizeof *part[d]);
    }
    double *volume = arena_alloc(arena, out->n, sizeof *volume);
    out->volume = volume;
    DSE_TRY(arena_check(arena, "a lattice of tiles", err));
    for (uint32_t i = 0; i < out->n; i++) {
        for (uint32_t d = 0; d < problem->n_dim; d++)
            extent[d][i] = 1;
        for (uint32_t a = 0; a < out->n_axis; a++)
            for (uint32_t e = i / out->axis[a].stride % (out->axis[a].count + 1); e > 0; e--) {
                extent[out->axis[a].dim][i] *= out->axis[a].prime;
                part[out->axis[a].dim][i] += out->axis[a].stride;
            }
        volume[i] = 1;
        for (uint32_t d = 0; d < problem->n_dim; d++)
            volume[i] *= extent[d][i];
    }
    return DSE_OK;
}

uint32_t lattice_node(const struct lattice *lattice, const uint32_t *extent)
{
    uint32_t node = 0;
    for (uint32_t a = 0; a < lattice->n_axis; a++)
        for (uint32_t rest = extent[lattice->axis[a].dim]; rest % lattice->axis[a].prime == 0;
             rest /= lattice->axis[a].prime)
            node += lattice->axis[a].stride;
    return node;
}

bool lattice_divides(const struct lattice *lattice, uint32_t a, uint32_t b)
{
    for (uint32_t d = 0; d < lattice->n_dim; d++)
        if (lattice->extent[d][b] % lattice->extent[d][a] != 0)
            return false;
    return true;
}

void lattice_sweep(const struct lattice *lattice, uint32_t dims, double *value)
{
    for (uint32_t a = 0; a < lattice->n_axis; a++) {
        const struct lattice_axis *axis = &lattice->axis[a];
        const uint32_t stride = axis->stride, block = stride * (axis->count + 1);
        if (!(dims >> axis->dim & 1u))
            continue;
        for (uint32_t begin = 0; begin < lattice->n; begin += block)
            for (uint32_t i = begin + stride; i < begin + block; i++)
                value[i] = value[i] < value[i - stride] ? value[i] : value[i - stride];
    }
}
