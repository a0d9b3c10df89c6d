/* Which loops lie on which side of an array: Interstellar's dataflows U|V, UW|V, U|VW as users write them. */
#ifndef COSTMODEL_INTERSTELLAR_UNROLLING_H
#define COSTMODEL_INTERSTELLAR_UNROLLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "costmodel/model/problem.h"

struct unrolling {
    uint8_t n;                     /* 0: nothing is said */
    uint8_t loop[PROBLEM_DIM_MAX]; /* (n) dimensions, side by side, near ones first */
    uint16_t begins;               /* bit i: loop[i] is the first of a side */
};

/* Parse "C|K" or "FY|YK": sides apart by "|", loops of one side together or apart by "." or blanks, in the
 * paper's letters, the authors' names or the problem's own; or a key, "(5)(4)". DSE_BAD_INPUT: no such loop,
 * one that is there twice, an empty side. */
DSE_MUST_CHECK enum dse_status unrolling_parse(const char *text, const struct problem *problem,
                                               struct unrolling *out, struct dse_error *err);

/* The name of a loop that has one iteration, as C of a depthwise layer, and so cannot be unrolled; NULL:
 * none. Owned by the problem. */
const char *unrolling_lacks(const struct unrolling *unrolling, const struct problem *problem);

/* Is it these loops on these sides? `swapped`: the two sides may have changed places. */
bool unrolling_is(const struct unrolling *unrolling, const struct unrolling *other, bool *swapped);

#endif
