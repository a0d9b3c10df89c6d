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

/* One row of a table; the column has the name of the member. */
#define MEASURED(R, member, unit_text, kind, bit, text)                                                      \
    {                                                                                                        \
        .name = #member, .unit = unit_text, .sentence = text, .type = kind, .measure = bit,                  \
        .offset = offsetof(struct R, member)                                                                 \
    }
#define FIELD(R, member, unit_text, kind, text) MEASURED(R, member, unit_text, kind, 0, text)

/* Columns shared by points and layers, so that the two tables cannot drift apart. */
#define FIELDS_METRIC(R)                                                                                     \
    FIELD(R, reason, "", FIELD_TEXT, "Why it is not ok"), FIELD(R, latency_s, "s", FIELD_F64, "Latency"),    \
        FIELD(R, latency_cycle, "cycle", FIELD_U64, "Latency in clock cycles"),                              \
        FIELD(R, energy_j, "J", FIELD_F64, "Energy"),                                                        \
        FIELD(R, energy_mac_j, "J", FIELD_F64, "Energy of the MACs"),                                        \
        FIELD(R, energy_buffer_j, "J", FIELD_F64, "Energy of the on-chip storage levels"),                   \
        FIELD(R, energy_noc_j, "J", FIELD_F64, "Energy of the on-chip networks"),                            \
        FIELD(R, energy_dram_j, "J", FIELD_F64, "Energy of the DRAM"),                                       \
        FIELD(R, edp_js, "J s", FIELD_F64, "Energy-delay product"),                                          \
        FIELD(R, utilization, "1", FIELD_F64, "MAC utilization"),                                            \
        FIELD(R, dram_byte, "byte", FIELD_F64, "DRAM traffic, reads and writes"),                            \
        FIELD(R, onchip_byte, "byte", FIELD_F64, "On-chip storage traffic, all levels"),                     \
        FIELD(R, bound_latency_ratio, "1", FIELD_F64, "Latency over its lower bound"),                       \
        FIELD(R, bound_energy_ratio, "1", FIELD_F64, "Energy over its lower bound"),                         \
        FIELD(R, bound_edp_ratio, "1", FIELD_F64, "Energy-delay product over its lower bound"),              \
        FIELD(R, n_mac, "1", FIELD_U64, "Multiply-accumulate operations"),                                   \
        MEASURED(R, noc_latency_cycle, "cycle", FIELD_U64, RESULT_MEASURE_NOC,                               \
                 "Latency on the simulated network-on-chip")
#define FIELDS_SEARCH(R)                                                                                     \
    FIELD(R, stop, "", FIELD_TEXT, "Why the search ended"),                                                  \
        FIELD(R, evaluations, "1", FIELD_U64, "Cost-model evaluations"),                                     \
        FIELD(R, draws, "1", FIELD_U64, "Candidates looked at, valid or not")
#define FIELD_SECONDS(R)                                                                                     \
    {                                                                                                        \
        "seconds", "s", "Wall time of the search", FIELD_F64, true, 0, offsetof(struct R, seconds)           \
    }

#define SCHEDULED(member, unit_text, kind, text)                                                             \
    MEASURED(point_record, member, unit_text, kind, RESULT_MEASURE_SCHEDULE, text)

static const struct result_field point_field[] = {
    FIELDS_METRIC(point_record),
    SCHEDULED(compute_cycle, "cycle", FIELD_U64, "Cycles in which the core array computes"),
    SCHEDULED(dram_cycle, "cycle", FIELD_U64, "Cycles in which the DRAM moves data"),
    SCHEDULED(stall_cycle, "cycle", FIELD_U64, "Cycles in which the core array waits"),
    SCHEDULED(buffer_max_byte, "byte", FIELD_F64, "Global buffer in use, maximum"),
    SCHEDULED(buffer_average_byte, "byte", FIELD_F64, "Global buffer in use, average over time"),
    SCHEDULED(n_layer_group, "1", FIELD_U64, "Layer groups between DRAM cuts"),
    SCHEDULED(n_fine_group, "1", FIELD_U64, "Fine-grained fusion groups"),
    SCHEDULED(n_tile, "1", FIELD_U64, "Tiles"),
    SCHEDULED(n_dram_tensor, "1", FIELD_U64, "Tensors that the DRAM moves"),
    SCHEDULED(stage1_latency_cycle, "cycle", FIELD_U64,
              "Latency with double buffering, before the second stage"),
    SCHEDULED(stage1_energy_j, "J", FIELD_F64, "Energy with double buffering, before the second stage"),
    SCHEDULED(stage1_buffer_average_byte, "byte", FIELD_F64,
              "Global buffer in use with double buffering, average over time"),
    SCHEDULED(bound_cost_ratio, "1", FIELD_F64, "Cost of the objective over the engine's own lower bound"),
    FIELD(point_record, n_layer_mapped, "1", FIELD_U64, "Layers with a mapping, repeats counted"),
    FIELD(point_record, n_layer, "1", FIELD_U64, "Rows in the layer table"),
    FIELD(point_record, accounting, "", FIELD_TEXT, "Cost accounting"),
    FIELDS_SEARCH(point_record),
    FIELD_SECONDS(point_record),
};

static const struct result_field layer_field[] = {
    FIELD(layer_record, count, "1", FIELD_U64, "Times the layer occurs in the network"),
    FIELDS_METRIC(layer_record),
    MEASURED(layer_record, cosa_util, "1", FIELD_F64, RESULT_MEASURE_COSA, "Util of CoSA's objective"),
    MEASURED(layer_record, cosa_comp, "1", FIELD_F64, RESULT_MEASURE_COSA, "Comp of CoSA's objective"),
    MEASURED(layer_record, cosa_traf, "1", FIELD_F64, RESULT_MEASURE_COSA, "Traf of CoSA's objective"),
    MEASURED(layer_record, cosa_objective, "1", FIELD_F64, RESULT_MEASURE_COSA, "CoSA's objective"),
    FIELDS_SEARCH(layer_record),
    FIELD(layer_record, padded, "", FIELD_TEXT, "Dimensions that the engine enlarged"),
    FIELD(layer_record, mapping, "", FIELD_TEXT, "Chosen mapping, as `dse eval` reads it"),
    FIELD(layer_record, trace, "", FIELD_TEXT, "Improvements of the search, evaluation:cost"),
    FIELD_SECONDS(layer_record),
};

static const struct result_field level_field[] = {
    FIELD(level_values, energy_j, "J", FIELD_F64, "Energy of the storage level"),
    FIELD(level_values, noc_energy_j, "J", FIELD_F64, "Energy of the network below the storage level"),
    FIELD(level_values, byte, "byte", FIELD_F64, "Traffic of the storage level"),
};

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

const struct result_field *point_field_all(size_t *n)
{
    *n = COUNT(point_field);
    return point_field;
}

const struct result_field *layer_field_all(size_t *n)
{
    *n = COUNT(layer_field);
    return layer_field;
}

const struct result_field *level_field_all(size_t *n)
{
    *n = COUNT(level_field);
    return level_field;
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

static const struct {
    enum result_measure measure;
    const char *text;
} measure_word[] = {
#define RESULT_MEASURE_WORD(code, bit, text) {code, text},
    RESULT_MEASURE_LIST(RESULT_MEASURE_WORD)
#undef RESULT_MEASURE_WORD
};

const char *result_measure_text(size_t i)
{
    return i < COUNT(measure_word) ? measure_word[i].text : NULL;
}

unsigned result_measure_find(const char *word, size_t length)
{
    for (size_t i = 0; i < COUNT(measure_word); i++)
        if (strlen(measure_word[i].text) == length && strncmp(measure_word[i].text, word, length) == 0)
            return measure_word[i].measure;
    return 0;
}

bool schema_has_field(const struct result_schema *schema, const struct result_field *field)
{
    return (field->measure & ~schema->measures) == 0;
}

/* Every field of a table to "missing". */
static void fields_clear(void *record, const struct result_field *field, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        void *place = (char *)record + field[i].offset;
        switch (field[i].type) {
        case FIELD_F64:
            *(double *)place = NAN;
            break;
        case FIELD_U64:
            *(uint64_t *)place = RESULT_U64_MISSING;
            break;
        case FIELD_TEXT:
            *(const char **)place = NULL;
            break;
        }
    }
}

void point_record_init(struct point_record *record)
{
    *record = (struct point_record){.outcome = RESULT_FAILED};
    fields_clear(record, point_field, COUNT(point_field));
}

void layer_record_init(struct layer_record *record)
{
    *record = (struct layer_record){.outcome = RESULT_FAILED};
    fields_clear(record, layer_field, COUNT(layer_field));
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

/* Whether `name` is a column of the point or layer table or a word the files use for themselves. */
static int name_is_taken(const char *name)
{
    static const char *const own[] = {"status", "point_key", "checksum", "layer",    "level",
                                      "layers", "levels",    "trace",    "iteration"};
    for (size_t i = 0; i < COUNT(own); i++) {
        if (strcmp(name, own[i]) == 0)
            return 1;
    }
    for (size_t i = 0; i < COUNT(point_field); i++) {
        if (strcmp(name, point_field[i].name) == 0)
            return 1;
    }
    for (size_t i = 0; i < COUNT(layer_field); i++) {
        if (strcmp(name, layer_field[i].name) == 0)
            return 1;
    }
    return 0;
}

static int is_one_line(const char *text)
{
    return text && text[0] && !strpbrk(text, "\r\n");
}

static enum dse_status coordinate_check(const struct result_coordinate *c, size_t n_value,
                                        struct dse_error *err)
{
    if (!name_is_fine(c->name))
        return dse_fail(err, DSE_BAD_INPUT,
                        "axis name '%s': a letter first, then letters, digits and _ . + - are accepted",
                        c->name ? c->name : "");
    if (name_is_taken(c->name))
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

static enum dse_status axis_check(const struct result_axis *axis, struct dse_error *err)
{
    if (axis->n_coordinate == 0 || axis->n_value == 0)
        return dse_fail(err, DSE_BAD_INPUT, "an axis needs a name and at least one value");
    for (size_t k = 0; k < axis->n_coordinate; k++)
        DSE_TRY(coordinate_check(&axis->coordinate[k], axis->n_value, err));
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

enum dse_status schema_check(const struct result_schema *schema, struct dse_error *err)
{
    if (schema->n_axis > RESULT_AXIS_MAX)
        return dse_fail(err, DSE_LIMIT, "%zu axes; at most %d are supported (link some of them)",
                        schema->n_axis, RESULT_AXIS_MAX);
    if (schema->n_level > RESULT_LEVEL_MAX)
        return dse_fail(err, DSE_LIMIT, "%zu storage level names; at most %d are supported", schema->n_level,
                        RESULT_LEVEL_MAX);
    for (size_t a = 0; a < schema->n_axis; a++) {
        DSE_TRY(axis_check(&schema->axis[a], err));
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
