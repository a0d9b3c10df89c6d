/* What a schedule file of Interstellar's authors asks for: loops to unroll at a level, and which loops may
 * share a side of the array with them. */
#ifndef COSTMODEL_INTERSTELLAR_HINT_H
#define COSTMODEL_INTERSTELLAR_HINT_H

#include <stdbool.h>
#include <stdint.h>

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
    struct loop_hint loop[PROBLEM_DIM_MAX]; /* (n_dim) */
    bool has_partition_loops;               /* false: the file has no such list, and sharing is an error */
    uint8_t n_partition_loop;
    uint8_t partition_loop[PROBLEM_DIM_MAX]; /* (n_partition_loop) dimensions, in the file's order */
};

#endif
