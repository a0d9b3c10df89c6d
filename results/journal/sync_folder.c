/* Syncs the folder that holds a path; what cannot be synced is left. */
#include "results/journal/sync_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum dse_status sync_folder(const char *path, struct dse_error *err)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path + 1) : 1, slash ? path : ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return DSE_OK; /* a folder that may be written and not read: nothing to be done */
    /* Some file systems cannot sync a folder, and say EINVAL (man 2 fsync). */
    enum dse_status status =
        fsync(fd) == 0 || errno != EIO
            ? DSE_OK
            : dse_fail_at(err, DSE_IO, folder, 0, "cannot be synced: %s", strerror(errno));
    close(fd);
    return status;
}
