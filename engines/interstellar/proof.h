/* Branch and bound over blockings, in parts: bounds (proof_bound.c), the best way inwards from a tile
 * (proof_inwards.c), and the outermost level (blocking_proof.c). Private to the room. */
#ifndef ENGINES_INTERSTELLAR_PROOF_H
#define ENGINES_INTERSTELLAR_PROOF_H

#include "engines/interstellar/blocking_search.h"

/* One way on from a tile: through a choice for the array below its level. */
struct way {
    double inner_j; /* what lies inside, at best */
    uint32_t choice;
    double hop[PROBLEM_TENSOR_MAX];
};

/* In the arena. */
struct way_list {
    struct way_list *next; /* for another load in front */
    uint32_t load;
    uint32_t n;
    struct way *way; /* (n) no other is better in everything */
    double below_j;  /* of inner_j: all are there whose is less; INFINITY: all that can be part of the best */
};

/* What the way to a node brings along that counts further in. */
struct load {
    double use;                                /* iterations of all arrays so far; 1 where nobody asks */
    double read_word, write_word, shared_word; /* left of the pending level's bandwidth; INFINITY: no limit */
    uint32_t banks[ARCH_GROUP_MAX];            /* taken by levels further out */
    struct blocking_debt debt;
};

/* Loads by number, each once. Number 0 is that in front of the outermost level. */
struct load_list {
    uint32_t n, capacity;
    struct load *load; /* (n) owned */
    uint32_t **after;  /* (n, ARCH_LEVEL_MAX)(n choices) 1 + the load behind the array; owned, in the arena */
    uint32_t n_slot, *slot; /* 1 + a number; owned */
};

/* The best way inwards from a node, once it is known. */
struct inner {
    bool used, exact; /* exact: inner_j is the least; else a bound that was enough at its time */
    struct blocking_node from;
    uint32_t load;
    double inner_j;
    uint32_t tile; /* of the level's list */
    uint32_t order, choice;
};

struct sorted_tile {
    double key;
    uint32_t tile; /* of the list */
    struct blocking_node node;
};

enum { SORTED_BORDER_MAX = 64 };

/* Which tiles of a sorted list a state of one loop leads to. */
struct reach_row {
    bool all;        /* to each */
    uint32_t n_word; /* so many of its words are known */
    uint64_t *bit;   /* of 64 tiles a word; NULL until asked for, and where there are too many */
};

/* The tiles of a level that may be part of something better than the best, by one order's key. In the
 * arena. */
struct sorted_list {
    uint32_t n, n_sorted;     /* the first n_sorted tiles are where they belong */
    struct sorted_tile *tile; /* (n) */
    /* the last one is the nearest: what stands in front of a border comes before what stands behind it */
    uint32_t n_border, border[SORTED_BORDER_MAX];
    struct reach_row *row[PROBLEM_DIM_MAX]; /* [d](n states in front of the level) */
    size_t row_byte;                        /* all rows together */
};

struct proof_level {
    struct node_list list; /* of the layer behind the temporal step of this level */
    double *key;           /* [k](n of the list) for each order; owned */
    double least_key[BLOCKING_ORDER_MAX];
    double *inside; /* (n of the list) what further levels cost at least, a part of all keys; owned */
    /* [load in front](n of the list) the same, as far as it has been found out; in the arena. NULL: not yet,
     * or there are too many */
    double **known;
    uint32_t n_known, n_known_load;                 /* arrays, and loads that there is room for */
    struct sorted_list *sorted[BLOCKING_ORDER_MAX]; /* NULL until asked for */
    uint32_t n_order;
    struct way_list **ways; /* (n of the list) owned; NULL without an array */
    struct inner *inner;    /* (n_slot) of nodes in front of this level */
    uint32_t n_inner, n_slot;
};

struct blocking_proof {
    struct arena arena;
    struct proof_level level[ARCH_LEVEL_MAX];
    struct load_list loads;
    uint32_t n_heap, *heap;         /* of the outermost level's tiles */
    double *top_key;                /* (n of its list) */
    double slack_j[ARCH_LEVEL_MAX]; /* [v] the least that levels further out than v cost */
    bool no_memory;
};

/* ---- proof_bound.c */

/* The part of order k's energy at level v that the node in front decides, with these iterations outside. */
double proof_outer_part(const struct blocking_space *space, uint32_t v, uint32_t k, const double *outer,
                        const struct blocking_debt *debt);

/* At least the energy of level v and all inside it, from a node with these iterations outside and debts. */
double proof_bound_from(const struct blocking_search *search, uint32_t v, const double *outer,
                        const struct blocking_debt *debt);

/* The list of level v with its keys; those further in are there. DSE_NO_MEMORY; DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status proof_list_level(struct blocking_search *search, uint32_t v,
                                                struct dse_error *err);

/* The energy that levels further out cost at least, of each level. */
void proof_bound_outside(struct blocking_search *search);

/* ---- proof_sorted.c */

/* The list of level v by order k's key, without what cannot be part of anything better than the best; NULL:
 * out of memory. */
struct sorted_list *proof_sorted(struct blocking_search *search, uint32_t v, uint32_t k);

/* Sort the list at least as far as its first n tiles. */
void proof_sort_to(struct sorted_list *list, uint32_t n);

/* Bit i: the node in front of level v leads to tile 64 * word + i of the list. */
uint64_t proof_reached(struct blocking_search *search, uint32_t v, struct sorted_list *list,
                       const struct blocking_node *from, uint32_t word);

/* ---- proof_load.c */

/* The number of the load behind the temporal step of level v, when that in front has the number `load`, order
 * k is taken, these iterations count (blocking_product) and level v serves so many visits of each tensor
 * (n_tensor). False: too slow, or out of memory. */
bool proof_load_served(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t k,
                       const double *outside, const double *inside, const double *count, uint32_t *after);

/* The number of the load in front of level v - 1 at a node behind choice c of the array below level v, if
 * there is one, when the one before it is `load`. False: too many banks, or out of memory. */
bool proof_load_passed(struct blocking_search *search, uint32_t v, uint32_t load, uint32_t c,
                       const struct blocking_node *node, uint32_t *after);

/* Load number 0. */
bool proof_load_first(struct blocking_search *search);

void proof_loads_free(struct load_list *list);

/* ---- proof_inwards.c */

/* Try tile i of level v's list behind `from` with this load: better than out->inner_j? */
void proof_try_tile(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                    uint32_t load, uint32_t i, struct inner *out);

/* The slot of a node in front of level v and a load; a new one is not `used`. NULL: out of memory. */
struct inner *proof_slot(struct blocking_search *search, uint32_t v, const struct blocking_node *from,
                         uint32_t load);

/* Release what the search inwards keeps of a level. */
void proof_level_free(struct proof_level *level);

#endif
