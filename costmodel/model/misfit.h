/* Why a mapping does not fit its machine, as data and in words. */
#ifndef COSTMODEL_MODEL_MISFIT_H
#define COSTMODEL_MODEL_MISFIT_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/problem.h"

/* Why a mapping does not fit. */
enum misfit {
    FITS,
    MISFIT_FACTORS,     /* the factors of a dimension do not multiply to its bound */
    MISFIT_CAPACITY,    /* kept tiles exceed the usable size of a level */
    MISFIT_BANKS,       /* storages that share banks need more than there are; `level` is one of them */
    MISFIT_UTILIZATION, /* kept tiles are below the level's minimum */
    MISFIT_MESH_X,      /* the X loops need more columns than a level (or the MACs) has */
    MISFIT_MESH_Y,
    MISFIT_INSTANCES, /* more instances needed than there are */
    MISFIT_FANOUT,    /* spatial loops where there is no fan-out, or wider than a strict machine's */
    MISFIT_BYPASS,    /* a tensor is kept nowhere */
    MISFIT_ROLE,      /* a tensor is kept on a level that cannot hold it */
    MISFIT_THREADS,   /* more threads than a block of the GPU may have */
    MISFIT_SHAPE,     /* no x, y, z within the GPU's limits have this number of threads */
    MISFIT_REGISTERS, /* all threads of a block together need more registers than it has (in bytes) */
    MISFIT_ORDER      /* an order is not a permutation, or the sizes do not match the problem */
};

/* One found misfit. `level` -1 means the MACs; needed/available in words, columns or instances; `tensors` a
 * bit mask. */
struct misfit_info {
    enum misfit what;
    int level;
    int dim;
    uint32_t tensors;
    uint64_t needed, available;
};

/* One sentence for people: "GlobalBuffer needs 133,888 B for Inputs+Outputs, has 131,072 B". Returns
 * `buffer`. */
char *misfit_print(const struct misfit_info *fit, const struct problem *problem,
                   const struct architecture *arch, char *buffer, size_t size);

#endif
