/* Simulated annealing that changes one point in place, so that a move is cheap to make and to take back even
 * where a point is large (fused schedules). Where points are small, a proposal may be a copy (the mapper
 * `annealing`). */
#ifndef ENGINES_SEARCH_ANNEALING_H
#define ENGINES_SEARCH_ANNEALING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/search/search_space.h"

/* The point and its moves. Hooks that fail for want of memory remember that in `self` and say SEARCH_OVER. */
struct annealing_space {
    void *self; /* handed to every hook */
    /* Change the point by a random move and price it. SEARCH_INFEASIBLE: nothing was changed (also when no
     * move was found); it counts as a round all the same. SEARCH_OVER: nothing was changed, stop. On entry
     * *cost is the most that would be taken: a hook that finds out early that the point costs more may say
     * SEARCH_INFEASIBLE, with the same outcome. */
    enum search_outcome (*propose)(void *self, struct random_stream *stream, double *cost);
    /* Take the last priced proposal back. */
    void (*undo)(void *self);
    /* The point is the best so far: remember it. */
    void (*keep)(void *self);
    /* Make the remembered point the present one. */
    void (*restore)(void *self);
};

/* What a temperature T means, and how it falls over the rounds of a descent. */
enum annealing_rule {
    /* T(x) = first_temperature (1 - x) / (1 + alpha x) with x = round / n_round (SoMa, HPCA 2025, section
     * V-C, in the form that reaches 0). A point that costs `change` more is taken with probability
     * exp(-change / T), where `change` is relative: (new - old) / (old - reference). */
    ANNEALING_RELATIVE,
    /* Geometric from first_temperature to last_temperature. A point that costs x times as much is taken with
     * probability x^(-1/T). Costs are > 0. */
    ANNEALING_RATIO,
    /* The same temperatures. A point that costs `change` more is taken with probability exp(-change / T)
     * (Kirkpatrick et al., "Optimization by Simulated Annealing", Science 220, 1983). */
    ANNEALING_ABSOLUTE,
};

struct annealing_options {
    enum annealing_rule rule;
    uint64_t n_round;
    double first_temperature, alpha, last_temperature;
    uint32_t n_restart;  /* not RELATIVE: further descents of n_round, each from the best point so far */
    double reference;    /* 0: relative to the whole cost; a lower bound: relative to what is above it */
    double return_share; /* at this share of the rounds go back to the best point, once; 1: never */
    /* rounds behind the last one, from the best point on, that take only what is better (section V-C's Y) */
    uint64_t greedy_round;
};

struct annealing;

/* Start at the space's present point, which costs `cost` and is kept as the best. Memory from `arena`;
 * `space` is copied, its self must outlive the walk. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status annealing_new(const struct annealing_space *space,
                                             const struct annealing_options *options, double cost,
                                             struct random_stream stream, struct arena *arena,
                                             struct annealing **made, struct dse_error *err);

/* Up to n rounds. False when the walk has ended: all rounds done or space over. */
bool annealing_step(struct annealing *walk, uint64_t n);

/* From now on only the greedy rounds: the termination time has come. */
void annealing_end_early(struct annealing *walk);

uint64_t annealing_rounds(const struct annealing *walk); /* done so far */

#endif
