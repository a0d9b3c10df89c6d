/* The map space of Mind Mappings: isMember, getMapping and getProjection of the paper's section 4.1, for
 * mappings whose loops stand in three temporal blocks and a spatial one and whose banks are dealt out to
 * the tensors. As vectors of reals they are what its surrogate takes (docs/mindmappings.md).
 *
 * A vector: the sizes of the problem (n_dim); the factors of the blocks DRAM, shared, spatial, private, each
 * (n_dim); for the blocks DRAM, shared, private the place of each dimension, innermost 0, each (n_dim); the
 * banks of the shared and of the private buffers, each (n_tensor) in the order of the file. The product of a
 * dimension's factors is its size. */
#ifndef ENGINES_MINDMAPPINGS_MM_SPACE_H
#define ENGINES_MINDMAPPINGS_MM_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/random.h"
#include "base/status.h"
#include "costmodel/model/mapping.h"
#include "costmodel/model/problem.h"
#include "engines/mindmappings/mm_machine.h"

/* What becomes of a tile that does not fit its banks: its buffer is bypassed, or there is no such mapping. */
enum mm_mode { MM_AUTOBYPASS, MM_MUSTFIT, MM_MODE_COUNT };

extern const char *const mm_mode_name[MM_MODE_COUNT]; /* "autobypass", "mustfit" */

/* How far apart factors are: by themselves, or by their binary logarithms. */
enum mm_distance { MM_DISTANCE_RAW, MM_DISTANCE_LOG2 };

/* A mapping as its vector has it, without the sizes. */
struct mm_mapping {
    uint32_t factor[MM_BLOCK_COUNT][MM_DIM_MAX];    /* (4, n_dim) */
    uint8_t place[MM_NEST_COUNT][MM_DIM_MAX];       /* (3, n_dim) of a dimension, innermost 0 */
    uint32_t banks[MM_MEMORY_COUNT][MM_TENSOR_MAX]; /* (2, n_tensor) */
};

struct mm_space;

/* The space of one problem; memory from `arena`, `machine` must outlive it. DSE_NO_MEMORY, or as mm_problem.
 */
DSE_MUST_CHECK enum dse_status mm_space_new(const struct mm_machine *machine, const uint32_t *size,
                                            enum mm_mode mode, struct arena *arena,
                                            const struct mm_space **out, struct dse_error *err);

const struct mm_machine *mm_space_machine(const struct mm_space *space);
const struct problem *mm_space_problem(const struct mm_space *space);
const uint32_t *mm_space_size(const struct mm_space *space); /* (n_dim) of the problem */

/* How many mappings it has before the limits of PEs and tiles, as a decimal logarithm: factorisations,
 * orders, shares of banks (Table 1). */
double mm_space_log10(const struct mm_space *space);

/* isMember: factors that multiply to the sizes, no more PEs than there are, orders that are permutations, all
 * banks dealt out and each buffer at least one; with MM_MUSTFIT also tiles that fit. On false `reason` (size
 * bytes; may be NULL) says in one sentence why. */
bool mm_space_contains(const struct mm_space *space, const struct mm_mapping *mapping, char *reason,
                       size_t size);

/* getMapping: a member, all equally likely: one of the factorisations of each dimension, permutations and
 * shares of banks, drawn again as a whole until it is one (the authors' sampler, and with MM_MUSTFIT the same
 * with the condition that tiles fit). */
void mm_space_draw(const struct mm_space *space, struct random_stream *stream, struct mm_mapping *mapping);

/* getProjection: the member nearest to a vector (n_value; its sizes are not looked at; all finite) by the sum
 * of squared differences of factors, places and banks. With MM_DISTANCE_LOG2 those of factors are between
 * binary logarithms, and so are the vector's. With MM_MUSTFIT the search for it ends after MM_PROJECT_STEPS
 * with the nearest member that it has met. */
void mm_space_project(const struct mm_space *space, const double *vector, enum mm_distance distance,
                      struct mm_mapping *mapping);

enum { MM_PROJECT_STEPS = 20000 };

/* The same attribute in another mapping, 0 .. n_attribute-1: the factors of dimension a, the orders of the
 * three nests, the banks of the two groups. What comes out need not be a member. */
static inline void mm_space_copy_attribute(const struct mm_space *space, uint32_t attribute,
                                           const struct mm_mapping *from, struct mm_mapping *to)
{
    const uint32_t n_dim = mm_space_machine(space)->algorithm->n_dim;
    if (attribute < n_dim) {
        for (int b = 0; b < MM_BLOCK_COUNT; b++)
            to->factor[b][attribute] = from->factor[b][attribute];
    } else if (attribute < n_dim + MM_NEST_COUNT) {
        memcpy(to->place[attribute - n_dim], from->place[attribute - n_dim], sizeof to->place[0]);
    } else {
        const uint32_t m = attribute - n_dim - MM_NEST_COUNT;
        memcpy(to->banks[m], from->banks[m], sizeof to->banks[m]);
    }
}

/* Draw one attribute anew, uniformly; likewise. */
void mm_space_draw_attribute(const struct mm_space *space, uint32_t attribute, struct random_stream *stream,
                             struct mm_mapping *mapping);

/* The vector of a mapping (n_value), the sizes with it. */
void mm_space_vector(const struct mm_space *space, const struct mm_mapping *mapping, double *vector);

/* A vector as it stands in a file, of whole numbers: the sizes, for mm_space_new, and the mapping. False when
 * it cannot be one, with the reason: a value that is no whole number of 1 (places: 0) or more, a product that
 * is not the size. Whether it is a member is left to mm_space_contains. */
bool mm_vector_read(const struct mm_algorithm *algorithm, const double *vector, uint32_t *size,
                    struct mm_mapping *mapping, char *reason, size_t reason_size);

/* Only the sizes; the other values may be any. */
bool mm_vector_sizes(const struct mm_algorithm *algorithm, const double *vector, uint32_t *size, char *reason,
                     size_t reason_size);

/* The mapping that any accounting prices: loops at the levels where the authors' files have them; a buffer
 * keeps its tensor where the tile fits its banks. */
void mm_space_decode(const struct mm_space *space, const struct mm_mapping *mapping, struct mapping *out);

/* The other way round: a mapping whose loops stand there and whose buffers keep what fits, with banks that
 * say so; false, with the reason, when no vector says the same. */
bool mm_space_encode(const struct mm_space *space, const struct mapping *mapping, struct mm_mapping *out,
                     char *reason, size_t size);

#endif
