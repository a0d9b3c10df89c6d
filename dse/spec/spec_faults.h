/* All that is wrong with a specification and its inputs, for `dse check`, in words. */
#ifndef DSE_SPEC_SPEC_FAULTS_H
#define DSE_SPEC_SPEC_FAULTS_H

#include "base/status.h"
#include "base/text.h"

enum { SPEC_FAULT_SHOWN = 20 };

/* "dse: FILE:LINE: TEXT" for the first 20 in the order of the lines, those of `path` before those of other
 * files, then "dse: and 3 more". */
void spec_faults_print(struct dse_faults *faults, const char *path, struct text_buffer *out);

#endif
