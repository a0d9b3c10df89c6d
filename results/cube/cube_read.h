/* Reading an OUT.h5 back: its axes as a schema, its metrics as arrays. What `dse plot`, `dse merge` and `dse
 * status` use. */
#ifndef RESULTS_CUBE_CUBE_READ_H
#define RESULTS_CUBE_CUBE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/record/provenance.h"
#include "results/record/schema.h"

/* The schema that a cube was built with (without point keys), from its axes and root attributes; memory from
 * `arena`. DSE_IO when it cannot be opened, DSE_BAD_INPUT when it is not a cube of ours (the message says
 * what is missing). */
DSE_MUST_CHECK enum dse_status cube_read_schema(const char *path, struct arena *arena,
                                                struct result_schema *schema, struct dse_error *err);

/* What else a cube carries, so that it can be computed again: inputs with their content, `set`, shard and
 * n_shard into `schema` (its other members stay as they are), and where it comes from into `provenance` (may
 * be NULL; what an older file does not say is ""). Memory from `arena`. A file without a group `inputs` has
 * none: n_input is 0. DSE_IO, DSE_BAD_INPUT. */
DSE_MUST_CHECK enum dse_status cube_read_inputs(const char *path, struct arena *arena,
                                                struct result_schema *schema, struct provenance *provenance,
                                                struct dse_error *err);

/* A numeric dataset by its path in the file ("energy_j", "levels/energy_j"), whole, row-major, missing cells
 * NaN; `*n` is the number of values. Memory from `arena`. DSE_BAD_INPUT when there is no such dataset or it
 * is text. */
DSE_MUST_CHECK enum dse_status cube_read_number(const char *path, const char *dataset, struct arena *arena,
                                                double **value, size_t *n, struct dse_error *err);

/* The part of a numeric dataset that belongs to one cell: `index` (n_axis) fixes the leading dimensions, the
 * group's own dimensions come whole. Otherwise as cube_read_number. */
DSE_MUST_CHECK enum dse_status cube_read_cell(const char *path, const char *dataset, const uint32_t *index,
                                              size_t n_axis, struct arena *arena, double **value, size_t *n,
                                              struct dse_error *err);

/* A text dataset likewise; missing cells are "". */
DSE_MUST_CHECK enum dse_status cube_read_text(const char *path, const char *dataset, struct arena *arena,
                                              const char *const **value, size_t *n, struct dse_error *err);

/* How many points a cube holds; 0 also when there is none, or none that can be read. */
uint64_t cube_read_count(const char *path);

/* A text attribute of the root ("specification", "git_revision"), or NULL when it is not there. */
const char *cube_read_attribute(const char *path, const char *name, struct arena *arena);

#endif
