/* What Interstellar's searches need of a problem and a machine, compiled once: what an access and a hop of
 * each tensor cost at each level, which loop orders can be optimal, and what a memory holds. Levels and
 * arrays are those of struct mapping: the array of level v lies between v and the level inside it, that of
 * level 0 between it and the MACs. */
#ifndef ENGINES_INTERSTELLAR_BLOCKING_MODEL_H
#define ENGINES_INTERSTELLAR_BLOCKING_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/interstellar/reuse.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/interstellar/blocking_limits.h"

enum { BLOCKING_ORDER_MAX = 32 };

/* The loops of a level that are exclusive, by tensor, when its order puts the reuse of one tensor first, then
 * what of it is reuse of a second too, and so on: no other order is better than the best of these. */
struct blocking_order {
    uint32_t exclusive[PROBLEM_TENSOR_MAX]; /* bit d */
    uint8_t place[PROBLEM_DIM_MAX];         /* (n_dim) such an order of the dimensions, innermost first */
};

/* One memory of a level: what it must hold together. */
struct blocking_memory {
    uint32_t tensors; /* bit t */
    double most_word; /* of one instance */
    double least_word;
    bool more_than_least; /* exactly the least is not enough either */
};

struct blocking_level {
    uint32_t side[2]; /* of the array below: X and Y, or Y and 1 where X is 1; 1 x 1: none */
    bool only_y;      /* side[0] is Y */
    uint32_t link;
    /* One visit of every word of a tensor costs, at this level or the one further out that serves it for this
     * one, visit_j, less first_j once: the first visit of a partial sum does not read. */
    double visit_j[PROBLEM_TENSOR_MAX], first_j[PROBLEM_TENSOR_MAX];
    double hop_j[PROBLEM_TENSOR_MAX];   /* one hop of every word in the array below */
    double enter_j[PROBLEM_TENSOR_MAX]; /* every word on its way into it */
    /* Tensors that a level further in asks for, as the levels between do not keep them (bit t). If an array
     * lies between, too, a visit costs this much there: here, by a hop here, on the way into the array here.
     */
    uint32_t passes;
    double lend_j[PROBLEM_TENSOR_MAX], pass_hop_j[PROBLEM_TENSOR_MAX], pass_enter_j[PROBLEM_TENSOR_MAX];
    uint32_t n_memory;
    struct blocking_memory memory[TENSOR_ROLE_COUNT];
    uint32_t keeps;                                                          /* bit t */
    bool limited;                                                            /* by one of these bandwidths */
    double read_word_per_cycle, write_word_per_cycle, shared_word_per_cycle; /* of an instance */
    uint32_t group;     /* whose banks it shares, counted from 1; 0: none */
    uint32_t bank_word; /* of one of them */
    uint32_t most_bank; /* for it and those of the group further out: each one further in has one at least */
    bool open;          /* there are some further in */
};

/* The ranks of a tensor, close together: terms begin[r] .. begin[r + 1] - 1 add up in rank r. */
struct blocking_box {
    uint32_t n_rank;
    uint8_t begin[PROBLEM_RANK_MAX + 1];
    uint8_t dim[PROBLEM_RANK_MAX * PROBLEM_TERM_MAX];
    uint32_t coefficient[PROBLEM_RANK_MAX * PROBLEM_TERM_MAX];
};

struct blocking_model {
    const struct problem *problem;
    struct blocking_limits *limits; /* of the search, which listing its space keeps too; NULL: none */
    struct blocking_box box[PROBLEM_TENSOR_MAX];
    struct interstellar_reuse reuse;
    enum reuse_rule rule;
    uint32_t n_dim, n_level, n_tensor;
    bool mac_holds; /* the MACs hold operands: the order of level 0 counts */
    bool exact;     /* energies and fits are those of the accounting; else near to them */
    double mac_j;   /* of all MACs */
    uint32_t loops; /* bit d: dimension d has more than one iteration */
    bool owes;      /* some lend_j, pass_hop_j or pass_enter_j is there */
    bool padded;    /* factors may multiply to more than a bound */
    /* With a limit of time: the level whose words are counted further in too, as levels between do not keep
     * them; -1: none. `times`: there is at most one, so that time is exact. */
    int pending;
    bool times;
    uint32_t n_order;
    struct blocking_order order[BLOCKING_ORDER_MAX];
    struct blocking_level level[ARCH_LEVEL_MAX];
};

/* The array below level v has more than one instance. */
static inline bool blocking_has_array(const struct blocking_model *model, uint32_t v)
{
    return model->level[v].side[0] > 1;
}

struct blocking_rules {
    enum reuse_rule reuse;
    bool half_full; /* levels must be used as their min_utilization says */
    bool padded;    /* factors may multiply to more than a bound */
    bool timed;     /* time counts, too */
};

/* Problem and machine have been checked. */
void blocking_model_compile(const struct problem *problem, const struct architecture *arch,
                            const struct blocking_rules *rules, struct blocking_model *out);

/* Do the tiles of extent[d] (n_dim) fit into so many instances of level v, by the accounting's rule or,
 * where it has none for several together, as far as can be said? With `least`, are they large enough too? */
bool blocking_fits(const struct blocking_model *model, uint32_t v, const uint32_t *extent, double instances,
                   bool least);

/* Level v's tiles of extent[d] (n_dim) in one instance take banks of the group that it shares, if it does, on
 * top of those that levels further out have taken (ARCH_GROUP_MAX groups); behind the innermost of a group
 * none of its count any more. False: it has not so many. */
bool blocking_take_banks(const struct blocking_model *model, uint32_t v, const uint32_t *extent,
                         uint32_t *taken);

/* Words of a tensor's tile of extent[d] (n_dim); `loose`: without the gaps that strides leave, so that no
 * parts of a tile need less together. */
uint64_t blocking_tile_words(const struct blocking_box *box, const uint32_t *extent, bool loose);

/* product[d] (n_dim): the iterations of order number k at level v that count for tensor t, when the loops
 * further out and the array above make outside[d] without, and inside[d] with the level's own loops. */
static inline void blocking_product(const struct blocking_model *model, uint32_t v, uint32_t k, uint32_t t,
                                    const double *outside, const double *inside, double *product)
{
    const uint32_t exclusive = v > 0 || model->mac_holds ? model->order[k].exclusive[t] : 0;
    for (uint32_t d = 0; d < model->n_dim; d++)
        product[d] = exclusive >> d & 1 ? outside[d] : inside[d];
}

/* How often level v serves every word of each tensor (n_tensor), with the iterations of
 * blocking_product. */
void blocking_counts(const struct blocking_model *model, uint32_t v, uint32_t k, const double *outside,
                     const double *inside, double *count);

/* The energy of level v for so many visits of each word of tensor t, with those `hops` of each in its
 * array. */
static inline double blocking_visit_energy(const struct blocking_model *model, uint32_t v, uint32_t t,
                                           double count, double hops)
{
    const struct blocking_level *level = &model->level[v];
    return count * (level->visit_j[t] + level->enter_j[t] + hops * level->hop_j[t]) - level->first_j[t];
}

#endif
