/* The problems that a surrogate is trained on: drawn at random, or those of a network. */
#ifndef ENGINES_MINDMAPPINGS_TRAINING_MM_PROBLEMS_H
#define ENGINES_MINDMAPPINGS_TRAINING_MM_PROBLEMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "base/status.h"
#include "costmodel/model/network.h"
#include "engines/mindmappings/mm_machine.h"

struct mm_problems {
    const struct mm_algorithm *algorithm;
    uint32_t n_given;              /* 0: problems are drawn */
    uint32_t (*given)[MM_DIM_MAX]; /* (n_given, n_dim) distinct; in the arena */
};

/* The layers of a network as problems, each once; those that are none of the algorithm's are left out, and
 * counted in *n_other. DSE_BAD_INPUT: it has no other. DSE_NO_MEMORY, or as network_problem. */
DSE_MUST_CHECK enum dse_status mm_problems_of_network(const struct network *network,
                                                      const struct mm_algorithm *algorithm,
                                                      struct arena *arena, struct mm_problems *problems,
                                                      uint32_t *n_other, struct dse_error *err);

/* Draw the sizes (n_dim) of a problem. Drawn ones are those of the authors' data: of a convolution N from 1,
 * 2, 4, 8, 16; C from 3, 32, 64 .. 480; K from 32 .. 480; R = S from 1, 3, 5, 7; P = Q from 7 .. 223; of
 * MTTKRP each from 128, 256 .. 3968. One in 32 of them, by a hash of the sizes, is kept for tests: with
 * `unseen` such a one comes, else another. Of given problems any comes. */
void mm_problem_draw(const struct mm_problems *problems, bool unseen, struct random_stream *stream,
                     uint32_t *size);

#endif
