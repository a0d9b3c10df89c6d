/* The field tables, the checks of axes, and a line of CSV that reads back every value. */
#include "tests/results/files.h"

#include "results/journal/journal_read.h"
#include "results/record/csv_line.h"
#include "results/record/schema.h"
#include "tests/results/sample.h"

static void test_schema_accepts_the_sample(void **state)
{
    (void)state;
    struct dse_error err;
    assert_int_equal(schema_check(&sample_schema, &err), DSE_OK);
    assert_int_equal(schema_n_cell(&sample_schema), SAMPLE_CELL);
}

/* One coordinate, for the refusals below. */
static enum dse_status check_one(struct result_coordinate c, size_t n_value, struct dse_error *err)
{
    struct result_axis axis = {n_value, 1, &c};
    struct result_schema schema = {.n_axis = 1, .axis = &axis};
    return schema_check(&schema, err);
}

static void test_schema_refuses_bad_axes_by_name(void **state)
{
    (void)state;
    static const double twice[] = {1, 2, 1}, wild[] = {1, NAN};
    static const char *const broken[] = {"a", "b\nc"};
    struct dse_error err;
    assert_int_equal(check_one((struct result_coordinate){.name = "x", .number = twice}, 3, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.text, "axis x has the value 1 twice");
    assert_int_equal(check_one((struct result_coordinate){.name = "x", .number = wild}, 2, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.text, "axis x: value 2 is not finite");
    assert_int_equal(check_one((struct result_coordinate){.name = "x", .text = broken}, 2, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(check_one((struct result_coordinate){.name = "1x", .number = twice}, 2, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(check_one((struct result_coordinate){.name = "a/b", .number = twice}, 2, &err),
                     DSE_BAD_INPUT);
    assert_int_equal(check_one((struct result_coordinate){.name = "energy_j", .number = twice}, 2, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.text, "axis name 'energy_j' is the name of a result column; choose another");
    assert_int_equal(check_one((struct result_coordinate){.name = "x", .number = twice}, 2, &err), DSE_OK);
}

static void test_schema_refuses_two_axes_of_one_name(void **state)
{
    (void)state;
    struct result_axis axis[] = {sample_axis[0], sample_axis[1], sample_axis[0]};
    struct result_schema schema = {.n_axis = 3, .axis = axis};
    struct dse_error err;
    assert_int_equal(schema_check(&schema, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "two axes are called global_buffer_byte");
}

static void test_schema_labels_carry_units(void **state)
{
    (void)state;
    char text[64];
    assert_string_equal(coordinate_label(&sample_coordinate[0], 1, text, sizeof text), "128 KiB");
    assert_string_equal(coordinate_label(&sample_coordinate[1], 2, text, sizeof text), "16 GB/s");
    assert_string_equal(coordinate_label(&sample_coordinate[2], 0, text, sizeof text), "LPDDR4 x16");
    const double batch[] = {4};
    struct result_coordinate plain = {.name = "batch", .unit = "1", .number = batch};
    assert_string_equal(coordinate_label(&plain, 0, text, sizeof text), "4");
    plain.unit = "word";
    assert_string_equal(coordinate_label(&plain, 0, text, sizeof text), "4 word");
    assert_string_equal(coordinate_text(&sample_coordinate[0], 2, text, sizeof text), "262144");
}

static void test_schema_paths_replace_known_endings(void **state)
{
    (void)state;
    char path[64];
    assert_true(result_path(path, sizeof path, "a.b/out.h5", ".layers.csv"));
    assert_string_equal(path, "a.b/out.layers.csv");
    assert_true(result_path(path, sizeof path, "out.layers.csv", ".csv"));
    assert_string_equal(path, "out.csv");
    assert_true(result_path(path, sizeof path, "a.b/out", ".csv"));
    assert_string_equal(path, "a.b/out.csv");
    assert_true(result_path(path, sizeof path, "a/.h5", ".csv"));
    assert_string_equal(path, "a/.h5.csv");
    assert_false(result_path(path, 8, "out.h5", ".layers.csv"));
}

static void test_schema_every_column_is_described(void **state)
{
    (void)state;
    struct result_column column[RESULT_COLUMN_MAX];
    for (enum result_table table = 0; table < RESULT_TABLE_COUNT; table++)
        for (size_t i = 0, n = schema_columns(NULL, table, column); i < n; i++) {
            const struct metric *metric = column[i].metric;
            assert_true(metric->sentence[0] != '\0');
            /* A number has a unit, a text has none. */
            assert_int_equal(metric->unit[0] == '\0', metric->type == METRIC_TEXT);
            assert_int_equal(metric->is_time, strstr(metric->name, "seconds") != NULL);
        }
}

typedef void line_header(struct text_buffer *line, const struct result_schema *schema);

/* What `line` has in a column of `header`, as read back; NULL: no such column. Valid until the next call. */
static const char *cell_of(line_header *header, const struct result_schema *schema,
                           const struct text_buffer *line, const char *column, struct csv_row *row)
{
    struct text_buffer names;
    struct dse_error err;
    text_init(&names);
    header(&names, schema);
    assert_int_equal(csv_split(names.data, names.length - 1, row, &err), DSE_OK);
    size_t at = csv_column_find(row, column), n = row->n;
    text_free(&names);
    assert_int_equal(csv_split(line->data, line->length - 1, row, &err), DSE_OK);
    assert_int_equal(row->n, n);
    return at < n ? row->field[at] : NULL;
}

/* Files have the further metrics of their schema between those of every result and those of the search; a
 * missing value is an empty field there, too. */
static void test_csv_line_has_columns_of_what_is_measured(void **state)
{
    (void)state;
    static const char *const in_points = ",n_mac,wait_cycle,n_layer_mapped,";
    static const char *const in_layers = ",n_mac,wait_cycle,heat_w,GlobalBuffer.energy_j,";
    struct result_schema plain = sample_schema, schema = sample_schema;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    struct text_buffer line;
    struct csv_row row;
    text_init(&line);
    csv_row_init(&row);
    csv_point_header(&line, &plain);
    csv_layer_header(&line, &plain);
    assert_null(strstr(line.data, "wait_cycle"));
    sample_extra(&schema);
    text_clear(&line);
    csv_point_header(&line, &schema);
    assert_non_null(strstr(line.data, in_points));
    text_clear(&line);
    csv_layer_header(&line, &schema);
    assert_non_null(strstr(line.data, in_layers));
    sample_point(0, &point, layer, index, level);
    point.extra[0].u64 = layer[0].extra[0].u64 = 77;
    text_clear(&line);
    csv_point_line(&line, &schema, &point);
    assert_string_equal(cell_of(csv_point_header, &schema, &line, "wait_cycle", &row), "77");
    assert_string_equal(cell_of(csv_point_header, &schema, &line, "draws", &row), "5000");
    assert_null(cell_of(csv_point_header, &schema, &line, "heat_w", &row));
    text_clear(&line);
    csv_layer_line(&line, &schema, &point, &layer[0]);
    assert_string_equal(cell_of(csv_layer_header, &schema, &line, "wait_cycle", &row), "77");
    assert_string_equal(cell_of(csv_layer_header, &schema, &line, "heat_w", &row), "");
    assert_string_equal(cell_of(csv_layer_header, &schema, &line, "mapping", &row), layer[0].mapping);
    csv_row_free(&row);
    text_free(&line);
}

static void test_schema_refuses_metrics_that_cannot_be_columns(void **state)
{
    (void)state;
    static const char *const name[] = {"latency_s", "a,b", "", "wait_cycle"};
    static const char *const words[] = {"latency_s is there twice", "metric 'a,b'", "metric ''",
                                        "wait_cycle is there"};
    for (size_t i = 0; i < 4; i++) {
        struct result_schema schema = sample_schema;
        struct dse_error err = {0};
        sample_extra(&schema);
        const struct metric bad = {.name = name[i], .unit = "1", .sentence = "bad"};
        const struct metric *const extra[] = {schema.extra[RESULT_POINTS][0], &bad};
        schema.extra[RESULT_POINTS] = extra;
        schema.n_extra[RESULT_POINTS] = 2;
        assert_int_equal(schema_check(&schema, &err), DSE_BAD_INPUT);
        assert_non_null(strstr(err.text, words[i]));
    }
}

static void test_csv_line_quotes_only_when_needed(void **state)
{
    (void)state;
    struct text_buffer line;
    struct csv_row row;
    struct dse_error err;
    text_init(&line);
    csv_row_init(&row);
    csv_add_text(&line, "plain text");
    csv_add_text(&line, "a,b");
    csv_add_text(&line, "say \"x\"");
    csv_add_text(&line, "two\nlines");
    csv_add_text(&line, " led");
    csv_add_text(&line, "");
    csv_add_text(&line, NULL);
    /* RFC 4180, sections 2.5 to 2.7: quotes around, quotes doubled. */
    assert_string_equal(line.data, "plain text,\"a,b\",\"say \"\"x\"\"\",\"two lines\",\" led\",,,");
    assert_int_equal(csv_split(line.data, line.length, &row, &err), DSE_OK);
    assert_int_equal(row.n, 8);
    assert_string_equal(row.field[1], "a,b");
    assert_string_equal(row.field[2], "say \"x\"");
    assert_string_equal(row.field[4], " led");
    assert_int_equal(csv_split("a,\"b", 4, &row, &err), DSE_BAD_INPUT);
    assert_int_equal(csv_split("a,\"b\"c,d", 8, &row, &err), DSE_BAD_INPUT);
    assert_int_equal(csv_split("a\0b", 3, &row, &err), DSE_BAD_INPUT);
    csv_row_free(&row);
    text_free(&line);
}

/* The text of a value is empty when it is missing, else reads back to the same bits. */
static void check_cell(const struct metric *metric, const void *record, size_t offset, const char *text)
{
    const void *place = (const char *)record + offset;
    double value;
    assert_non_null(text);
    if (metric->type == METRIC_TEXT) {
        const char *said = *(const char *const *)place;
        assert_string_equal(text, said ? said : "");
    } else if (metric->type == METRIC_U64) {
        uint64_t count = METRIC_U64_MISSING;
        assert_true(text[0] == '\0' || text_parse_u64(text, &count));
        assert_true(count == *(const uint64_t *)place);
    } else if (text[0] == '\0') {
        assert_true(isnan(*(const double *)place));
    } else {
        assert_true(text_parse_double(text, &value));
        assert_memory_equal(&value, place, sizeof value);
    }
}

static void check_point_line(const struct text_buffer *line, const struct point_record *point,
                             struct csv_row *row)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n_level, n = schema_columns(&sample_schema, RESULT_POINTS, column);
    const struct metric *level = schema_level_metrics(&(const struct result_schema){.areas = true}, &n_level);
    for (size_t i = 0; i < n; i++)
        check_cell(column[i].metric, point, column[i].offset,
                   cell_of(csv_point_header, &sample_schema, line, column[i].metric->name, row));
    for (size_t i = 0; point->level && i < SAMPLE_LEVEL * n_level; i++) {
        char name[128];
        (void)snprintf(name, sizeof name, "%s.%s", sample_schema.level[i / n_level], level[i % n_level].name);
        check_cell(&level[i % n_level], &point->level[i / n_level], level[i % n_level].offset,
                   cell_of(csv_point_header, &sample_schema, line, name, row));
    }
}

static void test_csv_line_reads_back_every_value(void **state)
{
    (void)state;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    struct text_buffer line;
    struct csv_row row;
    text_init(&line);
    csv_row_init(&row);
    for (unsigned cell = 0; cell < SAMPLE_CELL; cell++) {
        size_t n = sample_point(cell, &point, layer, index, level);
        text_clear(&line);
        csv_point_line(&line, &sample_schema, &point);
        assert_true(csv_seal_holds(line.data, line.length - 1));
        check_point_line(&line, &point, &row);
        assert_string_equal(cell_of(csv_point_header, &sample_schema, &line, "status", &row),
                            result_status_text(point.outcome));
        uint64_t key;
        assert_true(csv_line_key(line.data, line.length - 1, &key));
        assert_int_equal(key, point.key);
        if (n == 0)
            continue;
        text_clear(&line);
        csv_layer_line(&line, &sample_schema, &point, &layer[n - 1]);
        assert_string_equal(cell_of(csv_layer_header, &sample_schema, &line, "mapping", &row),
                            layer[n - 1].mapping);
        assert_string_equal(cell_of(csv_layer_header, &sample_schema, &line, "layer", &row), "fc");
    }
    csv_row_free(&row);
    text_free(&line);
}

static void test_csv_line_seal_notices_any_changed_byte(void **state)
{
    (void)state;
    char line[] = "a,b,";
    struct text_buffer sealed;
    text_init(&sealed);
    text_append(&sealed, "%s", line);
    csv_seal(&sealed, 0);
    for (size_t i = 0; i + 1 < sealed.length; i++) {
        assert_true(csv_seal_holds(sealed.data, sealed.length - 1));
        sealed.data[i] ^= 1;
        assert_false(csv_seal_holds(sealed.data, sealed.length - 1));
        sealed.data[i] ^= 1;
    }
    assert_false(csv_seal_holds(sealed.data, 3));
    text_free(&sealed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_accepts_the_sample),
        cmocka_unit_test(test_schema_refuses_bad_axes_by_name),
        cmocka_unit_test(test_schema_refuses_two_axes_of_one_name),
        cmocka_unit_test(test_schema_labels_carry_units),
        cmocka_unit_test(test_schema_paths_replace_known_endings),
        cmocka_unit_test(test_schema_every_column_is_described),
        cmocka_unit_test(test_csv_line_has_columns_of_what_is_measured),
        cmocka_unit_test(test_schema_refuses_metrics_that_cannot_be_columns),
        cmocka_unit_test(test_csv_line_quotes_only_when_needed),
        cmocka_unit_test(test_csv_line_reads_back_every_value),
        cmocka_unit_test(test_csv_line_seal_notices_any_changed_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
