/* Layers of Interstellar's authors, a JSON file with one or a table with many, put into words as a native
 * network file: there is one reader. */
#include <csv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/interstellar_json/interstellar_json.h"
#include "costmodel/model/network.h"
#include "costmodel/native/network_native.h"

/* What both kinds of file say of a layer. */
enum layer_number { L_B, L_K, L_C, L_X, L_Y, L_FX, L_FY, L_SX, L_SY, L_GROUPS, L_COUNT, L_NUMBERS };

struct layer_words {
    const char *name;
    uint64_t number[L_NUMBERS];
};

/* One entry of the list of layers. Groups are equal: each is a layer of its own. */
static void append_layer(struct text_buffer *text, const struct layer_words *layer)
{
    const uint64_t *n = layer->number;
    text_append(text,
                "{name: \"%s\", type: conv, batch: %llu, C: %llu, K: %llu, P: %llu, Q: %llu, R: %llu, "
                "S: %llu, stride: [%llu, %llu], count: %llu}",
                layer->name, (unsigned long long)n[L_B], (unsigned long long)(n[L_C] / n[L_GROUPS]),
                (unsigned long long)(n[L_K] / n[L_GROUPS]), (unsigned long long)n[L_Y],
                (unsigned long long)n[L_X], (unsigned long long)n[L_FY], (unsigned long long)n[L_FX],
                (unsigned long long)n[L_SY], (unsigned long long)n[L_SX],
                (unsigned long long)(n[L_COUNT] * n[L_GROUPS]));
}

static void append_head(struct text_buffer *text, const char *path)
{
    char name[PROBLEM_NAME_MAX];
    text_append(text, "{network: \"%s\", kind: layers, layers: [", network_name_of(path, name));
}

/* ---------------------------------------- JSON */

static const struct json_key {
    const char *key;
    bool required;
    uint32_t highest;
} json_key[] = {
    [L_B] = {"batch_size", false, NETWORK_DIM_MAX},
    [L_K] = {"output_fmap_channel", true, NETWORK_DIM_MAX},
    [L_C] = {"input_fmap_channel", true, NETWORK_DIM_MAX},
    [L_X] = {"fmap_width", true, NETWORK_DIM_MAX},
    [L_Y] = {"fmap_height", true, NETWORK_DIM_MAX},
    [L_FX] = {"window_width", true, NETWORK_DIM_MAX},
    [L_FY] = {"window_height", true, NETWORK_DIM_MAX},
    [L_SX] = {"stride_width", false, NETWORK_STEP_MAX},
    [L_SY] = {"stride_height", false, NETWORK_STEP_MAX},
};
enum { N_JSON = sizeof json_key / sizeof json_key[0] };

bool interstellar_is_layer(const struct yaml_doc *doc)
{
    for (size_t i = 0; i < N_JSON; i++)
        if (i != L_B && yaml_find(doc->root, json_key[i].key))
            return true;
    return false;
}

enum dse_status interstellar_layer_text(const struct yaml_doc *doc, struct text_buffer *text,
                                        struct dse_error *err)
{
    const char *allowed[N_JSON];
    struct layer_words layer = {.number = {[L_GROUPS] = 1, [L_COUNT] = 1}};
    char name[PROBLEM_NAME_MAX];
    for (size_t i = 0; i < N_JSON; i++)
        allowed[i] = json_key[i].key;
    DSE_TRY(yaml_check_keys(doc, doc->root, "a layer of Interstellar's authors", allowed, N_JSON, err));
    for (size_t i = 0; i < N_JSON; i++) {
        const struct ynode *node = yaml_find(doc->root, json_key[i].key);
        layer.number[i] = 1;
        if (json_key[i].required)
            DSE_TRY(yaml_require(doc, doc->root, "the layer", json_key[i].key, &node, err));
        if (node)
            DSE_TRY(yaml_u64(doc, node, json_key[i].key, 1, json_key[i].highest, &layer.number[i], err));
    }
    layer.name = network_name_of(doc->path, name);
    append_head(text, doc->path);
    for (int line = 1; line < doc->root->line; line++)
        text_append(text, "\n");
    append_layer(text, &layer);
    text_append(text, "]}\n");
    return text_check(text, "a layer", err);
}

/* ---------------------------------------- tables */

/* Columns of a table; those of numbers have the number of the layer that they fill. */
enum { COLUMN_NAME = L_NUMBERS, COLUMN_IGNORED, COLUMN_MAX = 64 };

static const struct table_column {
    const char *word;
    int what;
    bool required;
} table_column[] = {{"name", COLUMN_NAME, true},
                    {"B", L_B, true},
                    {"K", L_K, true},
                    {"C", L_C, true},
                    {"X", L_X, true},
                    {"Y", L_Y, true},
                    {"FX", L_FX, true},
                    {"FY", L_FY, true},
                    {"stride", L_SX, false},
                    {"groups", L_GROUPS, false},
                    {"count", L_COUNT, false},
                    {"origin", COLUMN_IGNORED, false},
                    {"note", COLUMN_IGNORED, false}};
enum { N_COLUMN = sizeof table_column / sizeof table_column[0] };

/* A table while it is read: libcsv hands over fields and ends of lines. */
struct table_reader {
    const char *path;
    struct text_buffer *text;
    struct dse_error *err;
    enum dse_status status;
    int line, n_written;  /* the line of the file that is read, and how many the text has */
    int field, n_column;  /* of this line; of the header, 0: not yet read */
    int what[COLUMN_MAX]; /* (n_column) index into table_column */
    char name[PROBLEM_NAME_MAX];
    struct layer_words layer;
    size_t n_layer;
};

bool interstellar_is_table(const char *name, const char *bytes, size_t length)
{
    static const char head[] = "name,";
    size_t n = strlen(name);
    return (n > 4 && strcmp(name + n - 4, ".csv") == 0) ||
           (length >= sizeof head - 1 && memcmp(bytes, head, sizeof head - 1) == 0);
}

static void fail_table(struct table_reader *r, enum dse_status status)
{
    r->status = status;
}

#define TABLE_FAIL(r, ...)                                                                                   \
    fail_table(r, dse_fail_at((r)->err, DSE_BAD_INPUT, (r)->path, (r)->line, __VA_ARGS__))

/* A column of the header. */
static void read_column(struct table_reader *r, const char *word)
{
    const char *known[N_COLUMN];
    char shown[80];
    int c = 0;
    for (int i = 0; i < N_COLUMN; i++)
        known[i] = table_column[i].word;
    while (c < N_COLUMN && strcmp(table_column[c].word, word) != 0)
        c++;
    const char *near = c == N_COLUMN ? text_nearest(word, known, N_COLUMN) : NULL;
    if (r->field == COLUMN_MAX)
        TABLE_FAIL(r, "more than %d columns", COLUMN_MAX);
    else if (c == N_COLUMN)
        TABLE_FAIL(r,
                   "unknown column \"%s\"%s%s%s; a table of layers has the columns name,B,K,C,X,Y,FX,FY and "
                   "may have stride,groups,count,origin,note",
                   text_excerpt(word, shown, sizeof shown), near ? "; did you mean \"" : "", near ? near : "",
                   near ? "\"?" : "");
    for (int i = 0; i < r->field && r->status == DSE_OK; i++)
        if (r->what[i] == c)
            TABLE_FAIL(r, "column \"%s\" appears twice", word);
    if (r->status == DSE_OK)
        r->what[r->field] = c;
}

static void read_number(struct table_reader *r, const struct table_column *column, const char *word)
{
    uint64_t number, highest = column->what == L_SX      ? NETWORK_STEP_MAX
                               : column->what == L_COUNT ? NETWORK_COUNT_MAX
                                                         : NETWORK_DIM_MAX;
    char shown[80];
    if (!text_parse_u64(word, &number) || number < 1 || number > highest)
        TABLE_FAIL(r, "column %s: \"%s\" is not a whole number from 1 to %llu", column->word,
                   text_excerpt(word, shown, sizeof shown), (unsigned long long)highest);
    else
        r->layer.number[column->what] = number;
}

/* What would not survive between quotes in YAML is refused here, the rest by the reader of networks. */
static void read_name(struct table_reader *r, const char *word)
{
    char shown[80];
    bool plain = text_copy(r->name, sizeof r->name, word) != 0;
    for (const char *at = word; *at; at++)
        plain = plain && (unsigned char)*at > ' ' && (unsigned char)*at < 127 && *at != '"' && *at != '\\';
    if (!plain)
        TABLE_FAIL(r, "\"%s\" is not a name: up to %d letters, digits and _ . + : / - are accepted",
                   text_excerpt(word, shown, sizeof shown), PROBLEM_NAME_MAX - 1);
}

static void on_field(void *bytes, size_t length, void *user)
{
    struct table_reader *r = user;
    const char *word = bytes ? bytes : "";
    (void)length; /* libcsv ends fields with a zero (CSV_APPEND_NULL) */
    if (r->status != DSE_OK)
        return;
    if (r->n_column == 0)
        read_column(r, word);
    else if (r->field >= r->n_column)
        TABLE_FAIL(r,
                   "more fields than the %d columns of the first line; a text with a comma stands in quotes",
                   r->n_column);
    else if (table_column[r->what[r->field]].what == COLUMN_NAME)
        read_name(r, word);
    else if (table_column[r->what[r->field]].what != COLUMN_IGNORED)
        read_number(r, &table_column[r->what[r->field]], word);
    r->field++;
}

static void end_header(struct table_reader *r)
{
    for (int c = 0; c < N_COLUMN && r->status == DSE_OK; c++) {
        int i = 0;
        while (i < r->field && r->what[i] != c)
            i++;
        if (i == r->field && table_column[c].required)
            TABLE_FAIL(r,
                       "a table of layers lacks its column \"%s\"; the first line is "
                       "name,B,K,C,X,Y,FX,FY,stride,groups,count,origin,note",
                       table_column[c].word);
    }
    r->n_column = r->field;
}

static void end_layer(struct table_reader *r)
{
    uint64_t *n = r->layer.number;
    if (r->field < r->n_column)
        TABLE_FAIL(r, "%d fields, but the first line has %d columns", r->field, r->n_column);
    else if (n[L_C] % n[L_GROUPS] != 0 || n[L_K] % n[L_GROUPS] != 0)
        TABLE_FAIL(
            r, "%.60s: %llu groups divide neither C %llu nor K %llu evenly; both must be multiples of groups",
            r->name, (unsigned long long)n[L_GROUPS], (unsigned long long)n[L_C], (unsigned long long)n[L_K]);
    if (r->status != DSE_OK)
        return;
    n[L_SY] = n[L_SX];
    r->layer.name = r->name;
    if (r->n_layer++ > 0)
        text_append(r->text, ",");
    for (; r->n_written < r->line; r->n_written++)
        text_append(r->text, "\n");
    append_layer(r->text, &r->layer);
}

static void on_line(int separator, void *user)
{
    struct table_reader *r = user;
    (void)separator;
    if (r->status == DSE_OK && r->n_column == 0)
        end_header(r);
    else if (r->status == DSE_OK)
        end_layer(r);
    r->field = 0;
    r->layer = (struct layer_words){.number = {[L_SX] = 1, [L_GROUPS] = 1, [L_COUNT] = 1}};
}

/* Line by line as far as quotes allow, so that errors have a line. */
static void parse_table(struct table_reader *r, struct csv_parser *parser, const char *bytes, size_t length)
{
    for (size_t at = 0; at < length && r->status == DSE_OK;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        size_t n = end ? (size_t)(end - bytes) + 1 - at : length - at;
        r->line++;
        if (csv_parse(parser, bytes + at, n, on_field, on_line, r) != n && r->status == DSE_OK) {
            if (csv_error(parser) == CSV_ENOMEM)
                fail_table(r, dse_fail(r->err, DSE_NO_MEMORY, "out of memory for a table of layers"));
            else
                TABLE_FAIL(r, "the quotes of this line are broken");
        }
        at += n;
    }
    if (r->status == DSE_OK && csv_fini(parser, on_field, on_line, r) != 0)
        TABLE_FAIL(r, "the file ends inside quotes");
}

enum dse_status interstellar_table_text(const char *name, const char *bytes, size_t length,
                                        struct text_buffer *text, struct dse_error *err)
{
    struct csv_parser parser;
    struct table_reader r = {.path = name, .text = text, .err = err, .n_written = 1};
    if (memchr(bytes, '\0', length))
        return dse_fail_at(err, DSE_BAD_INPUT, name, 0, "this is no text: it has zero bytes");
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for a table of layers");
    append_head(text, name);
    const size_t mark = text_mark(bytes, length);
    parse_table(&r, &parser, bytes + mark, length - mark);
    csv_free(&parser);
    if (r.status == DSE_OK && r.n_layer == 0)
        r.status =
            dse_fail_at(err, DSE_BAD_INPUT, name, 0,
                        "the table has no layers; its first line is "
                        "name,B,K,C,X,Y,FX,FY,stride,groups,count,origin,note, then a line for each layer");
    text_append(text, "]}\n");
    return r.status == DSE_OK ? text_check(text, "a table of layers", err) : r.status;
}
