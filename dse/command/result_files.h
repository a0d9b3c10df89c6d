/* Result files of one sweep on the command line. */
#ifndef DSE_COMMAND_RESULT_FILES_H
#define DSE_COMMAND_RESULT_FILES_H

#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "results/cube/cube_join.h"

/* The files (n) for cube_join_open. Of several, what each fixes at one value and could be an axis ("engine",
 * "batch", quantities that --set gave) is taken from the specification in it; a file that does not hold its
 * inputs fixes nothing. Memory from `arena`; paths are borrowed. DSE_IO, DSE_BAD_INPUT: no result file;
 * DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status result_files_read(const char *const *path, size_t n, struct arena *arena,
                                                 const struct cube_file **file, struct dse_error *err);

#endif
