/* The root datasets of the cube and the group `levels`. */
#ifndef RESULTS_CUBE_CUBE_POINTS_H
#define RESULTS_CUBE_CUBE_POINTS_H

#include <hdf5.h>

#include "base/status.h"
#include "results/cube/cube_rows.h"
#include "results/cube/cube_table.h"

struct cube_points {
    struct cube_group root, levels;
    struct cube_table table;
};

/* Create the datasets. Close also after a failure. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_points_open(struct cube_points *points, hid_t file,
                                                const struct result_schema *schema, struct dse_error *err);

/* The current row of `rows`. DSE_BAD_INPUT without file and line, DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_points_take(struct cube_points *points, const struct cube_rows *rows,
                                                struct dse_error *err);

/* Write what is left (`write`) and close. DSE_IO. */
DSE_MUST_CHECK enum dse_status cube_points_close(struct cube_points *points, bool write,
                                                 struct dse_error *err);

#endif
