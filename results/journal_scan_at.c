/* Lines of a journal by their place. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "results/journal_step.h"

/* `length` bytes from `offset` of a file into scan->at. */
static enum dse_status read_at(struct journal_scan *scan, const struct line_reader *reader, uint64_t offset,
                               uint64_t length, struct dse_error *err)
{
    text_clear(&scan->at);
    while (scan->at.length < length && !scan->at.failed) {
        char piece[16384];
        uint64_t left = length - scan->at.length;
        ssize_t n = -1;
        errno = ENOENT;
        if (reader->file)
            n = pread(fileno(reader->file), piece, left < sizeof piece ? (size_t)left : sizeof piece,
                      (off_t)(offset + scan->at.length));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return dse_fail_at(err, DSE_IO, reader->path, 0, "cannot be read: %s", strerror(errno));
        if (n == 0)
            return dse_fail_at(err, DSE_IO, reader->path, 0, "the file became shorter while it was read");
        text_append_bytes(&scan->at, piece, (size_t)n);
    }
    return scan->at.failed ? dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line") : DSE_OK;
}

/* Check and split the line that begins at byte `from` of scan->at; `*next` is where the one behind it does. */
static enum dse_status split_at(struct journal_scan *scan, const struct line_reader *reader, size_t from,
                                size_t *next, uint64_t line, struct csv_row *split, struct dse_error *err)
{
    char *begin = scan->at.data + from;
    char *stop = memchr(begin, '\n', scan->at.length - from);
    if (!stop)
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, (int)line, "no whole line is there (any more)");
    *next = (size_t)(stop - scan->at.data) + 1;
    const struct line_reader here = {
        .path = reader->path, .line = begin, .length = (size_t)(stop - begin), .number = (int)line};
    return line_reader_split(&here, split, err);
}

enum dse_status journal_scan_point_at(struct journal_scan *scan, uint64_t offset, uint64_t length,
                                      uint64_t line, struct csv_row *split, struct dse_error *err)
{
    size_t next;
    if (length == 0)
        return dse_fail(err, DSE_INTERNAL, "a line without any bytes");
    DSE_TRY(read_at(scan, &scan->csv, offset, length, err));
    return split_at(scan, &scan->csv, 0, &next, line, split, err);
}

enum dse_status journal_scan_layers_at(struct journal_scan *scan, uint64_t offset, uint64_t length,
                                       uint64_t line, struct csv_row *split, journal_layer_visit *visit,
                                       void *user, struct dse_error *err)
{
    DSE_TRY(read_at(scan, &scan->layers, offset, length, err));
    for (size_t from = 0; from<scan->at.length; line += line> 0) {
        DSE_TRY(split_at(scan, &scan->layers, from, &from, line, split, err));
        DSE_TRY(visit(user, split, err));
    }
    return DSE_OK;
}
