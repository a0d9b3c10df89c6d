/* The second lock of an output: its tables themselves are held by flock while somebody writes them, so that
 * no second writer comes in where OUT.lock has been deleted meanwhile. */
#ifndef RESULTS_JOURNAL_TABLE_LOCK_H
#define RESULTS_JOURNAL_TABLE_LOCK_H

#include "base/status.h"

/* Hold the file that is open as `fd` (for reading and writing) until all its descriptors are closed; whoever
 * is just ending is waited for, 1 s at most. Where the file system has no flock, OUT.lock alone decides, and
 * this is DSE_OK. DSE_BAD_USAGE: another process holds it, which is named where /proc/locks tells. DSE_IO. */
DSE_MUST_CHECK enum dse_status table_lock(int fd, const char *path, struct dse_error *err);

/* Open a table that is kept when it is there, never through a link, and hold it. `flags` as of open; O_CREAT
 * makes it. `*fd` is -1 when it is not there. DSE_BAD_USAGE, DSE_IO. */
DSE_MUST_CHECK enum dse_status table_open(const char *path, int flags, int *fd, struct dse_error *err);

/* Let go, also where children share the descriptor, and close. What close returns; below 0 is no file: 0. */
int table_close(int fd);

#endif
