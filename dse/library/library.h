/* What the handles of dse.h are, and what its functions share. Private to the room. */
#ifndef DSE_LIBRARY_LIBRARY_H
#define DSE_LIBRARY_LIBRARY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "costmodel/accounting/evaluator.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/network.h"
#include "dse/library/dse.h"

struct dse_machine {
    struct architecture arch;
};

struct dse_network {
    struct network network;
};

struct dse_layer {
    struct evaluator *evaluator; /* with problem and machine */
    struct lower_bound bound;
    double area_mm2; /* of the machine */
    struct dse_shape shape;
    /* what `shape` points to */
    const char *dim[PROBLEM_DIM_MAX], *tensor[PROBLEM_TENSOR_MAX], *level[ARCH_LEVEL_MAX];
    uint64_t fanout_x[ARCH_LEVEL_MAX], fanout_y[ARCH_LEVEL_MAX];
    uint32_t keeps[ARCH_LEVEL_MAX];
    uint32_t outermost_keeps; /* tensors that no mapping may bypass there, as its reader has it */
};

struct dse_scratch {
    struct eval_workspace *workspace;
    struct mapping mapping;
    struct evaluation evaluation;
};

/* Hand an error out: its text goes to `error` (size bytes, may be NULL). Returns the status as an enum
 * dse_code; also DSE_OK, when nothing is written. */
int library_return(enum dse_status status, const struct dse_error *err, char *error, size_t size);

/* Is it there? DSE_BAD_USAGE: "the machine is NULL". */
DSE_MUST_CHECK enum dse_status library_need(const void *pointer, const char *what, struct dse_error *err);

/* The same for pairs of texts (2 n). */
DSE_MUST_CHECK enum dse_status library_need_pairs(const char *const *pair, size_t n, const char *what,
                                                  struct dse_error *err);

/* Numbers of a row; rows of this layer have so many. */
static inline uint32_t library_width(uint32_t n_level, uint32_t n_dim)
{
    return n_level * (4 * n_dim + 6);
}

DSE_MUST_CHECK enum dse_status library_need_width(size_t width, uint32_t needed, const char *of,
                                                  struct dse_error *err);

/* A row (width of the layer) as a mapping. True when it is one: orders are permutations, factors at least 1,
 * bits those of tensors, all of which the outermost level keeps; whether it fits is not asked. */
bool library_row_read(const struct dse_layer *layer, const int32_t *row, struct mapping *mapping);

/* A mapping as a row. */
void library_row_write(const struct mapping *mapping, int32_t *row);

/* The flag of a caller as the searches look at it; NULL for NULL. */
static inline const atomic_int *library_flag(const volatile int *cancel)
{
    _Static_assert(sizeof(atomic_int) == sizeof(int) && _Alignof(atomic_int) == _Alignof(int),
                   "an int is read as an atomic one");
    return (const atomic_int *)(uintptr_t)cancel;
}

#endif
