/* What a network is worth in a search: how well networks rank mappings says little about it, so those of a
 * model are told apart by searches on problems that none has seen. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_TRIAL_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_TRIAL_H

#include <stdatomic.h>

#include "base/status.h"
#include "engines/mindmappings/mm_model.h"
#include "engines/mindmappings/training/mm_data.h"

enum { MM_TRIAL_PROBLEM_MAX = 40, MM_TRIAL_STEPS = 200 };

/* The geometric mean, over n_problem problems (at most MM_TRIAL_PROBLEM_MAX), of the lowest EDP over the
 * algorithmic minimum that MM_TRIAL_STEPS steps with network `net` come to, by mm_walk_standard. `draws` are
 * those of the training data. DSE_NO_MEMORY, DSE_INTERRUPTED. */
DSE_MUST_CHECK enum dse_status mm_trial(const struct mm_model *model, uint32_t net,
                                        const struct mm_draws *draws, uint32_t n_problem, int n_thread,
                                        const atomic_int *cancel, double *mean, struct dse_error *err);

#endif
