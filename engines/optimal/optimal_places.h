/* Where the spatial loops of a level may lie on its mesh, as far as it matters: how far words have to go. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_PLACES_H
#define ENGINES_OPTIMAL_OPTIMAL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/loopnest/mesh_hops.h"
#include "engines/optimal/optimal_model.h"

enum { OPTIMAL_PLACE_MAX = 64 };

struct optimal_place {
    uint8_t
        order[PROBLEM_DIM_MAX]; /* (n_dim) spatial loops, inner first, those along X before those along Y */
    uint8_t split;              /* how many lie along X */
    double mean[PROBLEM_TENSOR_MAX]; /* (n_tensor) hops of an access of the level; less is never worse */
    double hops[PROBLEM_TENSOR_MAX]; /* (n_tensor) the same at least, as words are counted here */
    bool open;                       /* it stands for all places: none is known to be best */
};

struct optimal_places {
    const struct optimal_model *model;
    struct hop_scratch scratch;
};

/* Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_places_new(const struct optimal_model *model, struct arena *arena,
                                                  struct optimal_places *out, struct dse_error *err);

/* The places of level l's factors (n_dim), which fit, that no other one beats in the hops of every tensor;
 * returns how many. Where hops cost nothing it is one. */
uint32_t optimal_places_list(const struct optimal_places *places, uint32_t l, const uint32_t *factor,
                             struct optimal_place *out);

/* The same, but all that fit, one after the other; false when `visit` has returned false. */
typedef bool (*optimal_place_visit)(void *self, const struct optimal_place *place);
bool optimal_places_all(const struct optimal_model *model, uint32_t l, const uint32_t *factor,
                        optimal_place_visit visit, void *self);

#endif
