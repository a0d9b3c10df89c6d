/* The ways to unroll loops over the sides of an array: which loops, how wide, which share a side. */
#ifndef ENGINES_INTERSTELLAR_ARRAY_CHOICE_H
#define ENGINES_INTERSTELLAR_ARRAY_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/interstellar/unrolling.h"
#include "engines/interstellar/loop_paths.h"

enum { SIDE_LOOP_MAX = 4 };

/* What may be unrolled without a schedule file. */
struct array_rule {
    bool any;         /* every choice, unused sides too; false: the authors' candidates */
    bool replication; /* a side may carry several loops */
    uint32_t loops;   /* at most so many on a side, 1..SIDE_LOOP_MAX */
    double threshold; /* the least share of a side that its loops use */
    double least_use; /* the least product of all factors */
    double share;     /* the least share of the whole array that they use */
    const struct unrolling *only[ARCH_LEVEL_MAX]; /* [v] just these loops on these sides; NULL: any */
};

struct array_choice {
    uint32_t factor[PROBLEM_DIM_MAX]; /* (n_dim) */
    uint8_t n;
    uint8_t loop[PROBLEM_DIM_MAX];  /* (n) the loops with a factor above 1, side by side, near ones first */
    uint16_t begins;                /* bit i: loop[i] is the first of a side */
    double hop[PROBLEM_TENSOR_MAX]; /* (n_tensor) hops of a word per visit */
};

struct array_choices {
    uint32_t n, capacity;
    struct array_choice *choice; /* (n) owned */
};

/* All choices for the array below level v, of loops (n_dim) whose ways are `paths`, in a fixed order; not to
 * be used where a limit of the model's was met. With a `hint` that is present those of the authors' program
 * for it. Release with array_choices_free, also after a
 * failure. DSE_BAD_INPUT: the hint leaves room in the array and does not say for which loops; DSE_LIMIT;
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status array_choices_list(const struct blocking_model *model,
                                                  const struct loop_paths *paths, uint32_t v,
                                                  const struct interstellar_hint *hint,
                                                  const struct array_rule *rule, struct array_choices *out,
                                                  struct dse_error *err);
void array_choices_free(struct array_choices *choices);

#endif
