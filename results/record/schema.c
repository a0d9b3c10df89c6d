/* The tables of fields for points, layers and levels, and the checks of axes and names that files need. */
#include "results/record/schema.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name_table.h"
#include "base/text.h"
#include "base/units.h"

#define COLUMN(R, member, kind, text)                                                                        \
    {                                                                                                        \
        .name = #member, .unit = METRIC_##kind == METRIC_TEXT ? "" : "1", .sentence = text,                  \
        .type = METRIC_##kind, .offset = offsetof(struct R, member)                                          \
    }
#define COLUMN_REASON(R) COLUMN(R, reason, TEXT, "Why it is not ok")
#define COLUMNS_SEARCH(R)                                                                                    \
    COLUMN(R, stop, TEXT, "Why the search ended"),                                                           \
        COLUMN(R, bound_kind, TEXT, "What the lower bound of the objective is"),                             \
        COLUMN(R, evaluations, U64, "Cost-model evaluations"),                                               \
        COLUMN(R, draws, U64, "Candidates looked at, valid or not")
#define COLUMN_SECONDS(R)                                                                                    \
    {                                                                                                        \
        .name = "seconds", .unit = "s", .sentence = "Wall time of the search", .is_time = true,              \
        .offset = offsetof(struct R, seconds)                                                                \
    }

/* Before the metrics, and behind those that not every result has. */
static const struct metric point_before[] = {COLUMN_REASON(point_record)};
static const struct metric point_exchange[] = {
    COLUMN(point_record, exchanged_from, TEXT, "Cell whose search found the schedule; nothing: this one's"),
};
static const struct metric point_front[] = {
    COLUMN(point_record, n_front, U64, "Points of the front of energy and latency"),
    COLUMN(point_record, front, TEXT, "Front of the network, latency_s:energy_j, the fastest first"),
};
static const struct metric point_behind[] = {
    COLUMN(point_record, n_layer_mapped, U64, "Layers with a mapping, repeats counted"),
    COLUMN(point_record, n_layer, U64, "Rows in the layer table"),
    COLUMN(point_record, accounting, TEXT, "Cost accounting"),
    COLUMNS_SEARCH(point_record),
    COLUMN_SECONDS(point_record),
};
static const struct metric layer_before[] = {
    COLUMN(layer_record, count, U64, "Times the layer occurs in the network"),
    COLUMN_REASON(layer_record),
};
static const struct metric layer_front[] = {
    COLUMN(layer_record, front_point, U64, "Point of the layer's own front that this is, from 0"),
    COLUMN(layer_record, front, TEXT, "Front of the layer, latency_s:energy_j, the fastest first"),
    COLUMN(layer_record, front_choice, TEXT, "For each point of the network's front a point of this one"),
    COLUMN(layer_record, front_mappings, TEXT, "Mapping of each point of the layer's front, bars between"),
};
static const struct metric layer_behind[] = {
    COLUMNS_SEARCH(layer_record),
    COLUMN(layer_record, padded, TEXT, "Dimensions that the engine enlarged"),
    COLUMN(layer_record, same_as, TEXT, "Layer of the same point whose mapping this one has, too"),
    COLUMN(layer_record, mapping, TEXT, "Chosen mapping, as `dse eval` reads it"),
    COLUMN(layer_record, trace, TEXT, "Improvements of the search, evaluation:cost"),
    {.name = "trace_seconds",
     .unit = "",
     .sentence = "Processor seconds of the search at each of these",
     .type = METRIC_TEXT,
     .is_time = true,
     .offset = offsetof(struct layer_record, trace_seconds)},
    COLUMN_SECONDS(layer_record),
};

static const struct metric level_metric[] = {
    {"energy_j", "J", "Energy of the storage level", METRIC_F64, METRIC_SUM, METRIC_LESS, false,
     offsetof(struct level_values, energy_j)},
    {"noc_energy_j", "J", "Energy of the network below the storage level", METRIC_F64, METRIC_SUM,
     METRIC_LESS, false, offsetof(struct level_values, noc_energy_j)},
    {"byte", "byte", "Traffic of the storage level", METRIC_F64, METRIC_SUM, METRIC_LESS, false,
     offsetof(struct level_values, byte)},
    /* the last: not all files have it */
    {"area_mm2", "mm2", "Area of the storage level", METRIC_F64, METRIC_NONE, METRIC_LESS, false,
     offsetof(struct level_values, area_mm2)},
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* What the two tables differ by. */
static const struct {
    const struct metric *before, *front, *behind; /* (n_before), (n_front), (n_behind) */
    size_t n_before, n_front, n_behind;
    size_t metrics, extra; /* offsets in the record */
} layout[RESULT_TABLE_COUNT] = {
    [RESULT_POINTS] = {point_before, point_front, point_behind, COUNT(point_before), COUNT(point_front),
                       COUNT(point_behind), offsetof(struct point_record, metrics),
                       offsetof(struct point_record, extra)},
    [RESULT_LAYERS] = {layer_before, layer_front, layer_behind, COUNT(layer_before), COUNT(layer_front),
                       COUNT(layer_behind), offsetof(struct layer_record, metrics),
                       offsetof(struct layer_record, extra)},
};

_Static_assert(COUNT(point_before) + COUNT(point_front) + COUNT(point_exchange) + COUNT(point_behind) +
                           sizeof(struct metrics) / sizeof(union metric_value) + RESULT_EXTRA_MAX <=
                       RESULT_COLUMN_MAX &&
                   COUNT(layer_before) + COUNT(layer_front) + COUNT(layer_behind) +
                           sizeof(struct metrics) / sizeof(union metric_value) + RESULT_EXTRA_MAX <=
                       RESULT_COLUMN_MAX,
               "a struct result_column for each column of a table");

/* Do files of this schema have the metric? */
static bool has_metric(const struct result_schema *schema, const struct metric *metric)
{
    return (schema && schema->leaks) || strcmp(metric->name, "energy_leakage_j") != 0;
}

static size_t add_columns(struct result_column *column, size_t at, const struct metric *metric, size_t n,
                          size_t offset)
{
    for (size_t i = 0; i < n; i++)
        column[at + i] = (struct result_column){&metric[i], offset + metric[i].offset};
    return at + n;
}

bool result_column_is(const char *column, const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && strncmp(column, name, n) == 0 && (column[n] == '\0' || column[n] == '_');
}

bool result_column_is_time(const char *name)
{
    for (int table = 0; table < RESULT_TABLE_COUNT; table++)
        for (size_t i = 0; i < layout[table].n_behind; i++)
            if (layout[table].behind[i].is_time && strcmp(layout[table].behind[i].name, name) == 0)
                return true;
    return false;
}

size_t schema_columns(const struct result_schema *schema, enum result_table table,
                      struct result_column column[RESULT_COLUMN_MAX])
{
    size_t n_metric, n = add_columns(column, 0, layout[table].before, layout[table].n_before, 0);
    const struct metric *metric = metric_all(&n_metric);
    for (size_t i = 0; i < n_metric; i++)
        if (has_metric(schema, &metric[i]))
            n = add_columns(column, n, &metric[i], 1, layout[table].metrics);
    for (size_t i = 0; schema && i < schema->n_extra[table] && i < RESULT_EXTRA_MAX; i++)
        column[n++] = (struct result_column){schema->extra[table][i],
                                             layout[table].extra + i * sizeof(union metric_value)};
    if (schema && schema->fronts)
        n = add_columns(column, n, layout[table].front, layout[table].n_front, 0);
    if (schema && schema->schedules && table == RESULT_POINTS)
        n = add_columns(column, n, point_exchange, COUNT(point_exchange), 0);
    return add_columns(column, n, layout[table].behind, layout[table].n_behind, 0);
}

const struct metric *schema_level_metrics(const struct result_schema *schema, size_t *n)
{
    *n = COUNT(level_metric) - !schema->areas;
    return level_metric;
}

static const char *const status_text[] = {
#define RESULT_STATUS_TEXT(code, text) [code] = text,
    RESULT_STATUS_LIST(RESULT_STATUS_TEXT)
#undef RESULT_STATUS_TEXT
};

const char *result_status_text(enum result_status status)
{
    return (size_t)status < COUNT(status_text) ? status_text[status] : "unknown";
}

int result_status_find(const char *word, enum result_status *status)
{
    for (size_t i = 0; i < COUNT(status_text); i++) {
        if (strcmp(word, status_text[i]) == 0) {
            *status = (enum result_status)i;
            return 1;
        }
    }
    return 0;
}

static void record_clear(void *record, enum result_table table)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n = add_columns(column, 0, layout[table].before, layout[table].n_before, 0);
    n = add_columns(column, n, layout[table].front, layout[table].n_front, 0);
    n = add_columns(column, n, layout[table].behind, layout[table].n_behind, 0);
    for (size_t i = 0; i < n; i++)
        metric_clear(column[i].metric, (char *)record + column[i].offset);
    metrics_init((struct metrics *)((char *)record + layout[table].metrics));
    memset((char *)record + layout[table].extra, 0xff, RESULT_EXTRA_MAX * sizeof(union metric_value));
}

void point_record_init(struct point_record *record)
{
    *record = (struct point_record){.outcome = RESULT_FAILED};
    record_clear(record, RESULT_POINTS);
}

void layer_record_init(struct layer_record *record)
{
    *record = (struct layer_record){.outcome = RESULT_FAILED};
    record_clear(record, RESULT_LAYERS);
}

/* Names become CSV columns and netCDF variables. */
static int name_is_fine(const char *name)
{
    if (!name || !isalpha((unsigned char)name[0]) || strlen(name) > 128)
        return 0;
    for (const char *p = name; *p; p++) {
        if (!isalnum((unsigned char)*p) && !strchr("_.+-", *p))
            return 0;
    }
    return 1;
}

/* Whether `name` is a column of a table or a word the files use for themselves. */
static int name_is_taken(const struct result_schema *schema, const char *name)
{
    static const char *const own[] = {"status", "point_key", "checksum", "layer",    "level",
                                      "layers", "levels",    "trace",    "iteration"};
    struct result_column column[RESULT_COLUMN_MAX];
    for (size_t i = 0; i < COUNT(own); i++)
        if (strcmp(name, own[i]) == 0)
            return 1;
    for (enum result_table table = 0; table < RESULT_TABLE_COUNT; table++)
        for (size_t i = 0, n = schema_columns(schema, table, column); i < n; i++)
            if (strcmp(name, column[i].metric->name) == 0)
                return 1;
    return 0;
}

static int is_one_line(const char *text)
{
    return text && text[0] && !strpbrk(text, "\r\n");
}

static enum dse_status coordinate_check(const struct result_schema *schema, const struct result_coordinate *c,
                                        size_t n_value, struct dse_error *err)
{
    if (!name_is_fine(c->name))
        return dse_fail(err, DSE_BAD_INPUT,
                        "axis name '%s': a letter first, then letters, digits and _ . + - are accepted",
                        c->name ? c->name : "");
    if (name_is_taken(schema, c->name))
        return dse_fail(err, DSE_BAD_INPUT, "axis name '%s' is the name of a result column; choose another",
                        c->name);
    if ((c->number == NULL) == (c->text == NULL))
        return dse_fail(err, DSE_INTERNAL, "axis %s must have either numbers or texts", c->name);
    for (size_t i = 0; i < n_value; i++) {
        if (c->number && !isfinite(c->number[i]))
            return dse_fail(err, DSE_BAD_INPUT, "axis %s: value %zu is not finite", c->name, i + 1);
        if (c->text && !is_one_line(c->text[i]))
            return dse_fail(err, DSE_BAD_INPUT, "axis %s: value %zu is empty or has a line break", c->name,
                            i + 1);
    }
    return DSE_OK;
}

/* Whether positions i and j of an axis agree in all coordinates. */
static int same_place(const struct result_axis *axis, size_t i, size_t j)
{
    for (size_t k = 0; k < axis->n_coordinate; k++) {
        const struct result_coordinate *c = &axis->coordinate[k];
        int same = c->text ? strcmp(c->text[i], c->text[j]) == 0
                           : !(c->number[i] < c->number[j]) && !(c->number[i] > c->number[j]);
        if (!same)
            return 0;
    }
    return 1;
}

static int by_place(const void *a, const void *b, void *user)
{
    const struct result_axis *axis = user;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    for (size_t k = 0; k < axis->n_coordinate; k++) {
        const struct result_coordinate *c = &axis->coordinate[k];
        int order = c->text ? strcmp(c->text[i], c->text[j])
                            : (c->number[i] > c->number[j]) - (c->number[i] < c->number[j]);
        if (order != 0)
            return order;
    }
    return (i > j) - (i < j);
}

/* No two positions agree in all coordinates. */
static enum dse_status places_check(const struct result_axis *axis, struct dse_error *err)
{
    enum dse_status status = DSE_OK;
    size_t *place = malloc(axis->n_value * sizeof *place);
    if (!place)
        return dse_fail(err, DSE_NO_MEMORY, "out of memory for an axis of %zu values", axis->n_value);
    for (size_t i = 0; i < axis->n_value; i++)
        place[i] = i;
    qsort_r(place, axis->n_value, sizeof *place, by_place, (void *)(uintptr_t)axis);
    for (size_t i = 1; i < axis->n_value && status == DSE_OK; i++) {
        char text[64];
        if (same_place(axis, place[i], place[i - 1]))
            status = dse_fail(err, DSE_BAD_INPUT, "axis %s has the value %s twice", axis->coordinate[0].name,
                              coordinate_label(&axis->coordinate[0], place[i], text, sizeof text));
    }
    free(place);
    return status;
}

static enum dse_status axis_check(const struct result_schema *schema, const struct result_axis *axis,
                                  struct dse_error *err)
{
    if (axis->n_coordinate == 0 || axis->n_value == 0)
        return dse_fail(err, DSE_BAD_INPUT, "an axis needs a name and at least one value");
    for (size_t k = 0; k < axis->n_coordinate; k++)
        DSE_TRY(coordinate_check(schema, &axis->coordinate[k], axis->n_value, err));
    return places_check(axis, err);
}

static enum dse_status names_check(const char *what, const char *const *name, size_t n, struct dse_error *err)
{
    struct name_table seen;
    enum dse_status status = DSE_OK;
    size_t at;
    name_table_init(&seen);
    for (size_t i = 0; i < n && status == DSE_OK; i++) {
        if (!is_one_line(name[i]))
            status = dse_fail(err, DSE_BAD_INPUT, "%s %zu has no usable name", what, i + 1);
        else if (name_table_get(&seen, name[i], &at))
            status = dse_fail(err, DSE_BAD_INPUT, "%s %s is there twice", what, name[i]);
        else if (!name_table_put(&seen, name[i], i))
            status = dse_fail(err, DSE_NO_MEMORY, "out of memory for %zu names", n);
    }
    name_table_free(&seen);
    return status;
}

/* The metrics that not every result has: usable names, each once, and no more than there is room for. */
static enum dse_status extra_check(const struct result_schema *schema, enum result_table table,
                                   struct dse_error *err)
{
    struct result_column column[RESULT_COLUMN_MAX];
    if (schema->n_extra[table] > RESULT_EXTRA_MAX)
        return dse_fail(err, DSE_LIMIT, "%zu metrics beside those of every result; at most %d are supported",
                        schema->n_extra[table], RESULT_EXTRA_MAX);
    size_t n = schema_columns(schema, table, column);
    for (size_t i = 0; i < n; i++) {
        const char *name = column[i].metric->name;
        if (!name_is_fine(name))
            return dse_fail(err, DSE_BAD_INPUT,
                            "metric '%s': a letter first, then letters, digits and _ . + -",
                            name ? name : "");
        for (size_t k = 0; k < i; k++)
            if (strcmp(name, column[k].metric->name) == 0)
                return dse_fail(err, DSE_BAD_INPUT, "the metric %s is there twice", name);
    }
    return DSE_OK;
}

enum dse_status schema_check(const struct result_schema *schema, struct dse_error *err)
{
    for (enum result_table table = 0; table < RESULT_TABLE_COUNT; table++)
        DSE_TRY(extra_check(schema, table, err));
    if (schema->n_axis > RESULT_AXIS_MAX)
        return dse_fail(err, DSE_LIMIT, "%zu axes; at most %d are supported (link some of them)",
                        schema->n_axis, RESULT_AXIS_MAX);
    if (schema->n_level > RESULT_LEVEL_MAX)
        return dse_fail(err, DSE_LIMIT, "%zu storage level names; at most %d are supported", schema->n_level,
                        RESULT_LEVEL_MAX);
    for (size_t a = 0; a < schema->n_axis; a++) {
        DSE_TRY(axis_check(schema, &schema->axis[a], err));
        for (size_t k = 0; k < schema->axis[a].n_coordinate; k++) {
            const char *name = schema->axis[a].coordinate[k].name;
            for (size_t b = 0; b <= a; b++) {
                size_t stop = b == a ? k : schema->axis[b].n_coordinate;
                for (size_t m = 0; m < stop; m++) {
                    if (strcmp(name, schema->axis[b].coordinate[m].name) == 0)
                        return dse_fail(err, DSE_BAD_INPUT, "two axes are called %s", name);
                }
            }
        }
    }
    DSE_TRY(names_check("layer", schema->layer, schema->n_layer, err));
    DSE_TRY(names_check("level", schema->level, schema->n_level, err));
    if (schema_n_cell(schema) == UINT64_MAX)
        return dse_fail(err, DSE_LIMIT, "the product of the axis lengths does not fit in 64 bits");
    return DSE_OK;
}

uint64_t schema_n_cell(const struct result_schema *schema)
{
    uint64_t n = 1;
    for (size_t a = 0; a < schema->n_axis; a++) {
        if (__builtin_mul_overflow(n, (uint64_t)schema->axis[a].n_value, &n))
            return UINT64_MAX;
    }
    return n;
}

const char *coordinate_text(const struct result_coordinate *c, size_t i, char *buffer, size_t size)
{
    return c->text ? c->text[i] : text_double(c->number[i], buffer, size);
}

char *coordinate_label(const struct result_coordinate *c, size_t i, char *buffer, size_t size)
{
    static const enum unit_kind kind[] = {UNIT_BYTE,  UNIT_BIT,   UNIT_BYTE_PER_S,
                                          UNIT_JOULE, UNIT_HERTZ, UNIT_SECOND,
                                          UNIT_METRE, UNIT_WATT,  UNIT_JOULE_PER_BIT};
    if (c->label) {
        text_copy(buffer, size, c->label[i]);
        return buffer;
    }
    if (c->text) {
        text_copy(buffer, size, c->text[i]);
        return buffer;
    }
    for (size_t k = 0; k < COUNT(kind) && c->unit; k++) {
        if (strcmp(c->unit, unit_symbol(kind[k])) == 0)
            return quantity_print(c->number[i], kind[k], buffer, size);
    }
    char number[40];
    text_double(c->number[i], number, sizeof number);
    int plain = !c->unit || !c->unit[0] || strcmp(c->unit, "1") == 0;
    snprintf(buffer, size, plain ? "%s" : "%s %s", number, c->unit);
    return buffer;
}

int result_path(char *buffer, size_t size, const char *out, const char *ending)
{
    static const char *const known[] = {".layers.csv", ".csv", ".h5", ".hdf5", ".nc"};
    size_t length = strlen(out);
    for (size_t i = 0; i < COUNT(known); i++) {
        size_t n = strlen(known[i]);
        if (length > n && out[length - n - 1] != '/' && strcmp(out + length - n, known[i]) == 0) {
            length -= n;
            break;
        }
    }
    int written = snprintf(buffer, size, "%.*s%s", (int)length, out, ending);
    return written >= 0 && (size_t)written < size;
}
