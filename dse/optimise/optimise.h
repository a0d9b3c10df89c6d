/* The memory hierarchy of least energy for some layers, proved while few of all hierarchies are priced. */
#ifndef DSE_OPTIMISE_OPTIMISE_H
#define DSE_OPTIMISE_OPTIMISE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dse/console/progress.h"
#include "dse/optimise/hierarchies.h"
#include "dse/solve/solve.h"

/* What one search for a layer on a hierarchy gave. */
struct layer_price {
    bool known;
    double energy_j; /* INFINITY: no mapping */
    uint64_t latency_cycle;
};

struct optimise {
    const struct hierarchies *all;
    const struct solve_settings *settings; /* of engine interstellar, objective energy, no constraints */
    const char *dataflow;                  /* NULL: any */
    uint32_t n_problem;
    const struct problem *const *problem; /* (n_problem) */
    int n_thread;
    const atomic_int *cancel;
    struct progress *progress;    /* NULL: nobody looks; points are hierarchies, tasks their layers */
    struct layer_price *price;    /* (all->n, n_problem) owned */
    struct optimise_cuts *cuts;   /* owned */
    uint64_t n_search, n_relaxed; /* searches of layers; of these on relaxed machines */
    bool unproved;                /* a search ended without a proof */
};

/* In what hierarchies can be compared. */
enum optimise_front { FRONT_ENERGY, FRONT_LATENCY, FRONT_ONCHIP, FRONT_AREA, FRONT_AXES };

/* What to look for. */
struct optimise_goal {
    const double *weight; /* (n_problem) of the problem's energy; 0: it is no part of it */
    bool every;           /* price all hierarchies */
    /* as pareto_front wants them: all that are not beaten in these; all 0: only the best */
    int front[FRONT_AXES];
};

struct optimise_answer {
    int32_t best;      /* of least energy, the first of equals; -1: every hierarchy lacks a layer's mapping */
    double energy_j;   /* weighted */
    uint32_t n_priced; /* hierarchies whose layers were all searched */
    size_t n_front;
    size_t *front; /* (n_front) owned */
};

/* Members above `price` are set by the caller. Release with optimise_free, also after a failure.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimise_begin(struct optimise *o, struct dse_error *err);
void optimise_free(struct optimise *o);

/* Find it; prices known from earlier calls are used again. Release the answer with free(front). The same
 * for any number of threads. DSE_INTERRUPTED; DSE_NO_MEMORY; DSE_BAD_INPUT: a search failed, with its
 * reason. */
DSE_MUST_CHECK enum dse_status optimise_find(struct optimise *o, const struct optimise_goal *goal,
                                             struct optimise_answer *answer, struct dse_error *err);

/* Search problem p on a hierarchy once more, for its mapping. Memory from `arena`. Errors as
 * optimise_find. */
DSE_MUST_CHECK enum dse_status optimise_map(const struct optimise *o, uint32_t hierarchy, uint32_t p,
                                            struct arena *arena, struct solve_result *result,
                                            struct dse_error *err);

#endif
