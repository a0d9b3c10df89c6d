/* O_TMPFILE, or an unlinked temporary file where the file system has none. */
#include "results/journal/scratch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum { SCRATCH_PATH_MAX = 4096 };

enum dse_status scratch_file_open(const char *near, FILE **file, struct dse_error *err)
{
    char path[SCRATCH_PATH_MAX];
    *file = NULL;
    if (!text_copy(path, sizeof path - sizeof ".XXXXXX", near))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0';
    int fd = open(slash ? path : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) { /* not every file system has files without a name */
        (void)text_copy(path, sizeof path, near);
        strcat(path, ".XXXXXX");
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    if (fd >= 0)
        *file = fdopen(fd, "w+b");
    if (*file)
        return DSE_OK;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return dse_fail_at(err, DSE_IO, near, 0, "no temporary file can be made beside it: %s", strerror(reason));
}
