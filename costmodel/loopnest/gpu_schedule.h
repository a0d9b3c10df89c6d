/* A mapping on a GPU as a CUDA launch: grid, block, shared memory, registers, the loops that stay serial
 * (docs/gpu.md). */
#ifndef COSTMODEL_LOOPNEST_GPU_SCHEDULE_H
#define COSTMODEL_LOOPNEST_GPU_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/mapping_text.h"
#include "costmodel/model/problem.h"

enum { GPU_PART_MAX = 64 };

/* A loop on an axis: its counter is (index of the axis / stride) % factor, and each step of it moves `step`
 * iterations. */
struct gpu_part {
    uint32_t dim, axis; /* axis 0 x, 1 y, 2 z */
    uint64_t factor;    /* >= 2 */
    uint64_t step;
    uint64_t stride;
};

/* gridDim or blockDim with what lies on it. */
struct gpu_axes {
    uint64_t size[3];
    uint32_t n_part;
    struct gpu_part part[GPU_PART_MAX]; /* (n_part) of one axis the fastest first */
};

struct gpu_schedule {
    uint64_t blocks, threads; /* of the grid, of one block */
    struct gpu_axes grid, block;
    uint32_t shared_by_blocks;  /* bit d: blocks along d add into the same outputs */
    uint32_t shared_by_threads; /* bit d: threads of a block along d do */
    /* serial loops make a block leave sums that it comes back to: it adds to what is in memory */
    bool unfinished;
    uint64_t shared_word[PROBLEM_TENSOR_MAX];   /* (n_tensor) tile in a block's shared memory, 0: not there */
    uint64_t register_word[PROBLEM_TENSOR_MAX]; /* (n_tensor) of one thread, all storages inside it */
    uint64_t shared_byte;                       /* of one block */
    uint64_t register_words;                    /* of one thread */
    uint64_t register_byte;                     /* of one block */
};

/* Derive the launch of a mapping that fits. The loops over output dimensions outside the threads' storage are
 * the grid; those over other dimensions are serial in the block, and spread over blocks where the mapping
 * spreads them. Up to three loops get an axis of their own, the dimension that is contiguous in the outputs
 * x; of more, or where a limit asks for it, loops share an axis or are split. The machine must be a GPU. */
void gpu_schedule_of(const struct problem *problem, const struct architecture *arch,
                     const struct mapping *mapping, struct gpu_schedule *schedule);

/* Is the temporal loop over d at level l serial in a block? Outside the threads' storage, loops over outputs
 * are the grid. */
bool gpu_loop_is_serial(const struct problem *problem, const struct architecture *arch, uint32_t l,
                        uint32_t d);

/* Does the launch keep the limits: each axis of the block, their product, shared memory, registers of a
 * thread and of a block, and CUDA's largest grid? On false `reason` (size bytes) says which does not: "z has
 * 128 threads, at most 64". */
bool gpu_schedule_check(const struct architecture *arch, const struct gpu_schedule *schedule, char *reason,
                        size_t size);

/* The launch as text for people: sizes against limits, serial loops, and how each index is computed; and as a
 * row: sizes, bytes, and the loops of each axis as "Q=14 P=2", fastest first. A text for the registry:
 * mapping_text.h. */
extern const struct mapping_text mapping_text_gpu;

#endif
