/* CoSA on a GPU (section V-D of the paper; docs/gpu.md): the rows of a thread block. */
#ifndef ENGINES_COSA_COSA_GPU_H
#define ENGINES_COSA_COSA_GPU_H

#include "engines/cosa/formulation.h"

/* Add to the model, where the machine is a GPU, nothing otherwise:
 * - the threads of a block, its x, y and z where they do not follow from that, and for each tensor its part
 *   of the registers times all threads;
 * - sums stay in a thread: none over blocks, none over threads while there are outputs for all of them;
 * - a block finishes its outputs in registers, so that the launch does what the mapping is priced for: at a
 *   high price, loops over outputs between the registers and the grid, and loops of sums outside those that
 *   fill the block's storage.
 * Call after the rows of the user's constraints. */
void cosa_add_gpu_rows(struct cosa_model *model);

/* On a GPU, move the loops of sums innermost in `order` (n_dim); the others keep their order. */
void cosa_gpu_order(const struct cosa_shape *shape, uint8_t *order);

/* The tensor that stays at the permutation level: `wanted` if >= 0, on a GPU else the outputs. */
int cosa_gpu_stationary(const struct problem *problem, const struct architecture *arch, int wanted);

#endif
