/* Which points a merged journal lacks. */
#ifndef RESULTS_CUBE_MERGE_MISSING_H
#define RESULTS_CUBE_MERGE_MISSING_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "results/cube/merge.h"
#include "results/record/schema.h"

/* Add cell `cell` to the examples, while there is room. */
void merge_missing_note(struct merge_summary *summary, const struct result_schema *schema, uint64_t cell);

/* Look for the first missing points of the merged journal `out`, where the specification leaves out cells:
 * cell (n) are those of its points, ascending, as its owner knows. Fills the examples of `summary`.
 * DSE_BAD_INPUT, DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status merge_missing_find(const char *out, const struct result_schema *schema,
                                                  const uint32_t *cell, size_t n,
                                                  struct merge_summary *summary, struct dse_error *err);

#endif
