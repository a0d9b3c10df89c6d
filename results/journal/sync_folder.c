/* Syncs the folder that holds a path; what cannot be synced is left. */
#include "results/journal/sync_folder.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

void sync_folder(const char *path)
{
    char folder[4096];
    if (!text_copy(folder, sizeof folder, path))
        return;
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    close(fd);
}
