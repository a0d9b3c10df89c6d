/* The plain evaluation, step by step: the loop nest of a mapping (nest.c), the children of one instance as
 * multicast groups on the mesh below it (spatial_groups.c), and the traffic of one tensor through the
 * hierarchy (traffic.c). Terms and equations: docs/cost-model.md. */
#ifndef COSTMODEL_LOOPNEST_PLAIN_H
#define COSTMODEL_LOOPNEST_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/loopnest/compiled.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* A nest has below 2^53 iterations and every loop at least 2, so it has at most 52 loops. */
enum { NEST_LOOP_MAX = 64 };

enum loop_kind { LOOP_SPATIAL_X, LOOP_SPATIAL_Y, LOOP_TEMPORAL };

struct nest_loop {
    uint32_t dim;
    uint32_t bound; /* >= 2 */
    uint32_t level;
    enum loop_kind kind;
    uint64_t stride; /* iterations of `dim` that one step moves: the product of all factors of dim inside */
};

struct nest {
    uint32_t n_loop;
    struct nest_loop loop[NEST_LOOP_MAX]; /* (n_loop) innermost first; at each level spatial, then temporal */
    /* first loop of level l (its spatial ones); [n_level] = n_loop */
    uint32_t spatial_begin[ARCH_LEVEL_MAX + 1];
    uint32_t temporal_begin[ARCH_LEVEL_MAX]; /* first temporal loop of level l */
    uint32_t tile[ARCH_LEVEL_MAX]
                 [PROBLEM_DIM_MAX]; /* (n_level, n_dim) extent of the tile one instance of l works on */
    uint32_t below[ARCH_LEVEL_MAX]
                  [PROBLEM_DIM_MAX]; /* the same below l's temporal loops: all its children together */
    uint64_t x_used[ARCH_LEVEL_MAX], y_used[ARCH_LEVEL_MAX]; /* columns and rows in use at level l */
    uint64_t mac_x_used, mac_y_used;
    uint64_t compute_cycle; /* product of the temporal bounds */
};

/* Build the nest. False with `fit` set when sizes do not match, an order is no permutation, or factors do not
 * multiply to the bounds; checks nothing about the machine. */
bool nest_build(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
                struct nest *nest, struct misfit_info *fit);

/* Does the nest fit the machine (docs/cost-model.md, "Time and fit")? MACs first, then levels from the
 * inside; false with `fit` set. */
bool nest_fits(const struct problem *problem, const struct architecture *arch, const struct mapping *mapping,
               const struct nest *nest, struct misfit_info *fit);

/* Children are numbered as the spatial loops run, innermost fastest, and placed on the physical mesh column
 * by column index: (q mod width, q div width). */
struct child_mesh {
    uint32_t n_child;
    uint32_t width, height; /* physical columns and rows, or the logical ones where those are wider */
    int64_t *offset;        /* (n_child) packed offset of each child's box */
    uint32_t *order;        /* (n_child) children sorted by (offset, number) */
    uint32_t *column, *row; /* (n_child) where each stands: child_mesh_place */
    bool *served;           /* (n_child) scratch: this child gets its data from a neighbour */
    uint32_t *column_low, *column_high; /* (width) scratch of the hop count */
    bool alone;                         /* no multicast: every child is a group of its own */
    bool skip_hops;                     /* nobody asks for hops: leave them 0 */
};

/* Groups of one size. */
struct group_class {
    uint32_t size;  /* children per group: the multicast factor */
    uint32_t count; /* groups: the scatter factor */
    double hops;    /* summed over these groups */
};

struct group_list {
    uint32_t n_group; /* of all classes */
    uint32_t n_class;
    struct group_class *class_; /* (n_class, room for n_child) by first appearance */
};

/* The children of level `l` for tensor `t`. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status child_mesh_make(const struct compiled *evaluator, const struct nest *nest,
                                               uint32_t l, uint32_t t, bool alone, struct arena *arena,
                                               struct child_mesh *mesh, struct dse_error *err);

/* Room for the groups of a mesh. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status group_list_make(const struct child_mesh *mesh, struct arena *arena,
                                               struct group_list *list, struct dse_error *err);

/* Mark in mesh->served the children that find their data at a mesh neighbour whose previous box was theirs:
 * offset(neighbour) - offset(child) == move. Returns how many. */
uint32_t child_mesh_mark_served(struct child_mesh *mesh, int64_t move);

/* Set column and row of each child, which lie row by row. */
void child_mesh_place(struct child_mesh *mesh);

/* Clear the marks. */
void child_mesh_clear_served(struct child_mesh *mesh);

/* Group the children that are not marked. */
void child_mesh_group(struct child_mesh *mesh, struct group_list *list);

/* Accesses of one level that share a multicast factor and a number of groups. */
struct access_record {
    uint64_t multicast, scatter;
    double accesses;
    double hops; /* mean hops of the record's groups times accesses */
};

/* One level's side of a tensor's traffic, per instance of the level. */
struct level_traffic {
    bool keep;
    uint64_t tile_word;      /* "Tiles"; 0 when bypassed */
    uint64_t partition_word; /* "Counts" */
    uint64_t fanout;         /* children of one instance */
    uint32_t n_record, record_capacity;
    struct access_record *record; /* (n_record) by multicast then scatter; in the arena */
    double content;               /* accesses at this level */
    double arriving;              /* words arriving from outside */
    double peer;                  /* words handed on to neighbours */
    double link_transfers;        /* among the children of one instance */
};

struct tensor_traffic {
    uint32_t outermost; /* the outermost level that keeps the tensor */
    struct level_traffic level[ARCH_LEVEL_MAX];
};

/* Fill `out` for tensor `t`; memory from `arena`. The nest must fit. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status traffic_compute(const struct compiled *evaluator,
                                               const struct mapping *mapping, const struct nest *nest,
                                               uint32_t t, struct arena *arena, struct tensor_traffic *out,
                                               struct dse_error *err);

#endif
