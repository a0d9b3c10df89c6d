/* The data that a surrogate is trained on: mappings drawn from the map spaces of many problems, and what each
 * costs over its problem's algorithmic minimum (MM_MINIMUM_CODE). */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_DATA_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_DATA_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "engines/mindmappings/mm_space.h"
#include "engines/mindmappings/training/mm_problems.h"

/* Sample i is mapping i % n_each of problem i / n_each. */
struct mm_data {
    const struct mm_algorithm *algorithm;
    uint32_t n, n_each;
    uint16_t *vector; /* (n, n_value) */
    float *ratio;     /* (n, n_cost) */
};

/* Room for n samples. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mm_data_new(const struct mm_algorithm *algorithm, uint32_t n, uint32_t n_each,
                                           struct arena *arena, struct mm_data *data, struct dse_error *err);

/* How samples are drawn; borrowed. */
struct mm_draws {
    const struct mm_machine *machine;
    const struct mm_problems *problems;
    enum mm_mode mode;
    uint64_t seed;
    bool unseen; /* of problems that are kept for tests, and of other streams */
};

/* Draw the samples of the problems first .. first + n_problem - 1 of `data` (the last one may have fewer).
 * Each problem has a stream of its own, so the samples do not depend on threads or order. DSE_INTERRUPTED:
 * `cancel` (may be NULL) was set. DSE_LIMIT: a size beyond 65535. */
DSE_MUST_CHECK enum dse_status mm_data_draw(const struct mm_draws *draws, struct mm_data *data,
                                            uint32_t first, uint32_t n_problem, int n_thread,
                                            const atomic_int *cancel, struct dse_error *err);

/* Whether all is as it may be: vectors of members of their problems' spaces are not asked for, but finite
 * costs >= 0 (utilization, energy and cycles > 0), and factors that multiply to the sizes. DSE_BAD_INPUT
 * names the first sample that is not. */
DSE_MUST_CHECK enum dse_status mm_data_check(const struct mm_data *data, struct dse_error *err);

#endif
