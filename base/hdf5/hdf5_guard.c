/* Checks the seal, or else forks a child with limits on time and memory that reads the whole file first. */
#include "base/hdf5/hdf5_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5_hl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_inside.h"
#include "base/hdf5/hdf5_trial.h"
#include "base/process.h"
#include "base/text.h"

enum {
    SEAL_BYTE = 64,   /* of the line below */
    ORIGIN_BYTE = 30, /* of the one below it */
    BLOCK_BYTE = 1 << 20,
    EMPTY_MAX = 1 << 26, /* values */
    DEFLATE_MOST = 1032,
    TRIAL_CPU_S = 3, /* for small files */
    /* slower than any disk or deflate, so that an honest file is never blamed */
    TRIAL_BYTE_PER_CPU_S = 1 << 22,
};

static const char seal_format[] = "\nsealed by dse %016" PRIx64 " bytes, XXH3-64 %016" PRIx64 "\n";
static const char origin_format[] = "\nmade from %016" PRIx64 "\n\n\n";
static const char signature[8] = "\x89HDF\r\n\x1a\n"; /* HDF5 File Format Specification, section II.A */

static enum dse_status fail_io(const char *path, const char *what, struct dse_error *err)
{
    char words[128];
    return dse_fail_at(err, DSE_IO, path, 0, "%s: %s", what, strerror_r(errno, words, sizeof words));
}

/* Read exactly n bytes at `offset`; false with errno (0: the file is shorter). */
static bool read_at(int file, void *into, size_t n, off_t offset)
{
    for (size_t done = 0; done < n;) {
        errno = 0;
        ssize_t got = pread(file, (char *)into + done, n - done, offset + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* The hash of the first n bytes. */
static enum dse_status hash_of(int file, const char *path, uint64_t n, uint64_t *hash, struct dse_error *err)
{
    struct hash_state state;
    char *block = malloc(BLOCK_BYTE);
    if (!block)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for reading %s", path);
    hash_begin(&state);
    enum dse_status status = DSE_OK;
    for (uint64_t done = 0; status == DSE_OK && done < n;) {
        size_t part = n - done < BLOCK_BYTE ? (size_t)(n - done) : BLOCK_BYTE;
        if (read_at(file, block, part, (off_t)done))
            hash_bytes(&state, block, part);
        else
            status = fail_io(path, "cannot be read", err);
        done += part;
    }
    *hash = hash_end(&state);
    free(block);
    return status;
}

static void seal_print(char *seal, uint64_t n, uint64_t hash)
{
    snprintf(seal, SEAL_BYTE + 1, seal_format, n, hash);
}

/* Whether the file ends in a seal; one that names another size is none. DSE_BAD_INPUT when its hash is not
 * that of the file: HDF5 cuts the seal off when it opens a file for writing and closes it again, so nobody
 * has edited this one, it was damaged. */
static enum dse_status seal_holds(int file, const char *path, uint64_t size, const char *again, bool *holds,
                                  struct dse_error *err)
{
    char is[SEAL_BYTE + 1] = "", should[SEAL_BYTE + 1];
    uint64_t hash = 0;
    *holds = false;
    if (size < SEAL_BYTE)
        return DSE_OK;
    if (!read_at(file, is, SEAL_BYTE, (off_t)(size - SEAL_BYTE)))
        return fail_io(path, "cannot be read", err);
    seal_print(should, size - SEAL_BYTE, 0);
    if (memcmp(is, should, SEAL_BYTE - 17) != 0) /* all but the hash and the line's end */
        return DSE_OK;
    DSE_TRY(hash_of(file, path, size - SEAL_BYTE, &hash, err));
    seal_print(should, size - SEAL_BYTE, hash);
    *holds = memcmp(is, should, SEAL_BYTE) == 0;
    if (!*holds)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                           "damaged: its bytes are not those that were written (another checksum); %s",
                           again);
    return DSE_OK;
}

/* Without waiting for the other end of a pipe. */
static enum dse_status open_regular(const char *path, int flags, int *file, uint64_t *size,
                                    struct dse_error *err)
{
    struct stat about;
    *file = open(path, flags | (flags == O_RDONLY ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_CLOEXEC);
    if (*file < 0)
        return fail_io(path, flags == O_RDONLY ? "cannot be read" : "cannot be written", err);
    if (fstat(*file, &about) == 0 && S_ISREG(about.st_mode)) {
        *size = (uint64_t)about.st_size;
        return DSE_OK;
    }
    close(*file);
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "not a regular file, and no other kind can hold HDF5");
}

static enum dse_status append(int file, const char *path, const char *bytes, size_t n, uint64_t *at,
                              struct dse_error *err)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(file, bytes + done, n - done, (off_t)*at);
        if (put < 0 && errno != EINTR)
            return fail_io(path, "cannot be written", err);
        done += put > 0 ? (size_t)put : 0;
        *at += put > 0 ? (uint64_t)put : 0;
    }
    return DSE_OK;
}

enum dse_status hdf5_seal(const char *path, uint64_t origin, struct dse_error *err)
{
    int file;
    uint64_t size, hash = 0;
    bool holds;
    char seal[SEAL_BYTE + 1], line[ORIGIN_BYTE + 1];
    DSE_TRY(open_regular(path, O_RDWR, &file, &size, err));
    enum dse_status status = seal_holds(file, path, size, "write it again", &holds, err);
    if (status == DSE_OK && !holds) {
        snprintf(line, sizeof line, origin_format, origin);
        if (origin)
            status = append(file, path, line, ORIGIN_BYTE, &size, err);
        if (status == DSE_OK)
            status = hash_of(file, path, size, &hash, err);
        seal_print(seal, size, hash);
        if (status == DSE_OK)
            status = append(file, path, seal, SEAL_BYTE, &size, err);
    }
    if (close(file) != 0 && status == DSE_OK)
        status = fail_io(path, "cannot be written", err);
    return status;
}

uint64_t hdf5_origin(const char *path)
{
    int file;
    uint64_t size, origin = 0;
    bool holds = false;
    char is[ORIGIN_BYTE + 1] = "", should[ORIGIN_BYTE + 1];
    if (open_regular(path, O_RDONLY, &file, &size, NULL) != DSE_OK)
        return 0;
    if (seal_holds(file, path, size, "", &holds, NULL) == DSE_OK && holds && size > SEAL_BYTE + ORIGIN_BYTE &&
        read_at(file, is, ORIGIN_BYTE, (off_t)(size - SEAL_BYTE - ORIGIN_BYTE)) &&
        sscanf(is, origin_format, &origin) == 1) {
        snprintf(should, sizeof should, origin_format, origin);
        origin = memcmp(is, should, ORIGIN_BYTE) == 0 ? origin : 0;
    }
    close(file);
    return origin;
}

/* ---- the trial ---- */

/* A soft limit as low as `value`, the hard one as it is. */
static const struct rlimit *lowered(struct rlimit *limit, rlim_t value)
{
    if (limit->rlim_max == RLIM_INFINITY || value < limit->rlim_max)
        limit->rlim_cur = value;
    else
        limit->rlim_cur = limit->rlim_max;
    return limit;
}

/* Twice the file and 4 GiB on top of what this process has: blocks that are read, texts of one block, HDF5's
 * caches. The shadow memory of the sanitizers cannot be limited. */
static void limit_memory(uint64_t size)
{
    uint64_t space, resident;
    struct rlimit most;
    if (process_can_limit_memory() && process_memory(0, &space, &resident) &&
        getrlimit(RLIMIT_AS, &most) == 0)
        (void)setrlimit(RLIMIT_AS, lowered(&most, space + ((rlim_t)4 << 30) + 2 * (rlim_t)size));
}

/* Never returns. Nothing that it or a library says about its end is for users: the parent sees how it
 * ended. */
static _Noreturn void child_main(const char *path, uint64_t size, unsigned cpu_s, pid_t parent,
                                 struct hdf5_trial *trial)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
    process_end_with(parent);
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        dup2(nowhere, STDERR_FILENO);
    }
    struct rlimit most;
    if (getrlimit(RLIMIT_CORE, &most) == 0)
        (void)setrlimit(RLIMIT_CORE, lowered(&most, 0));
    if (getrlimit(RLIMIT_CPU, &most) == 0)
        (void)setrlimit(RLIMIT_CPU, lowered(&most, cpu_s));
    limit_memory(size);
    bool fine = hdf5_trial_run(path, trial);
    _exit(fine ? EXIT_SUCCESS : EXIT_FAILURE);
}

static enum dse_status fail_outside(const char *path, const char *object, const char *again,
                                    struct dse_error *err)
{
    char name[128];
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                       "its object %s lies in another file, and it should hold all of its own; %s",
                       text_excerpt(object, name, sizeof name), again);
}

/* A file whose seal holds, and which HDF5 can therefore be trusted with. */
static enum dse_status check_inside(const char *path, const char *again, struct dse_error *err)
{
    hid_t file;
    char object[256];
    DSE_TRY(hdf5_open(path, &file, err));
    bool inside = hdf5_is_inside(file, object, sizeof object);
    H5Fclose(file);
    return inside ? DSE_OK : fail_outside(path, object[0] ? object : "tree", again, err);
}

static enum dse_status judge(const char *path, int ended, unsigned cpu_s, const struct hdf5_trial *trial,
                             const char *again, struct dse_error *err)
{
    const char *object = trial->object[0] ? trial->object : "its first bytes";
    char name[32];
    if (WIFEXITED(ended) && WEXITSTATUS(ended) == EXIT_SUCCESS)
        return DSE_OK;
    if (trial->outside)
        return fail_outside(path, object, again, err);
    if (WIFSIGNALED(ended) &&
        (WTERMSIG(ended) == SIGINT || WTERMSIG(ended) == SIGTERM || WTERMSIG(ended) == SIGHUP))
        return dse_fail(err, DSE_INTERRUPTED, "interrupted while %s was checked", path);
    if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                           "damaged: the HDF5 library does not end on %s (%u s are more than enough); %s",
                           object, cpu_s, again);
    if (WIFSIGNALED(ended))
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "damaged: the HDF5 library crashes on %s (%s); %s",
                           object, process_signal(WTERMSIG(ended), name, sizeof name), again);
    if (!trial->object[0])
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "damaged: HDF5 cannot open it; %s", again);
    return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "damaged: HDF5 cannot read %s; %s", object, again);
}

static enum dse_status try_in_child(const char *path, uint64_t size, unsigned cpu_s, const char *again,
                                    struct dse_error *err)
{
    struct hdf5_trial *trial =
        mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for checking %s", path);
    int ended = 0;
    enum dse_status status;
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        child_main(path, size, cpu_s, parent, trial);
    while (child > 0 && waitpid(child, &ended, 0) < 0 && errno == EINTR)
        continue;
    if (child < 0)
        status = fail_io(path, "cannot be checked in a process of its own", err);
    else
        status = judge(path, ended, cpu_s, trial, again, err);
    munmap(trial, sizeof *trial);
    return status;
}

enum dse_status hdf5_check_within(const char *path, unsigned cpu_s, const char *again, struct dse_error *err)
{
    int file;
    uint64_t size;
    bool holds = false;
    char begin[sizeof signature];
    DSE_TRY(open_regular(path, O_RDONLY, &file, &size, err));
    bool is_hdf5 = size >= sizeof begin && read_at(file, begin, sizeof begin, 0) &&
                   memcmp(begin, signature, sizeof begin) == 0;
    enum dse_status status = is_hdf5 ? seal_holds(file, path, size, again, &holds, err)
                                     : dse_fail_at(err, DSE_BAD_INPUT, path, 0, "not an HDF5 file%s",
                                                   size ? "" : " (it is empty)");
    close(file);
    if (status != DSE_OK || holds)
        return status == DSE_OK ? check_inside(path, again, err) : status;
    uint64_t enough = TRIAL_CPU_S + size / TRIAL_BYTE_PER_CPU_S;
    return try_in_child(path, size, cpu_s ? cpu_s : enough < 86400 ? (unsigned)enough : 86400, again, err);
}

enum dse_status hdf5_check(const char *path, const char *again, struct dse_error *err)
{
    return hdf5_check_within(path, 0, again, err);
}

bool hdf5_can_hold(hid_t dataset, hsize_t n)
{
    return n <= EMPTY_MAX || n / DEFLATE_MOST <= H5Dget_storage_size(dataset);
}

enum dse_status hdf5_open_checked(const char *path, const char *again, hid_t *file, struct dse_error *err)
{
    *file = -1;
    DSE_TRY(hdf5_check(path, again, err));
    return hdf5_open(path, file, err);
}

enum dse_status hdf5_open_sealed(const char *path, const void *bytes, size_t n, const char *again,
                                 hid_t *file, struct dse_error *err)
{
    char seal[SEAL_BYTE + 1], object[256] = "";
    *file = -1;
    if (n < sizeof signature || memcmp(bytes, signature, sizeof signature) != 0)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "not an HDF5 file%s", n ? "" : " (it is empty)");
    seal_print(seal, n > SEAL_BYTE ? n - SEAL_BYTE : 0,
               n > SEAL_BYTE ? hash_of_bytes(bytes, n - SEAL_BYTE) : 0);
    if (n <= SEAL_BYTE || memcmp((const char *)bytes + n - SEAL_BYTE, seal, SEAL_BYTE) != 0)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0,
                           "not as dse wrote it: cut, edited or damaged (its checksum does not hold); %s",
                           again);
    hdf5_errors_silence();
    void *copy = malloc(n);
    if (!copy)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for reading %s", path);
    memcpy(copy, bytes, n);
    *file = H5LTopen_file_image(copy, n, 0);
    free(copy);
    if (*file < 0)
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "damaged: HDF5 cannot open it; %s", again);
    if (hdf5_is_inside(*file, object, sizeof object))
        return DSE_OK;
    H5Fclose(*file);
    *file = -1;
    return fail_outside(path, object[0] ? object : "tree", again, err);
}
