/* The data that comes with the program: experiments/ (architectures, networks, specifications) and plotting/
 * (templates). */
#ifndef BASE_DATA_FOLDER_H
#define BASE_DATA_FOLDER_H

#include <stddef.h>

/* Find the folder `name` ("experiments", "plotting"): of the installation or the source tree that the running
 * program lies in (PREFIX/bin/dse, build/dse, build/VARIANT/dse), else of the installation it was built for.
 * Returns 1 with `path` (size bytes) set, or 0 with the place of the installation in `path`, for a
 * message. */
int data_folder_find(const char *name, char *path, size_t size);

#endif
