/* The thread block of a GPU as a fan-out of an architecture: how many threads, in which shape, with how many
 * registers (CoSA, section V-D; docs/gpu.md). */
#ifndef COSTMODEL_MODEL_GPU_LIMITS_H
#define COSTMODEL_MODEL_GPU_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/architecture.h"
#include "costmodel/model/misfit.h"

/* Are the limits of `arch` (if it is a GPU) complete: a fan-out for the threads, none inside a thread,
 * nothing 0? DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status gpu_limits_check(const struct architecture *arch, struct dse_error *err);

/* Can x, y and z within the limits multiply to `threads`? A loop may be split over two axes and an axis may
 * hold several loops: CUDA's threads compute their indices themselves. */
bool gpu_has_shape(const struct gpu_limits *gpu, uint64_t threads);

/* Does a block of `threads` threads fit, each holding tiles of `thread_bit` bits? False with `fit` (may be
 * NULL) set; `tensors` (bit mask) go into it. */
bool gpu_block_fits(const struct gpu_limits *gpu, uint64_t threads, uint64_t thread_bit, uint32_t tensors,
                    struct misfit_info *fit);

/* `bit` and the bits of `words` words of `word_bit` bits; stays at the largest number instead of wrapping. */
static inline uint64_t gpu_add_bits(uint64_t bit, uint64_t words, uint32_t word_bit)
{
    uint64_t product, sum;
    if (__builtin_mul_overflow(words, (uint64_t)word_bit, &product) ||
        __builtin_add_overflow(bit, product, &sum))
        return UINT64_MAX;
    return sum;
}

#endif
