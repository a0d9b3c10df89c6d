/* What a mapping costs at least, cut into events that depend on one tile each (docs/engines.md, "optimal").
 *
 * With the spatial factors of all levels fixed (a spread), words of a tensor kept at level `from` come from
 * the next level out that keeps it, `to`, and V = words that enter one instance of `from` decides every count
 * of the two levels and of the networks between. By "Temporal reuse" of docs/cost-model.md
 *     V = tile(from) x (product of the temporal loops from the first relevant one on),
 * so V depends on the tile M at which that loop begins: tile(from) is M without the spatial factors between
 * (loops that are not relevant do not change it), and the loops outside are bounds / M / spatial factors
 * outside. The event is open until then. Where the innermost loop of all moves a sliding window, only the new
 * words come: partial x visits(M) + (whole - partial) x visits(M n), n being the loop's bound. */
#ifndef ENGINES_OPTIMAL_OPTIMAL_MODEL_H
#define ENGINES_OPTIMAL_OPTIMAL_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/mapspace/mapspace_constraints.h"
#include "engines/optimal/lattice.h"

enum { OPTIMAL_EVENT_MAX = 12, OPTIMAL_NODE_MAX = 200000, OPTIMAL_CHAIN_MAX = 60 };

/* A tensor that level `from` gets from level `to`. */
struct optimal_event {
    uint32_t tensor, from, to;
};

/* A problem on a machine, once for all spreads. */
struct optimal_model {
    const struct problem *problem;
    const struct architecture *arch;
    const struct mapspace_constraints *constraints; /* NULL: none */
    struct arena *arena;
    struct lattice lattice;
    double macs;
    uint32_t output;                        /* the tensor that is written */
    int window;                             /* the tensor with sums of two dimensions with loops, or -1 */
    uint32_t relevant[PROBLEM_TENSOR_MAX];  /* (n_tensor) dimensions that move it */
    uint8_t partner[PROBLEM_DIM_MAX];       /* of the window tensor: the other one in the rank; n_dim: none */
    uint32_t step[PROBLEM_DIM_MAX];         /* of the window tensor: its coefficient */
    uint32_t innermost[PROBLEM_TENSOR_MAX]; /* (n_tensor) the innermost level that keeps it */
    uint8_t keep[ARCH_LEVEL_MAX];
    uint32_t n_event;
    struct optimal_event event[OPTIMAL_EVENT_MAX]; /* (n_event) */
    uint32_t opens[ARCH_LEVEL_MAX];                /* bit e: the event that level's tiles begin */
    uint32_t of_tensor[PROBLEM_TENSOR_MAX];        /* bit e: the tensor's events */
    uint32_t stays[PROBLEM_DIM_MAX];  /* (n_dim) bit e: the event stays open under loops of the dimension */
    uint32_t whole;                   /* bit e: without temporal reuse, every visit brings a whole tile */
    uint32_t limited[ARCH_LEVEL_MAX]; /* bit d: not every temporal factor of the dimension is allowed, */
    uint64_t *tile_words[PROBLEM_TENSOR_MAX]; /* (n_tensor, n) optimal_tile_words */
    const uint8_t *fits[ARCH_LEVEL_MAX];      /* (n_level, n) optimal_fits of what is kept */
    const uint8_t *known_fits[ARCH_LEVEL_MAX][1u << PROBLEM_TENSOR_MAX];
    /* the keeps of the beginning; where levels share banks, what fits then, the others looked at too */
    uint8_t widest[ARCH_LEVEL_MAX];
    const uint8_t *shared_fits[ARCH_LEVEL_MAX]; /* NULL: the level shares none */
    uint64_t latency;                           /* fill and drain cycles of all networks */
    bool leaks;                                 /* the machine */
};

/* Can the machine be modelled, and the problem on it? DSE_BAD_INPUT: one sentence. */
DSE_MUST_CHECK enum dse_status optimal_takes_machine(const struct architecture *arch, struct dse_error *err);
DSE_MUST_CHECK enum dse_status optimal_takes_problem(const struct problem *problem,
                                                     const struct architecture *arch, struct dse_error *err);

/* Compile what both take, each level keeping all that its roles and the constraints (NULL: none) allow. The
 * arguments are borrowed; memory from `arena`, also later on. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status optimal_model_new(const struct problem *problem,
                                                 const struct architecture *arch,
                                                 const struct mapspace_constraints *constraints,
                                                 struct arena *arena, struct optimal_model *out,
                                                 struct dse_error *err);

/* The same but for `lattice` and `fits`, which the other adds: quick bounds of spreads need no more. */
DSE_MUST_CHECK enum dse_status optimal_model_init(const struct problem *problem,
                                                  const struct architecture *arch,
                                                  const struct mapspace_constraints *constraints,
                                                  struct arena *arena, struct optimal_model *out,
                                                  struct dse_error *err);
DSE_MUST_CHECK enum dse_status optimal_model_add_tiles(struct optimal_model *model, struct dse_error *err);

/* From now on the levels keep these tensors (n_level), some of those that they kept at first. DSE_NO_MEMORY.
 */
DSE_MUST_CHECK enum dse_status optimal_model_keep(struct optimal_model *model, const uint8_t *keep,
                                                  struct dse_error *err);

struct optimal_place; /* engines/optimal/optimal_places.h */

/* The spatial factors of all levels, and what follows from them. A tile of a level is that of its temporal
 * loops and of those further in, times `span`; only the former is a node, of the lattice of what the spatial
 * factors leave. So the spatial loops of a level leave a node as it is. */
struct optimal_spread {
    uint32_t factor[ARCH_LEVEL_MAX][PROBLEM_DIM_MAX]; /* (n_level, n_dim) */
    uint32_t span[ARCH_LEVEL_MAX][PROBLEM_DIM_MAX];   /* (n_level, n_dim) product with those further in */
    const struct lattice *tiles;                      /* set by optimal_sweep_run */
    /* (n_event, nodes) what events cost, by the price of that run; NULL: not known. Those of the window
     * tensor, too, unless `half` is NULL, as it depends on the level; where `match` (n_level, nodes) says so
     * they cost `half`, that of half their words, if they are not direct */
    double *const *close, *const *half;
    uint8_t *const *match;
    const struct optimal_place *place[ARCH_LEVEL_MAX]; /* (n_level) NULL: hops count 0 */
    double used[ARCH_LEVEL_MAX];                       /* instances of a level in use */
    double groups[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX]; /* least number of different tiles below a level */
    double partition[ARCH_LEVEL_MAX];                  /* words of the output that are an instance's own */
    double cycles;                                     /* compute cycles */
};

/* The same of level l: those further out are complete, and nothing is spread further in. */
void optimal_spread_choose(const struct optimal_model *model, struct optimal_spread *spread, uint32_t l);

/* Fill in what follows from `factor`; places are not known. */
void optimal_spread_complete(const struct optimal_model *model, struct optimal_spread *spread);

/* What leaks in joules when a mapping of the spread takes so many cycles, without latencies. Of one whose
 * inner levels are not chosen, what leaks at least. */
double optimal_leakage_j(const struct optimal_model *model, const struct optimal_spread *spread,
                         double cycles);

/* Different words of a tensor for so many values of each dimension (n_dim), at least (docs/lower-bounds.md,
 * "Words"): sums of two sets. */
double optimal_least_words(const struct tensor *tensor, const double *count);

/* Words of tensor t that the tiles of an instance cover which hold `box` (n_dim) values of each dimension, as
 * they come to all of its `count` (n_dim) values: words that a stride jumps over inside a tile are brought,
 * too. With fewer values than the loop's bound, others' lie between its own. Larger tiles cover no less. */
double optimal_covered_words(const struct problem *problem, uint32_t t, const double *count,
                             const uint32_t *box);

/* Words of event e when it closes at `node`, the same at every level, and of all nodes (n). */
double optimal_close_word(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                          uint32_t node);
void optimal_close_words(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                         double *words);

/* May moves from `node` on at level l be equal, so that half of the words may be saved? */
bool optimal_may_match(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                       uint32_t node);

/* Words of event e of the window tensor whose innermost loop slides along dimension p from `node` on: those
 * that are new at every visit, and those of the others that come again once the loop has ended at `node`
 * (`after`). Their sum, of both ends, is the event's, or more where a loop further out slides on. */
double optimal_slide_words(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t e,
                           uint32_t l, uint32_t node, uint32_t p, bool after);

/* May a loop further out move the window by as much as one of dimension p that begins at `node` of level l,
 * so that it slides on (apart from a further loop of p itself)? */
bool optimal_may_slide_on(const struct optimal_model *model, const struct optimal_spread *spread, uint32_t l,
                          uint32_t node, uint32_t p);

/* May a further loop of p do so if the one at `node` of level l is of bound 2? Its tile is twice as far then,
 * unless p is also spread in between. */
bool optimal_may_slide_twice(const struct optimal_model *model, const struct optimal_spread *spread,
                             uint32_t l, uint32_t node, uint32_t p);

/* The tensors that a loop of dimension d does not move. */
uint32_t optimal_left_alone(const struct optimal_model *model, uint32_t d);

/* The dimensions whose loops leave all events of the mask open. */
uint32_t optimal_dims_around(const struct optimal_model *model, uint32_t open);

#endif
