/* Every text of a mapping. */
#include "costmodel/interstellar/halide.h"
#include "costmodel/loopnest/gpu_schedule.h"
#include "costmodel/model/mapping_text.h"

static const struct mapping_text nest = {
    .name = "nest",
    .sentence = "every mapping as a loop nest",
    .write = mapping_write_nest,
};

/* In the order help and outputs have them. */
static const struct mapping_text *const registry[] = {&nest, &mapping_text_gpu, &mapping_text_halide};

const struct mapping_text *const *mapping_text_all(size_t *n)
{
    *n = sizeof registry / sizeof registry[0];
    return registry;
}
