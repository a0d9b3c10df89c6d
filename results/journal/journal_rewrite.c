/* Copies ranges of both files into new ones; layers get their name last, so that a point never lacks its
 * own. */
#include "results/journal/journal_rewrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/text.h"
#include "results/journal/sync_folder.h"
#include "results/journal/table_lock.h"
#include "results/record/csv_line.h"
#include "results/record/csv_widen.h"

enum { ASIDE_MAX = 100000, COPY_BYTE = 1 << 16 };

static const char ending[] = ".new";

static enum dse_status fail_errno(const char *path, const char *what, struct dse_error *err)
{
    return dse_fail_at(err, DSE_IO, path, 0, "%s: %s", what, strerror(errno));
}

/* "PATH.new". */
static enum dse_status new_name(char *name, size_t size, const char *path, struct dse_error *err)
{
    int n = snprintf(name, size, "%s%s", path, ending);
    return n > 0 && (size_t)n < size ? DSE_OK : dse_fail(err, DSE_LIMIT, "the output path is too long");
}

static enum dse_status open_new(FILE **file, const char *path, struct dse_error *err)
{
    char name[REWRITE_PATH_MAX];
    DSE_TRY(new_name(name, sizeof name, path, err));
    int fd = file_create(name);
    *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (*file)
        return DSE_OK;
    enum dse_status status = fail_errno(name, "cannot be written", err);
    if (fd >= 0)
        close(fd);
    return status;
}

static enum dse_status copy_bytes(int fd, uint64_t offset, uint64_t length, FILE *to, const char *path,
                                  struct dse_error *err)
{
    char piece[COPY_BYTE];
    while (length > 0) {
        ssize_t n = pread(fd, piece, length < sizeof piece ? (size_t)length : sizeof piece, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(path, "its old lines cannot be read", err);
        if (n == 0)
            return dse_fail_at(err, DSE_IO, path, 0, "the old file became shorter while it was read");
        if (fwrite(piece, 1, (size_t)n, to) != (size_t)n)
            return fail_errno(path, "cannot be written anew", err);
        offset += (uint64_t)n;
        length -= (uint64_t)n;
    }
    return DSE_OK;
}

/* The lines that an earlier version wrote, as those of today. */
static enum dse_status copy_widened(const struct csv_widen *widen, int fd, uint64_t offset, uint64_t length,
                                    FILE *to, const char *path, struct dse_error *err)
{
    char *bytes = NULL;
    size_t n = 0;
    struct text_buffer lines;
    FILE *memory = open_memstream(&bytes, &n);
    text_init(&lines);
    enum dse_status status =
        memory ? copy_bytes(fd, offset, length, memory, path, err) : fail_errno(path, "cannot be read", err);
    if (memory && fclose(memory) != 0 && status == DSE_OK)
        status = fail_errno(path, "cannot be read", err);
    if (status == DSE_OK)
        status = csv_widen_lines(widen, bytes, n, &lines, err);
    if (status == DSE_OK && fwrite(lines.data, 1, lines.length, to) != lines.length)
        status = fail_errno(path, "cannot be written anew", err);
    text_free(&lines);
    free(bytes);
    return status;
}

static enum dse_status copy_lines(const struct journal_rewrite *rewrite, enum result_table table,
                                  uint64_t offset, uint64_t length, struct journal_pair *pair,
                                  struct dse_error *err)
{
    const struct csv_widen *widen = rewrite->scan ? journal_scan_widen(rewrite->scan, table) : NULL;
    bool points = table == RESULT_POINTS;
    int fd = points ? rewrite->csv_fd : rewrite->layer_fd;
    FILE *to = points ? pair->csv : pair->layers;
    const char *path = points ? pair->csv_path : pair->layer_path;
    return widen && length > 0 ? copy_widened(widen, fd, offset, length, to, path, err)
                               : copy_bytes(fd, offset, length, to, path, err);
}

enum dse_status journal_pair_copy(struct journal_rewrite *rewrite, struct journal_pair *pair, uint64_t offset,
                                  uint64_t length, uint64_t layer_offset, uint64_t layer_length,
                                  struct dse_error *err)
{
    DSE_TRY(copy_lines(rewrite, RESULT_POINTS, offset, length, pair, err));
    return copy_lines(rewrite, RESULT_LAYERS, layer_offset, layer_length, pair, err);
}

enum dse_status journal_pair_add(struct journal_pair *pair, const struct journal_lines *lines,
                                 struct dse_error *err)
{
    if (fwrite(lines->layers.data, 1, lines->layers.length, pair->layers) != lines->layers.length)
        return fail_errno(pair->layer_path, "cannot be written anew", err);
    if (fwrite(lines->point.data, 1, lines->point.length, pair->csv) != lines->point.length)
        return fail_errno(pair->csv_path, "cannot be written anew", err);
    return DSE_OK;
}

/* The bytes from `offset` to the last line break of a file, and the lines in them. */
static enum dse_status measure_rest(int fd, const char *path, uint64_t offset, uint64_t *length,
                                    uint64_t *n_line, struct dse_error *err)
{
    char piece[COPY_BYTE];
    uint64_t at = 0;
    *length = *n_line = 0;
    while (fd >= 0) {
        ssize_t n = pread(fd, piece, sizeof piece, (off_t)(offset + at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_errno(path, "cannot be read", err);
        if (n == 0)
            break;
        for (ssize_t i = 0; i < n; i++)
            if (piece[i] == '\n') {
                ++*n_line;
                *length = at + (uint64_t)i + 1;
            }
        at += (uint64_t)n;
    }
    return DSE_OK;
}

enum dse_status journal_pair_copy_rest(struct journal_rewrite *rewrite, struct journal_pair *pair,
                                       uint64_t offset, uint64_t layer_offset, uint64_t *n_line,
                                       struct dse_error *err)
{
    uint64_t length, layer_length, n_layer_line;
    DSE_TRY(measure_rest(rewrite->csv_fd, pair->csv_path, offset, &length, n_line, err));
    DSE_TRY(
        measure_rest(rewrite->layer_fd, pair->layer_path, layer_offset, &layer_length, &n_layer_line, err));
    return journal_pair_copy(rewrite, pair, offset, length, layer_offset, layer_length, err);
}

static enum dse_status write_header(FILE *file, const char *path, struct text_buffer *header,
                                    struct dse_error *err)
{
    DSE_TRY(text_check(header, "the header", err));
    return fwrite(header->data, 1, header->length, file) == header->length
               ? DSE_OK
               : fail_errno(path, "cannot be written", err);
}

/* Begin both files of a pair with their headers, whose lengths are `*csv_byte` and `*layer_byte`. */
static enum dse_status begin_pair(struct journal_rewrite *rewrite, struct journal_pair *pair,
                                  uint64_t *csv_byte, uint64_t *layer_byte, struct dse_error *err)
{
    struct text_buffer header;
    DSE_TRY(open_new(&pair->csv, pair->csv_path, err));
    DSE_TRY(open_new(&pair->layers, pair->layer_path, err));
    text_init(&header);
    csv_point_header(&header, rewrite->schema);
    *csv_byte = header.length;
    enum dse_status status = write_header(pair->csv, pair->csv_path, &header, err);
    text_clear(&header);
    csv_layer_header(&header, rewrite->schema);
    *layer_byte = header.length;
    if (status == DSE_OK)
        status = write_header(pair->layers, pair->layer_path, &header, err);
    text_free(&header);
    return status;
}

enum dse_status journal_rewrite_begin(struct journal_rewrite *rewrite, uint64_t csv_byte, uint64_t layer_byte,
                                      struct dse_error *err)
{
    struct journal_pair *pair = &rewrite->kept;
    if (!result_path(pair->csv_path, sizeof pair->csv_path, rewrite->out, ".csv") ||
        !result_path(pair->layer_path, sizeof pair->layer_path, rewrite->out, ".layers.csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    /* The old file of layers may have no header (yet), so both are written and not copied. */
    uint64_t csv_header, layer_header;
    DSE_TRY(begin_pair(rewrite, pair, &csv_header, &layer_header, err));
    rewrite->held_fd = fcntl(fileno(pair->csv), F_DUPFD_CLOEXEC, 0);
    if (rewrite->held_fd < 0)
        return fail_errno(pair->csv_path, "cannot be kept open", err);
    DSE_TRY(table_lock(rewrite->held_fd, pair->csv_path, err));
    return journal_pair_copy(rewrite, pair, csv_header, csv_byte - csv_header, layer_header,
                             layer_byte - layer_header, err);
}

/* The names of the pair with number `i`: OUT.dropped.csv, OUT.dropped-2.csv, ... Returns 0 when they do not
 * fit. */
static int aside_names(const char *out, const char *word, int i, struct journal_pair *pair)
{
    char number[16] = "", name[64];
    if (i > 1)
        snprintf(number, sizeof number, "-%d", i);
    snprintf(name, sizeof name, "%s%s.csv", word, number);
    int fits = result_path(pair->csv_path, sizeof pair->csv_path, out, name);
    snprintf(name, sizeof name, "%s%s.layers.csv", word, number);
    return fits && result_path(pair->layer_path, sizeof pair->layer_path, out, name);
}

static bool is_free(const struct journal_pair *pair)
{
    return access(pair->csv_path, F_OK) != 0 && access(pair->layer_path, F_OK) != 0;
}

/* The first pair of names that is free. */
static enum dse_status free_names(const char *out, const char *word, struct journal_pair *pair,
                                  struct dse_error *err)
{
    for (int i = 1; i <= ASIDE_MAX; i++) {
        if (!aside_names(out, word, i, pair))
            return dse_fail(err, DSE_LIMIT, "the output path is too long");
        if (is_free(pair))
            return DSE_OK;
    }
    return dse_fail_at(err, DSE_IO, out, 0, "more than %d files of %s rows are there; delete some", ASIDE_MAX,
                       word + 1);
}

enum dse_status journal_aside_begin(struct journal_rewrite *rewrite, struct journal_pair *pair,
                                    const char *word, struct dse_error *err)
{
    uint64_t csv_header, layer_header;
    if (pair->csv)
        return DSE_OK;
    DSE_TRY(free_names(rewrite->out, word, pair, err));
    return begin_pair(rewrite, pair, &csv_header, &layer_header, err);
}

/* Everything of a new file to the disk. */
static enum dse_status settle(FILE **file, const char *path, struct dse_error *err)
{
    bool fine = fflush(*file) == 0 && (fsync(fileno(*file)) == 0 || errno == EINVAL);
    int why = errno;
    if (fclose(*file) != 0 && fine) {
        fine = false;
        why = errno;
    }
    *file = NULL;
    errno = why;
    return fine ? DSE_OK : fail_errno(path, "cannot be written", err);
}

static enum dse_status give_name(const char *path, struct dse_error *err)
{
    char name[REWRITE_PATH_MAX];
    DSE_TRY(new_name(name, sizeof name, path, err));
    if (rename(name, path) != 0)
        return fail_errno(path, "cannot be replaced", err);
    return sync_folder(path, err);
}

static enum dse_status settle_pair(struct journal_pair *pair, struct dse_error *err)
{
    if (!pair->csv)
        return DSE_OK;
    DSE_TRY(settle(&pair->csv, pair->csv_path, err));
    return settle(&pair->layers, pair->layer_path, err);
}

enum dse_status journal_rewrite_commit(struct journal_rewrite *rewrite, struct dse_error *err)
{
    struct journal_pair *pair[] = {&rewrite->dropped, &rewrite->damaged, &rewrite->kept};
    bool begun[3];
    for (size_t i = 0; i < 3; i++) {
        begun[i] = pair[i]->csv != NULL;
        DSE_TRY(settle_pair(pair[i], err));
    }
    /* Once OUT.csv is new, the old OUT.layers.csv must still hold all layers of its points. */
    if (begun[2] && rewrite->layer_fd >= 0 && fsync(rewrite->layer_fd) != 0 && errno != EINVAL)
        return fail_errno(rewrite->kept.layer_path, "cannot be synced", err);
    for (size_t i = 0; i < 3; i++)
        if (begun[i]) {
            DSE_TRY(give_name(pair[i]->csv_path, err));
            DSE_TRY(give_name(pair[i]->layer_path, err));
        }
    return DSE_OK;
}

static void abandon(struct journal_pair *pair)
{
    char name[REWRITE_PATH_MAX];
    const char *path[] = {pair->csv_path, pair->layer_path};
    if (pair->csv)
        fclose(pair->csv);
    if (pair->layers)
        fclose(pair->layers);
    pair->csv = pair->layers = NULL;
    for (size_t i = 0; i < 2; i++)
        if (path[i][0] != '\0' && new_name(name, sizeof name, path[i], NULL) == DSE_OK)
            unlink(name);
}

void journal_rewrite_abandon(struct journal_rewrite *rewrite)
{
    abandon(&rewrite->kept);
    abandon(&rewrite->dropped);
    abandon(&rewrite->damaged);
    if (rewrite->held_fd >= 0)
        close(rewrite->held_fd);
    rewrite->held_fd = -1;
}

void journal_rewrite_clean(const char *out)
{
    static const char *const word[] = {".dropped", ".damaged"};
    struct journal_pair pair = {0};
    if (result_path(pair.csv_path, sizeof pair.csv_path, out, ".csv") &&
        result_path(pair.layer_path, sizeof pair.layer_path, out, ".layers.csv"))
        abandon(&pair);
    for (size_t w = 0; w < 2; w++) {
        bool more = true;
        for (int i = 1; more && i <= ASIDE_MAX && aside_names(out, word[w], i, &pair); i++) {
            more = !is_free(&pair);
            abandon(&pair);
        }
    }
}
