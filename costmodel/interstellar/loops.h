/* The seven loops by which Interstellar's paper, files and dataflow names speak of a convolution, and the
 * dimensions of a problem that they are. */
#ifndef COSTMODEL_INTERSTELLAR_LOOPS_H
#define COSTMODEL_INTERSTELLAR_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/model/problem.h"

/* In the order of the authors' files; the numbers stand in their dataflow keys, "(4)(53)". */
enum interstellar_loop { LOOP_FX, LOOP_FY, LOOP_OX, LOOP_OY, LOOP_OC, LOOP_IC, LOOP_ON, LOOP_COUNT };

/* The dimension of each loop, or -1 where the problem has none; `other`: bit d is set for every dimension
 * that is none of the seven (G of a grouped layer, all of an einsum that is no convolution). */
struct interstellar_loops {
    int dim[LOOP_COUNT];
    uint32_t other;
};

/* By the names of our convolutions: S R Q P K C N. */
void interstellar_loops_of(const struct problem *problem, struct interstellar_loops *out);

/* "FX" of the authors' files, and the paper's letter ("X" for OX, "K" for OC). */
const char *interstellar_loop_name(enum interstellar_loop loop);
const char *interstellar_loop_letter(enum interstellar_loop loop);

/* What people of the paper call each dimension: the authors' name of the loop that it is, else its own. */
void interstellar_name_dims(const struct problem *problem, const char *name[PROBLEM_DIM_MAX]);

/* A dimension by the authors' name, the paper's letter where it is not a dimension's own name too, or its own
 * name; -1 when there is none. */
int interstellar_find_dim(const struct problem *problem, const char *name, size_t length);

#endif
