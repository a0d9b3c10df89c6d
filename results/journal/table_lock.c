/* flock on the table; who holds it is looked up in /proc/locks, as OUT.lock may not be there to say it. */
#include "results/journal/table_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/process.h"

enum { TRY_MAX = 50 };

static const struct timespec pause_time = {0, 20 * 1000 * 1000};

static enum dse_status fail_held(int fd, const char *path, struct dse_error *err)
{
    long pid = process_with_flock(fd);
    if (pid <= 0)
        return dse_fail_at(
            err, DSE_BAD_USAGE, path, 0,
            "another run is writing this output (its .lock was deleted, and who it is cannot be "
            "told: a process on another host?); wait for it to end, or choose another output "
            "with -o");
    return dse_fail_at(
        err, DSE_BAD_USAGE, path, 0,
        "another run is writing this output: process %ld on this host, whose .lock was deleted; "
        "wait for it to end, or choose another output with -o",
        pid);
}

enum dse_status table_lock(int fd, const char *path, struct dse_error *err)
{
    for (int i = 0; i < TRY_MAX; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS)
            return DSE_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return dse_fail_at(err, DSE_IO, path, 0, "cannot be locked: %s", strerror(errno));
        nanosleep(&pause_time, NULL);
    }
    return fail_held(fd, path, err);
}

enum dse_status table_open(const char *path, int flags, int *fd, struct dse_error *err)
{
    *fd = file_open_kept(path, flags);
    if (*fd < 0)
        return errno == ENOENT && !(flags & O_CREAT)
                   ? DSE_OK
                   : dse_fail_at(err, DSE_IO, path, 0, "cannot be opened for writing: %s", file_error(errno));
    enum dse_status status = table_lock(*fd, path, err);
    if (status != DSE_OK) {
        close(*fd);
        *fd = -1;
    }
    return status;
}

int table_close(int fd)
{
    if (fd < 0)
        return 0;
    (void)flock(fd, LOCK_UN);
    return close(fd);
}
