/* Where the spatial loops of a level may lie on its mesh, as far as it matters: how far words have to go. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_PLACES_H
#define ENGINES_OPTIMAL_OPTIMAL_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/loopnest/mesh_hops.h"
#include "engines/optimal/optimal_model.h"

enum { OPTIMAL_PLACE_MAX = 1024, OPTIMAL_SUM_MAX = 24 };

struct optimal_place {
    uint8_t
        order[PROBLEM_DIM_MAX]; /* (n_dim) spatial loops, inner first, those along X before those along Y */
    uint8_t split;              /* how many lie along X */
    bool open;                  /* it stands for all places: none is known to be best */
    double hops[PROBLEM_TENSOR_MAX]; /* (n_tensor) at least, for a word to each group of children */
    /* where two of the loops move one rank of the window tensor: its hops, by how its tiles repeat */
    uint32_t n_sum;
    struct optimal_sum {
        uint32_t repeat; /* of optimal_places.c */
        double hops;
    } sum[OPTIMAL_SUM_MAX]; /* (n_sum) */
};

struct optimal_places {
    const struct optimal_model *model;
    struct hop_scratch scratch;
};

/* Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_places_new(const struct optimal_model *model, struct arena *arena,
                                                  struct optimal_places *out, struct dse_error *err);

/* The places of level l's factors (n_dim), which fit, that no other one beats in the hops of every tensor;
 * returns how many. Where hops cost nothing it is one; where two loops move one rank, it is an open one. */
uint32_t optimal_places_list(const struct optimal_places *places, uint32_t l, const uint32_t *factor,
                             struct optimal_place *out);

/* All that fit, one after the other; false when `visit` has returned false. Places that lie in the same way
 * are one. */
typedef bool (*optimal_place_visit)(void *self, const struct optimal_place *place);
bool optimal_places_all(const struct optimal_model *model, uint32_t l, const uint32_t *factor,
                        optimal_place_visit visit, void *self);

/* For two loops that move one rank of the window tensor: the places of level l that are `worth` it as they
 * are known so far, with what is known of their hops for every tile; returns how many. Not `all`: there
 * are too many. */
uint32_t optimal_places_diagonal(const struct optimal_places *places, const struct optimal_spread *spread,
                                 uint32_t l, optimal_place_visit worth, void *self, bool *all,
                                 struct optimal_place *out);

/* Hops of tensor t below level l; `known`: the spatial loops begin at `node`. */
double optimal_hops(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                    uint32_t t, bool known, uint32_t node);

/* The places of all levels of a spread, one combination after the other. */
struct optimal_menu {
    struct optimal_places places;
    uint64_t n_pick; /* combinations */
    bool expanded;
    uint32_t n_place[ARCH_LEVEL_MAX], pick[ARCH_LEVEL_MAX];
    struct optimal_place (*place)[OPTIMAL_PLACE_MAX]; /* (n_level, n_place of the level) */
    struct optimal_place *diagonal;                   /* scratch */
};

/* Memory from `arena`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_menu_new(const struct optimal_model *model, struct arena *arena,
                                                struct optimal_menu **out, struct dse_error *err);

/* List the places of a spread, and pick the first of each level. */
void optimal_menu_begin(struct optimal_menu *menu, const struct optimal_spread *spread);

/* Set `place` of the spread: they live until the next call but this and optimal_menu_next. */
void optimal_menu_pick(const struct optimal_menu *menu, struct optimal_spread *spread);

/* Pick the next combination; false: there is none, the first is picked. */
bool optimal_menu_next(struct optimal_menu *menu);

/* List the places of two loops that move one rank, too, if that has not been done: they are dear. `worth` is
 * asked for the spread with one place set. False: nothing has changed; else the first combination is picked,
 * if there is one. */
typedef bool (*optimal_spread_worth)(void *self, const struct optimal_spread *spread);
bool optimal_menu_expand(struct optimal_menu *menu, const struct optimal_spread *spread,
                         optimal_spread_worth worth, void *self);

#endif
