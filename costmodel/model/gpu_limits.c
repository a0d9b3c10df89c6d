/* Whether the limits themselves make sense, and whether a number of threads has a shape and enough
 * registers. */
#include "costmodel/model/gpu_limits.h"

enum dse_status gpu_limits_check(const struct architecture *arch, struct dse_error *err)
{
    const struct gpu_limits *gpu = &arch->gpu;
    uint64_t x, y;
    if (!gpu->present)
        return DSE_OK;
    if (gpu->level == 0 || gpu->level >= arch->n_level)
        return dse_fail(err, DSE_BAD_INPUT,
                        "the threads of a GPU need a storage outside and one inside them");
    for (uint32_t l = 0; l < gpu->level; l++) {
        architecture_fanout(arch, l, &x, &y);
        if (x * y != 1)
            return dse_fail(err, DSE_BAD_INPUT,
                            "%s is inside a thread and has %llu instances below it; a thread is not divided",
                            arch->level[l].name, (unsigned long long)(x * y));
    }
    if (gpu->threads_per_block < 1 || gpu->thread_dim[0] < 1 || gpu->thread_dim[1] < 1 ||
        gpu->thread_dim[2] < 1 || gpu->register_bit < 1)
        return dse_fail(err, DSE_BAD_INPUT, "a thread block needs at least one thread and one register");
    return DSE_OK;
}

bool gpu_has_shape(const struct gpu_limits *gpu, uint64_t threads)
{
    if (threads <= gpu->thread_dim[0])
        return true; /* all on x */
    for (uint64_t x = gpu->thread_dim[0]; x > 0; x--) {
        if (threads % x != 0)
            continue;
        uint64_t rest = threads / x;
        for (uint64_t z = 1; z <= gpu->thread_dim[2]; z++)
            if (rest % z == 0 && rest / z <= gpu->thread_dim[1])
                return true;
    }
    return false;
}

bool gpu_block_fits(const struct gpu_limits *gpu, uint64_t threads, uint64_t thread_bit, uint32_t tensors,
                    struct misfit_info *fit)
{
    struct misfit_info found = {.what = FITS, .level = (int)gpu->level, .dim = -1, .tensors = tensors};
    if (threads > gpu->threads_per_block) {
        found.what = MISFIT_THREADS;
        found.needed = threads;
        found.available = gpu->threads_per_block;
    } else if (!gpu_has_shape(gpu, threads)) {
        found.what = MISFIT_SHAPE;
        found.needed = threads;
    } else if (thread_bit > gpu->register_bit / threads) {
        found.what = MISFIT_REGISTERS;
        found.available = gpu->register_bit / 8;
        uint64_t bit = thread_bit > UINT64_MAX / threads ? UINT64_MAX : thread_bit * threads;
        found.needed = bit / 8 + (bit % 8 != 0);
    }
    if (found.what == FITS)
        return true;
    if (fit)
        *fit = found;
    return false;
}
