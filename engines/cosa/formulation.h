/* The inside of the CoSA formulation, shared by the files of engines/cosa only. Formulas: docs/cosa.md. */
#ifndef ENGINES_COSA_FORMULATION_H
#define ENGINES_COSA_FORMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "engines/cosa/cosa.h"

enum {
    /* distinct (dimension, prime); a problem below 2^53 iterations has at most 53 primes */
    COSA_KIND_MAX = 64,
    COSA_CHOICE_MAX = 32, /* orders of the permutation level */
    COSA_GROUP_MAX = 64,  /* of dimensions that the same orders save */
    COSA_NONE = UINT32_MAX
};

/* Slack of rows in bits: log2 of a product is not exact. */
#define COSA_BITS_SLACK 1e-9

/* Where factors of a level go. */
enum cosa_axis { COSA_TEMPORAL, COSA_X, COSA_Y, COSA_AXIS_COUNT };

/* One order of the permutation level: the loops a tensor does not index and that lie inside its first indexed
 * loop. */
struct cosa_choice {
    uint8_t order[PROBLEM_DIM_MAX]; /* (n_dim) innermost first */
    /* (n_tensor) bit d: the loop over d does not move the tensor's tile */
    uint32_t saved[PROBLEM_TENSOR_MAX];
};

/* What the formulation needs to know of a problem on a machine; no variables yet. */
struct cosa_shape {
    const struct problem *problem;
    const struct architecture *arch;
    const struct mapspace_constraints *constraints; /* NULL: none */
    uint32_t n_level;
    uint32_t outermost;
    uint32_t permutation; /* the level whose order is chosen; COSA_NONE on a machine of one level */
    uint32_t related[PROBLEM_TENSOR_MAX]; /* matrix A: bit d */
    uint32_t halo[PROBLEM_TENSOR_MAX];    /* bit d: indexes the tensor only as a window (R, S of Inputs) */
    /* tiles are charged their coefficients once, where there is room; else with every prime */
    bool stride_once;
    uint32_t keep[ARCH_LEVEL_MAX];                   /* bit t, after the constraints */
    uint64_t usable[ARCH_LEVEL_MAX];                 /* words for all tensors of a level */
    double room[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX]; /* words for the tile of t, INFINITY: no limit */
    uint32_t util_level; /* the level whose Util counts util_weight_factor; COSA_NONE */
};

/* A distinct prime of a dimension. */
struct cosa_kind {
    uint32_t dim, prime, count;
    double bits; /* log2 prime */
};

/* Fill `shape`: levels, keeps, shares, relations. */
void cosa_shape_init(struct cosa_shape *shape, const struct problem *problem, const struct architecture *arch,
                     const struct mapspace_constraints *constraints, const struct cosa_settings *settings);

/* The outermost level inside the permutation level that keeps weights alone; COSA_NONE. */
uint32_t cosa_find_util_level(const struct cosa_shape *shape);

/* log2 of how much one factor `prime` of dimension d enlarges the tile of t by the related terms: sum over
 * those ranks of log2(coefficient * prime). `stride` false: without the coefficients. 0 when unrelated. */
double cosa_tile_bits(const struct cosa_shape *shape, uint32_t t, uint32_t d, double bits, bool stride);

/* The same for the window terms, with coefficients: never too small. */
double cosa_window_bits(const struct cosa_shape *shape, uint32_t t, uint32_t d, double bits);

/* Level factor of D_v. */
double cosa_level_factor(const struct cosa_settings *settings, uint32_t level);

/* Weight of the outermost level's temporal loops: sum over tensors of outer_factor. */
double cosa_outer_weight(const struct cosa_shape *shape, const struct cosa_settings *settings);

/* The outermost level inside the permutation level that keeps tensor t, or COSA_NONE. */
uint32_t cosa_outermost_inner_keeper(const struct cosa_shape *shape, uint32_t t);

/* The default order of loops innermost first: ascending dimensions, those that index every tensor last. */
void cosa_default_order(const struct cosa_shape *shape, uint8_t *order);

/* The same with the constraints' fixed places of level l first. */
void cosa_level_order(const struct cosa_shape *shape, uint32_t l, const uint8_t *wanted, uint8_t *order);

/* Distinct primes of all dimensions, dimensions and primes ascending; returns how many. */
uint32_t cosa_factorise(const struct problem *problem, struct cosa_kind *kind);

/* The orders of level l that no other order dominates; `first` >= 0: only those in which that tensor saves
 * all it can. Returns how many (>= 1). */
uint32_t cosa_choices(const struct cosa_shape *shape, uint32_t l, int first, struct cosa_choice *choice);

/* ---------------------------------------- the model */

/* A capacity row: the tile of a tensor at a level, in bits. */
struct cosa_capacity {
    uint32_t level, tensor, row;
};

/* Loops that the same orders save, for one or more tensors. */
struct cosa_group {
    uint32_t choices, dims; /* bit c, bit d */
    uint32_t tensors;       /* bit t */
};

/* The choice of one level's order: binaries, one of them 1, or a single order without a binary. */
struct cosa_order {
    uint32_t n_choice; /* 0: the default order */
    struct cosa_choice choice[COSA_CHOICE_MAX];
    uint32_t variable[COSA_CHOICE_MAX]; /* COSA_NONE for a single order */
};

/* A model of one problem: variables by their meaning. */
struct cosa_model {
    const struct cosa_shape *shape;
    const struct cosa_settings *settings;
    enum cosa_halo halo;
    struct milp *milp;
    uint32_t n_kind;
    struct cosa_kind kind[COSA_KIND_MAX];
    uint32_t count[COSA_KIND_MAX][ARCH_LEVEL_MAX]
                  [COSA_AXIS_COUNT];            /* variables, COSA_NONE where there is none */
    double cost[COSA_KIND_MAX][ARCH_LEVEL_MAX]; /* of the temporal variables */
    uint32_t highest[COSA_KIND_MAX][ARCH_LEVEL_MAX][COSA_AXIS_COUNT]; /* of the variables */
    struct cosa_order order[ARCH_LEVEL_MAX];                          /* (n_level) */
    uint32_t n_capacity;
    struct cosa_capacity capacity[ARCH_LEVEL_MAX * PROBLEM_TENSOR_MAX];
    struct milp_term *term; /* room for a row over all variables */
    uint32_t n_term;        /* in use */
};

/* Build the model. `plain`: without the rows that only speed the solve up. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cosa_model_build(struct cosa_model *model, const struct cosa_shape *shape,
                                                const struct cosa_settings *settings, enum cosa_halo halo,
                                                bool plain, struct arena *arena, struct dse_error *err);

/* Collect terms of one row in model->term (COSA_NONE and 0 are left out), then add the row and forget
 * them. */
void cosa_put(struct cosa_model *model, uint32_t variable, double coefficient);
uint32_t cosa_add_row(struct cosa_model *model, double lowest, double highest, const char *name);

/* Put `scale` times the bits of the temporal loops of level l over the dimensions of `dims`. */
void cosa_put_temporal(struct cosa_model *model, uint32_t l, uint32_t dims, double scale);

/* Raise the cost of the temporal loops of level l over `dims` by `weight` per bit. */
void cosa_add_temporal_cost(struct cosa_model *model, uint32_t l, uint32_t dims, double weight);

/* One of the orders of level l; `first` as in cosa_choices. */
void cosa_add_order(struct cosa_model *model, uint32_t l, int first);

/* The dimensions of the tensors in `tensors` at level l by the set of choices that save them (`group` has
 * COSA_GROUP_MAX entries); tensors with the same sets share a group. Returns how many. */
uint32_t cosa_find_groups(const struct cosa_model *model, uint32_t l, uint32_t tensors,
                          struct cosa_group *group);

/* Bits of the temporal loops over group->dims that the chosen order of level l saves: a variable of this cost
 * per bit, with the rows that bound it by those loops and by the choice. */
uint32_t cosa_add_saving(struct cosa_model *model, uint32_t l, const struct cosa_group *group, double cost);

/* log2 of the product of the bounds of the dimensions in `dims`. */
double cosa_dims_bits(const struct cosa_model *model, uint32_t dims);

/* Bits that one factor of kind k adds to the tile of t at level l (window terms as the halo rule says). */
double cosa_charge(const struct cosa_shape *shape, enum cosa_halo halo, uint32_t l, uint32_t t,
                   const struct cosa_kind *kind);

/* Right side of the row of tensor t at level l: log2 of its room, less the coefficients where they are
 * charged once. */
double cosa_room_bits(const struct cosa_shape *shape, uint32_t l, uint32_t t);

/* Parts of cosa_model_build, in files of their own. */
void cosa_add_spatial_rows(struct cosa_model *model);
void cosa_add_capacity_rows(struct cosa_model *model);
void cosa_add_constraint_rows(struct cosa_model *model);
void cosa_add_choice(struct cosa_model *model);
DSE_MUST_CHECK enum dse_status cosa_add_minmax(struct cosa_model *model, struct arena *arena,
                                               struct dse_error *err);
void cosa_add_pattern_rows(struct cosa_model *model);
void cosa_add_tile_patterns(struct cosa_model *model, const struct cosa_capacity *capacity);
void cosa_add_symmetry_rows(struct cosa_model *model);

/* The mapping of a solution. */
void cosa_extract(const struct cosa_model *model, const double *value, struct mapping *mapping);

#endif
