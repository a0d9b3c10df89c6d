/* Reading a whole HDF5 file for nothing but to see whether the library survives it. Runs in a child
 * process. */
#ifndef BASE_HDF5_HDF5_TRIAL_H
#define BASE_HDF5_HDF5_TRIAL_H

#include <stdbool.h>

/* What the child is reading, in memory that its parent shares. */
struct hdf5_trial {
    char object[256]; /* always terminated; "" before the file is open */
    bool outside;     /* `object` leads out of the file, and nothing was read */
};

/* Open the file and read all that the readers of this project would: the links of the root in both orders,
 * and of every group and dataset the attributes and values that are numbers or texts. Objects of other types,
 * which others may have added, are left alone. Returns whether HDF5 reported no error. */
bool hdf5_trial_run(const char *path, struct hdf5_trial *trial);

#endif
