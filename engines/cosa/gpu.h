/* CoSA on a GPU (section V-D of the paper; docs/gpu.md): the rows of a thread block. */
#ifndef ENGINES_COSA_GPU_H
#define ENGINES_COSA_GPU_H

#include "engines/cosa/formulation.h"

/* Add the limits of a block where the machine is a GPU, nothing otherwise: its threads, x, y and z where they do not follow
 * from that, for each tensor its part of the registers times all threads, and no sum that is spread over blocks (nor over
 * threads, where there are outputs enough for all of them). Call after the rows of the user's constraints. */
void cosa_add_gpu_rows(struct cosa_model *model);

#endif
