/* HDF5 files that may be damaged: the HDF5 library crashes, or never ends, on some of them, so each is
 * checked before this process opens it. Behind the last byte that HDF5 uses stands a seal, a line with the
 * XXH3-64 of all bytes before it; HDF5 and all of its readers ignore what stands there. A file whose seal
 * holds is as it was written; one whose seal does not hold is damaged. One without a seal (edited with h5py,
 * repacked, cut, or older) is first read whole in a child process (base/hdf5/hdf5_trial.h), whose end
 * costs nothing.
 *
 * The child is forked, so callers have no other threads that may hold a lock of malloc or HDF5. The commands
 * that read such files (plot, merge, status, rerun, train) read them before they start any thread. */
#ifndef BASE_HDF5_HDF5_GUARD_H
#define BASE_HDF5_HDF5_GUARD_H

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* Append the seal to a file that is closed and not yet renamed into place; one whose seal holds stays as it
 * is. Before it goes a line with `origin`, unless that is 0. DSE_IO, DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_seal(const char *path, uint64_t origin, struct dse_error *err);

/* The origin that a file was sealed with: a hash of what it was made from. 0: none, or not what was written.
 * The whole file is read. */
uint64_t hdf5_origin(const char *path);

/* Whether HDF5 can be trusted with the file. `again` ends the messages about damage: how to get the file
 * again. DSE_IO: it cannot be read. DSE_BAD_INPUT: not a regular file, not HDF5, or damaged (what happened
 * and at which object). DSE_INTERRUPTED: a signal to stop came meanwhile. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_check(const char *path, const char *again, struct dse_error *err);

/* The same where the child may take at most `cpu_s` seconds of processor time (0: as long as a file of its
 * size can need). */
DSE_MUST_CHECK enum dse_status hdf5_check_within(const char *path, unsigned cpu_s, const char *again,
                                                 struct dse_error *err);

/* Whether the file can hold `n` values of the dataset, which may be mostly empty: deflate makes at most 1032
 * bytes of one (zlib's technical details), and nothing is said about less than 2^26 values. Nobody should
 * wait for the memory that a damaged one asks for. */
bool hdf5_can_hold(hid_t dataset, hsize_t n);

/* hdf5_check, then hdf5_open. */
DSE_MUST_CHECK enum dse_status hdf5_open_checked(const char *path, const char *again, hid_t *file,
                                                 struct dse_error *err);

/* Open a file whose n bytes are in memory, and which has to have its seal: for files that nobody is to edit.
 * The bytes are copied. DSE_BAD_INPUT: no HDF5, no seal (cut, edited), one that does not hold, or objects
 * that lead out of the file. DSE_NO_MEMORY. */
DSE_MUST_CHECK enum dse_status hdf5_open_sealed(const char *path, const void *bytes, size_t n,
                                                const char *again, hid_t *file, struct dse_error *err);

#endif
