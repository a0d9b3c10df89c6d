/* Mind Mappings' phase 2: descents on a surrogate over the map space. A step follows the gradient of what the
 * network predicts, in its normalised inputs, and projects to the nearest member; every so often a random
 * mapping is injected (section 4.2 of the paper, K. Hegde et al., ASPLOS 2021). */
#ifndef ENGINES_MINDMAPPINGS_MM_WALK_H
#define ENGINES_MINDMAPPINGS_MM_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "engines/driver/objective.h"
#include "engines/mindmappings/mm_model.h"
#include "engines/mindmappings/mm_space.h"

struct mm_walk_options {
    double rate;        /* of a step, in normalised inputs */
    bool doubles;       /* the rate, until the projected mapping changes; it falls back at an injection */
    bool gives_up;      /* a random mapping at once where no rate changes the mapping */
    bool halves;        /* the rate, when a step's prediction is worse */
    uint32_t injection; /* steps from one random mapping to the next, which is a step, too */
    bool annealed;      /* an injection may be refused, by a falling temperature; else it never is */
    enum mm_distance distance; /* of the projection */
    bool from_projection;      /* a step starts at the member, else at the real-valued point */
    bool outputs;              /* what falls is the sum of all outputs, else the logarithm of the objective */
};

/* What did best in searches of 1,000 steps (docs/engines.md): what the engine does unless told otherwise,
 * and so what a network's trial is. */
struct mm_walk_options mm_walk_standard(void);

struct mm_walk;

/* Start at a random mapping. `space` and `net`, one of `model`, must outlive it; memory from `arena`.
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status mm_walk_new(const struct mm_space *space, const struct mm_model *model,
                                           const struct mm_net *net, const struct objective *objective,
                                           const struct mm_walk_options *options, struct random_stream stream,
                                           struct arena *arena, struct mm_walk **out, struct dse_error *err);

/* The next mapping, the random one first, and what the network holds it to cost: comparable within a walk.
 * Returns whether a descent begins with it. */
bool mm_walk_next(struct mm_walk *walk, struct mm_mapping *mapping, double *predicted);

#endif
