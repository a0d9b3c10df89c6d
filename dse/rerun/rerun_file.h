/* A result file to compute again: its specification and inputs, read from the file alone, and its rows. */
#ifndef DSE_RERUN_RERUN_FILE_H
#define DSE_RERUN_RERUN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "dse/spec/sweep.h"
#include "results/cube/stored_rows.h"
#include "results/record/provenance.h"

struct rerun_file {
    const char *h5; /* borrowed */
    struct result_schema stored;
    struct provenance made_by;
    struct sweep_spec spec;
    struct sweep sweep;
    struct stored_rows *rows;
    struct arena arena;    /* of what was read */
    bool is_other_program; /* rerun_file_note has noted something */
};

/* Read the file and make its sweep; `file` is all zero before. Release with rerun_file_close, also after a
 * failure. DSE_BAD_INPUT: it does not hold its inputs, or is damaged; DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status rerun_file_open(const char *h5, struct rerun_file *file,
                                               struct dse_error *err);
void rerun_file_close(struct rerun_file *file);

/* A line to `out` for each thing about the program that made the file that is not so of this one: it may
 * explain a difference. */
void rerun_file_note(struct rerun_file *file, FILE *out);

/* What the file says about itself must agree: the hash of its specification and inputs, and the axes that
 * they make. A line to `out` for what does not; `*n_different` grows. DSE_BAD_INPUT: no cell can be found. */
DSE_MUST_CHECK enum dse_status rerun_file_check(struct rerun_file *file, FILE *out, size_t *n_different,
                                                struct dse_error *err);

/* Which points (sweep.n_point) it has rows of: n_layer is a number in each of them. `*there` is the caller's
 * to free. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status rerun_file_points(const struct rerun_file *file, bool **there,
                                                 struct dse_error *err);

#endif
