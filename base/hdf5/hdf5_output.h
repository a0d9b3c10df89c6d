/* An HDF5 file being made. Small writes are gathered, and a write that fails (full disk, a limit on file
 * sizes) is remembered with its errno while HDF5 is told that all is well: it then closes the file without
 * trouble, where it else leaks, or ends in a loop. */
#ifndef BASE_HDF5_HDF5_OUTPUT_H
#define BASE_HDF5_HDF5_OUTPUT_H

#include <hdf5.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct hdf5_output {
    hid_t file; /* write here; -1: not open */
    hid_t driver;
    int fd;
    int failed;      /* errno of the first write that failed; 0: none */
    uint64_t origin; /* see hdf5_origin; may be set until the file is closed; 0: none */
    char path[4096];
    char *bytes; /* (n) waiting for their write at `at`; owned */
    uint64_t at;
    size_t n;
};

/* Create or overwrite `path`. Links and attributes keep the order of their making, no times, no lock. DSE_IO,
 * DSE_NO_MEMORY, DSE_LIMIT: then there is nothing to close. */
DSE_MUST_CHECK enum dse_status hdf5_output_open(struct hdf5_output *output, const char *path,
                                                struct dse_error *err);

/* Close, and bring it to the disk (fsync). DSE_IO: a write failed, now or before; the file is not whole
 * then. */
DSE_MUST_CHECK enum dse_status hdf5_output_close(struct hdf5_output *output, struct dse_error *err);

#endif
