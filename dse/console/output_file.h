/* Where a command's rows go: the standard output, or a file that is there only when it is whole. */
#ifndef DSE_CONSOLE_OUTPUT_FILE_H
#define DSE_CONSOLE_OUTPUT_FILE_H

#include <stdio.h>

#include "base/status.h"

enum { OUTPUT_PATH_MAX = 4096 };

/* Rows go to PATH.tmp, which becomes PATH when all is well. */
struct output_file {
    const char *path; /* borrowed; NULL: no file */
    char temporary[OUTPUT_PATH_MAX];
    FILE *stream;
};

/* Make PATH.tmp, or with `path` NULL take `otherwise` (borrowed; may be NULL). DSE_BAD_USAGE for an empty or
 * too long path, DSE_IO when it cannot be written. */
DSE_MUST_CHECK enum dse_status output_file_open(const char *path, FILE *otherwise, struct output_file *file,
                                                struct dse_error *err);

/* Finish what was opened, `status` being what came of the rows: the file takes its name, or is removed.
 * Returns `status`, or DSE_IO when all was well but for the writing. */
DSE_MUST_CHECK enum dse_status output_file_close(struct output_file *file, enum dse_status status,
                                                 struct dse_error *err);

#endif
