#include "results/cube_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "results/csv_line.h"

static int by_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int by_cell(const void *a, const void *b)
{
    const struct cube_row *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

/* The keys that count, sorted; NULL when all do. */
static enum dse_status sorted_keys(const struct result_schema *schema, uint64_t **key, struct dse_error *err)
{
    *key = NULL;
    if (!schema->point_key || schema->n_point == 0)
        return DSE_OK;
    *key = malloc(schema->n_point * sizeof **key);
    if (!*key)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %" PRIu64 " point keys", schema->n_point);
    memcpy(*key, schema->point_key, schema->n_point * sizeof **key);
    qsort(*key, schema->n_point, sizeof **key, by_u64);
    return DSE_OK;
}

/* Go to the line of an entry, check and split it. */
static enum dse_status read_line_of(struct line_reader *reader, uint64_t offset, int number,
                                    struct csv_row *split, struct dse_error *err)
{
    bool more;
    if (reader->next != offset)
        DSE_TRY(line_reader_seek(reader, offset, number, err));
    reader->number = number - 1;
    DSE_TRY(line_reader_next(reader, &more, err));
    if (!more)
        return dse_fail_at(err, DSE_IO, reader->path, number, "the file became shorter while it was read");
    return line_reader_split(reader, split, err);
}

/* -1 error, 0 not of this schema, 1 fine. */
static int parse_point(struct cube_rows *rows, size_t entry, struct point_record *point,
                       enum dse_status *status, struct dse_error *err)
{
    struct dse_error why = {0};
    const struct journal_entry *e = &rows->index.entry[entry];
    *status = read_line_of(&rows->csv, e->offset, e->line, &rows->split, err);
    if (*status != DSE_OK)
        return -1;
    int found = csv_point_parse(&rows->split, rows->schema, point, rows->cell, rows->level, &why);
    if (found < 0)
        *status = dse_fail_at(err, DSE_BAD_INPUT, rows->csv_path, e->line, "%s", why.text);
    return found;
}

static uint64_t cell_number(const struct result_schema *schema, const uint32_t *index)
{
    uint64_t cell = 0;
    for (size_t a = 0; a < schema->n_axis; a++)
        cell = cell * schema->axis[a].n_value + index[a];
    return cell;
}

static enum dse_status place_rows(struct cube_rows *rows, const uint64_t *key, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    for (size_t i = 0; i < rows->index.n; i++) {
        struct point_record point;
        if (key && !bsearch(&rows->index.entry[i].key, key, rows->schema->n_point, sizeof *key, by_u64))
            continue;
        int found = parse_point(rows, i, &point, &status, err);
        if (found < 0)
            return status;
        if (found)
            rows->row[rows->n++] = (struct cube_row){cell_number(rows->schema, rows->cell), i};
    }
    qsort(rows->row, rows->n, sizeof *rows->row, by_cell);
    for (size_t i = 1; i < rows->n; i++) {
        if (rows->row[i].cell == rows->row[i - 1].cell)
            return dse_fail_at(
                err, DSE_BAD_INPUT, rows->csv_path, rows->index.entry[rows->row[i].entry].line,
                "the same cell of the sweep as line %d, with another point key: results of two "
                "specifications; use --fresh to start anew or choose another output with -o",
                rows->index.entry[rows->row[i - 1].entry].line);
    }
    return DSE_OK;
}

static enum dse_status open_rows(struct cube_rows *rows, struct dse_error *err)
{
    uint64_t *key;
    DSE_TRY(journal_index_read(rows->csv_path, rows->layer_path, rows->schema, &rows->index, err));
    DSE_TRY(line_reader_open(&rows->csv, rows->csv_path, err));
    DSE_TRY(line_reader_open(&rows->layers, rows->layer_path, err));
    rows->row = malloc((rows->index.n + 1) * sizeof *rows->row);
    if (!rows->row)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu points", rows->index.n);
    DSE_TRY(sorted_keys(rows->schema, &key, err));
    enum dse_status status = place_rows(rows, key, err);
    free(key);
    return status;
}

enum dse_status cube_rows_open(struct cube_rows *rows, const char *out, const struct result_schema *schema,
                               struct dse_error *err)
{
    memset(rows, 0, sizeof *rows);
    rows->schema = schema;
    csv_row_init(&rows->split);
    DSE_TRY(schema_check(schema, err));
    if (!result_path(rows->csv_path, sizeof rows->csv_path, out, ".csv") ||
        !result_path(rows->layer_path, sizeof rows->layer_path, out, ".layers.csv"))
        return dse_fail(err, DSE_LIMIT, "the output path is too long");
    enum dse_status status = open_rows(rows, err);
    if (status != DSE_OK)
        cube_rows_close(rows);
    return status;
}

void cube_rows_close(struct cube_rows *rows)
{
    journal_index_free(&rows->index);
    free(rows->row);
    line_reader_close(&rows->csv);
    line_reader_close(&rows->layers);
    csv_row_free(&rows->split);
    rows->row = NULL;
    rows->n = 0;
}

enum dse_status cube_rows_point(struct cube_rows *rows, size_t i, struct point_record *point,
                                struct dse_error *err)
{
    enum dse_status status;
    int found = parse_point(rows, rows->row[i].entry, point, &status, err);
    if (found == 0)
        return dse_fail_at(err, DSE_INTERNAL, rows->csv_path, 0, "a row left the axes between two readings");
    return status;
}

/* Texts of a layer into the arena, since the split line is reused. */
static int keep_texts(struct layer_record *layer, struct arena *arena)
{
    const char **text[] = {&layer->layer,  &layer->reason,  &layer->stop,
                           &layer->padded, &layer->mapping, &layer->trace};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        *text[i] = arena_copy_text(arena, *text[i], strlen(*text[i]));
        if (!*text[i])
            return 0;
    }
    return 1;
}

enum dse_status cube_rows_layers(struct cube_rows *rows, size_t i, struct arena *arena,
                                 struct layer_record **layer, size_t *n, struct dse_error *err)
{
    const struct journal_entry *entry = &rows->index.entry[rows->row[i].entry];
    const size_t n_level = rows->schema->n_level;
    struct csv_row split;
    struct dse_error why = {0};
    enum dse_status status = DSE_OK;
    uint64_t offset = entry->layer_offset;
    *n = entry->n_layer_found;
    *layer = arena_alloc(arena, *n + 1, sizeof **layer);
    struct level_values *level = arena_alloc(arena, (*n + 1) * (n_level + 1), sizeof *level);
    if (!*layer || !level)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu layers", *n);
    csv_row_init(&split);
    for (size_t k = 0; k < *n && status == DSE_OK; k++) {
        int line = entry->layer_line + (int)k;
        status = read_line_of(&rows->layers, offset, line, &split, err);
        if (status == DSE_OK &&
            csv_layer_parse(&split, rows->schema, &(*layer)[k], level + k * n_level, &why) < 0)
            status = dse_fail_at(err, DSE_BAD_INPUT, rows->layer_path, line, "%s", why.text);
        if (status == DSE_OK && !keep_texts(&(*layer)[k], arena))
            status = dse_fail(err, DSE_NO_MEMORY, "out of memory for the texts of a layer");
        offset = rows->layers.next;
    }
    csv_row_free(&split);
    return status;
}
