/* A line that says what the file is, then records at fixed places, each behind 16 bytes: the identity of the
 * work mixed with the record's number, and the XXH3-64 of that and the record. */
#include "engines/mindmappings/training/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"

static const char signature[32] = "unfinished work of dse\n";

/* In front of each record. */
struct record_head {
    uint64_t of, sum;
};

static struct record_head head_of(const struct checkpoint *checkpoint, uint64_t number, const void *record)
{
    struct hash_state state;
    const uint64_t of = checkpoint->identity ^ number * UINT64_C(0x9e3779b97f4a7c15);
    hash_begin(&state);
    hash_u64(&state, of);
    hash_bytes(&state, record, checkpoint->record_byte);
    return (struct record_head){of, hash_end(&state)};
}

static off_t place_of(const struct checkpoint *checkpoint, uint64_t number)
{
    return (off_t)(sizeof signature + number * (sizeof(struct record_head) + checkpoint->record_byte));
}

static bool read_all(int fd, void *bytes, size_t n, off_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)bytes + done, n - done, at + (off_t)done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t n, off_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = pwrite(fd, (const char *)bytes + done, n - done, at + (off_t)done);
        if (put <= 0 && !(put < 0 && errno == EINTR))
            return false;
        done += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* Lock it, and see whether it is one of ours or new. */
static enum dse_status take(struct checkpoint *checkpoint, struct dse_error *err)
{
    struct stat about;
    char is[sizeof signature];
    const char *path = checkpoint->path;
    if (flock(checkpoint->fd, LOCK_EX | LOCK_NB) != 0)
        return dse_fail_at(err, DSE_BAD_USAGE, path, 0, "another process is at this work");
    if (fstat(checkpoint->fd, &about) != 0)
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s", file_error(errno));
    if (!S_ISREG(about.st_mode) || (about.st_size > 0 && (!read_all(checkpoint->fd, is, sizeof is, 0) ||
                                                          memcmp(is, signature, sizeof is) != 0)))
        return dse_fail_at(err, DSE_BAD_INPUT, path, 0, "not a file of unfinished work; remove or rename it");
    if (about.st_size == 0 && !write_all(checkpoint->fd, signature, sizeof signature, 0))
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", file_error(errno));
    return DSE_OK;
}

enum dse_status checkpoint_open(struct checkpoint *checkpoint, const char *path, uint64_t identity,
                                size_t record_byte, struct dse_error *err)
{
    *checkpoint = (struct checkpoint){.fd = -1, .identity = identity, .record_byte = record_byte};
    if (!text_copy(checkpoint->path, sizeof checkpoint->path, path))
        return dse_fail(err, DSE_BAD_USAGE, "a path of %zu letters is too long", strlen(path));
    checkpoint->fd = file_open_kept(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK);
    if (checkpoint->fd < 0)
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", file_error(errno));
    enum dse_status status = take(checkpoint, err);
    if (status != DSE_OK)
        checkpoint_close(checkpoint, false);
    return status;
}

bool checkpoint_get(const struct checkpoint *checkpoint, uint64_t number, void *record)
{
    struct record_head is, should;
    off_t at = place_of(checkpoint, number);
    if (!read_all(checkpoint->fd, &is, sizeof is, at) ||
        !read_all(checkpoint->fd, record, checkpoint->record_byte, at + (off_t)sizeof is))
        return false;
    should = head_of(checkpoint, number, record);
    return is.of == should.of && is.sum == should.sum;
}

enum dse_status checkpoint_put(const struct checkpoint *checkpoint, uint64_t number, const void *record,
                               struct dse_error *err)
{
    const struct record_head head = head_of(checkpoint, number, record);
    off_t at = place_of(checkpoint, number);
    if (write_all(checkpoint->fd, record, checkpoint->record_byte, at + (off_t)sizeof head) &&
        write_all(checkpoint->fd, &head, sizeof head, at))
        return DSE_OK;
    return dse_fail_at(err, DSE_IO, checkpoint->path, 0, "cannot be written: %s", file_error(errno));
}

void checkpoint_close(struct checkpoint *checkpoint, bool finished)
{
    if (checkpoint->fd < 0)
        return;
    if (finished)
        (void)unlink(checkpoint->path);
    close(checkpoint->fd);
    checkpoint->fd = -1;
}
