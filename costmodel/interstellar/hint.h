/* What a schedule file of Interstellar's authors asks for: loops to unroll at a level, and which loops may
 * share a side of the array with them. */
#ifndef COSTMODEL_INTERSTELLAR_HINT_H
#define COSTMODEL_INTERSTELLAR_HINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/yaml.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* Of one dimension of the problem. */
struct loop_hint {
    bool present;
    uint8_t level;      /* the storage level whose instances the loop is spread over; 0 = innermost */
    uint32_t partition; /* iterations side by side, >= 1 */
    uint32_t blocking;  /* iterations one after another at that level, or 0: left open */
};

struct interstellar_hint {
    bool present;
    int line;                               /* of the file, for messages */
    struct loop_hint loop[PROBLEM_DIM_MAX]; /* (n_dim) */
    bool has_partition_loops;               /* false: the file has no such list, and sharing is an error */
    uint8_t n_partition_loop;
    uint8_t partition_loop[PROBLEM_DIM_MAX]; /* (n_partition_loop) dimensions, in the file's order */
};

/* Is it one of their schedules? By its keys, right or wrong in the rest. */
bool interstellar_is_schedule(const struct ynode *node);

/* The schedule `node` of `doc` for one problem and machine; "order" is ignored, as the authors do.
 * DSE_BAD_INPUT with file and line: an unknown loop or one that the problem has not, a level beyond the
 * machine, two levels for a loop, a size below 1, no partitioning_size, iterations side by side at a level
 * that has no array. Without problem and machine (both NULL) what holds for all of them is checked, and
 * dimension d of `hint` is loop d (costmodel/interstellar/loops.h). With doc->faults errors are noted
 * there. */
DSE_MUST_CHECK enum dse_status interstellar_hint_read(const struct yaml_doc *doc, const struct ynode *node,
                                                      const struct problem *problem,
                                                      const struct architecture *arch,
                                                      struct interstellar_hint *hint, struct dse_error *err);

/* Is there no mapping at all that follows it, whatever the memories hold? Then `why` (size bytes) says so: a
 * loop has fewer iterations than lie side by side (with a blocking_size the rest would idle), or the array
 * has fewer instances. */
bool interstellar_hint_is_impossible(const struct interstellar_hint *hint, const struct problem *problem,
                                     const struct architecture *arch, char *why, size_t size);

#endif
