/* The spatial children of one level without allocation: group counts in closed form where no two spatial
 * loops move the same rank, by enumeration where they do, and the whole mesh only when link transfers or hops
 * need it. Private. */
#ifndef COSTMODEL_LOOPNEST_FAST_MESH_H
#define COSTMODEL_LOOPNEST_FAST_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/fast_nest.h"
#include "costmodel/loopnest/spatial_groups.h"

/* Accesses of one level that share a multicast factor and a number of groups, as in
 * costmodel/loopnest/traffic.h. */
struct fast_record {
    uint64_t multicast, scatter;
    double accesses, hops;
};

struct fast_mesh {
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
    struct fast_record *record; /* (n_record) of the current tensor and level */
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

/* Fill fast->all (sizes and counts; hops stay 0) for tensor t below level l. Returns the number of
 * children. */
uint64_t fast_mesh_groups(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                          uint32_t t, bool alone, struct fast_mesh *fast);

/* Build the mesh itself (offsets, members by group), and fast->all with hops when `hops`. After
 * fast_mesh_groups. */
void fast_mesh_build(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l, uint32_t t,
                     bool alone, bool hops, struct fast_mesh *fast);

/* May some child find its data at a neighbour when the tile moves by `move`? No false negatives; cheap. */
bool fast_mesh_may_link(const struct compiled *evaluator, const struct fast_nest *nest, uint32_t l,
                        uint32_t t, int64_t move);

#endif
