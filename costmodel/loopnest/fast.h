/* The fast evaluation, step by step and without allocation: the loops as it wants them (fast_nest.c), the
 * children of a level (fast_mesh.c), hops (fast_hops.c), the traffic of one tensor (fast_traffic.c). The
 * numbers are those of the plain evaluation. Private to the room. */
#ifndef COSTMODEL_LOOPNEST_FAST_H
#define COSTMODEL_LOOPNEST_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/plain.h"
#include "costmodel/model/mapping.h"

/* Room for every loop even of a mapping whose factors turn out wrong. */
enum { FAST_LOOP_MAX = ARCH_LEVEL_MAX * PROBLEM_DIM_MAX + 1 };

struct fast_nest {
    uint32_t n_temporal, n_spatial;
    uint32_t temporal_begin[ARCH_LEVEL_MAX + 1]; /* first temporal loop of level l; [n_level] = n_temporal */
    uint8_t temporal_dim[FAST_LOOP_MAX];         /* (n_temporal) non-unit loops, innermost first */
    uint32_t temporal_bound[FAST_LOOP_MAX];
    uint64_t temporal_stride[FAST_LOOP_MAX];
    double weight[FAST_LOOP_MAX]; /* (n_temporal) how often the loop advances: (n_j - 1) prod_{l>j} n_l */
    double visits[FAST_LOOP_MAX]; /* (n_temporal + 1) product of the bounds of loops j, j+1, ... */
    uint32_t spatial_begin[ARCH_LEVEL_MAX + 1]; /* first spatial loop of level l */
    uint8_t spatial_dim[FAST_LOOP_MAX];
    bool spatial_on_y[FAST_LOOP_MAX];
    uint32_t spatial_bound[FAST_LOOP_MAX];
    uint64_t spatial_stride[FAST_LOOP_MAX];
    uint32_t tile[ARCH_LEVEL_MAX][PROBLEM_DIM_MAX];    /* (n_level, n_dim) */
    uint64_t word[ARCH_LEVEL_MAX][PROBLEM_TENSOR_MAX]; /* (n_level, n_tensor) tile words; set where kept */
    double n_group[ARCH_LEVEL_MAX]
                  [PROBLEM_TENSOR_MAX]; /* (n_level, n_tensor) multicast groups; set where spatial */
    uint32_t uneven[ARCH_LEVEL_MAX]; /* bit t: two spatial loops move one rank of t, n_group does not hold */
    uint64_t loop_x[ARCH_LEVEL_MAX],
        loop_y[ARCH_LEVEL_MAX]; /* columns and rows that level l's spatial loops span */
    uint64_t used_x[ARCH_LEVEL_MAX], used_y[ARCH_LEVEL_MAX];
    uint64_t mac_used;
    uint64_t compute_cycle;
};

/* Fill `nest`; false when the mapping does not fit (the caller asks nest_build and nest_fits for the reason).
 * The orders must be permutations. */
bool fast_nest_build(const struct compiled *evaluator, const struct mapping *mapping, struct fast_nest *nest);

/* Partition sizes (n_level) of output t from the outside in (docs/cost-model.md, "Counts"); of read-only
 * tensors nobody asks. */
void fast_partition_sizes(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t t,
                          uint64_t *partition);

/* Words of tensor t's box for these extents (n_dim). */
static inline uint64_t fast_tile_words(const struct compiled *evaluator, uint32_t t, const uint32_t *extent)
{
    const struct tile_plan *plan = &evaluator->plan[t];
    uint64_t words = 1;
    for (uint32_t r = 0; r < plan->n_plain; r++)
        words *= extent[plan->plain[r]];
    for (uint32_t r = 0; r < plan->n_sum; r++) {
        uint64_t width = 1;
        for (uint32_t k = 0; k < plan->sum[r].n_term; k++)
            width += (uint64_t)plan->sum[r].term[k].coefficient * (extent[plan->sum[r].term[k].dim] - 1);
        words *= width;
    }
    return words;
}

/* Groups that were found before: they depend on the mesh, the bounds of the spatial loops and what each
 * moves, up to a common factor. */
enum { MESH_KEY_MAX = 24, MESH_NOTE_CLASS_MAX = 12 };

/* How many are remembered: of meshes with more children than MESH_LARGE, where one is dear, more. */
enum { MESH_LARGE = 1024, MESH_NOTE_SMALL = 512, MESH_NOTE_LARGE = 8192 };

struct mesh_note {
    uint32_t n_key; /* 0: empty */
    uint32_t n_group, n_class;
    uint64_t key[MESH_KEY_MAX];                     /* (n_key) */
    struct group_class class_[MESH_NOTE_CLASS_MAX]; /* (n_class) */
};

struct fast_mesh {
    uint32_t n_note;
    struct mesh_note *note;    /* (n_note) a new one overwrites an old one */
    struct child_mesh mesh;    /* arrays sized for the widest fan-out */
    struct group_list all;     /* groups of the current tensor and level without link transfers */
    struct group_list reduced; /* scratch: groups with some children served by neighbours */
    uint32_t *group;           /* (n_child) group number of each child */
    uint32_t *group_size;      /* (n_group) */
    uint32_t n_slot;           /* power of two, at least twice the widest fan-out */
    int64_t *slot_offset;      /* (n_slot) hash table of offsets */
    uint32_t *slot_group;      /* (n_slot) its group + 1; 0 = empty */
    bool built;                /* mesh and group arrays describe the current tensor and level */
    uint32_t n_record, record_capacity;
    struct access_record *record; /* (n_record) of the current tensor and level */
};

/* Columns and rows of the mesh below level l: the physical ones, or the loops' where those are wider
 * (docs/cost-model.md, "Multicast, scatter, links"). */
static inline uint64_t fast_mesh_width(const struct compiled *evaluator, const struct fast_nest *nest,
                                       uint32_t l)
{
    return evaluator->fan_x[l] > nest->loop_x[l] ? evaluator->fan_x[l] : nest->loop_x[l];
}

static inline uint64_t fast_mesh_height(const struct compiled *evaluator, const struct fast_nest *nest,
                                        uint32_t l)
{
    return evaluator->fan_y[l] > nest->loop_y[l] ? evaluator->fan_y[l] : nest->loop_y[l];
}

DSE_MUST_CHECK enum dse_status fast_mesh_init(struct fast_mesh *fast, uint64_t max_children,
                                              struct dse_error *err);
void fast_mesh_free(struct fast_mesh *fast);

/* Fill fast->all (sizes and counts, with hops when `hops`) for tensor t below level l; asked again, it
 * remembers. Returns the number of children. */
uint64_t fast_mesh_classes(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                           uint32_t t, bool alone, bool hops, struct fast_mesh *fast);

/* Build the mesh itself (offsets, members by group), and fast->all with hops when `hops`. After
 * fast_mesh_classes. */
void fast_mesh_build(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                     bool alone, bool hops, struct fast_mesh *fast);

/* May some child find its data at a neighbour when the tile moves by `move`? No false negatives; cheap. */
bool fast_mesh_may_link(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                        uint32_t t, int64_t move);

/* Fill mesh->all.class_[0].hops: the sum over all groups of tensor t below level l of the hops that reach a
 * group's members (docs/cost-model.md, "Energy of networks"). For sizes and counts that are set and even
 * groups: no two spatial loops move one rank of t. `alone`: each child is a group. Uses the mesh's arrays
 * as scratch. */
void fast_even_hops(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                    bool alone, struct fast_mesh *mesh);

/* One level's counts, per instance. */
struct fast_counts {
    uint64_t reads, fills, updates;
    double network_j; /* of the network below, all instances */
};

/* Counts of tensor t at every level (n_level); zero where bypassed. */
void fast_traffic(const struct compiled *evaluator, const struct mapping *mapping,
                  const struct fast_nest *nest, uint32_t t, struct fast_mesh *mesh,
                  struct fast_counts *counts);

#endif
