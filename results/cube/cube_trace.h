/* The group `trace` of the cube: improvements of the searches over axes x layer x iteration. Its shape is
 * known when all rows have been seen, so traces wait in a scratch file. */
#ifndef RESULTS_CUBE_CUBE_TRACE_H
#define RESULTS_CUBE_CUBE_TRACE_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "results/record/schema.h"

/* One improvement. */
struct cube_trace_step {
    uint64_t evaluation;
    double cost, seconds;
};

struct cube_trace {
    const struct result_schema *schema; /* borrowed */
    const char *near;                   /* where the scratch file goes; borrowed */
    FILE *file;                         /* owned; NULL: no trace yet */
    uint64_t n;                         /* traces in the file */
    size_t n_iteration;                 /* of the longest */
    struct cube_trace_step *step;       /* (capacity) of one trace; owned */
    size_t capacity;
};

void cube_trace_init(struct cube_trace *trace, const struct result_schema *schema, const char *near);
void cube_trace_free(struct cube_trace *trace);

/* Keep "evaluation:cost evaluation:cost ..." of one layer with "seconds seconds ...", which earlier versions
 * did not write; "" is none. Cells come in order. DSE_BAD_INPUT: it reads otherwise. DSE_IO,
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_trace_take(struct cube_trace *trace, uint64_t cell, size_t layer,
                                               const char *text, const char *seconds, struct dse_error *err);

/* Write the group, if there is any trace. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status cube_trace_write(struct cube_trace *trace, hid_t file, struct dse_error *err);

#endif
