/* Simulated annealing that changes one point in place: for spaces where a move is cheap to make and to take
 * back but a point is large (fused schedules). Beside annealing.h, which copies points. */
#ifndef ENGINES_SEARCH_ANNEALING_WALK_H
#define ENGINES_SEARCH_ANNEALING_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/search/search_space.h"

/* The point and its moves. Hooks that fail for want of memory remember that in `self` and say SEARCH_OVER. */
struct walk_space {
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

/* T(x) = first_temperature (1 - x) / (1 + alpha x) with x = round / n_round (SoMa, HPCA 2025, section V-C, in
 * the form that reaches 0). A point that costs `change` more is taken with probability exp(-change / T),
 * where `change` is relative: (new - old) / (old - reference). */
struct walk_options {
    uint64_t n_round;
    double first_temperature, alpha;
    double reference;    /* 0: relative to the whole cost; a lower bound: relative to what is above it */
    double return_share; /* at this share of the rounds go back to the best point, once; 1: never */
    /* rounds behind the last one, from the best point on, that take only what is better (section V-C's Y) */
    uint64_t greedy_round;
};

struct walk;

/* Start at the space's present point, which costs `cost` and is kept as the best. Memory from `arena`;
 * `space` is copied, its self must outlive the walk. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status walk_new(const struct walk_space *space, const struct walk_options *options,
                                        double cost, struct random_stream stream, struct arena *arena,
                                        struct walk **made, struct dse_error *err);

/* Up to n rounds. False when the walk has ended: all rounds done or space over. */
bool walk_step(struct walk *walk, uint64_t n);

/* From now on only the greedy rounds: the termination time has come. */
void walk_end_early(struct walk *walk);

uint64_t walk_rounds(const struct walk *walk); /* done so far */

#endif
