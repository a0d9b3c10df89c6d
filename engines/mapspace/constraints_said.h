/* Where the lists of constraints said what they say, so that a contradiction names both lines; and whether
 * all of it together leaves a mapping of the problem, on a machine of any size. */
#ifndef ENGINES_MAPSPACE_CONSTRAINTS_SAID_H
#define ENGINES_MAPSPACE_CONSTRAINTS_SAID_H

#include <stddef.h>

#include "engines/mapspace/mapspace_constraints.h"

enum loop_kind { LOOP_TEMPORAL, LOOP_SPATIAL, LOOP_KINDS };

extern const char *const loop_kind_name[LOOP_KINDS]; /* "temporal", "spatial" */

/* A later list replaces what an earlier one said, but for what the machine's file said, to which all add. */
enum { LIST_MACHINE = 1, LIST_FIRST, LIST_FURTHER };

/* A place; line 0: nothing was said. */
struct said {
    int line, list;
};

enum { SAID_MAX = 320 };

/* "line 12", or "line 12 of PATH" where the place is in the machine's file and the words are not. */
const char *said_print(const struct said *said, int list, const char *machine_path, char *buffer,
                       size_t size);

struct loops_said {
    struct said fixed[PROBLEM_DIM_MAX], highest[PROBLEM_DIM_MAX]; /* (n_dim) */
    struct said order;
};

struct level_said {
    struct loops_said loops[LOOP_KINDS];
    struct said dims_x, dims_y, split, dataflow;
    uint32_t split_value;
    bool split_all;  /* of the whole permutation: dimensions that are not named follow */
    bool ones_first; /* and those of one iteration come before it */
    struct said keep[PROBLEM_TENSOR_MAX], bypass[PROBLEM_TENSOR_MAX]; /* (n_tensor) */
};

struct constraints_said {
    struct level_said level[ARCH_LEVEL_MAX]; /* (n_level) */
};

/* Apply the splits: the first so many of the spatial permutation may lie on X only, the others of it on Y
 * only. */
void constraints_split(const struct constraints_said *said, const struct problem *problem,
                       struct mapspace_constraints *constraints);

/* DSE_BAD_INPUT with the lines that are to blame when the factors of a dimension cannot multiply to its
 * bound, or a spatial factor may lie on neither axis. Capacities and meshes are not looked at. `path`,
 * `machine_path`: the files of the lists and of the machine; NULL where there is none. */
DSE_MUST_CHECK enum dse_status constraints_agree(const char *path, const char *machine_path,
                                                 const struct problem *problem,
                                                 const struct architecture *arch,
                                                 const struct constraints_said *said,
                                                 const struct mapspace_constraints *constraints,
                                                 struct dse_error *err);

#endif
