/* Writes and reads the columns of both tables by walking the field tables of schema.c; numbers are
 * shortest-exact. */
#include "results/record/csv_line.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { SEAL_LENGTH = 16 };

/* In quotes, which stand twice inside (RFC 4180); line breaks become blanks, as a line is a row. */
static void add_quoted(struct text_buffer *line, const char *text, size_t length)
{
    char *at = length < SIZE_MAX / 4 ? text_room(line, 2 * length + 3) : NULL;
    if (!at) {
        line->failed = 1;
        return;
    }
    *at++ = '"';
    if (!memchr(text, '"', length) && !memchr(text, '\n', length) && !memchr(text, '\r', length)) {
        memcpy(at, text, length); /* the mapping of every row comes this way */
        at += length;
    } else {
        for (size_t i = 0; i < length; i++) {
            *at++ = text[i] == '\n' || text[i] == '\r' ? ' ' : text[i];
            if (text[i] == '"')
                *at++ = '"';
        }
    }
    *at++ = '"';
    *at++ = ',';
    text_wrote(line, at);
}

void csv_add_text(struct text_buffer *line, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length == 0) {
        text_append_bytes(line, ",", 1);
        return;
    }
    static const char blank[] = " \t"; /* libcsv takes them away around a field without quotes */
    if (!strpbrk(text, ",\"\r\n") && !strchr(blank, text[0]) && !strchr(blank, text[length - 1])) {
        text_append_bytes(line, text, length);
        text_append_bytes(line, ",", 1);
        return;
    }
    add_quoted(line, text, length);
}

static void add_f64(struct text_buffer *line, double value)
{
    char *at = text_room(line, TEXT_DOUBLE_MAX + 1);
    if (!at)
        return;
    if (!isnan(value))
        at += text_double_bytes(value, 0, at);
    *at++ = ',';
    text_wrote(line, at);
}

/* The lowest `n` digits of `value` in base 16. */
static void hex_digits(uint64_t value, char *text, size_t n)
{
    for (size_t i = n; i-- > 0; value >>= 4)
        text[i] = "0123456789abcdef"[value & 15];
}

static void add_u64(struct text_buffer *line, uint64_t value)
{
    char text[24];
    size_t at = sizeof text;
    text[--at] = ',';
    if (value != METRIC_U64_MISSING) {
        do {
            text[--at] = (char)('0' + value % 10);
            value /= 10;
        } while (value != 0);
    }
    text_append_bytes(line, text + at, sizeof text - at);
}

static void add_key(struct text_buffer *line, uint64_t key)
{
    char text[SEAL_LENGTH + 1];
    hex_digits(key, text, SEAL_LENGTH);
    text[SEAL_LENGTH] = ',';
    text_append_bytes(line, text, sizeof text);
}

void csv_seal(struct text_buffer *line, size_t start)
{
    char text[SEAL_LENGTH + 1];
    if (line->failed)
        return;
    hex_digits(hash_of_bytes(line->data + start, line->length - start), text, SEAL_LENGTH);
    text[SEAL_LENGTH] = '\n';
    text_append_bytes(line, text, sizeof text);
}

bool csv_seal_holds(const char *line, size_t length)
{
    char seal[SEAL_LENGTH];
    if (length < SEAL_LENGTH + 1 || line[length - SEAL_LENGTH - 1] != ',')
        return false;
    hex_digits(hash_of_bytes(line, length - SEAL_LENGTH), seal, SEAL_LENGTH);
    return memcmp(seal, line + length - SEAL_LENGTH, SEAL_LENGTH) == 0;
}

uint64_t csv_digest(uint64_t before, const char *line, size_t length)
{
    enum { SUM = 16 }; /* hex digits of the line's own checksum, which stand for all of it */
    char bytes[sizeof before + SUM] = {0};
    size_t n = length < SUM ? length : SUM; /* a damaged line may be shorter */
    memcpy(bytes, &before, sizeof before);
    memcpy(bytes + sizeof before, line + length - n, n);
    return hash_of_bytes(bytes, sizeof bytes);
}

/* Where the level columns stand: before the columns about the search. */
static bool levels_go_before(const struct metric *metric)
{
    return strcmp(metric->name, "stop") == 0;
}

static void add_header(struct text_buffer *line, const struct result_schema *schema, enum result_table table)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n_level_metric, n = schema_columns(schema, table, column);
    const struct metric *level = schema_level_metrics(schema, &n_level_metric);
    for (size_t i = 0; i < n; i++) {
        for (size_t l = 0; levels_go_before(column[i].metric) && l < schema->n_level; l++) {
            for (size_t k = 0; k < n_level_metric; k++) {
                char name[256];
                snprintf(name, sizeof name, "%s.%s", schema->level[l], level[k].name);
                csv_add_text(line, name);
            }
        }
        csv_add_text(line, column[i].metric->name);
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
    add_axis_names(line, schema);
    text_append(line, "status,");
    add_header(line, schema, RESULT_POINTS);
}

void csv_layer_header(struct text_buffer *line, const struct result_schema *schema)
{
    add_axis_names(line, schema);
    text_append(line, "layer,status,");
    add_header(line, schema, RESULT_LAYERS);
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

static void add_value(struct text_buffer *line, enum metric_type type, const void *place)
{
    switch (type) {
    case METRIC_F64:
        add_f64(line, *(const double *)place);
        break;
    case METRIC_U64:
        add_u64(line, *(const uint64_t *)place);
        break;
    case METRIC_TEXT:
        csv_add_text(line, *(const char *const *)place);
        break;
    }
}

static void add_levels(struct text_buffer *line, const struct result_schema *schema,
                       const struct level_values *level)
{
    size_t n;
    const struct metric *metric = schema_level_metrics(schema, &n);
    for (size_t l = 0; l < schema->n_level; l++) {
        for (size_t k = 0; k < n; k++) {
            if (level)
                add_value(line, metric[k].type, (const char *)&level[l] + metric[k].offset);
            else
                text_append_bytes(line, ",", 1);
        }
    }
}

static void add_values(struct text_buffer *line, const struct result_schema *schema, enum result_table table,
                       const void *record, const struct level_values *level)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n = schema_columns(schema, table, column);
    for (size_t i = 0; i < n; i++) {
        if (levels_go_before(column[i].metric))
            add_levels(line, schema, level);
        add_value(line, column[i].metric->type, (const char *)record + column[i].offset);
    }
}

void csv_point_line(struct text_buffer *line, const struct result_schema *schema,
                    const struct point_record *point)
{
    size_t start = line->length;
    add_axis_values(line, schema, point->index);
    csv_add_text(line, result_status_text(point->outcome));
    add_values(line, schema, RESULT_POINTS, point, point->level);
    add_key(line, point->key);
    csv_seal(line, start);
}

void csv_layer_line(struct text_buffer *line, const struct result_schema *schema,
                    const struct point_record *point, const struct layer_record *layer)
{
    size_t start = line->length;
    add_axis_values(line, schema, point->index);
    csv_add_text(line, layer->layer);
    csv_add_text(line, result_status_text(layer->outcome));
    add_values(line, schema, RESULT_LAYERS, layer, layer->level);
    add_key(line, point->key);
    csv_seal(line, start);
}

static bool read_value(const struct metric *metric, const char *text, char *place)
{
    switch (metric->type) {
    case METRIC_F64:
        return !text[0] || text_parse_double(text, (double *)(void *)place);
    case METRIC_U64:
        return !text[0] || text_parse_u64(text, (uint64_t *)(void *)place);
    case METRIC_TEXT:
        *(const char **)(void *)place = text[0] ? text : NULL;
        return true;
    }
    return false;
}

/* From column `at` on. Missing values of the record stay so. */
static bool read_values(const struct result_schema *schema, enum result_table table,
                        const struct csv_row *split, size_t at, void *record)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n_level_metric, n = schema_columns(schema, table, column);
    (void)schema_level_metrics(schema, &n_level_metric);
    if (split->n != at + n + schema->n_level * n_level_metric + 2)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (levels_go_before(column[i].metric))
            at += schema->n_level * n_level_metric;
        if (!read_value(column[i].metric, split->field[at++], (char *)record + column[i].offset))
            return false;
    }
    return true;
}

size_t csv_coordinates(const struct result_schema *schema)
{
    size_t n = 0;
    for (size_t a = 0; a < schema->n_axis; a++)
        n += schema->axis[a].n_coordinate;
    return n;
}

bool csv_point_read(const struct result_schema *schema, const struct csv_row *split,
                    struct point_record *point)
{
    const size_t at = csv_coordinates(schema);
    point_record_init(point);
    return at < split->n && result_status_find(split->field[at], &point->outcome) &&
           read_values(schema, RESULT_POINTS, split, at + 1, point);
}

bool csv_layer_read(const struct result_schema *schema, const struct csv_row *split,
                    struct layer_record *layer)
{
    const size_t at = csv_coordinates(schema);
    layer_record_init(layer);
    if (at + 1 >= split->n || !result_status_find(split->field[at + 1], &layer->outcome))
        return false;
    layer->layer = split->field[at];
    return read_values(schema, RESULT_LAYERS, split, at + 2, layer);
}

/* The first 16 bytes of `text`; 0 when they are no hex digits. */
static int read_key(const char *text, uint64_t *key)
{
    uint64_t value = 0;
    for (size_t i = 0; i < SEAL_LENGTH; i++) {
        char c = text[i];
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return 0;
    }
    *key = value;
    return 1;
}

int csv_key_parse(const char *text, uint64_t *key)
{
    return strlen(text) == SEAL_LENGTH && read_key(text, key);
}

int csv_line_key(const char *line, size_t length, uint64_t *key)
{
    enum { TAIL_LENGTH = 2 * (SEAL_LENGTH + 1) };
    return length > TAIL_LENGTH && line[length - TAIL_LENGTH] == ',' &&
           line[length - SEAL_LENGTH - 1] == ',' && read_key(line + length - TAIL_LENGTH + 1, key);
}
