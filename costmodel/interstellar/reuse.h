/* How often a level serves each word of a tensor: Interstellar's access counts (docs/interstellar.md). What
 * depends on the problem only is compiled once; a count then follows from the factors and the order of loops,
 * with or without a mapping at hand. */
#ifndef COSTMODEL_INTERSTELLAR_REUSE_H
#define COSTMODEL_INTERSTELLAR_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/problem.h"

/* REUSE_SANE: a stride divides the reuse along its own axis, and none becomes less than 1. REUSE_COMPAT: the
 * authors': the product of all strides divides the whole count, in whole numbers, which may come to 0. */
enum reuse_rule { REUSE_SANE, REUSE_COMPAT };

/* One rank of a tensor in which reuse and a stride meet: an input row is stride * P + R, and R is reuse. */
struct reuse_axis {
    uint32_t dims; /* bit d: reuse along this axis, of no earlier one; may be 0 (a filter of one column) */
    uint32_t stride;
};

struct reuse_tensor {
    enum tensor_role role;
    bool output;       /* read and written: the first visit of a word only writes */
    uint32_t relevant; /* bit d: dimension d tells words apart; all others are reuse */
    uint32_t reuse;    /* bit d: the others */
    uint32_t plain;    /* bit d: reuse along no axis */
    uint32_t n_axis;   /* only those whose stride is above 1 */
    struct reuse_axis axis[PROBLEM_RANK_MAX];
    double stride; /* the product of the strides of all axes */
    double size_word;
};

struct interstellar_reuse {
    uint32_t n_dim, n_tensor;
    struct reuse_tensor tensor[PROBLEM_TENSOR_MAX]; /* (n_tensor) */
};

/* A dimension is reuse for a tensor if it does not index it, or only in sums where it is reduced (FX, FY of a
 * convolution's inputs). Source: Yang et al., "Interstellar", ASPLOS 2020, and the authors' program. */
void interstellar_reuse_compile(const struct problem *problem, struct interstellar_reuse *out);

/* The reuse loops that cost nothing at their level: those inside its innermost loop that is relevant.
 * `present` (bit d) are the loops that stand at the level, temporal or only spatial; `order` (n_dim) is its
 * temporal_order, innermost first. Their temporal factor at the level is left out of the count. */
static inline uint32_t reuse_exclusive(const struct reuse_tensor *tensor, uint32_t present,
                                       const uint8_t *order, uint32_t n_dim)
{
    uint32_t exclusive = 0;
    if (!(present & tensor->relevant))
        return present;
    for (uint32_t i = 0; i < n_dim; i++) {
        uint32_t bit = 1u << order[i];
        if (present & tensor->relevant & bit)
            break;
        exclusive |= present & bit;
    }
    return exclusive;
}

/* The visits of each word, where product[d] (n_dim) is what is left of reuse dimension d: its temporal
 * factors at the level (but for exclusive ones) and further out, times its spatial factors of the arrays at
 * the level and further out. Others are not looked at. Example: inputs of AlexNet CONV1 (FX = FY = 11, stride
 * 4) with product FX 11, FY 1, OC 6: 4 by REUSE_COMPAT (66 / 16), 16.5 by REUSE_SANE (11/4 * 1 * 6). */
double reuse_count(const struct reuse_tensor *tensor, enum reuse_rule rule, const double *product);

/* Accesses of each word for so many visits: an output's partial sums are written every time and read before
 * each but the first. */
static inline double reuse_accesses(const struct reuse_tensor *tensor, double count)
{
    return tensor->output ? 2 * count - 1 : count;
}

#endif
