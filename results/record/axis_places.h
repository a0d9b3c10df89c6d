/* From the coordinates of a row to its cell, in constant time however long the axes are. */
#ifndef RESULTS_RECORD_AXIS_PLACES_H
#define RESULTS_RECORD_AXIS_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "results/record/csv_line.h"
#include "results/record/schema.h"

struct axis_places; /* a hash table per axis */

/* The schema is borrowed. DSE_NO_MEMORY; then `*places` is NULL. */
DSE_MUST_CHECK enum dse_status axis_places_new(const struct result_schema *schema,
                                               struct axis_places **places, struct dse_error *err);
void axis_places_free(struct axis_places *places); /* NULL is fine */

/* The cell of a row that csv_split made, whose first columns are those of the axes: `index` (n_axis) and its
 * row-major number. False when the coordinates are not on the axes. */
bool axis_places_find(const struct axis_places *places, const struct csv_row *row, uint32_t *index,
                      uint64_t *cell);

#endif
