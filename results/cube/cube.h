/* The labelled HDF5 cube OUT.h5, built from the journal: metrics over the axes, groups `levels`, `layers` and
 * `trace`. Opens as netCDF-4. Every dataset but those called `seconds` is the same for any number of
 * threads and after any interruption. */
#ifndef RESULTS_CUBE_CUBE_H
#define RESULTS_CUBE_CUBE_H

#include "base/status.h"
#include "results/cube/cube_index.h"
#include "results/record/provenance.h"
#include "results/record/schema.h"

/* Build `h5_path` from OUT.csv and OUT.layers.csv beside it: written to a temporary file, flushed, renamed.
 * Rows whose coordinates are not on the axes are left out; a torn last line is ignored. May be called while
 * the journal is open for appending in this process (not at the same time as an append). With no points yet
 * it writes a cube of missing cells, so that `dse status` and readers find the axes. DSE_BAD_INPUT: a bad
 * journal line (file, line) or two rows for one cell. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_build(const char *h5_path, const struct result_schema *schema,
                                          const struct provenance *provenance, struct dse_error *err);

/* The same from a journal whose rows stand at the places of `index`, which is taken over: a merge knows them,
 * and they need not be looked for. `digest` is that of its lines, as a scan would find it. */
DSE_MUST_CHECK enum dse_status cube_build_sorted(const char *h5_path, const struct result_schema *schema,
                                                 const struct provenance *provenance,
                                                 struct cube_index *index, uint64_t digest,
                                                 struct dse_error *err);

#endif
