/* Opens, closes, discards and renames the set; a rename that was interrupted is finished by the next
 * merge. */
#include "results/cube/merge_files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "results/journal/sync_folder.h"
#include "results/record/csv_line.h"

static const char merging[] = ".merging";

static enum dse_status temporary_path(const char *out, const char *ending, char *path, struct dse_error *err)
{
    char base[MERGE_PATH_MAX];
    if (!result_path(base, sizeof base, out, merging))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    int n = snprintf(path, MERGE_PATH_MAX, "%s%s", base, ending);
    return n > 0 && n < MERGE_PATH_MAX ? DSE_OK : dse_fail(err, DSE_LIMIT, "the output path is too long");
}

static enum dse_status fail_write(const char *path, struct dse_error *err)
{
    return dse_fail_at(err, DSE_IO, path, 0, "cannot be written: %s", strerror(errno ? errno : EIO));
}

static enum dse_status begin(const char *path, const struct text_buffer *header, FILE **file,
                             struct dse_error *err)
{
    errno = 0;
    DSE_TRY(text_check(header, "a header", err));
    int fd = file_create(path);
    *file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!*file && fd >= 0)
        close(fd);
    if (!*file || fwrite(header->data, 1, header->length, *file) != header->length)
        return fail_write(path, err);
    return DSE_OK;
}

enum dse_status merge_files_open(struct merge_files *files, const char *out,
                                 const struct result_schema *schema, struct dse_error *err)
{
    struct text_buffer point, layer;
    *files = (struct merge_files){.csv = NULL};
    DSE_TRY(temporary_path(out, ".h5", files->h5_path, err));
    DSE_TRY(temporary_path(out, ".csv", files->csv_path, err));
    DSE_TRY(temporary_path(out, ".layers.csv", files->layer_path, err));
    unlink(files->h5_path); /* first: from here on no set is whole */
    text_init(&point);
    text_init(&layer);
    csv_point_header(&point, schema);
    csv_layer_header(&layer, schema);
    files->end =
        (struct cube_entry){.line = 2, .offset = point.length, .layer_line = 2, .layer_offset = layer.length};
    cube_index_init(&files->index, CUBE_ROWS_ENTRY_MAX, files->h5_path);
    enum dse_status status = begin(files->csv_path, &point, &files->csv, err);
    if (status == DSE_OK)
        status = begin(files->layer_path, &layer, &files->layers, err);
    text_free(&point);
    text_free(&layer);
    if (status != DSE_OK)
        merge_files_discard(files);
    return status;
}

static enum dse_status end(FILE **file, const char *path, struct dse_error *err)
{
    errno = 0;
    bool fine = fflush(*file) == 0 && (fsync(fileno(*file)) == 0 || errno == EINVAL || errno == ENOSYS);
    int reason = errno;
    fine &= fclose(*file) == 0;
    *file = NULL;
    if (fine)
        return DSE_OK;
    errno = reason;
    return fail_write(path, err);
}

/* Count the lines of a text, and let them into the digest. */
static uint64_t take_lines(const struct text_buffer *text, uint64_t *digest)
{
    uint64_t n = 0;
    const char *at = text->data, *end = text->data + text->length, *stop;
    while (at < end && (stop = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        *digest = csv_digest(*digest, at, (size_t)(stop - at));
        at = stop + 1;
        n++;
    }
    return n;
}

static enum dse_status append(const struct text_buffer *text, FILE *file, const char *path,
                              struct dse_error *err)
{
    errno = 0;
    if (text->length && fwrite(text->data, 1, text->length, file) != text->length)
        return fail_write(path, err);
    return DSE_OK;
}

enum dse_status merge_files_add(struct merge_files *files, const struct cube_entry *row,
                                const struct text_buffer *point, const struct text_buffer *layers,
                                struct dse_error *err)
{
    struct cube_entry *end = &files->end;
    DSE_TRY(append(layers, files->layers, files->layer_path, err));
    DSE_TRY(append(point, files->csv, files->csv_path, err));
    end->cell = row->cell;
    end->exchanged = row->exchanged;
    end->length = point->length;
    end->layer_length = layers->length;
    DSE_TRY(cube_index_add(&files->index, end, err));
    end->line++;
    end->offset += point->length;
    end->layer_line += take_lines(layers, &files->digest);
    (void)take_lines(point, &files->digest);
    end->layer_offset += layers->length;
    return DSE_OK;
}

enum dse_status merge_files_flush(struct merge_files *files, struct dse_error *err)
{
    errno = 0;
    if (fflush(files->layers) != 0)
        return fail_write(files->layer_path, err);
    errno = 0;
    return fflush(files->csv) == 0 ? DSE_OK : fail_write(files->csv_path, err);
}

enum dse_status merge_files_close(struct merge_files *files, struct dse_error *err)
{
    DSE_TRY(end(&files->csv, files->csv_path, err));
    DSE_TRY(end(&files->layers, files->layer_path, err));
    return cube_index_finish(&files->index, err);
}

void merge_files_discard(struct merge_files *files)
{
    if (files->csv)
        fclose(files->csv);
    if (files->layers)
        fclose(files->layers);
    files->csv = files->layers = NULL;
    unlink(files->h5_path);
    unlink(files->csv_path);
    unlink(files->layer_path);
    cube_index_free(&files->index);
}

bool merge_files_begun(const char *out)
{
    char path[MERGE_PATH_MAX];
    return temporary_path(out, ".csv", path, NULL) == DSE_OK && access(path, F_OK) == 0;
}

enum dse_status merge_files_rename(const char *out, bool *whole, struct dse_error *err)
{
    static const char *const ending[] = {".layers.csv", ".csv", ".h5"};
    char from[MERGE_PATH_MAX], to[MERGE_PATH_MAX];
    struct stat info;
    DSE_TRY(temporary_path(out, ".h5", from, err));
    *whole = stat(from, &info) == 0 && S_ISREG(info.st_mode);
    for (size_t i = 0; i < sizeof ending / sizeof *ending && *whole; i++) {
        DSE_TRY(temporary_path(out, ending[i], from, err));
        if (!result_path(to, sizeof to, out, ending[i]))
            return dse_fail(err, DSE_LIMIT, "the output path is too long");
        /* One that is not there any more was renamed before the kill. */
        if (rename(from, to) != 0 && errno != ENOENT)
            return fail_write(to, err);
        DSE_TRY(sync_folder(to, err));
    }
    return DSE_OK;
}
