/* The children of one instance as multicast groups on the mesh below it (docs/cost-model.md, "Multicast,
 * scatter, links" and "Energy of networks"). */
#ifndef COSTMODEL_LOOPNEST_SPATIAL_GROUPS_H
#define COSTMODEL_LOOPNEST_SPATIAL_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/loopnest/compiled.h"
#include "costmodel/loopnest/nest.h"

/* Children are numbered as the spatial loops run, innermost fastest, and placed on the physical mesh column
 * by column index: (q mod width, q div width). */
struct child_mesh {
    uint32_t n_child;
    uint32_t width, height; /* physical columns and rows, or the logical ones where those are wider */
    int64_t *offset;        /* (n_child) packed offset of each child's box */
    uint32_t *order;        /* (n_child) children sorted by (offset, number) */
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

/* Clear the marks. */
void child_mesh_clear_served(struct child_mesh *mesh);

/* Group the children that are not marked. */
void child_mesh_group(struct child_mesh *mesh, struct group_list *list);

#endif
