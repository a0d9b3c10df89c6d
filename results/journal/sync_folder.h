/* Making a rename last. */
#ifndef RESULTS_JOURNAL_SYNC_FOLDER_H
#define RESULTS_JOURNAL_SYNC_FOLDER_H

#include "base/status.h"

/* Bring the folder that `path` lies in to the disk (fsync), so that names given in it survive a power
 * failure. DSE_IO: the disk failed. That a folder cannot be synced, or not be opened, is no failure: the
 * files are whole without. */
DSE_MUST_CHECK enum dse_status sync_folder(const char *path, struct dse_error *err);

#endif
