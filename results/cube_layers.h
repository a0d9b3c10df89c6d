/* The groups `layers` and `trace` of the cube. */
#ifndef RESULTS_CUBE_LAYERS_H
#define RESULTS_CUBE_LAYERS_H

#include <hdf5.h>

#include "base/status.h"
#include "results/cube_rows.h"
#include "results/schema.h"

/* Write group `layers` (axes x layer, with per-level values axes x layer x level) and, when any row has a trace, group
 * `trace` (axes x layer x iteration). */
DSE_MUST_CHECK enum dse_status cube_write_layers(hid_t file, const struct result_schema *schema,
                                                 struct cube_rows *rows, struct dse_error *err);

#endif
