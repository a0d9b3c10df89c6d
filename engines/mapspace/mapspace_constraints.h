/* What a user fixes or forbids in the space of mappings of one problem on one architecture, and the reader of
 * its YAML form (docs/engines.md, "Constraints"; the words are Timeloop's). Plain data, copied by value. */
#ifndef ENGINES_MAPSPACE_MAPSPACE_CONSTRAINTS_H
#define ENGINES_MAPSPACE_MAPSPACE_CONSTRAINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/interstellar/hint.h"
#include "costmodel/interstellar/unrolling.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"

/* One kind of loop (temporal or spatial) at one level. */
struct loop_constraints {
    uint32_t fixed[PROBLEM_DIM_MAX];   /* (n_dim) the factor, or 0 when it is free */
    uint32_t highest[PROBLEM_DIM_MAX]; /* (n_dim) the largest factor allowed, or 0 when there is no limit */
    uint8_t n_order;                   /* how many loops have a fixed place */
    uint8_t order[PROBLEM_DIM_MAX];    /* (n_order) these dimensions are the innermost loops, in this order */
};

struct level_constraints {
    struct loop_constraints temporal;
    struct loop_constraints spatial;
    uint32_t dims_x, dims_y; /* bit d set: dimension d may lie on X / on Y here */
    uint32_t keep, bypass; /* bit t set: tensor t must / must not be kept here; neither: as the roles allow */
    uint8_t no_temporal_reuse, no_link_transfer, no_multicast; /* bit t: as in struct mapping_level */
    bool is_fanout; /* the level is no memory, so that its temporal loops are all fixed to 1 */
    struct unrolling
        dataflow; /* what dims_x, dims_y and the order of spatial loops say as well; n 0: nothing */
};

struct mapspace_constraints {
    uint32_t n_level, n_dim, n_tensor;              /* of the architecture and problem they were made for */
    struct level_constraints level[ARCH_LEVEL_MAX]; /* (n_level) 0 = innermost */
    struct interstellar_hint hint; /* of a schedule file; only engines that take one heed it */
};

/* Is nothing fixed or forbidden, but for what a hint and dataflows say? */
bool mapspace_constraints_are_free(const struct mapspace_constraints *constraints);

/* Does the machine itself, by its file or its levels, restrict mappings? */
bool mapspace_constraints_of_machine(const struct architecture *arch);

/* No constraint at all, but those of levels that are no memories. */
void mapspace_constraints_init(struct mapspace_constraints *constraints, const struct problem *problem,
                               const struct architecture *arch);

/* Only these loops, near ones first, may lie on the sides of a level's array: sets dims_x, dims_y and the
 * order of its spatial loops. DSE_BAD_INPUT: more than two sides. */
DSE_MUST_CHECK enum dse_status mapspace_constraints_unroll(struct level_constraints *level,
                                                           const struct unrolling *dataflow,
                                                           struct dse_error *err);

/* Read what the machine's file demands, the entries of `list` and then those of `further`, each a sequence of
 * {target, type, ...} in `doc` or NULL; a schedule of Interstellar's authors may be an entry, or stand for a
 * list. Entries of one list add to each other and to the machine's; what `further` says of the same factor,
 * order, split or axis replaces what `list` said. `doc` may be NULL without lists.
 * DSE_BAD_INPUT names file and line, and what would be accepted; so for entries that contradict each other
 * (both lines) or the problem's bounds. What only a machine's sizes rule out is found by the map space. */
DSE_MUST_CHECK enum dse_status mapspace_constraints_read(const struct yaml_doc *doc, const struct ynode *list,
                                                         const struct ynode *further,
                                                         const struct problem *problem,
                                                         const struct architecture *arch,
                                                         struct mapspace_constraints *out,
                                                         struct dse_error *err);

/* Does the mapping keep them? `why`: if not, the first that it breaks. Whether it fits is not looked at. */
bool mapspace_constraints_keep(const struct mapspace_constraints *constraints, const struct problem *problem,
                               const struct architecture *arch, const struct mapping *mapping, char *why,
                               size_t size);

/* Say the hint by `level` as far as that can be exact, and drop it: the hinted factors are fixed, those of
 * other loops in that array are 1. DSE_BAD_INPUT with the line of the file `path` and the engine that knows
 * better: loops that may share a side of an array that is not full, remainders. Nothing happens without a
 * hint. */
DSE_MUST_CHECK enum dse_status mapspace_constraints_fix_hint(struct mapspace_constraints *constraints,
                                                             const struct problem *problem,
                                                             const struct architecture *arch,
                                                             const char *path, struct dse_error *err);

#endif
