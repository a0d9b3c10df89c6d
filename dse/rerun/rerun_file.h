/* A result file to compute again: its specification and inputs, read from the file alone, and its rows,
 * beside which those that are computed again are held. */
#ifndef DSE_RERUN_RERUN_FILE_H
#define DSE_RERUN_RERUN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/text.h"
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

/* The two sides of a point and what has come of comparing them. */
struct comparison {
    const struct stored_rows *rows;     /* which columns the file has */
    const struct result_schema *stored; /* of the file */
    const struct result_schema *now;    /* of the program; layers and levels are matched by name */
    /* what differs: "COLUMN: file VALUE, now VALUE", ended by line breaks; twenty of them, and one that
     * counts the rest */
    struct text_buffer *lines;
    bool keys; /* compare keys of points, too, which say nothing where the specification is another one */
    size_t n_compared, n_different; /* values that are on at least one side */
};

/* Compare all columns but times of a point and of its layers (n_layer), bit for bit. */
void compare_point(struct comparison *comparison, const struct stored_point *was,
                   const struct point_record *point, const struct layer_record *layer, size_t n_layer);

/* Whether a search of the point, or of one of its layers (n), was ended by the clock: then the row depends on
 * the computer. `status` NULL: all layers count, else those whose word is not "". */
bool compare_is_timed(const struct point_record *point, const struct layer_record *layer,
                      const char *const *status, size_t n);

#endif
