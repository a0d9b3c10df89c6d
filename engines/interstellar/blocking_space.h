/* The space of blockings: one state of its ways for each loop, layer by layer, with one choice of loops for
 * each array. What both modes of the search walk over. */
#ifndef ENGINES_INTERSTELLAR_BLOCKING_SPACE_H
#define ENGINES_INTERSTELLAR_BLOCKING_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/model/mapping.h"
#include "engines/interstellar/array_choice.h"
#include "engines/interstellar/blocking_debt.h"
#include "engines/interstellar/blocking_model.h"
#include "engines/interstellar/loop_paths.h"

/* A state for each loop (n_dim), all of one layer. */
struct blocking_node {
    uint16_t state[PROBLEM_DIM_MAX];
};

enum { BLOCKING_NO_STEP = 0xffff };

/* Choices for the array of a level, and where they lead. */
struct blocking_array {
    struct array_choices list;
    uint16_t *kind; /* (n choices, n_dim) which of the loop's factors, counted from 0 */
    uint16_t n_kind[PROBLEM_DIM_MAX];
    uint16_t
        *step[PROBLEM_DIM_MAX]; /* [d](n states before, n_kind[d]) the state behind, or BLOCKING_NO_STEP */
    uint32_t n_word;
    uint64_t *open[PROBLEM_DIM_MAX];        /* [d](n states before, n_word) bit c: choice c leads somewhere */
    double least_hop[PROBLEM_TENSOR_MAX];   /* over all choices */
    float *share[PROBLEM_TENSOR_MAX];       /* [t](n choices) 1 over the iterations that index tensor t */
    float *least_share[PROBLEM_TENSOR_MAX]; /* [t](n_word) of 64 choices */
};

struct blocking_space {
    struct blocking_model model;
    struct loop_paths path[PROBLEM_DIM_MAX];         /* (n_dim) */
    struct blocking_array array[ARCH_LEVEL_MAX];     /* (n_level) where there is an array */
    struct blocking_debt least_debt[ARCH_LEVEL_MAX]; /* [v] of all in front of level v, at least */
    double most_cycle;               /* no point takes longer; INFINITY: time does not count */
    bool counts_use;                 /* instances in use are told apart further in */
    double most_use[ARCH_LEVEL_MAX]; /* [v] of the arrays below level v and further in together */
};

struct blocking_settings {
    enum reuse_rule rule;
    bool half_full;
    double pad;        /* bounds up to so many times a loop's are tried; 1: exact factors only */
    double most_cycle; /* of steps and bandwidths; 0: any */
    struct array_rule array;
    struct blocking_limits *limits; /* NULL: none */
};

/* Compile; `hint` may be NULL. Memory from `arena`, and the choices' own: blocking_space_free, also after a
 * failure, when it was zeroed before. Where a limit was met the space is not to be used. Errors of its
 * parts. */
DSE_MUST_CHECK enum dse_status blocking_space_build(const struct problem *problem,
                                                    const struct architecture *arch,
                                                    const struct interstellar_hint *hint,
                                                    const struct blocking_settings *settings,
                                                    struct arena *arena, struct blocking_space *out,
                                                    struct dse_error *err);
void blocking_space_free(struct blocking_space *space);

/* The product of a choice's factors. */
static inline double space_use(const struct blocking_space *space, const struct array_choice *choice)
{
    double use = 1;
    for (uint32_t d = 0; d < space->model.n_dim; d++)
        use *= choice->factor[d];
    return use;
}

static inline const struct loop_state *space_state(const struct blocking_space *space, uint32_t layer,
                                                   uint32_t d, const struct blocking_node *node)
{
    return &space->path[d].layer[layer].state[node->state[d]];
}

/* outer[d] (n_dim): the iterations of all steps up to this node. */
void space_outer(const struct blocking_space *space, uint32_t layer, const struct blocking_node *node,
                 double *outer);

/* Words of each tensor's tile (n_tensor) at a node, without the gaps that strides leave: parts of it have no
 * less together. */
void space_tile_words(const struct blocking_space *space, uint32_t layer, const struct blocking_node *node,
                      double *words);

/* The choices w * 64 + i for the array below level v, bit i, whose factors divide what is left of a node
 * behind its temporal step. */
static inline uint64_t space_open_choices(const struct blocking_space *space, uint32_t v,
                                          const struct blocking_node *node, uint32_t w)
{
    const struct blocking_array *array = &space->array[v];
    uint64_t open = UINT64_MAX;
    for (uint32_t d = 0; d < space->model.n_dim && open; d++)
        open &= array->open[d][(size_t)node->state[d] * array->n_word + w];
    return open;
}

/* The node behind choice c of the array below level v; false where it leads nowhere, or to tiles that the
 * level inside does not hold or that use it too little. */
bool space_choose(const struct blocking_space *space, uint32_t v, uint32_t c,
                  const struct blocking_node *from, struct blocking_node *to);

/* blocking_take_banks of the tiles of level v at the node in front of its temporal step. */
bool space_take_banks(const struct blocking_space *space, uint32_t v, const struct blocking_node *node,
                      uint32_t *taken);

/* The debts in front of level v - 1 behind choice c of the array below level v, if there is one. */
void space_debt(const struct blocking_space *space, uint32_t v, uint32_t c, const struct blocking_debt *in,
                struct blocking_debt *out);

/* Calls visit for every node of the layer behind the temporal step of level v that `from` leads to (NULL: any
 * of the layer before) and whose tiles the array below or, without one, the level inside can hold, in a fixed
 * order; until it returns false. */
typedef bool space_visit(void *payload, const struct blocking_node *node);
bool space_list(const struct blocking_space *space, uint32_t v, const struct blocking_node *from,
                space_visit *visit, void *payload);

/* One way through all levels. */
struct blocking_point {
    struct blocking_node tile[ARCH_LEVEL_MAX]; /* [v] behind the temporal step of level v */
    struct blocking_node bank[ARCH_LEVEL_MAX]; /* [v] behind its array */
    uint32_t choice[ARCH_LEVEL_MAX];           /* [v] of its array */
    uint32_t order[ARCH_LEVEL_MAX];            /* [v] of its temporal loops */
};

/* The same as a mapping. */
void blocking_point_mapping(const struct blocking_space *space, const struct architecture *arch,
                            const struct blocking_point *point, struct mapping *out);

#endif
