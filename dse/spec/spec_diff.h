/* What differs between the specification that a result file was made from and one that is to be run, in words
 * for people. */
#ifndef DSE_SPEC_SPEC_DIFF_H
#define DSE_SPEC_SPEC_DIFF_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"
#include "dse/spec/sweep.h"
#include "results/record/schema.h"

/* How much of it matters. */
struct spec_changes {
    size_t n_result;   /* what changes the results of points: settings, limits, options, inputs, --set */
    size_t n_axis;     /* what adds and takes away points: axes, zip, points, skip, only */
    size_t n_cosmetic; /* titles, figures, comments */
};

/* Write what differs in specification, --set and inputs to `out`, a line for each thing, each ended by a line
 * break, the most important first; nothing when all is the same. Twelve lines are written at most, and one
 * that counts the rest. DSE_BAD_INPUT: one of the texts is no YAML; DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status spec_diff_schemas(const struct result_schema *was,
                                                 const struct result_schema *is, struct text_buffer *out,
                                                 struct spec_changes *changes, struct dse_error *err);

/* The same between what the result file `h5` carries and `now`. Also errors of cube_read_schema. */
DSE_MUST_CHECK enum dse_status spec_diff(const char *h5, const struct sweep *now, struct text_buffer *out,
                                         struct spec_changes *changes, struct dse_error *err);

#endif
