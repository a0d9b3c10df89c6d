/* All that is wrong with a specification, for `dse check`: readers note an error and go on with the next
 * thing. */
#ifndef DSE_SPEC_SPEC_FAULTS_H
#define DSE_SPEC_SPEC_FAULTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

enum { SPEC_FAULT_MAX = 200, SPEC_FAULT_SHOWN = 20 };

struct spec_faults {
    size_t n; /* of different ones; the first SPEC_FAULT_MAX are kept */
    struct dse_error fault[SPEC_FAULT_MAX];
};

/* What becomes of `status` and `err`: with `faults` an error of the input is taken up, unless the same words
 * are there already, and DSE_OK is returned; else `status`. */
DSE_MUST_CHECK enum dse_status spec_note(struct spec_faults *faults, enum dse_status status,
                                         struct dse_error *err);

/* Do `call`, and go on after an error where all errors are wanted. Needs `err`. */
#define SPEC_NOTE(faults, call) DSE_TRY(spec_note((faults), (call), err))

/* "dse: FILE:LINE: TEXT" for the first 20 in the order of the lines, those of `path` before those of other
 * files, then "dse: and 3 more". */
void spec_faults_print(struct spec_faults *faults, const char *path, struct text_buffer *out);

#endif
