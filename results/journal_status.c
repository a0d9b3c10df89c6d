/* What can be said about a journal without its schema and without its lock: counts, and the points that are not ok. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "results/journal.h"
#include "results/journal_read.h"

/* An open journal with the places of the columns that matter here. */
struct loose_reader {
    char path[4096];
    struct line_reader line;
    struct csv_row header, row;
    size_t at_status, at_reason, at_evaluations, at_seconds;
};

static void loose_close(struct loose_reader *reader)
{
    line_reader_close(&reader->line);
    csv_row_free(&reader->header);
    csv_row_free(&reader->row);
}

static enum dse_status loose_header(struct loose_reader *reader, struct dse_error *err)
{
    bool more;
    DSE_TRY(line_reader_open(&reader->line, reader->path, err));
    if (!reader->line.file)
        return dse_fail_at(err, DSE_IO, reader->path, 0, "cannot be read: %s", strerror(ENOENT));
    DSE_TRY(line_reader_next(&reader->line, &more, err));
    if (!more && reader->line.torn)
        return DSE_OK; /* a run that has only just begun */
    if (more && csv_split(reader->line.line, reader->line.length, &reader->header, NULL) != DSE_OK)
        reader->header.n = 0;
    size_t n = reader->header.n;
    reader->at_status = csv_column_find(&reader->header, "status");
    reader->at_reason = csv_column_find(&reader->header, "reason");
    reader->at_evaluations = csv_column_find(&reader->header, "evaluations");
    reader->at_seconds = csv_column_find(&reader->header, "seconds");
    if (more && (n == 0 || reader->at_status == n || reader->at_reason == n || reader->at_evaluations == n ||
                 reader->at_seconds == n || strcmp(reader->header.field[n - 1], "checksum") != 0))
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, 1, "not a journal of dse");
    return DSE_OK;
}

static enum dse_status loose_open(struct loose_reader *reader, const char *out, struct dse_error *err)
{
    memset(reader, 0, sizeof *reader);
    csv_row_init(&reader->header);
    csv_row_init(&reader->row);
    if (!result_path(reader->path, sizeof reader->path, out, ".csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    enum dse_status status = loose_header(reader, err);
    if (status != DSE_OK)
        loose_close(reader);
    return status;
}

/* Whether some process holds the lock. */
static bool is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return locked;
}

/* The current line, if it is a point whose seal holds. */
static bool loose_point(struct loose_reader *reader, enum result_status *outcome)
{
    return line_reader_split(&reader->line, &reader->row, NULL) == DSE_OK &&
           reader->row.n == reader->header.n &&
           result_status_find(reader->row.field[reader->at_status], outcome);
}

static void summarise_line(struct loose_reader *reader, struct journal_summary *summary)
{
    enum result_status outcome;
    uint64_t evaluations;
    double seconds;
    if (!loose_point(reader, &outcome)) {
        if (summary->n_bad_line++ == 0)
            summary->first_bad_line = reader->line.number;
        return;
    }
    summary->n_point++;
    summary->n_status[outcome]++;
    if (text_parse_u64(reader->row.field[reader->at_evaluations], &evaluations))
        summary->evaluations += evaluations;
    if (text_parse_double(reader->row.field[reader->at_seconds], &seconds))
        summary->seconds += seconds;
}

enum dse_status journal_summarise(const char *out, struct journal_summary *summary, struct dse_error *err)
{
    struct loose_reader reader;
    struct stat info;
    bool more = true;
    *summary = (struct journal_summary){0};
    DSE_TRY(loose_open(&reader, out, err));
    summary->running = is_locked(reader.path);
    if (fstat(fileno(reader.line.file), &info) == 0)
        summary->modified_s = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    enum dse_status status = DSE_OK;
    while (!reader.line.torn && (status = line_reader_next(&reader.line, &more, err)) == DSE_OK && more)
        summarise_line(&reader, summary);
    summary->torn = reader.line.torn;
    loose_close(&reader);
    return status;
}

/* "network=ResNet-50 batch=4" from the columns before `status`. */
static void make_place(const struct loose_reader *reader, struct text_buffer *place)
{
    text_clear(place);
    for (size_t i = 0; i < reader->at_status; i++)
        text_append(place, "%s%s=%s", i ? " " : "", reader->header.field[i], reader->row.field[i]);
}

enum dse_status journal_each_not_ok(const char *out, journal_visit *visit, void *user, struct dse_error *err)
{
    struct loose_reader reader;
    struct text_buffer place;
    bool more = true, on = true;
    enum dse_status status = DSE_OK;
    DSE_TRY(loose_open(&reader, out, err));
    text_init(&place);
    while (on && !reader.line.torn && (status = line_reader_next(&reader.line, &more, err)) == DSE_OK &&
           more) {
        enum result_status outcome;
        uint64_t key;
        if (!loose_point(&reader, &outcome) || outcome == RESULT_OK ||
            !csv_key_parse(reader.row.field[reader.row.n - 2], &key))
            continue;
        make_place(&reader, &place);
        if (place.failed) {
            status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the list of points");
            break;
        }
        on = visit(user, key, place.data ? place.data : "", reader.row.field[reader.at_status],
                   reader.row.field[reader.at_reason]);
    }
    text_free(&place);
    loose_close(&reader);
    return status;
}
