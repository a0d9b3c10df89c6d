/* getline with line number and offset; the checksum is checked before a line is split into fields. */
#include "results/journal/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum dse_status line_reader_open(struct line_reader *reader, const char *path, struct dse_error *err)
{
    *reader = (struct line_reader){.path = path};
    struct stat about;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe is not waited for */
    if (fd < 0 && errno == ENOENT)
        return DSE_OK;
    if (fd >= 0 && fstat(fd, &about) == 0 && !S_ISREG(about.st_mode)) {
        close(fd);
        return dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s",
                           S_ISDIR(about.st_mode) ? strerror(EISDIR) : "not a regular file");
    }
    reader->file = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (reader->file)
        return DSE_OK;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    return dse_fail_at(err, DSE_IO, path, 0, "cannot be read: %s", strerror(reason));
}

void line_reader_close(struct line_reader *reader)
{
    if (reader->file)
        fclose(reader->file);
    free(reader->line);
    *reader = (struct line_reader){0};
}

enum dse_status line_reader_next(struct line_reader *reader, bool *more, struct dse_error *err)
{
    *more = false;
    if (!reader->file)
        return DSE_OK;
    errno = 0;
    ssize_t got = getline(&reader->line, &reader->size, reader->file);
    if (got < 0) {
        if (ferror(reader->file))
            return dse_fail_at(err, errno == ENOMEM ? DSE_NO_MEMORY : DSE_IO, reader->path, 0,
                               "cannot be read: %s", strerror(errno));
        return DSE_OK;
    }
    if (reader->line[got - 1] != '\n') {
        reader->torn = true;
        reader->length = (size_t)got;
        return DSE_OK;
    }
    reader->line[got - 1] = '\0';
    reader->length = (size_t)got - 1;
    reader->offset = reader->next;
    reader->next += (uint64_t)got;
    reader->number++;
    *more = true;
    return DSE_OK;
}

enum dse_status line_reader_seek(struct line_reader *reader, uint64_t offset, int number,
                                 struct dse_error *err)
{
    if (!reader->file || fseeko(reader->file, (off_t)offset, SEEK_SET) != 0)
        return dse_fail_at(err, DSE_IO, reader->path, number, "cannot go to byte %" PRIu64, offset);
    reader->next = offset;
    reader->number = number - 1;
    return DSE_OK;
}

static enum dse_status check_seal(const char *path, int number, const char *line, size_t length,
                                  struct dse_error *err)
{
    if (!csv_seal_holds(line, length))
        return dse_fail_at(
            err, DSE_BAD_INPUT, path, number,
            "the line does not match its checksum (edited or damaged); restore it from a copy, or use "
            "--repair to move it aside and compute its point again");
    return DSE_OK;
}

enum dse_status line_split(const char *path, int number, const char *line, size_t length, struct csv_row *row,
                           struct dse_error *err)
{
    struct dse_error why;
    DSE_TRY(check_seal(path, number, line, length, err));
    enum dse_status status = csv_split(line, length, row, &why);
    if (status != DSE_OK)
        return dse_fail_at(err, status, path, number, "%s", why.text);
    return DSE_OK;
}

enum dse_status line_reader_check(const struct line_reader *reader, struct dse_error *err)
{
    return check_seal(reader->path, reader->number, reader->line, reader->length, err);
}

enum dse_status line_reader_split(const struct line_reader *reader, struct csv_row *row,
                                  struct dse_error *err)
{
    return line_split(reader->path, reader->number, reader->line, reader->length, row, err);
}

size_t csv_column_find(const struct csv_row *header, const char *name)
{
    size_t i = 0;
    while (i < header->n && strcmp(header->field[i], name) != 0)
        i++;
    return i;
}
