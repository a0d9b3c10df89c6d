/* The loop nest of a mapping with its unit loops removed (they never influence anything,
 * docs/cost-model.md, "Mapping"), and the tiles it implies. Shared by the plain evaluation and the
 * reports; the fast path keeps its own leaner form. */
#ifndef COSTMODEL_LOOPNEST_NEST_H
#define COSTMODEL_LOOPNEST_NEST_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* A nest has below 2^53 iterations and every loop at least 2, so it has at most 52 loops. */
enum { NEST_LOOP_MAX = 64 };

enum loop_kind { LOOP_SPATIAL_X, LOOP_SPATIAL_Y, LOOP_TEMPORAL };

struct nest_loop {
    uint32_t dim;
    uint32_t bound; /* >= 2 */
    uint32_t level;
    enum loop_kind kind;
    uint64_t stride; /* iterations of `dim` that one step moves: the product of all factors of dim inside */
};

struct nest {
    uint32_t n_loop;
    struct nest_loop loop[NEST_LOOP_MAX]; /* (n_loop) innermost first; at each level spatial, then temporal */
    /* first loop of level l (its spatial ones); [n_level] = n_loop */
    uint32_t spatial_begin[ARCH_LEVEL_MAX + 1];
    uint32_t temporal_begin[ARCH_LEVEL_MAX]; /* first temporal loop of level l */
    uint32_t tile[ARCH_LEVEL_MAX]
                 [PROBLEM_DIM_MAX]; /* (n_level, n_dim) extent of the tile one instance of l works on */
    uint32_t below[ARCH_LEVEL_MAX]
                  [PROBLEM_DIM_MAX]; /* the same below l's temporal loops: all its children together */
    uint64_t x_used[ARCH_LEVEL_MAX], y_used[ARCH_LEVEL_MAX]; /* columns and rows in use at level l */
    uint64_t mac_x_used, mac_y_used;
    uint64_t compute_cycle; /* product of the temporal bounds */
};

/* Build the nest. False with `fit` set when sizes do not match, an order is no permutation, or factors do not
 * multiply to the bounds; checks nothing about the machine. */
bool nest_build(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
                struct nest *nest, struct misfit_info *fit);

/* Does the nest fit the machine (docs/cost-model.md, "Time and fit")? MACs first, then levels from the
 * inside; false with `fit` set. */
bool nest_fits(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
               const struct nest *nest, struct misfit_info *fit);

#endif
