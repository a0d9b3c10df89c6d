/* The sample's cells out of its cube are the rows that went in: sample_point makes both. */
#include "tests/results/files.h"

#include <hdf5.h>

#include "base/hdf5/hdf5_output.h"
#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "results/cube/stored_rows.h"
#include "tests/results/sample.h"

static char folder[512], out[600];
static struct arena arena;
static struct result_schema schema; /* as the file has it */
static struct stored_rows *rows;

static int open_sample(void **state)
{
    struct provenance provenance;
    struct dse_error err;
    (void)state;
    files_folder(folder, sizeof folder);
    files_path(out, sizeof out, folder, "o.h5");
    provenance_make(&provenance);
    arena_init(&arena);
    return sample_write(out, 7, 0, 1, (struct journal_options){.fresh = true}) ||
           cube_build(out, &sample_schema, &provenance, &err) != DSE_OK ||
           cube_read_schema(out, &arena, &schema, &err) != DSE_OK ||
           stored_rows_open(out, &schema, &rows, &err) != DSE_OK;
}

static int close_sample(void **state)
{
    static const char *const name[] = {"o.h5", "o.csv", "o.layers.csv", "bare.h5"};
    char path[600];
    (void)state;
    stored_rows_close(rows);
    stored_rows_close(NULL);
    arena_free(&arena);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        unlink(files_path(path, sizeof path, folder, name[i]));
    return rmdir(folder);
}

static void read_cell(unsigned cell, uint32_t index[3], struct stored_point *stored)
{
    struct dse_error err;
    sample_index(cell, index);
    if (stored_rows_read(rows, index, &arena, stored, &err) != DSE_OK)
        fail_msg("%s", err.text);
}

static void assert_levels(const struct level_values *level, const struct level_values *wanted)
{
    size_t n;
    const struct metric *metric = schema_level_metrics(&(const struct result_schema){.areas = true}, &n);
    for (size_t l = 0; l < SAMPLE_LEVEL; l++)
        for (size_t f = 0; f < n; f++)
            assert_true(metric_number(&metric[f], &level[l]) == metric_number(&metric[f], &wanted[l]));
}

/* Every column of a table; both missing is equal, too. */
static void assert_record(enum result_table table, const void *record, const void *wanted)
{
    struct result_column column[RESULT_COLUMN_MAX];
    size_t n = schema_columns(&schema, table, column);
    assert_true(n > 20);
    for (size_t i = 0; i < n; i++) {
        const char *a = (const char *)record + column[i].offset, *b = (const char *)wanted + column[i].offset;
        if (column[i].metric->type == METRIC_TEXT) {
            const char *was = *(const char *const *)b, *is = *(const char *const *)a;
            assert_string_equal(is ? is : "", was ? was : ""); /* same_as has no dataset */
        } else if (column[i].metric->type == METRIC_F64) {
            double x = *(const double *)a, y = *(const double *)b;
            assert_true(x == y || (isnan(x) && isnan(y)));
        } else {
            assert_true(*(const uint64_t *)a == *(const uint64_t *)b);
        }
    }
}

static void test_cells_are_the_rows_that_went_in(void **state)
{
    (void)state;
    for (unsigned cell = 0; cell < SAMPLE_CELL; cell++) {
        struct stored_point stored;
        struct point_record point;
        struct layer_record layer[SAMPLE_LAYER];
        struct level_values level[SAMPLE_LEVEL];
        uint32_t index[3], same[3];
        if (cell == SAMPLE_MISSING)
            continue;
        size_t n = sample_point(cell, &point, layer, index, level), k = 0;
        point.n_layer = n; /* the journal counts them */
        read_cell(cell, same, &stored);
        assert_true(stored.there);
        assert_int_equal(stored.point.outcome, point.outcome);
        assert_true(stored.point.key == sample_key(cell));
        assert_ptr_equal(stored.point.index, same);
        assert_record(RESULT_POINTS, &stored.point, &point);
        if (point.level)
            assert_levels(stored.point.level, level);
        for (size_t l = 0; l < SAMPLE_LAYER; l++) {
            if (k == n || strcmp(layer[k].layer, sample_layer[l]) != 0) {
                assert_string_equal(stored.layer_status[l], "");
                continue;
            }
            assert_string_equal(stored.layer_status[l], "ok");
            assert_string_equal(stored.layer[l].layer, layer[k].layer);
            assert_string_equal(stored.layer[l].trace, layer[k].trace);
            assert_string_equal(stored.layer[l].trace_seconds, layer[k].trace_seconds);
            assert_record(RESULT_LAYERS, &stored.layer[l], &layer[k]);
            assert_levels(stored.layer[l].level, level);
            k++;
        }
        assert_int_equal(k, n);
    }
}

static void test_cells_that_were_not_computed_or_do_not_fit(void **state)
{
    struct stored_point stored;
    uint32_t index[3];
    (void)state;
    read_cell(SAMPLE_MISSING, index, &stored);
    assert_false(stored.there);
    read_cell(SAMPLE_INFEASIBLE, index, &stored);
    assert_true(stored.there);
    assert_string_equal(stored.status, "infeasible");
    assert_string_equal(stored.point.reason,
                        "GlobalBuffer needs 133,888 B for Inputs+Outputs, has 131,072 B");
}

static void test_columns_are_known_by_name(void **state)
{
    (void)state;
    assert_string_equal(stored_rows_column(rows, RESULT_POINTS, "latency_s")->metric->name, "latency_s");
    assert_non_null(stored_rows_column(rows, RESULT_LAYERS, "mapping"));
    assert_null(stored_rows_column(rows, RESULT_POINTS, "mapping"));
    assert_null(stored_rows_column(rows, RESULT_POINTS, "noc_latency_cycle"));
}

/* An index behind the axes, and a file whose axes are others than the schema says. */
static void test_other_shapes_are_refused(void **state)
{
    static const char wanted[] =
        "dataset status does not have the type, or the shape of the axes, that it should";
    const uint32_t behind[] = {SAMPLE_BUFFER, 0, 0};
    struct result_schema other = schema;
    struct stored_rows *strange;
    struct stored_point stored;
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(stored_rows_read(rows, behind, &arena, &stored, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, wanted);
    assert_string_equal(err.file, out);
    other.n_axis = 2;
    assert_int_equal(stored_rows_open(out, &other, &strange, &err), DSE_OK);
    assert_int_equal(stored_rows_read(strange, (const uint32_t[]){0, 0}, &arena, &stored, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.text, wanted);
    stored_rows_close(strange);
}

static void test_files_without_rows_are_refused(void **state)
{
    struct hdf5_output output;
    struct stored_rows *none;
    struct dse_error err = {0};
    char path[600];
    (void)state;
    files_path(path, sizeof path, folder, "bare.h5");
    assert_int_equal(stored_rows_open(path, &schema, &none, &err), DSE_IO);
    assert_null(none);
    assert_int_equal(hdf5_output_open(&output, path, &err), DSE_OK);
    assert_int_equal(hdf5_output_close(&output, &err), DSE_OK);
    assert_int_equal(stored_rows_open(path, &schema, &none, &err), DSE_BAD_INPUT);
    assert_null(none);
    assert_string_equal(err.text, "there is no dataset status, or none in layers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_are_the_rows_that_went_in),
        cmocka_unit_test(test_cells_that_were_not_computed_or_do_not_fit),
        cmocka_unit_test(test_columns_are_known_by_name),
        cmocka_unit_test(test_other_shapes_are_refused),
        cmocka_unit_test(test_files_without_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, open_sample, close_sample);
}
