/* Temperatures for an annealing found by trial moves at fixed ones, as the Python package simanneal finds
 * them: the first where nearly all moves are taken, the last where none makes the point better, each reached
 * by steps of a constant factor. */
#ifndef ENGINES_SEARCH_ANNEALING_TUNE_H
#define ENGINES_SEARCH_ANNEALING_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/search/annealing.h"

struct annealing_tune_options {
    uint64_t n_trial; /* moves at one temperature */
    double factor;    /* > 1, between two temperatures */
    double accepted;  /* the share of moves taken at the first temperature */
};

struct annealing_tune;

/* Start at the space's present point, which costs `cost`; temperatures are those of ANNEALING_ABSOLUTE. Of
 * the hooks only propose and undo are called. Memory from `arena`; `space` is copied, its self must outlive
 * this. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status annealing_tune_new(const struct annealing_space *space,
                                                  const struct annealing_tune_options *options, double cost,
                                                  struct random_stream stream, struct arena *arena,
                                                  struct annealing_tune **out, struct dse_error *err);

/* Up to n moves. False when the temperatures are found, or the space is over. */
bool annealing_tune_step(struct annealing_tune *tune, uint64_t n);

/* The temperatures, first >= last > 0; false when it has not come to them. */
bool annealing_tune_found(const struct annealing_tune *tune, double *first, double *last);

#endif
