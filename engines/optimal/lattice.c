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

/* The nodes of the axes: each axis repeats those of the axes before it, times its prime. Nodes of the whole
 * lattice with the same exponents are numbered by its strides `far` (n_axis). */
static void number_nodes(struct lattice *lattice, const uint32_t *far)
{
    lattice->n = 1;
    for (uint32_t d = 0; d < lattice->n_dim; d++) {
        lattice->extent[d][0] = 1;
        lattice->part[d][0] = 0;
    }
    lattice->whole[0] = 0;
    lattice->volume[0] = 1;
    for (uint32_t a = 0; a < lattice->n_axis; a++) {
        struct lattice_axis *axis = &lattice->axis[a];
        axis->stride = lattice->n;
        lattice->n *= axis->count + 1;
        for (uint32_t d = 0; d < lattice->n_dim; d++) {
            uint32_t *extent = lattice->extent[d], *part = lattice->part[d];
            const uint32_t prime = d == axis->dim ? axis->prime : 1, more = d == axis->dim ? axis->stride : 0;
            for (uint32_t i = axis->stride; i < lattice->n; i++) {
                extent[i] = extent[i - axis->stride] * prime;
                part[i] = part[i - axis->stride] + more;
            }
        }
        for (uint32_t i = axis->stride; i < lattice->n; i++) {
            lattice->whole[i] = lattice->whole[i - axis->stride] + far[a];
            lattice->volume[i] = lattice->volume[i - axis->stride] * axis->prime;
        }
    }
}

/* Memory for n nodes. */
static enum dse_status make_room(struct arena *arena, uint32_t n, struct lattice *out, struct dse_error *err)
{
    for (uint32_t d = 0; d < out->n_dim; d++) {
        out->extent[d] = arena_alloc_unset(arena, n, sizeof *out->extent[d]);
        out->part[d] = arena_alloc_unset(arena, n, sizeof *out->part[d]);
    }
    out->whole = arena_alloc_unset(arena, n, sizeof *out->whole);
    out->volume = arena_alloc_unset(arena, n, sizeof *out->volume);
    return arena_check(arena, "a lattice of tiles", err);
}

enum dse_status lattice_new(const struct problem *problem, struct arena *arena, struct lattice *out,
                            struct dse_error *err)
{
    uint32_t n = 1, stride[LATTICE_AXIS_MAX];
    *out = (struct lattice){.n_dim = problem->n_dim};
    for (uint32_t d = 0; d < problem->n_dim; d++)
        for (uint32_t more = factorise(problem->bound[d], &out->axis[out->n_axis]); more > 0; more--) {
            out->axis[out->n_axis].dim = d;
            stride[out->n_axis] = n;
            n *= out->axis[out->n_axis++].count + 1;
        }
    DSE_TRY(make_room(arena, n, out, err));
    number_nodes(out, stride);
    return DSE_OK;
}

enum dse_status lattice_room(const struct lattice *whole, struct arena *arena, struct lattice *out,
                             struct dse_error *err)
{
    *out = (struct lattice){.n_dim = whole->n_dim};
    return make_room(arena, whole->n, out, err);
}

void lattice_divide(const struct lattice *whole, const uint32_t *factor, struct lattice *out)
{
    uint32_t far[LATTICE_AXIS_MAX];
    out->n_axis = 0;
    for (uint32_t a = 0; a < whole->n_axis; a++) {
        struct lattice_axis axis = whole->axis[a];
        for (uint32_t rest = factor[axis.dim]; rest % axis.prime == 0; rest /= axis.prime)
            axis.count--;
        if (axis.count == 0)
            continue;
        far[out->n_axis] = axis.stride;
        out->axis[out->n_axis++] = axis;
    }
    number_nodes(out, far);
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
            for (uint32_t row = begin + stride; row < begin + block; row += stride) {
                const double *inside = &value[row - stride];
#pragma omp simd
                for (uint32_t i = 0; i < stride; i++)
                    value[row + i] = value[row + i] < inside[i] ? value[row + i] : inside[i];
            }
    }
}

void lattice_sweep_ratios(const struct lattice *lattice, const uint32_t *ratio, uint32_t n, double *value)
{
    for (uint32_t node = lattice->n; node-- > 0;) /* what divides a node has a lower number */
        for (uint32_t i = 0; i < n; i++)
            if (ratio[i] <= node && lattice_divides(lattice, ratio[i], node))
                value[node] = value[node] < value[node - ratio[i]] ? value[node] : value[node - ratio[i]];
}
