#include "results/csv_line.h"

#include <csv.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { SEAL_LENGTH = 16 };

void csv_row_init(struct csv_row *row)
{
    *row = (struct csv_row){0};
    text_init(&row->store);
}

void csv_row_free(struct csv_row *row)
{
    free(row->field);
    text_free(&row->store);
    csv_row_init(row);
}

/* Called by libcsv for each field: keep it, with a terminator, in the store. */
static void take_field(void *bytes, size_t length, void *user)
{
    struct csv_row *row = user;
    text_append_bytes(&row->store, bytes, length);
    text_append_bytes(&row->store, "", 1);
    row->n++;
}

static enum dse_status point_at_fields(struct csv_row *row, struct dse_error *err)
{
    if (row->store.failed)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
    if (row->n > row->capacity) {
        const char **field = realloc(row->field, row->n * sizeof *field);
        if (!field)
            return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
        row->field = field;
        row->capacity = row->n;
    }
    const char *place = row->store.data;
    for (size_t i = 0; i < row->n; i++) {
        row->field[i] = place;
        place += strlen(place) + 1;
    }
    return DSE_OK;
}

enum dse_status csv_split(const char *line, size_t length, struct csv_row *row, struct dse_error *err)
{
    struct csv_parser parser;
    text_clear(&row->store);
    row->n = 0;
    /* A zero byte would end a field early; no line of ours has one. */
    if (memchr(line, 0, length))
        return dse_fail(err, DSE_BAD_INPUT, "a zero byte in the line");
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory while reading a line");
    /* Else it grows by 128 bytes, and copies all of a long field each time. */
    csv_set_blk_size(&parser, length + 1);
    /* libcsv trims the blanks around a bare field; what csv_add_text writes has none there. */
    size_t used = csv_parse(&parser, line, length, take_field, NULL, row);
    int ended = used == length && csv_fini(&parser, take_field, NULL, row) == 0;
    csv_free(&parser);
    if (!ended)
        return dse_fail(err, DSE_BAD_INPUT, "broken quoting in field %zu", row->n + 1);
    return point_at_fields(row, err);
}

void csv_add_text(struct text_buffer *line, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length == 0) {
        text_append_bytes(line, ",", 1);
        return;
    }
    if (!strpbrk(text, ",\"\r\n") && text[0] != ' ' && text[length - 1] != ' ') {
        text_append_bytes(line, text, length);
        text_append_bytes(line, ",", 1);
        return;
    }
    size_t size = csv_write(NULL, 0, text, length);
    char *quoted = malloc(size);
    if (!quoted) {
        line->failed = 1;
        return;
    }
    (void)csv_write(quoted, size, text, length);
    for (size_t i = 0; i < size; i++) {
        if (quoted[i] == '\n' || quoted[i] == '\r')
            quoted[i] = ' ';
    }
    text_append_bytes(line, quoted, size);
    text_append_bytes(line, ",", 1);
    free(quoted);
}

static void add_f64(struct text_buffer *line, double value)
{
    char text[40];
    if (!isnan(value)) {
        text_double(value, text, sizeof text);
        text_append_bytes(line, text, strlen(text));
    }
    text_append_bytes(line, ",", 1);
}

static void add_u64(struct text_buffer *line, uint64_t value)
{
    if (value == RESULT_U64_MISSING)
        text_append_bytes(line, ",", 1);
    else
        text_append(line, "%" PRIu64 ",", value);
}

void csv_seal(struct text_buffer *line, size_t start)
{
    if (line->failed)
        return;
    text_append(line, "%016" PRIx64 "\n", hash_of_bytes(line->data + start, line->length - start));
}

bool csv_seal_holds(const char *line, size_t length)
{
    char seal[SEAL_LENGTH + 1];
    if (length < SEAL_LENGTH + 1 || line[length - SEAL_LENGTH - 1] != ',')
        return false;
    snprintf(seal, sizeof seal, "%016" PRIx64, hash_of_bytes(line, length - SEAL_LENGTH));
    return memcmp(seal, line + length - SEAL_LENGTH, SEAL_LENGTH) == 0;
}

/* Where the level columns stand: before the columns about the search. */
static bool levels_go_before(const struct result_field *field)
{
    return strcmp(field->name, "stop") == 0;
}

static void add_header(struct text_buffer *line, const struct result_schema *schema,
                       const struct result_field *field, size_t n_field)
{
    size_t n_level_field;
    const struct result_field *level = level_field_all(&n_level_field);
    for (size_t i = 0; i < n_field; i++) {
        if (!schema_has_field(schema, &field[i]))
            continue;
        for (size_t l = 0; levels_go_before(&field[i]) && l < schema->n_level; l++) {
            for (size_t k = 0; k < n_level_field; k++) {
                char name[256];
                snprintf(name, sizeof name, "%s.%s", schema->level[l], level[k].name);
                csv_add_text(line, name);
            }
        }
        csv_add_text(line, field[i].name);
    }
    text_append(line, "point_key,checksum\n");
}

static void add_axis_names(struct text_buffer *line, const struct result_schema *schema)
{
    for (size_t a = 0; a < schema->n_axis; a++) {
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++)
            csv_add_text(line, schema->axis[a].coordinate[k].name);
    }
}

void csv_point_header(struct text_buffer *line, const struct result_schema *schema)
{
    size_t n;
    const struct result_field *field = point_field_all(&n);
    add_axis_names(line, schema);
    text_append(line, "status,");
    add_header(line, schema, field, n);
}

void csv_layer_header(struct text_buffer *line, const struct result_schema *schema)
{
    size_t n;
    const struct result_field *field = layer_field_all(&n);
    add_axis_names(line, schema);
    text_append(line, "layer,status,");
    add_header(line, schema, field, n);
}

static void add_axis_values(struct text_buffer *line, const struct result_schema *schema,
                            const uint32_t *index)
{
    char buffer[40];
    for (size_t a = 0; a < schema->n_axis; a++) {
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++)
            csv_add_text(line,
                         coordinate_text(&schema->axis[a].coordinate[k], index[a], buffer, sizeof buffer));
    }
}

static void add_field(struct text_buffer *line, const struct result_field *field, const void *record)
{
    const void *place = (const char *)record + field->offset;
    switch (field->type) {
    case FIELD_F64:
        add_f64(line, *(const double *)place);
        break;
    case FIELD_U64:
        add_u64(line, *(const uint64_t *)place);
        break;
    case FIELD_TEXT:
        csv_add_text(line, *(const char *const *)place);
        break;
    }
}

static void add_fields(struct text_buffer *line, const struct result_schema *schema,
                       const struct result_field *field, size_t n_field, const void *record,
                       const struct level_values *level)
{
    size_t n_level_field;
    const struct result_field *level_field = level_field_all(&n_level_field);
    for (size_t i = 0; i < n_field; i++) {
        if (!schema_has_field(schema, &field[i]))
            continue;
        for (size_t l = 0; levels_go_before(&field[i]) && l < schema->n_level; l++) {
            for (size_t k = 0; k < n_level_field; k++) {
                if (level)
                    add_field(line, &level_field[k], &level[l]);
                else
                    text_append_bytes(line, ",", 1);
            }
        }
        add_field(line, &field[i], record);
    }
}

void csv_point_line(struct text_buffer *line, const struct result_schema *schema,
                    const struct point_record *point)
{
    size_t n, start = line->length;
    const struct result_field *field = point_field_all(&n);
    add_axis_values(line, schema, point->index);
    csv_add_text(line, result_status_text(point->outcome));
    add_fields(line, schema, field, n, point, point->level);
    text_append(line, "%016" PRIx64 ",", point->key);
    csv_seal(line, start);
}

void csv_layer_line(struct text_buffer *line, const struct result_schema *schema,
                    const struct point_record *point, const struct layer_record *layer)
{
    size_t n, start = line->length;
    const struct result_field *field = layer_field_all(&n);
    add_axis_values(line, schema, point->index);
    csv_add_text(line, layer->layer);
    csv_add_text(line, result_status_text(layer->outcome));
    add_fields(line, schema, field, n, layer, layer->level);
    text_append(line, "%016" PRIx64 ",", point->key);
    csv_seal(line, start);
}

int csv_key_parse(const char *text, uint64_t *key)
{
    if (strlen(text) != SEAL_LENGTH || strspn(text, "0123456789abcdef") != SEAL_LENGTH)
        return 0;
    *key = strtoull(text, NULL, 16);
    return 1;
}

static size_t n_axis_column(const struct result_schema *schema)
{
    size_t n = 0;
    for (size_t a = 0; a < schema->n_axis; a++)
        n += schema->axis[a].n_coordinate;
    return n;
}

/* The position on an axis whose coordinates read as `field` (n_coordinate), or n_value. */
static size_t find_place(const struct result_axis *axis, const char *const *field)
{
    char buffer[40];
    for (size_t i = 0; i < axis->n_value; i++) {
        size_t k = 0;
        while (k < axis->n_coordinate &&
               strcmp(coordinate_text(&axis->coordinate[k], i, buffer, sizeof buffer), field[k]) == 0)
            k++;
        if (k == axis->n_coordinate)
            return i;
    }
    return axis->n_value;
}

static int parse_field(const struct result_field *field, const char *text, void *record,
                       struct dse_error *err)
{
    void *place = (char *)record + field->offset;
    int fine = 1;
    switch (field->type) {
    case FIELD_F64:
        *(double *)place = NAN;
        fine = text[0] == '\0' || text_parse_double(text, place);
        break;
    case FIELD_U64:
        *(uint64_t *)place = RESULT_U64_MISSING;
        fine = text[0] == '\0' || text_parse_u64(text, place);
        break;
    case FIELD_TEXT:
        *(const char **)place = text;
        break;
    }
    if (!fine)
        dse_fail(err, DSE_BAD_INPUT, "%s is '%s', a number was expected", field->name, text);
    return fine ? 1 : -1;
}

/* Fields and level columns from column `at` on. */
static int parse_fields(const struct csv_row *row, size_t at, const struct result_schema *schema,
                        const struct result_field *field, size_t n_field, void *record,
                        struct level_values *level, struct dse_error *err)
{
    size_t n_level_field;
    const struct result_field *level_field = level_field_all(&n_level_field);
    size_t expected = at + schema_n_field(schema, field, n_field) + schema->n_level * n_level_field + 2;
    if (row->n != expected) {
        dse_fail(err, DSE_BAD_INPUT, "%zu fields, %zu were expected", row->n, expected);
        return -1;
    }
    for (size_t i = 0; i < n_field; i++) {
        if (!schema_has_field(schema, &field[i]))
            continue;
        for (size_t l = 0; levels_go_before(&field[i]) && l < schema->n_level; l++) {
            for (size_t k = 0; k < n_level_field; k++) {
                if (parse_field(&level_field[k], row->field[at++], &level[l], err) < 0)
                    return -1;
            }
        }
        if (parse_field(&field[i], row->field[at++], record, err) < 0)
            return -1;
    }
    return 1;
}

int csv_point_parse(const struct csv_row *row, const struct result_schema *schema, struct point_record *point,
                    uint32_t *index, struct level_values *level, struct dse_error *err)
{
    size_t n, at = 0, n_axis = n_axis_column(schema);
    const struct result_field *field = point_field_all(&n);
    point_record_init(point);
    point->index = index;
    point->level = level;
    if (row->n < n_axis + 3) {
        dse_fail(err, DSE_BAD_INPUT, "only %zu fields", row->n);
        return -1;
    }
    for (size_t a = 0; a < schema->n_axis; a++) {
        size_t i = find_place(&schema->axis[a], row->field + at);
        if (i == schema->axis[a].n_value)
            return 0;
        index[a] = (uint32_t)i;
        at += schema->axis[a].n_coordinate;
    }
    if (!result_status_find(row->field[at], &point->outcome)) {
        dse_fail(err, DSE_BAD_INPUT, "status is '%s'", row->field[at]);
        return -1;
    }
    if (parse_fields(row, at + 1, schema, field, n, point, level, err) < 0)
        return -1;
    if (!csv_key_parse(row->field[row->n - 2], &point->key)) {
        dse_fail(err, DSE_BAD_INPUT, "point key is '%s', 16 hex digits were expected",
                 row->field[row->n - 2]);
        return -1;
    }
    return 1;
}

int csv_layer_parse(const struct csv_row *row, const struct result_schema *schema, struct layer_record *layer,
                    struct level_values *level, struct dse_error *err)
{
    size_t n, at = n_axis_column(schema);
    const struct result_field *field = layer_field_all(&n);
    layer_record_init(layer);
    layer->level = level;
    if (row->n < at + 4) {
        dse_fail(err, DSE_BAD_INPUT, "only %zu fields", row->n);
        return -1;
    }
    layer->layer = row->field[at];
    if (!result_status_find(row->field[at + 1], &layer->outcome)) {
        dse_fail(err, DSE_BAD_INPUT, "status is '%s'", row->field[at + 1]);
        return -1;
    }
    return parse_fields(row, at + 2, schema, field, n, layer, level, err);
}
