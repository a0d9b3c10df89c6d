/* The data that comes with the program: experiments/ (architectures, networks, specifications), plotting/ and
 * slurm/ (templates). */
#ifndef BASE_DATA_FOLDER_H
#define BASE_DATA_FOLDER_H

#include <stddef.h>

#include "base/status.h"
#include "base/text.h"

/* Find the folder `name` ("experiments", "plotting"): of the installation or the source tree that the running
 * program lies in (PREFIX/bin/dse, build/dse, build/VARIANT/dse), else of the installation it was built for.
 * Returns 1 with `path` (size bytes) set, or 0 with the place of the installation in `path`, for a
 * message. */
int data_folder_find(const char *name, char *path, size_t size);

/* Append the file `name` of this folder of the program's data. DSE_IO when it is not there or cannot be
 * read. */
DSE_MUST_CHECK enum dse_status data_folder_append(const char *folder, const char *name,
                                                  struct text_buffer *text, struct dse_error *err);

/* The same from any folder. */
DSE_MUST_CHECK enum dse_status data_file_append(const char *folder, const char *name,
                                                struct text_buffer *text, struct dse_error *err);

#endif
