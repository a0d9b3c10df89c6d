/* Takes flock where it can; else makes or takes over the file by what its text says, waits, and looks
 * whether it still stands there. */
#include "results/journal/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/process.h"
#include "base/text.h"
#include "results/record/schema.h"

enum { LOCK_PATH_MAX = 4096, LOCK_TEXT_MAX = 2048 };

static const double wait_s = 1, pause_s = 0.02;
static const double settle_s =
    0.2; /* without flock: how long two who take over may be apart and still notice */

struct lock {
    int fd;
    bool by_flock;
    struct lock_owner awaited; /* who held it before, and ended while we waited */
    char path[LOCK_PATH_MAX];
};

static void sleep_s(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        ;
}

static void this_host(const struct lock_manner *manner, char *host, size_t size)
{
    if (manner->host)
        (void)text_copy(host, size, manner->host);
    else if (gethostname(host, size) != 0)
        (void)text_copy(host, size, "unknown");
    host[size - 1] = '\0';
}

/* Whether the process that took the lock on this host still runs, and is no other one with its number. */
static bool process_alive(const struct lock_owner *owner)
{
    char state = 'R';
    uint64_t start = 0;
    if (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH)
        return false;
    if (!process_look(owner->pid, &state, &start))
        return true;
    return state != 'Z' && state != 'X' && (owner->start == 0 || start == 0 || owner->start == start);
}

/* The rest of the line that begins with `key`, or "" when there is none. */
static void take_value(const char *text, const char *key, char *value, size_t size)
{
    char line[LOCK_TEXT_MAX];
    size_t length = strlen(key);
    value[0] = '\0';
    for (const char *at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (strncmp(at, key, length) != 0)
            continue;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at + length, "\n"), at + length);
        text_excerpt(line, value, size);
        return;
    }
}

/* What the file says; `*by_flock` tells how it was held. Junk leaves the fields empty. False: the file is
 * empty. */
static bool read_owner(int fd, struct lock_owner *owner, bool *by_flock)
{
    char text[LOCK_TEXT_MAX], word[64];
    *owner = (struct lock_owner){0};
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    uint64_t number;
    take_value(text, "host: ", owner->host, sizeof owner->host);
    take_value(text, "since: ", owner->since, sizeof owner->since);
    take_value(text, "command: ", owner->command, sizeof owner->command);
    take_value(text, "pid: ", word, sizeof word);
    if (text_parse_u64(word, &number) && number > 0 && number <= INT32_MAX)
        owner->pid = (long)number;
    take_value(text, "start: ", word, sizeof word);
    if (text_parse_u64(word, &number))
        owner->start = number;
    take_value(text, "points: ", word, sizeof word);
    owner->n_point = text_parse_u64(word, &number) ? number : UINT64_MAX;
    take_value(text, "held by: ", word, sizeof word);
    *by_flock = strcmp(word, "flock") == 0;
    return n > 0;
}

/* Seconds since the last touch. */
static double age_s(int fd)
{
    struct stat info;
    struct timespec now;
    if (fstat(fd, &info) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    return (double)(now.tv_sec - info.st_mtim.tv_sec) + 1e-9 * (double)(now.tv_nsec - info.st_mtim.tv_nsec);
}

/* Whether the owner still holds, by what the file says alone. */
static bool judge(int fd, const struct lock_owner *owner, const char *host)
{
    if (owner->pid != 0 && strcmp(owner->host, host) == 0)
        return process_alive(owner);
    return age_s(fd) < LOCK_STALE_S;
}

/* Write who we are into the file. */
static bool write_owner(int fd, const char *host, const char *command, bool by_flock)
{
    char text[LOCK_TEXT_MAX], since[32] = "", shown[512], state;
    uint64_t start = 0;
    struct tm utc;
    time_t now = time(NULL);
    if (gmtime_r(&now, &utc))
        (void)strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &utc);
    (void)process_look((long)getpid(), &state, &start);
    int n = snprintf(text, sizeof text,
                     "host: %s\npid: %ld\nsince: %s\ncommand: %s\nstart: %" PRIu64 "\nheld by: %s\n", host,
                     (long)getpid(), since, text_excerpt(command ? command : "", shown, sizeof shown), start,
                     by_flock ? "flock" : "this file");
    if (n <= 0 || (size_t)n >= sizeof text || ftruncate(fd, 0) != 0)
        return false;
    for (size_t at = 0; at < (size_t)n;) { /* a short write is followed by one that says why */
        errno = ENOSPC;
        ssize_t written = pwrite(fd, text + at, (size_t)n - at, (off_t)at);
        if (written <= 0 && errno != EINTR)
            return false;
        at += written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* Whether `path` still is the file that is open: its last holder may have removed it meanwhile. */
static bool is_still(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

enum attempt { TAKEN, AGAIN, HELD, BROKEN };

/* With flock. HELD: `*owner` says by whom. -1 in `*unsupported` when the file system has no flock. */
static enum attempt take_flock(struct lock *lock, const struct lock_manner *manner, const char *host,
                               struct lock_owner *owner, bool *unsupported)
{
    bool by_flock;
    *unsupported = manner->no_flock;
    if (manner->no_flock)
        return AGAIN;
    if (flock(lock->fd, LOCK_EX | LOCK_NB) != 0) {
        *unsupported = errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS;
        (void)read_owner(lock->fd, owner, &by_flock);
        if (owner->pid == 0) /* it has not written it yet, or somebody has emptied the file */
            owner->pid = process_with_flock(lock->fd);
        return *unsupported ? AGAIN : errno == EWOULDBLOCK || errno == EINTR ? HELD : BROKEN;
    }
    if (!is_still(lock->fd, lock->path))
        return AGAIN;
    bool any = read_owner(lock->fd, owner, &by_flock);
    /* Who held it without flock does not show by flock. */
    return any && !by_flock && owner->pid != 0 && judge(lock->fd, owner, host) ? HELD : TAKEN;
}

/* Without flock: the first to make the file has it; who finds a stale one writes his name into a new one, and
 * looks after a while whether it still stands there. */
static enum attempt take_file(struct lock *lock, bool made, const char *host, const char *command,
                              struct lock_owner *owner)
{
    char mine[LOCK_PATH_MAX + 64];
    bool by_flock;
    if (made)
        return TAKEN;
    (void)read_owner(lock->fd, owner, &by_flock);
    if (judge(lock->fd, owner, host))
        return HELD;
    snprintf(mine, sizeof mine, "%s.%s.%ld", lock->path, host, (long)getpid());
    int fd = file_create(mine);
    if (fd < 0)
        return BROKEN;
    bool fine = write_owner(fd, host, command, false) && rename(mine, lock->path) == 0;
    if (!fine) {
        int why = errno;
        unlink(mine);
        close(fd);
        errno = why;
        return BROKEN;
    }
    close(lock->fd);
    lock->fd = fd;
    sleep_s(settle_s);
    return is_still(fd, lock->path) ? TAKEN : AGAIN;
}

/* Open and try once. */
static enum attempt try_once(struct lock *lock, const struct lock_manner *manner, const char *host,
                             const char *command, struct lock_owner *owner)
{
    bool unsupported, made = true;
    *owner = (struct lock_owner){0};
    lock->fd = file_open_kept(lock->path, O_RDWR | O_CREAT | O_EXCL);
    if (lock->fd < 0 && errno == EEXIST) {
        made = false;
        lock->fd = file_open_kept(lock->path, O_RDWR | O_NONBLOCK);
        if (lock->fd < 0 && errno == ENOENT)
            return AGAIN;
    }
    if (lock->fd < 0)
        return BROKEN;
    enum attempt attempt = take_flock(lock, manner, host, owner, &unsupported);
    lock->by_flock = !unsupported;
    if (unsupported)
        attempt = take_file(lock, made, host, command, owner);
    if (attempt == TAKEN && !write_owner(lock->fd, host, command, lock->by_flock)) {
        int why = errno;
        unlink(lock->path); /* nobody else could have taken it meanwhile */
        errno = why;
        attempt = BROKEN;
    }
    if (attempt != TAKEN) {
        int why = errno;
        close(lock->fd);
        lock->fd = -1;
        errno = why;
    }
    return attempt;
}

static enum dse_status fail_held(const char *path, const struct lock_owner *owner, const char *host,
                                 struct dse_error *err)
{
    if (owner->pid == 0)
        return dse_fail_at(
            err, DSE_BAD_USAGE, path, 0,
            "another run is writing this output (who, the lock does not say); wait for it to end, choose "
            "another output with -o, or delete this file when no run is");
    if (!owner->host[0])
        return dse_fail_at(
            err, DSE_BAD_USAGE, path, 0,
            "another run is writing this output: process %ld on this host; wait for it to end, "
            "or choose another output with -o",
            owner->pid);
    return dse_fail_at(
        err, DSE_BAD_USAGE, path, 0,
        "another run is writing this output: process %ld on %s%s, since %s (%s); wait for it to end, or "
        "choose another output with -o%s",
        owner->pid, owner->host, strcmp(owner->host, host) == 0 ? " (this host)" : "", owner->since,
        owner->command[0] ? owner->command : "dse",
        strcmp(owner->host, host) == 0 ? "" : "; if that host is gone, delete this file");
}

enum dse_status lock_take_so(const char *out, const char *command, const struct lock_manner *manner,
                             struct lock **taken, struct lock_owner *stale, struct dse_error *err)
{
    struct lock_owner owner;
    char host[256];
    *taken = NULL;
    if (stale)
        *stale = (struct lock_owner){0};
    struct lock *lock = calloc(1, sizeof *lock);
    if (!lock)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the lock");
    if (!result_path(lock->path, sizeof lock->path, out, ".lock")) {
        free(lock);
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    }
    this_host(manner, host, sizeof host);
    enum attempt attempt = try_once(lock, manner, host, command, &owner);
    for (double waited = 0; (attempt == HELD || attempt == AGAIN) && waited < manner->wait_s;
         waited += pause_s) {
        if (attempt == HELD)
            lock->awaited = owner;
        sleep_s(pause_s);
        attempt = try_once(lock, manner, host, command, &owner);
    }
    if (attempt == TAKEN) {
        if (stale)
            *stale = owner;
        *taken = lock;
        return DSE_OK;
    }
    int code = errno;
    enum dse_status status =
        attempt == BROKEN
            ? dse_fail_at(err, DSE_IO, lock->path, 0, "the lock of the output cannot be written: %s%s",
                          file_error(code), code == ENOENT ? "; make the folder first" : "")
            : fail_held(lock->path, &owner, host, err);
    free(lock);
    return status;
}

enum dse_status lock_take(const char *out, const char *command, struct lock **lock, struct lock_owner *stale,
                          struct dse_error *err)
{
    const struct lock_manner manner = {.wait_s = wait_s};
    return lock_take_so(out, command, &manner, lock, stale, err);
}

const struct lock_owner *lock_awaited(const struct lock *lock)
{
    return &lock->awaited;
}

void lock_touch(const struct lock *lock)
{
    if (lock)
        (void)futimens(lock->fd, NULL);
}

void lock_note_points(const struct lock *lock, uint64_t n_point)
{
    char line[64];
    int n = snprintf(line, sizeof line, "points: %" PRIu64 "\n", n_point);
    off_t end = lock ? lseek(lock->fd, 0, SEEK_END) : -1;
    if (end > 0 && n > 0)
        (void)!pwrite(lock->fd, line, (size_t)n, end); /* it is for people only */
}

void lock_release(struct lock *lock)
{
    if (!lock)
        return;
    /* Removed while it is ours, so that nobody's else is removed. */
    if (is_still(lock->fd, lock->path))
        unlink(lock->path);
    if (lock->by_flock)
        (void)flock(lock->fd, LOCK_UN); /* for children that share it, too */
    close(lock->fd);
    free(lock);
}

bool lock_read(const char *out, struct lock_owner *owner)
{
    const struct lock_manner here = {0};
    char path[LOCK_PATH_MAX], host[256];
    bool by_flock;
    *owner = (struct lock_owner){0};
    if (!result_path(path, sizeof path, out, ".lock"))
        return false;
    int fd = file_open_kept(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0)
        return false;
    this_host(&here, host, sizeof host);
    (void)read_owner(fd, owner, &by_flock);
    if (flock(fd, LOCK_SH | LOCK_NB) == 0)
        owner->held = !by_flock && owner->pid != 0 && judge(fd, owner, host);
    else
        owner->held = errno == EWOULDBLOCK || judge(fd, owner, host);
    close(fd);
    return true;
}
