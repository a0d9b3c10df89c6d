/* For LD_PRELOAD: calls on files fail as on a broken disk. HAMMER_FAULT=CALL:ERRNO:FIRST:LAST lets the calls
 * of that name from the FIRST to the LAST one fail, counted in each process; of the first write only half
 * goes through before. Built and used by disk.py. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int n_call;

/* How often the call has been made beyond the FIRST, from 1, when it shall fail; errno is set. */
static int fails(const char *call, int fd)
{
    const char *fault = getenv("HAMMER_FAULT");
    struct stat info;
    char name[16];
    int number, first, last;
    if (!fault || sscanf(fault, "%15[a-z]:%d:%d:%d", name, &number, &first, &last) != 4 ||
        strcmp(name, call) != 0)
        return 0;
    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)))
        return 0;
    int n = atomic_fetch_add(&n_call, 1) + 1;
    if (n < first || n > last)
        return 0;
    errno = number;
    return n - first + 1;
}

/* The function of the C library. */
static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))real("write");
    int nth = fails("write", fd);
    return nth == 0 ? call(fd, bytes, n) : nth == 1 && n > 1 ? call(fd, bytes, n / 2) : -1;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    ssize_t (*call)(int, const void *, size_t, off_t) =
        (ssize_t(*)(int, const void *, size_t, off_t))real("pwrite");
    int nth = fails("pwrite", fd);
    return nth == 0 ? call(fd, bytes, n, at) : nth == 1 && n > 1 ? call(fd, bytes, n / 2, at) : -1;
}

int fsync(int fd)
{
    int (*call)(int) = (int (*)(int))real("fsync");
    return fails("fsync", -1) ? -1 : call(fd);
}

int fdatasync(int fd)
{
    int (*call)(int) = (int (*)(int))real("fdatasync");
    return fails("fdatasync", -1) ? -1 : call(fd);
}

int ftruncate(int fd, off_t length)
{
    int (*call)(int, off_t) = (int (*)(int, off_t))real("ftruncate");
    return fails("ftruncate", -1) ? -1 : call(fd, length);
}

int rename(const char *from, const char *to)
{
    int (*call)(const char *, const char *) = (int (*)(const char *, const char *))real("rename");
    return fails("rename", -1) ? -1 : call(from, to);
}

/* Of files that may be written. The descriptor is gone all the same (man 2 close). */
int close(int fd)
{
    int (*call)(int) = (int (*)(int))real("close");
    int nth = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY ? fails("close", fd) : 0, number = errno,
        result = call(fd);
    errno = nth ? number : errno;
    return nth ? -1 : result;
}

int open(const char *path, int flags, ...)
{
    int (*call)(const char *, int, ...) = (int (*)(const char *, int, ...))real("open");
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;
    va_end(list);
    return (flags & O_ACCMODE) != O_RDONLY && fails("open", -1) ? -1 : call(path, flags, mode);
}
