/* The inside of the relaxed model, shared by the relaxed*.c files only. */
#ifndef ENGINES_GRADIENT_RELAXED_PRIVATE_H
#define ENGINES_GRADIENT_RELAXED_PRIVATE_H

#include "engines/gradient/relaxed.h"

/* A temporal loop that may be more than 1. */
struct relaxed_loop {
    uint8_t place, dim;
};

/* The words of one tensor between a memory, or the MACs, and the next memory further out that keeps it. */
struct relaxed_link {
    uint8_t tensor, parent;
    int8_t child;   /* -1: the MACs */
    bool whole;     /* every visit moves a whole tile: at the MACs, or without temporal reuse */
    uint32_t first; /* the first loop outside the child */
    double *fade;   /* (n_loop) exp(-FADE x relevant trips inside) of the loops irrelevant to the tensor */
    double visits, words;        /* of the child's tile; words of all children of an instance: logarithms */
    double served, served_first; /* words of the parent; of an output those written for the first time */
    double filled, filled_first; /* the same of the child; 0 at the MACs */
};

/* Of one word. */
struct relaxed_energy {
    double read_j, fill_j, update_j;
};

struct relaxed_state;

struct relaxed {
    const struct problem *problem;
    const struct architecture *arch;
    struct objective objective;
    uint32_t n_place, output;
    struct mapspace_place place[MAPSPACE_PLACE_MAX];
    uint32_t active[MAPSPACE_PLACE_MAX]; /* (n_place) bit d: the factor may be more than 1 */
    uint32_t moved[PROBLEM_TENSOR_MAX];  /* (n_tensor) bit d: the dimension indexes the tensor */
    uint32_t summed[PROBLEM_TENSOR_MAX]; /* (n_tensor) bit d: in a rank of more than one dimension */
    bool network_costs[ARCH_LEVEL_MAX];  /* (n_level) the network below has energies */
    bool ports[ARCH_LEVEL_MAX];          /* (n_level) some bandwidth is limited */
    double log_tensors;                  /* of the number of tensors */
    double log_capacity[MAPSPACE_PLACE_MAX], log_usable[ARCH_LEVEL_MAX], log_cluster[ARCH_LEVEL_MAX];
    double log_words, mac_j, fixed_cycle; /* of the output; of all MACs; of filling and draining networks */
    struct relaxed_energy energy[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX];
    struct mapping_level choice[ARCH_LEVEL_MAX];
    uint32_t n_loop, level_end[ARCH_LEVEL_MAX]; /* (n_level) how many loops lie at this level or inside it */
    struct relaxed_loop loop[ARCH_LEVEL_MAX * PROBLEM_DIM_MAX]; /* (n_loop) innermost first */
    uint32_t n_link;
    struct relaxed_link link[PROBLEM_TENSOR_MAX * ARCH_LEVEL_MAX];
    double *fade;                        /* of all links */
    uint32_t tiles[ARCH_LEVEL_MAX];      /* (n_level) bit t: words of the tile matter */
    struct relaxed_state *now, *adjoint; /* of the last evaluation */
};

/* What one evaluation computes on the way, or the adjoints of that; [2]: on X, on Y. Logarithms, but for
 * words, energies and what says so. */
struct relaxed_state {
    struct relaxed_level {
        double extent[PROBLEM_DIM_MAX];       /* (n_dim) of the tile */
        double tile[PROBLEM_TENSOR_MAX];      /* (n_tensor) words, where kept and asked for */
        double spread[PROBLEM_TENSOR_MAX][2]; /* (n_tensor) children of other words */
        double outer[PROBLEM_TENSOR_MAX];     /* (n_tensor) spreads further out */
        double across[2], used;               /* children; instances in use */
        double read, write, energy_j;         /* of all instances */
    } level[ARCH_LEVEL_MAX];                  /* (n_level) */
    double compute;                           /* cycles without stalls */
    double network_j;                         /* of all networks */
    /* only forward: not logarithms */
    double iterations[ARCH_LEVEL_MAX][PROBLEM_DIM_MAX]; /* (n_level, n_dim) of the tile, where it has a sum */
};

/* Extents, tiles, spreads and instances, and what their adjoints `d` add to the slopes. */
void relaxed_nest(const struct relaxed *model, relaxed_factors factor, struct relaxed_state *now);
void relaxed_nest_back(const struct relaxed *model, const struct relaxed_state *now, struct relaxed_state *d,
                       relaxed_factors slope);

/* Words and energies of every link; backward the adjoints of these are given. */
void relaxed_words(struct relaxed *model, relaxed_factors factor, struct relaxed_state *now);
void relaxed_words_back(const struct relaxed *model, relaxed_factors factor, const struct relaxed_state *now,
                        struct relaxed_state *d, relaxed_factors slope);

#endif
