/* Several OUT.h5 of one sweep as one cube: shards, parts of an axis, or the same points with another engine.
 */
#ifndef RESULTS_CUBE_CUBE_JOIN_H
#define RESULTS_CUBE_CUBE_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/record/schema.h"

/* What all cells of a file have in common and its axes do not say: "engine", "cocco". */
struct cube_fixed {
    const char *name, *text;
};

struct cube_file {
    const char *path;
    const struct cube_fixed *fixed; /* (n_fixed) */
    size_t n_fixed;
};

struct cube_part; /* one file's place in the whole */

/* Memory is the arena's that it was opened with; paths and fixed texts are borrowed. */
struct cube_join {
    struct result_schema schema; /* of the first file, with the axes of all */
    size_t n_cell;
    const char *const *status; /* (n_cell) "": not computed, in no file */
    size_t n_part;
    struct cube_part *part; /* (n_part) */
};

/* Open n >= 1 files. The axes are those of any of them, with the values of all: numbers ascending where each
 * file has them so, else in the order of the files. A file without an axis that others have lies at the value
 * that its `fixed` has of that name; where files have no such axis but differ in a fixed text of one name,
 * that becomes the last axis. DSE_BAD_INPUT: one is no result file, or they do not go together (the message
 * says why); DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_join_open(struct cube_join *join, const struct cube_file *file, size_t n,
                                              struct arena *arena, struct dse_error *err);

/* A numeric dataset of the points, (n_cell), NaN where it is missing. A cell of several files has the value
 * of the first in which it is ok. DSE_BAD_INPUT: it is ok in two that differ (which, and where), unless it is
 * a time that the run took; else as cube_read_number. */
DSE_MUST_CHECK enum dse_status cube_join_number(const struct cube_join *join, const char *dataset,
                                                struct arena *arena, double **value, struct dse_error *err);

/* A text dataset likewise, without comparing; missing cells are "". */
DSE_MUST_CHECK enum dse_status cube_join_text(const struct cube_join *join, const char *dataset,
                                              struct arena *arena, const char *const **value,
                                              struct dse_error *err);

/* Which file (its number) a cell's values come from, and where it lies in that: `index` (axes of the file). A
 * cell of no file is the first of the first. */
void cube_join_place(const struct cube_join *join, size_t cell, size_t *part,
                     uint32_t index[RESULT_AXIS_MAX]);

#endif
