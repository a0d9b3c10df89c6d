/* Small files of /proc, and what signals are called. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* SANITIZED: shadow memory takes terabytes of address space. Clang tells of it in another way than gcc. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum { VMSTAT_MAX = 32768 }; /* bytes; 4000 in Linux 6.1 */

bool process_read_file(const char *path, char *text, size_t size)
{
    size_t length = 0;
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    do { /* a file of /proc comes in pages */
        n = read(fd, text + length, size - 1 - length);
        length += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EINTR));
    close(fd);
    text[length] = '\0';
    return length > 0;
}

/* Fields 3 and 22 of /proc/PID/stat (man 5 proc); the name before them may hold anything, so they are counted
 * from its closing bracket. */
bool process_look(long pid, char *state, uint64_t *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    const char *at = process_read_file(path, text, sizeof text) ? strrchr(text, ')') : NULL;
    if (!at || at[1] != ' ')
        return false;
    at += 2;
    *state = *at;
    for (int field = 3; field < 22 && at; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    *start = at ? strtoull(at, NULL, 10) : 0;
    return true;
}

bool process_memory_of(int statm, uint64_t *space, uint64_t *resident)
{
    char text[128];
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    ssize_t n = statm >= 0 ? pread(statm, text, sizeof text - 1, 0) : -1;
    text[n > 0 ? n : 0] = '\0';
    if (sscanf(text, "%" SCNu64 " %" SCNu64, space, resident) != 2)
        return false;
    *space *= page;
    *resident *= page;
    return true;
}

bool process_memory(long pid, uint64_t *space, uint64_t *resident)
{
    char path[64] = "/proc/self/statm";
    if (pid != 0)
        snprintf(path, sizeof path, "/proc/%ld/statm", pid);
    int statm = open(path, O_RDONLY | O_CLOEXEC);
    bool there = process_memory_of(statm, space, resident);
    if (statm >= 0)
        close(statm);
    return there;
}

void process_end_with(pid_t parent)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(EXIT_FAILURE);
}

bool process_can_limit_memory(void)
{
    const char *preload = getenv("LD_PRELOAD");
    bool valgrind = preload && strstr(preload, "vgpreload") != NULL;
    return !SANITIZED && !valgrind;
}

bool process_stack_suffices(size_t byte, size_t *has)
{
    struct rlimit limit;
    *has = SIZE_MAX;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        *has = (size_t)limit.rlim_cur;
    return *has >= byte;
}

/* Lines are "1: FLOCK  ADVISORY  WRITE 4242 fe:00:1234 0 EOF" (man 5 proc). Devices are not compared: some
 * file systems show another one here than in stat. */
long process_with_flock(int fd)
{
    struct stat info;
    char line[256];
    long found = 0;
    FILE *file = fstat(fd, &info) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (file && found == 0 && fgets(line, sizeof line, file)) {
        long pid;
        uint64_t inode;
        if (sscanf(line, "%*s FLOCK ADVISORY WRITE %ld %*x:%*x:%" SCNu64, &pid, &inode) == 2 && pid > 0 &&
            inode == info.st_ino)
            found = pid;
    }
    if (file)
        fclose(file);
    return found;
}

uint64_t process_oom_count(void)
{
    static const char key[] = "\noom_kill ";
    char text[VMSTAT_MAX];
    const char *at = process_read_file("/proc/vmstat", text, sizeof text) ? strstr(text, key) : NULL;
    return at ? strtoull(at + strlen(key), NULL, 10) : UINT64_MAX;
}

char *process_signal(int number, char *buffer, size_t size)
{
    const char *name = sigabbrev_np(number);
    if (name)
        snprintf(buffer, size, "SIG%s", name);
    else
        snprintf(buffer, size, "signal %d", number);
    return buffer;
}

bool process_signal_is_fault(int number)
{
    return number == SIGSEGV || number == SIGBUS || number == SIGFPE || number == SIGILL ||
           number == SIGABRT || number == SIGSYS || number == SIGTRAP;
}
