/* The groups `layers` and `trace` of the cube. */
#ifndef RESULTS_CUBE_CUBE_LAYERS_H
#define RESULTS_CUBE_CUBE_LAYERS_H

#include <hdf5.h>

#include "base/status.h"
#include "results/cube/cube_rows.h"
#include "results/cube/cube_table.h"
#include "results/cube/cube_trace.h"

struct cube_layers {
    const struct result_schema *schema; /* borrowed */
    struct cube_group group;
    struct cube_table table;
    struct cube_trace trace;
    size_t at_name, at_trace, at_seconds,
        at_same;    /* columns of the layer's name, its trace and that's seconds, whose mapping it shares */
    size_t mapping; /* the dataset of mappings */
    size_t next;    /* the layer after the one before, which is the likely one */
    uint64_t cell;  /* of the current row */
};

/* Create the datasets of `layers`. `near`: see scratch_file_open. Close also after a failure. DSE_IO,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_layers_open(struct cube_layers *layers, hid_t file,
                                                const struct result_schema *schema, const char *near,
                                                struct dse_error *err);

/* The layers of the current row of `rows`. DSE_BAD_INPUT, DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_layers_take(struct cube_layers *layers, struct cube_rows *rows,
                                                struct dse_error *err);

/* Write what is left and, when any layer has a trace, the group `trace`. Nothing of that without `write`.
 * DSE_IO. */
DSE_MUST_CHECK enum dse_status cube_layers_close(struct cube_layers *layers, hid_t file, bool write,
                                                 struct dse_error *err);

#endif
