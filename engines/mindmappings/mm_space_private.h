/* The inside of a map space of Mind Mappings, shared by the mm_*.c files only. */
#ifndef ENGINES_MINDMAPPINGS_MM_SPACE_PRIVATE_H
#define ENGINES_MINDMAPPINGS_MM_SPACE_PRIVATE_H

#include "engines/mindmappings/mm_space.h"

/* Divisors of a size: 8648640 has the most up to MM_SIZE_MAX, 448. */
enum { MM_DIVISOR_MAX = 448 };

/* All ways to write the size of a dimension as a product of the blocks' factors. */
struct mm_factors {
    uint32_t n;
    uint32_t (*factor)[MM_BLOCK_COUNT]; /* (n, 4) in lexicographic order */
    double (*log2)[MM_BLOCK_COUNT];     /* (n, 4) */
};

struct mm_space {
    const struct mm_machine *machine;
    enum mm_mode mode;
    struct problem problem;
    uint32_t size[MM_DIM_MAX];             /* (n_dim) */
    uint32_t dim[MM_DIM_MAX];              /* (n_dim) number of the problem's dimension */
    struct mm_factors factors[MM_DIM_MAX]; /* (n_dim) */
};

/* Words of the tile that each buffer of a memory would hold, word (2, n_tensor), under factors (4, n_dim). */
void mm_space_tiles(const struct mm_space *space, uint32_t (*factor)[MM_DIM_MAX],
                    uint64_t (*word)[MM_TENSOR_MAX]);

/* mm_space_decode onto a mapping that mapping_init or it has made: all that a vector says. */
void mm_space_decode_onto(const struct mm_space *space, const struct mm_mapping *mapping,
                          struct mapping *out);

#endif
