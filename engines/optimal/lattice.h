/* The lattice of tiles: every vector of extents that divide a problem's bounds, numbered by the exponents of
 * the primes, so that a product of two vectors has the sum of their numbers. */
#ifndef ENGINES_OPTIMAL_LATTICE_H
#define ENGINES_OPTIMAL_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/problem.h"

enum { LATTICE_AXIS_MAX = 53 };

/* The exponents of one prime of one dimension. */
struct lattice_axis {
    uint32_t dim, prime;
    uint32_t count;  /* exponents 0 .. count */
    uint32_t stride; /* of one more, in numbers of nodes */
};

struct lattice {
    uint32_t n; /* nodes; 0 is the point, n - 1 the whole problem */
    uint32_t n_dim, n_axis;
    struct lattice_axis axis[LATTICE_AXIS_MAX]; /* (n_axis) */
    uint32_t *extent[PROBLEM_DIM_MAX];          /* (n_dim, n) */
    uint32_t *part[PROBLEM_DIM_MAX];            /* (n_dim, n) what the extent adds to the node's number */
    uint32_t *whole;                            /* (n) the number of the same extents in the whole lattice */
    double *volume;                             /* (n) product of the extents */
};

/* The number of nodes, as a double for problems whose lattice is too large to make. */
double lattice_size(const struct problem *problem);

/* The whole lattice of a problem. Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status lattice_new(const struct problem *problem, struct arena *arena,
                                           struct lattice *out, struct dse_error *err);

/* Room for any lattice_divide of `whole`, which has not been made yet. The same. */
DSE_MUST_CHECK enum dse_status lattice_room(const struct lattice *whole, struct arena *arena,
                                            struct lattice *out, struct dse_error *err);

/* Make `out`, which lattice_room has made room in, the lattice of the bounds divided by `factor`
 * (n_dim), which divide them. `whole` is left alone. */
void lattice_divide(const struct lattice *whole, const uint32_t *factor, struct lattice *out);

/* The node of extents (n_dim) that divide the bounds. */
uint32_t lattice_node(const struct lattice *lattice, const uint32_t *extent);

/* The node that is `to` in the dimensions of the mask `dims` and `from` in the others. */
static inline uint32_t lattice_mix(const struct lattice *lattice, uint32_t from, uint32_t to, uint32_t dims)
{
    uint32_t node = from;
    for (uint32_t d = 0; d < lattice->n_dim; d++)
        if (dims >> d & 1u)
            node += lattice->part[d][to] - lattice->part[d][from];
    return node;
}

/* Does every extent of a divide that of b? */
bool lattice_divides(const struct lattice *lattice, uint32_t a, uint32_t b);

/* Give each node the least of the values (n) at the nodes that divide it and differ from it in dimensions of
 * the mask `dims` only. */
void lattice_sweep(const struct lattice *lattice, uint32_t dims, double *value);

/* The same, but only of the node itself and those from which one of the nodes `ratio` (n), all of one
 * dimension, leads there. */
void lattice_sweep_ratios(const struct lattice *lattice, const uint32_t *ratio, uint32_t n, double *value);

#endif
