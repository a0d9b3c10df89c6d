/* A file of an architecture, a network or a schedule of Interstellar's authors alone, for `dse check`. */
#ifndef DSE_INPUTS_INPUT_CHECK_H
#define DSE_INPUTS_INPUT_CHECK_H

#include <stdbool.h>

#include "base/status.h"
#include "base/text.h"

/* Read the file `path` when it is one of these (`*is_input`; a pipe, what cannot be read as
 * YAML and what says `experiment` are none): all that is wrong goes to `faults`, and when that is nothing a
 * line about it to `out`. Errors as of the readers. */
DSE_MUST_CHECK enum dse_status input_check(const char *path, struct dse_faults *faults, bool *is_input,
                                           struct text_buffer *out, struct dse_error *err);

#endif
