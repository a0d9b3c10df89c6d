/* The inside of a map space, shared by the mapspace_*.c files only. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_PRIVATE_H
#define ENGINES_MAPSPACE_MAPSPACE_PRIVATE_H

#include "engines/mapspace/mapspace.h"

enum slot_axis { SLOT_TEMPORAL, SLOT_X, SLOT_Y };

enum {
    MAPSPACE_SLOT_MAX = 3 * ARCH_LEVEL_MAX,
    MAPSPACE_PRIME_MAX = 64, /* a problem has less than 2^53 iterations, hence at most 53 primes */
    MAPSPACE_ORDER_MAX = 48, /* candidate loop orders of one level */
    MAPSPACE_REASON_MAX = 256
};

/* A place for factors. Slots are numbered from the outermost level inwards, so "as far out as level l" is a
 * prefix. */
struct mapspace_slot {
    uint8_t level;
    uint8_t axis;      /* enum slot_axis */
    uint32_t capacity; /* the largest product of factors here: the fan-out on that axis, or UINT32_MAX */
};

/* A prime of a dimension; equal primes of one dimension share a kind. */
struct mapspace_kind {
    uint8_t dim;
    uint8_t count;
    uint32_t prime;
    uint64_t open; /* bit s: slot s may take it */
};

/* The tiles of one level of limited capacity. */
struct tile_row {
    uint64_t sum;                      /* words of the kept tiles */
    uint64_t tile[PROBLEM_TENSOR_MAX]; /* (n_tensor) */
    uint64_t span[PROBLEM_TENSOR_MAX]
                 [PROBLEM_RANK_MAX];  /* (n_tensor, n_rank) only for tensors with a sum in a rank */
    uint32_t extent[PROBLEM_DIM_MAX]; /* (n_dim) iterations of each dimension inside the tile */
};

struct tensor_shape {
    bool halo;                                        /* some rank is a sum of dimensions */
    uint32_t step[PROBLEM_DIM_MAX][PROBLEM_RANK_MAX]; /* (n_dim, n_rank) coefficient of the dimension */
    uint32_t scales;                                  /* bit d: a tile grows in proportion to the dimension */
    uint32_t sliding; /* bit d: the dimension shares a rank with another one */
};

/* Candidate loop orders of one level (mapspace_order.c). */
struct order_list {
    uint8_t n;
    bool complete; /* one of them is as good as any other order, whatever the factors */
    uint8_t order[MAPSPACE_ORDER_MAX][PROBLEM_DIM_MAX]; /* (n, n_dim) innermost first */
};

struct mapspace {
    const struct problem *problem;
    const struct architecture *arch;
    struct mapspace_constraints constraints;
    bool search_bypass;
    char empty[MAPSPACE_REASON_MAX]; /* why there is no mapping, or "" */
    struct mapping base;             /* fixed factors, everything else 1; widest keeps */
    uint32_t n_slot;
    struct mapspace_slot slot[MAPSPACE_SLOT_MAX];
    uint64_t open[PROBLEM_DIM_MAX];          /* (n_dim) bit s: slot s may take factors of the dimension */
    uint64_t from_level[ARCH_LEVEL_MAX + 1]; /* [l]: the slots at levels >= l */
    int8_t slot_of[ARCH_LEVEL_MAX][3];       /* slot number by level and axis, or -1 */
    uint32_t n_kind;
    struct mapspace_kind kind[MAPSPACE_PRIME_MAX];
    uint32_t n_prime;
    uint8_t prime_kind[MAPSPACE_PRIME_MAX]; /* (n_prime) the kind of every prime */
    struct tensor_shape shape[PROBLEM_TENSOR_MAX];
    uint64_t usable[ARCH_LEVEL_MAX];
    uint32_t n_row; /* levels whose capacity can be exceeded, outermost first */
    uint8_t row_level[ARCH_LEVEL_MAX];
    struct tile_row row[ARCH_LEVEL_MAX]; /* (n_row) of the base mapping; `sum` unset */
    uint8_t optional[ARCH_LEVEL_MAX];    /* (n_level) tensors that may be bypassed in the search */
    uint32_t base_x[ARCH_LEVEL_MAX];     /* (n_level) dimensions fixed on X */
    uint32_t base_y[ARCH_LEVEL_MAX];
    uint32_t base_temporal[ARCH_LEVEL_MAX];  /* (n_level) dimensions with a fixed temporal factor > 1 */
    uint32_t base_spread[MAPSPACE_SLOT_MAX]; /* (n_slot) product of the fixed factors of a spatial slot */
    uint32_t moved[PROBLEM_DIM_MAX];         /* (n_dim) bit t: the dimension moves tensor t */
    bool looks_at_tiles;       /* some level asks for a minimum utilisation, or is memories side by side */
    bool spatial_order_counts; /* hops or link transfers make a cost depend on the order of spatial loops */
    struct order_list *order;  /* (n_level) */
};

/* Tile rows under a mapping's keeps: `row` (n_row) gets the base rows with sums. False when one is too full;
 * then `fit` (may be NULL) says which. */
bool mapspace_rows_init(const struct mapspace *space, const struct mapping *mapping, struct tile_row *row,
                        struct misfit_info *fit);

/* Do tiles with these sums (n_row) fit where storages share banks? `fit` as above. */
bool mapspace_banks_fit(const struct mapspace *space, const uint64_t *sum, struct misfit_info *fit);

/* The same as mapspace_contains without what moves cannot break: only meshes, capacities and minimum
 * utilisation. */
bool mapspace_fits(const struct mapspace *space, const struct mapping *mapping, struct misfit_info *fit);

/* The spatial dimensions (factor > 1) of a level on X (or Y). */
uint32_t mapspace_axis_dims(const struct mapping_level *level, uint32_t n_dim, bool y);

/* Write a level's spatial order: dimensions of `x`, then of `y`, each as the constraints' order and then
 * ascending, then the rest; sets the split. */
void mapspace_set_axes(const struct mapspace *space, struct mapping_level *level, uint32_t l, uint32_t x,
                       uint32_t y);

/* Complete `order`: after the first n entries come the missing dimensions, ascending. */
void mapspace_complete_order(uint8_t *order, uint32_t n, uint32_t n_dim);

static inline void mapspace_shuffle(struct random_stream *stream, uint8_t *item, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = random_below(stream, i);
        uint8_t swap = item[i - 1];
        item[i - 1] = item[j];
        item[j] = swap;
    }
}

/* Fill space->order. */
enum dse_status mapspace_orders_new(struct mapspace *space, struct arena *arena, struct dse_error *err);

#endif
