/* Proofs where time counts: searches for least energy, one after the other, each allowed fewer cycles than
 * the one before. */
#ifndef ENGINES_INTERSTELLAR_TIME_PASSES_H
#define ENGINES_INTERSTELLAR_TIME_PASSES_H

#include <stdbool.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"
#include "engines/driver/objective.h"

struct time_passes {
    struct objective objective;
    const struct architecture *arch; /* what leaks comes on top of the energies of searches */
    double macs, clock_hz;
    double wait_cycle;  /* of all networks, whatever the mapping */
    double least_cycle; /* no mapping takes fewer, waits apart */
    double most_cycle;  /* of the present search, waits apart; INFINITY: any */
    double below_j;     /* more energy than this is of no use to it; INFINITY: any */
    double passed;      /* no mapping that is ruled out by the searches so far costs less */
};

/* With at most so many MACs in use. The machine is borrowed. */
void time_passes_begin(struct time_passes *passes, const struct objective *objective,
                       const struct problem *problem, const struct architecture *arch, double most_mac);

/* The present search has ended with no mapping, or with `energy_j`, the least; best_cost is the least cost of
 * any mapping so far. True: there is another search to do. */
bool time_passes_next(struct time_passes *passes, bool found, double energy_j, double best_cost);

/* Does the time of a mapping matter, beside the energy that a search finds? */
bool time_passes_timed(const struct time_passes *passes);

/* The present search is left unfinished: it would not find less than bound_j. */
void time_passes_leave(struct time_passes *passes, double bound_j);

#endif
