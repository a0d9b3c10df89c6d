/* Making a rename last. */
#ifndef RESULTS_JOURNAL_SYNC_FOLDER_H
#define RESULTS_JOURNAL_SYNC_FOLDER_H

/* Bring the folder that `path` lies in to the disk (fsync), so that names given in it survive a power
 * failure. Best effort: some file systems refuse, and the files are whole without. */
void sync_folder(const char *path);

#endif
