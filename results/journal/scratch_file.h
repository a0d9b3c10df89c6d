/* A file without a name, for what does not fit into memory while a result file is made; gone when it is
 * closed or the process ends. */
#ifndef RESULTS_JOURNAL_SCRATCH_FILE_H
#define RESULTS_JOURNAL_SCRATCH_FILE_H

#include <stdio.h>

#include "base/status.h"

/* Open one on the file system of `near`, a path in a folder that may be written. Close it with fclose.
 * DSE_IO, DSE_LIMIT. */
DSE_MUST_CHECK enum dse_status scratch_file_open(const char *near, FILE **file, struct dse_error *err);

#endif
