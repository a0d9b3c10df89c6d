/* Opens the pair of files, formats the lines of a point, and appends them in large writes: layers first,
 * the point's line last, as it commits them. */
#include "results/journal/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "results/journal/journal_parts.h"
#include "results/journal/table_lock.h"
#include "results/record/csv_line.h"

enum { WAITING_BYTE = 65536 };

static const double flush_s = 0.1;

/* ---------------------------------------- open, close */

static enum dse_status open_parts(struct journal *journal, const char *out,
                                  const struct journal_options *options, struct dse_error *err)
{
    if (!result_path(journal->csv_path, sizeof journal->csv_path, out, ".csv") ||
        !result_path(journal->layer_path, sizeof journal->layer_path, out, ".layers.csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    DSE_TRY(lock_take(out, options->command, &journal->lock, &journal->report.stale, err));
    DSE_TRY(journal_recover(journal, out, options, err));
    journal->n = (size_t)journal->report.n_point;
    lock_note_points(journal->lock, journal->n);
    journal->flushed_s = journal->synced_s = journal->touched_s = clock_wall_s();
    return DSE_OK;
}

/* Free all and release the lock, without a flush. */
static void let_go(struct journal *journal)
{
    (void)table_close(journal->layer_fd);
    (void)table_close(journal->csv_fd);
    lock_release(journal->lock);
    pthread_mutex_destroy(&journal->syncing);
    text_free(&journal->point);
    text_free(&journal->layers);
    free(journal);
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
    journal->sync_s = options.sync_s;
    pthread_mutex_init(&journal->syncing, NULL); /* always 0 without attributes */
    text_init(&journal->point);
    text_init(&journal->layers);
    enum dse_status status = open_parts(journal, out, &options, err);
    if (status != DSE_OK)
        let_go(journal);
    else
        *out_journal = journal;
    return status;
}

const struct journal_report *journal_report(const struct journal *journal)
{
    return &journal->report;
}

size_t journal_count(const struct journal *journal)
{
    return journal->n;
}

/* ---------------------------------------- lines */

void journal_lines_init(struct journal_lines *lines)
{
    text_init(&lines->point);
    text_init(&lines->layers);
    lines->n_point = 0;
    same_text_init(&lines->same);
}

void journal_lines_clear(struct journal_lines *lines)
{
    text_clear(&lines->point);
    text_clear(&lines->layers);
    lines->n_point = 0;
}

void journal_lines_free(struct journal_lines *lines)
{
    text_free(&lines->point);
    text_free(&lines->layers);
    lines->n_point = 0;
    same_text_free(&lines->same);
}

/* A layer of this point must be known to the schema (the cube has a place for it). The layers of a point
 * mostly follow each other there, too, so the search goes on where the last one ended. */
static enum dse_status check_layer(const struct result_schema *schema, const char *layer, size_t *at,
                                   struct dse_error *err)
{
    for (size_t tried = 0; tried < schema->n_layer; tried++) {
        size_t k = (*at + tried) % schema->n_layer;
        if (schema->layer[k] == layer || strcmp(schema->layer[k], layer) == 0) {
            *at = k + 1;
            return DSE_OK;
        }
    }
    return dse_fail(err, DSE_INTERNAL, "layer %s is not in the result schema", layer);
}

/* Take back what is behind `length`, when the other half of a point did not fit into memory. */
static void cut_back(struct text_buffer *text, size_t length)
{
    text->failed = 0;
    text->length = length;
    if (text->data)
        text->data[length] = '\0';
}

static enum dse_status add_layers(const struct result_schema *schema, const struct point_record *point,
                                  const struct layer_record *layer, size_t n_layer,
                                  struct journal_lines *lines, struct dse_error *err)
{
    size_t at = 0;
    same_text_clear(&lines->same);
    for (size_t i = 0; i < n_layer; i++) {
        struct layer_record one = layer[i];
        DSE_TRY(check_layer(schema, one.layer, &at, err));
        one.same_as = n_layer > 1 ? same_text_find(&lines->same, one.mapping, one.layer) : NULL;
        if (one.same_as)
            one.mapping = NULL;
        csv_layer_line(&lines->layers, schema, point, &one);
    }
    return DSE_OK;
}

enum dse_status journal_format(const struct result_schema *schema, const struct point_record *point,
                               const struct layer_record *layer, size_t n_layer, struct journal_lines *lines,
                               struct dse_error *err)
{
    struct point_record counted = *point;
    size_t point_length = lines->point.length, layer_length = lines->layers.length;
    enum dse_status status = add_layers(schema, point, layer, n_layer, lines, err);
    counted.n_layer = n_layer;
    csv_point_line(&lines->point, schema, &counted);
    if (status == DSE_OK && (lines->point.failed || lines->layers.failed))
        status = dse_fail(err, DSE_NO_MEMORY, "out of memory for a line of the journal");
    if (status != DSE_OK) {
        cut_back(&lines->layers, layer_length);
        cut_back(&lines->point, point_length);
        return status;
    }
    lines->n_point++;
    return DSE_OK;
}

/* ---------------------------------------- append */

bool journal_write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        errno = ENOSPC; /* of a write that takes nothing */
        ssize_t n = write(fd, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        length -= (size_t)n;
    }
    return true;
}

/* What every further call says, whichever thread it was that could not write. */
static enum dse_status fail_broken(const struct journal *journal, struct dse_error *err)
{
    if (err)
        *err = journal->why;
    return journal->why.status;
}

/* From now on nothing is taken. A flush and a sync may fail at the same time: the first says why. */
static void set_broken(struct journal *journal, const struct dse_error *why)
{
    if (atomic_exchange(&journal->breaking, true))
        return;
    journal->why = *why;
    atomic_store(&journal->broken, true);
}

/* A write failed for the reason in errno: back to what the kernel had before. */
static enum dse_status break_off(struct journal *journal, const char *path, struct dse_error *err)
{
    struct dse_error why = {0};
    dse_fail_at(
        &why, DSE_IO, path, 0,
        "cannot be written: %s; the points before it are kept, and the same command resumes when this "
        "is put right",
        strerror(errno));
    /* What cannot be cut now is when the journal is opened next. */
    if (ftruncate(journal->csv_fd, (off_t)journal->csv_byte) != 0 ||
        ftruncate(journal->layer_fd, (off_t)journal->layer_byte) != 0)
        errno = 0;
    journal->n -= journal->n_waiting;
    journal->n_waiting = 0;
    text_clear(&journal->point);
    text_clear(&journal->layers);
    set_broken(journal, &why);
    if (err)
        *err = why;
    return why.status;
}

enum dse_status journal_flush(struct journal *journal, struct dse_error *err)
{
    if (atomic_load(&journal->broken))
        return fail_broken(journal, err);
    journal->flushed_s = clock_wall_s();
    if (journal->n_waiting == 0)
        return DSE_OK;
    /* The point's own line comes last, so it commits the layers. */
    if (!journal_write_all(journal->layer_fd, journal->layers.data, journal->layers.length))
        return break_off(journal, journal->layer_path, err);
    if (!journal_write_all(journal->csv_fd, journal->point.data, journal->point.length))
        return break_off(journal, journal->csv_path, err);
    journal->layer_byte += journal->layers.length;
    journal->csv_byte += journal->point.length;
    journal->n_waiting = 0;
    atomic_store(&journal->unsynced, true);
    text_clear(&journal->point);
    text_clear(&journal->layers);
    return DSE_OK;
}

enum dse_status journal_append(struct journal *journal, const struct journal_lines *lines,
                               struct dse_error *err)
{
    size_t point_length = journal->point.length, layer_length = journal->layers.length;
    if (atomic_load(&journal->broken))
        return fail_broken(journal, err);
    text_append_bytes(&journal->layers, lines->layers.data, lines->layers.length);
    text_append_bytes(&journal->point, lines->point.data, lines->point.length);
    if (journal->layers.failed || journal->point.failed) {
        cut_back(&journal->layers, layer_length);
        cut_back(&journal->point, point_length);
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for the lines of a point");
    }
    journal->n += lines->n_point;
    journal->n_waiting += lines->n_point;
    if (journal->layers.length + journal->point.length < WAITING_BYTE &&
        clock_wall_s() - journal->flushed_s < flush_s)
        return DSE_OK;
    return journal_flush(journal, err);
}

/* ---------------------------------------- sync */

/* fdatasync; what is no file of a disk has nothing to sync (EINVAL, man 2 fdatasync). */
static bool sync_file(int fd)
{
    return fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS;
}

/* Layers first: power may fail between the two. */
static enum dse_status sync_both(struct journal *journal, struct dse_error *err)
{
    if (!atomic_exchange(&journal->unsynced, false))
        return DSE_OK;
    struct dse_error why = {0};
    bool layers = sync_file(journal->layer_fd);
    if (layers && sync_file(journal->csv_fd))
        return DSE_OK;
    dse_fail_at(&why, DSE_IO, layers ? journal->csv_path : journal->layer_path, 0,
                "cannot be written to the disk: %s", strerror(errno));
    set_broken(journal, &why); /* the kernel may have given up pages that it could not write */
    if (err)
        *err = why;
    return why.status;
}

/* Under the lock. */
static enum dse_status sync_locked(struct journal *journal, struct dse_error *err)
{
    if (atomic_load(&journal->broken))
        return fail_broken(journal, err);
    enum dse_status status = sync_both(journal, err);
    journal->synced_s = clock_wall_s();
    return status;
}

enum dse_status journal_sync_now(struct journal *journal, struct dse_error *err)
{
    pthread_mutex_lock(&journal->syncing);
    enum dse_status status = sync_locked(journal, err);
    pthread_mutex_unlock(&journal->syncing);
    return status;
}

enum dse_status journal_sync(struct journal *journal, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    double now_s = clock_wall_s();
    if (now_s - journal->touched_s >= LOCK_TOUCH_S) {
        lock_touch(journal->lock);
        journal->touched_s = now_s;
    }
    if (pthread_mutex_trylock(&journal->syncing) != 0)
        return DSE_OK; /* another thread is at it */
    if (now_s - journal->synced_s >= journal->sync_s)
        status = sync_locked(journal, err);
    pthread_mutex_unlock(&journal->syncing);
    return status;
}

enum dse_status journal_finish(struct journal *journal, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    if (!journal)
        return DSE_OK;
    if (!atomic_load(&journal->broken)) { /* else it has been said already */
        status = journal_flush(journal, err);
        if (status == DSE_OK)
            status = sync_both(journal, err);
        int failed = table_close(journal->layer_fd) != 0 ? errno : 0;
        if (table_close(journal->csv_fd) != 0)
            failed = errno;
        if (status == DSE_OK && failed)
            status = dse_fail_at(err, DSE_IO, journal->csv_path, 0, "cannot be closed: %s", strerror(failed));
        journal->layer_fd = journal->csv_fd = -1;
    }
    let_go(journal);
    return status;
}

void journal_close(struct journal *journal)
{
    (void)!journal_finish(journal, NULL);
}
