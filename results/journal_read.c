#include "results/journal_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "results/journal_header.h"

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

/* SplitMix64's finaliser: keys are hashes already, but a merged or hand-made file may hold anything. */
static size_t slot_of(uint64_t key, size_t n_slot)
{
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return (size_t)(key ^ (key >> 31)) & (n_slot - 1);
}

static void slot_put(struct journal_index *index, size_t i)
{
    size_t at = slot_of(index->entry[i].key, index->n_slot);
    while (index->slot[at] != 0)
        at = (at + 1) & (index->n_slot - 1);
    index->slot[at] = i + 1;
}

struct journal_entry *journal_index_find(const struct journal_index *index, uint64_t key)
{
    if (index->n_slot == 0)
        return NULL;
    for (size_t at = slot_of(key, index->n_slot); index->slot[at] != 0; at = (at + 1) & (index->n_slot - 1)) {
        struct journal_entry *entry = &index->entry[index->slot[at] - 1];
        if (entry->key == key)
            return entry;
    }
    return NULL;
}

enum dse_status journal_index_add(struct journal_index *index, const struct journal_entry *entry,
                                  struct dse_error *err)
{
    if (index->n == index->capacity) {
        size_t capacity = index->capacity ? 2 * index->capacity : 64;
        struct journal_entry *grown = realloc(index->entry, capacity * sizeof *grown);
        if (!grown)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", capacity);
        index->entry = grown;
        index->capacity = capacity;
        size_t *slot = calloc(4 * capacity, sizeof *slot);
        if (!slot)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", capacity);
        free(index->slot);
        index->slot = slot;
        index->n_slot = 4 * capacity;
        for (size_t i = 0; i < index->n; i++)
            slot_put(index, i);
    }
    index->entry[index->n] = *entry;
    slot_put(index, index->n++);
    return DSE_OK;
}

void journal_index_free(struct journal_index *index)
{
    free(index->entry);
    free(index->slot);
    *index = (struct journal_index){0};
}

/* One line of OUT.csv into the index. */
static enum dse_status take_point(const struct line_reader *reader, const struct csv_row *row,
                                  size_t at_status, size_t at_n_layer, struct journal_index *index,
                                  struct dse_error *err)
{
    struct journal_entry entry = {
        .offset = reader->offset, .length = reader->length + 1, .line = reader->number};
    if (row->n <= at_n_layer || !csv_key_parse(row->field[row->n - 2], &entry.key) ||
        !result_status_find(row->field[at_status], &entry.outcome) ||
        !text_parse_u64(row->field[at_n_layer], &entry.n_layer))
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, reader->number,
                           "not a point: status, n_layer or point_key cannot be read");
    const struct journal_entry *twin = journal_index_find(index, entry.key);
    if (twin)
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, reader->number,
                           "the point %016" PRIx64 " is already on line %d", entry.key, twin->line);
    return journal_index_add(index, &entry, err);
}

static enum dse_status read_points(struct line_reader *reader, const struct result_schema *schema,
                                   struct csv_row *row, struct journal_index *index, struct dse_error *err)
{
    struct text_buffer header;
    bool more, empty;
    text_init(&header);
    csv_point_header(&header, schema);
    enum dse_status status = journal_header_read(reader, &header, &empty, err);
    if (status == DSE_OK && !empty)
        status = csv_split(header.data, header.length - 1, row, err);
    text_free(&header);
    if (status != DSE_OK || empty)
        return status;
    size_t at_status = csv_column_find(row, "status"), at_n_layer = csv_column_find(row, "n_layer");
    for (;;) {
        DSE_TRY(line_reader_next(reader, &more, err));
        if (!more)
            break;
        DSE_TRY(line_reader_split(reader, row, err));
        DSE_TRY(take_point(reader, row, at_status, at_n_layer, index, err));
    }
    index->good_byte = reader->next;
    return DSE_OK;
}

/* One line of OUT.layers.csv; only its end is looked at: ",<key>,<seal>". `*orphan` is the first line at the tail whose
 * point has no line (0: none). */
static enum dse_status take_layer(const struct line_reader *reader, int *orphan, uint64_t *last_key,
                                  struct journal_index *index, struct dse_error *err)
{
    enum { KEY_LENGTH = 16, TAIL_LENGTH = 2 * (KEY_LENGTH + 1) };
    char text[KEY_LENGTH + 1];
    uint64_t key = 0;
    DSE_TRY(line_reader_check(reader, err));
    int fits = reader->length > TAIL_LENGTH && reader->line[reader->length - TAIL_LENGTH] == ',';
    if (fits) {
        memcpy(text, reader->line + reader->length - TAIL_LENGTH + 1, KEY_LENGTH);
        text[KEY_LENGTH] = '\0';
    }
    if (!fits || !csv_key_parse(text, &key))
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, reader->number, "the point key cannot be read");
    struct journal_entry *entry = journal_index_find(index, key);
    if (!entry) {
        if (!*orphan)
            *orphan = reader->number;
        return DSE_OK;
    }
    if (*orphan)
        return dse_fail_at(
            err, DSE_BAD_INPUT, reader->path, *orphan,
            "the layer's point has no line in the table of points; restore it, or delete the layer");
    if (entry->n_layer_found == 0) {
        entry->layer_offset = reader->offset;
        entry->layer_line = reader->number;
    } else if (*last_key != key) {
        return dse_fail_at(err, DSE_BAD_INPUT, reader->path, reader->number,
                           "the layers of point %016" PRIx64 " do not stand together", key);
    }
    entry->n_layer_found++;
    entry->layer_length += reader->length + 1;
    *last_key = key;
    index->layer_good_byte = reader->next;
    return DSE_OK;
}

static enum dse_status read_layers(struct line_reader *reader, const char *csv_path,
                                   const struct result_schema *schema, struct journal_index *index,
                                   struct dse_error *err)
{
    struct text_buffer header;
    bool more, empty;
    int orphan = 0;
    uint64_t last_key = 0;
    text_init(&header);
    csv_layer_header(&header, schema);
    enum dse_status status = journal_header_read(reader, &header, &empty, err);
    text_free(&header);
    DSE_TRY(status);
    if (!empty)
        index->layer_good_byte = reader->next;
    while (!empty) {
        DSE_TRY(line_reader_next(reader, &more, err));
        if (!more)
            break;
        DSE_TRY(take_layer(reader, &orphan, &last_key, index, err));
    }
    for (size_t i = 0; i < index->n; i++) {
        const struct journal_entry *entry = &index->entry[i];
        if (entry->n_layer != entry->n_layer_found)
            return dse_fail_at(err, DSE_BAD_INPUT, csv_path, entry->line,
                               "the point has %" PRIu64 " layers, %s holds %" PRIu64
                               " of them; restore that file, or delete this line to compute the point again",
                               entry->n_layer, reader->path, entry->n_layer_found);
    }
    return DSE_OK;
}

enum dse_status journal_index_read(const char *csv_path, const char *layer_path,
                                   const struct result_schema *schema, struct journal_index *index,
                                   struct dse_error *err)
{
    struct line_reader reader = {0};
    struct csv_row row;
    *index = (struct journal_index){0};
    csv_row_init(&row);
    enum dse_status status = line_reader_open(&reader, csv_path, err);
    if (status == DSE_OK)
        status = read_points(&reader, schema, &row, index, err);
    line_reader_close(&reader);
    if (status == DSE_OK && layer_path) {
        status = line_reader_open(&reader, layer_path, err);
        if (status == DSE_OK)
            status = read_layers(&reader, csv_path, schema, index, err);
        line_reader_close(&reader);
    }
    csv_row_free(&row);
    if (status != DSE_OK)
        journal_index_free(index);
    return status;
}
