/* Whether all of an HDF5 file lies in the file itself. A link to another file, or a dataset whose values are
 * in one, makes whoever reads it open a path that the file chose: a pipe is waited for without end, and what
 * it shows is not what was computed. */
#ifndef BASE_HDF5_HDF5_INSIDE_H
#define BASE_HDF5_HDF5_INSIDE_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

/* Visit all links and datasets of an open file. False: the first that leads out of it is in `object` (size
 * bytes), which is "" when HDF5 cannot visit them all. Nothing is followed. */
bool hdf5_is_inside(hid_t file, char *object, size_t size);

#endif
