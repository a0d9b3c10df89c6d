/* Lines of a journal by their place. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "results/journal/journal_step.h"

enum { WINDOW_BYTE = 1 << 16 };

static enum dse_status make_room(struct scan_window *window, size_t n, struct dse_error *err)
{
    if (n <= window->capacity)
        return DSE_OK;
    free(window->data);
    window->data = malloc(n);
    window->capacity = window->data ? n : 0;
    window->length = 0;
    return window->data ? DSE_OK : dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
}

/* Up to `most` bytes from `offset` into the window, at least `least`. */
static enum dse_status fill(struct scan_window *window, const struct line_reader *reader, uint64_t offset,
                            size_t least, size_t most, struct dse_error *err)
{
    window->offset = offset;
    window->length = 0;
    while (window->length < least) {
        ssize_t n = -1;
        errno = ENOENT;
        if (reader->file)
            n = pread(fileno(reader->file), window->data + window->length, most - window->length,
                      (off_t)(offset + window->length));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return dse_fail_at(err, DSE_IO, reader->path, 0, "cannot be read: %s", strerror(errno));
        if (n == 0)
            return dse_fail_at(err, DSE_IO, reader->path, 0, "the file became shorter while it was read");
        window->length += (size_t)n;
    }
    return DSE_OK;
}

/* `length` bytes from `offset` of a file; `*bytes` is valid until the next call. Where lines are asked for in
 * the order of the file, it is read in large pieces. */
static enum dse_status read_at(struct scan_window *window, const struct line_reader *reader, uint64_t offset,
                               uint64_t length, const char **bytes, struct dse_error *err)
{
    if (length == 0) { /* a point without layers, perhaps before anything has been read */
        *bytes = "";
        return DSE_OK;
    }
    bool onward = offset >= window->end && offset - window->end < WINDOW_BYTE;
    bool there = offset >= window->offset && offset - window->offset <= window->length &&
                 length <= window->length - (offset - window->offset);
    window->end = offset + length;
    if (!there) {
        size_t least = (size_t)length, most = onward && least < WINDOW_BYTE ? WINDOW_BYTE : least;
        DSE_TRY(make_room(window, most, err));
        DSE_TRY(fill(window, reader, offset, least, most, err));
    }
    *bytes = window->data + (offset - window->offset);
    return DSE_OK;
}

/* Check and split the line that begins the `length` bytes; `*used` are its bytes. */
static enum dse_status split_at(const struct journal_scan *scan, enum result_table table, const char *bytes,
                                size_t length, size_t *used, uint64_t line, struct csv_row *split,
                                struct dse_error *err)
{
    const struct line_reader *reader = table == RESULT_POINTS ? &scan->csv : &scan->layers;
    const char *stop = memchr(bytes, '\n', length);
    if (!stop)
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, (int)line, "no whole line is there (any more)");
    *used = (size_t)(stop - bytes) + 1;
    DSE_TRY(line_split(reader->path, (int)line, bytes, *used - 1, split, err));
    return csv_widen_row(&scan->widen[table], split, err);
}

enum dse_status journal_scan_point_at(struct journal_scan *scan, uint64_t offset, uint64_t length,
                                      uint64_t line, struct csv_row *split, struct dse_error *err)
{
    const char *bytes;
    size_t used;
    if (length == 0)
        return dse_fail(err, DSE_INTERNAL, "a line without any bytes");
    DSE_TRY(read_at(&scan->window[0], &scan->csv, offset, length, &bytes, err));
    return split_at(scan, RESULT_POINTS, bytes, (size_t)length, &used, line, split, err);
}

enum dse_status journal_scan_layers_at(struct journal_scan *scan, uint64_t offset, uint64_t length,
                                       uint64_t line, struct csv_row *split, journal_layer_visit *visit,
                                       void *user, struct dse_error *err)
{
    const char *bytes;
    size_t used;
    DSE_TRY(read_at(&scan->window[1], &scan->layers, offset, length, &bytes, err));
    for (uint64_t from = 0; from<length; from += used, line += line> 0) {
        DSE_TRY(
            split_at(scan, RESULT_LAYERS, bytes + from, (size_t)(length - from), &used, line, split, err));
        DSE_TRY(visit(user, split, err));
    }
    return DSE_OK;
}

const struct csv_widen *journal_scan_widen(const struct journal_scan *scan, enum result_table table)
{
    return scan->widen[table].needed ? &scan->widen[table] : NULL;
}
