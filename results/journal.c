#include "results/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/text.h"
#include "results/csv_line.h"
#include "results/journal_read.h"

enum { JOURNAL_PATH_MAX = 4096 };

struct journal {
    const struct result_schema *schema;
    char csv_path[JOURNAL_PATH_MAX];
    char layer_path[JOURNAL_PATH_MAX];
    int csv_fd; /* holds the lock */
    int layer_fd;
    bool sync;
    bool broken; /* a write failed and could not be undone */
    struct journal_index index;
    struct text_buffer line; /* scratch */
};

static enum dse_status fail_errno(const char *path, const char *what, struct dse_error *err)
{
    return dse_fail_at(err, DSE_IO, path, 0, "%s: %s", what, strerror(errno));
}

/* Open for appending, without following what is there. */
static enum dse_status open_file(const char *path, int *fd, struct dse_error *err)
{
    *fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    return *fd >= 0 ? DSE_OK : fail_errno(path, "cannot be opened for writing", err);
}

/* One writer per journal. File systems without locks (some cluster ones) are used without. */
static enum dse_status take_lock(const struct journal *journal, struct dse_error *err)
{
    if (flock(journal->csv_fd, LOCK_EX | LOCK_NB) == 0 || errno == ENOLCK || errno == EOPNOTSUPP ||
        errno == ENOSYS)
        return DSE_OK;
    if (errno == EWOULDBLOCK)
        return dse_fail_at(
            err, DSE_BAD_USAGE, journal->csv_path, 0,
            "another run is writing this journal; wait for it to end, or choose another output with -o");
    return fail_errno(journal->csv_path, "cannot be locked", err);
}

/* The bytes of a line or block in one write(2); the loop is for signals and full pipes only. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        bytes += n;
        length -= (size_t)n;
    }
    return 1;
}

/* Cut a file to what is whole, and give it its header when it has none. */
static enum dse_status settle(int fd, const char *path, uint64_t *good_byte, const struct text_buffer *header,
                              struct dse_error *err)
{
    if (header->failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the header");
    if (ftruncate(fd, (off_t)*good_byte) != 0)
        return fail_errno(path, "cannot be cut back to its last whole line", err);
    if (*good_byte == 0) {
        if (!write_all(fd, header->data, header->length))
            return fail_errno(path, "cannot be written", err);
        *good_byte = header->length;
    }
    return DSE_OK;
}

static enum dse_status open_parts(struct journal *journal, struct journal_options options,
                                  struct dse_error *err)
{
    DSE_TRY(open_file(journal->csv_path, &journal->csv_fd, err));
    DSE_TRY(take_lock(journal, err));
    DSE_TRY(open_file(journal->layer_path, &journal->layer_fd, err));
    if (!options.fresh)
        DSE_TRY(journal_index_read(journal->csv_path, journal->layer_path, journal->schema, &journal->index,
                                   err));
    text_clear(&journal->line);
    csv_point_header(&journal->line, journal->schema);
    DSE_TRY(settle(journal->csv_fd, journal->csv_path, &journal->index.good_byte, &journal->line, err));
    text_clear(&journal->line);
    csv_layer_header(&journal->line, journal->schema);
    return settle(journal->layer_fd, journal->layer_path, &journal->index.layer_good_byte, &journal->line,
                  err);
}

enum dse_status journal_open(const char *out, const struct result_schema *schema,
                             struct journal_options options, struct journal **out_journal,
                             struct dse_error *err)
{
    *out_journal = NULL;
    DSE_TRY(schema_check(schema, err));
    struct journal *journal = calloc(1, sizeof *journal);
    if (!journal)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the journal");
    journal->schema = schema;
    journal->csv_fd = journal->layer_fd = -1;
    journal->sync = false;
    text_init(&journal->line);
    enum dse_status status;
    if (!result_path(journal->csv_path, sizeof journal->csv_path, out, ".csv") ||
        !result_path(journal->layer_path, sizeof journal->layer_path, out, ".layers.csv"))
        status = dse_fail(err, DSE_LIMIT, "the output path is too long");
    else
        status = open_parts(journal, options, err);
    if (status != DSE_OK) {
        journal_close(journal);
        return status;
    }
    *out_journal = journal;
    return DSE_OK;
}

size_t journal_count(const struct journal *journal)
{
    return journal->index.n;
}

uint64_t journal_key(const struct journal *journal, size_t i)
{
    return journal->index.entry[i].key;
}

bool journal_find(const struct journal *journal, uint64_t key, enum result_status *status)
{
    const struct journal_entry *entry = journal_index_find(&journal->index, key);
    if (entry && status)
        *status = entry->outcome;
    return entry != NULL;
}

/* Write one file's part of a point. On failure the file is cut back to what it was. */
static enum dse_status append_bytes(struct journal *journal, int fd, const char *path, uint64_t *good_byte,
                                    struct dse_error *err)
{
    const struct text_buffer *line = &journal->line;
    if (line->failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a line of the journal");
    if (line->length > 0 &&
        (!write_all(fd, line->data, line->length) || (journal->sync && fdatasync(fd) != 0))) {
        enum dse_status status = fail_errno(path, "cannot be written", err);
        if (ftruncate(fd, (off_t)*good_byte) != 0)
            journal->broken = true;
        return status;
    }
    *good_byte += line->length;
    return DSE_OK;
}

/* A layer of this point must be known to the schema (the cube has a place for it). */
static enum dse_status check_layers(const struct journal *journal, const struct layer_record *layer,
                                    size_t n_layer, struct dse_error *err)
{
    for (size_t i = 0; i < n_layer; i++) {
        size_t k = 0;
        while (k < journal->schema->n_layer && strcmp(journal->schema->layer[k], layer[i].layer) != 0)
            k++;
        if (k == journal->schema->n_layer)
            return dse_fail(err, DSE_INTERNAL, "layer %s is not in the result schema", layer[i].layer);
    }
    return DSE_OK;
}

enum dse_status journal_append_record(struct journal *journal, const struct point_record *point,
                                      const struct layer_record *layer, size_t n_layer, struct dse_error *err)
{
    struct point_record counted = *point;
    struct journal_entry entry = {.key = point->key, .n_layer = n_layer, .outcome = point->outcome};
    uint64_t layer_start = journal->index.layer_good_byte;
    if (journal->broken)
        return dse_fail_at(err, DSE_IO, journal->csv_path, 0,
                           "an earlier write failed; the journal takes no more points");
    if (journal_find(journal, point->key, NULL))
        return dse_fail(err, DSE_BAD_USAGE, "the point %016" PRIx64 " is in the journal already", point->key);
    DSE_TRY(check_layers(journal, layer, n_layer, err));
    text_clear(&journal->line);
    for (size_t i = 0; i < n_layer; i++)
        csv_layer_line(&journal->line, journal->schema, point, &layer[i]);
    DSE_TRY(
        append_bytes(journal, journal->layer_fd, journal->layer_path, &journal->index.layer_good_byte, err));
    /* From here on the point's own line decides: it comes last, so it commits the layers. */
    counted.n_layer = n_layer;
    text_clear(&journal->line);
    csv_point_line(&journal->line, journal->schema, &counted);
    entry.offset = journal->index.good_byte;
    entry.line = journal->index.n < INT32_MAX ? (int)journal->index.n + 2 : 0;
    entry.length = journal->line.length;
    enum dse_status status =
        append_bytes(journal, journal->csv_fd, journal->csv_path, &journal->index.good_byte, err);
    if (status != DSE_OK) {
        if (ftruncate(journal->layer_fd, (off_t)layer_start) != 0)
            journal->broken = true;
        journal->index.layer_good_byte = layer_start;
        return status;
    }
    return journal_index_add(&journal->index, &entry, err);
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    if (journal->layer_fd >= 0)
        close(journal->layer_fd);
    if (journal->csv_fd >= 0)
        close(journal->csv_fd); /* and with it the lock */
    journal_index_free(&journal->index);
    text_free(&journal->line);
    free(journal);
}
