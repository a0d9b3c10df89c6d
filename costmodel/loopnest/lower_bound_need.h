/* What each tensor must cost at least on a machine, whatever the spread of loops over its MACs; part of the
 * lower bound (docs/lower-bounds.md). */
#ifndef COSTMODEL_LOOPNEST_LOWER_BOUND_NEED_H
#define COSTMODEL_LOOPNEST_LOWER_BOUND_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* The evaluator adds up in its own order, so a mapping that meets the bound exactly may come out a few last
 * digits lower; this keeps the bound below. */
#define BOUND_SLACK 1e-12

enum {
    BOUND_SCAN_MAX = 1 << 16, /* meshes wider than this are not searched for whole factors */
    ANSWER_MAX = 64,          /* spreads are products of few factors: the same come again and again */
};

/* Of one tensor, before the machine is looked at. */
struct tensor_need {
    uint64_t box_word;      /* its bounding box */
    uint64_t touched_word;  /* at least this many words are touched (exact up to two terms a rank) */
    uint64_t anchored_word; /* product of its anchors: one dimension per rank, the longest */
    uint32_t sharing_dims;  /* bit d: not an anchor; iterations that differ only here may use the same word */
    uint64_t sharing;       /* product of the bounds of those */
    bool plain;             /* every rank is one dimension with coefficient 1, no dimension twice */
};

/* One tensor on the machine. */
struct tensor_view {
    const struct tensor *tensor;
    struct tensor_need need;
    int home;                              /* the outermost level that may hold it, or -1 */
    uint64_t most_sharing[ARCH_LEVEL_MAX]; /* (n_level) most MACs that one access at level l serves */
    double home_j;                         /* of the words that leave or reach the home level */
    double fill_j[ARCH_LEVEL_MAX];         /* (n_level) of the fills of level l, when it is the innermost */
    uint64_t asked[ANSWER_MAX];            /* what bound_tensor_least was asked, by a hash; 0: nothing yet */
    double answer_j[ANSWER_MAX];           /* and what it said */
};

struct bound_context {
    const struct problem *problem;
    const struct architecture *arch;
    double macs;
    uint64_t parallel;                /* most MACs at work at once */
    double instances[ARCH_LEVEL_MAX]; /* (n_level) most of level l in use */
    /* (n_level) the share of accesses that is charged: clusters / instances */
    double charged[ARCH_LEVEL_MAX];
    struct tensor_view view[PROBLEM_TENSOR_MAX];
};

/* How many values a*i + b*j takes, i < n, j < m. */
uint64_t bound_two_term_values(uint64_t a, uint64_t n, uint64_t b, uint64_t m);

/* Of tensor `t` of a checked problem. */
struct tensor_need bound_tensor_need(const struct problem *problem, uint32_t t);

static inline uint64_t bound_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Fill what follows from problem and machine, which are set. */
void bound_look(struct bound_context *c);

/* The least a tensor that has a home costs when at most `spread` MACs share a word of it. */
double bound_tensor_least(const struct bound_context *c, struct tensor_view *view, uint64_t spread);

/* Words that enter the network below its home, less what outputs can take off the total; may be negative. */
double bound_ingress_energy(const struct bound_context *c, const struct tensor_view *view);

/* Cycles of the busiest level (docs/cost-model.md, "Time and fit"). */
double bound_bandwidth_cycles(const struct bound_context *c);

#endif
