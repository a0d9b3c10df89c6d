/* The linear assignment problem: rows to distinct columns so that the costs sum up to the least. Shortest
 * augmenting paths (R. Jonker and A. Volgenant, "A shortest augmenting path algorithm for dense and sparse
 * linear assignment problems", Computing 38, 1987; for more columns than rows D. Crouse, "On implementing 2D
 * rectangular assignment algorithms", IEEE Trans. AES 52, 2016): rows^2 x columns steps at most. */
#ifndef ENGINES_SEARCH_ASSIGNMENT_H
#define ENGINES_SEARCH_ASSIGNMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Scratch for problems of up to so many rows and columns; made once, used for many. */
struct assignment;

/* Memory from `arena`: about 45 B a column. NULL: out of memory. */
struct assignment *assignment_new(uint32_t max_row, uint32_t max_column, struct arena *arena);

/* The column of each row, `column` (n_row), all different; `cost` (n_row, n_column) by rows, INFINITY where a
 * row cannot have a column. n_row <= n_column. Of equal ones always the same. False: no assignment has a
 * finite cost, or there are too few columns. */
bool assignment_solve(struct assignment *scratch, const double *cost, uint32_t n_row, uint32_t n_column,
                      uint32_t *column);

#endif
