/* `test_cube --sample OUT.h5` only writes the sample's files, for tests/results/cube/test_readers.py.
 * Tests: cube_column.c, cube_hdf5.c, cube_layers.c, cube_read.c, cube_rows.c, cube_table.c,
 * cube_trace.c. */
#include "tests/results/files.h"

#include <hdf5.h>

#include "base/arena.h"
#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "tests/results/sample.h"

static enum dse_status build(const char *out, const struct result_schema *schema, struct dse_error *err)
{
    struct provenance provenance;
    provenance_make(&provenance);
    return cube_build(out, schema, &provenance, err);
}

/* The sample's files, points appended with a stride of `step`. */
static void make_sample(char *out, size_t size, unsigned step)
{
    char folder[512];
    struct dse_error err;
    files_folder(folder, sizeof folder);
    files_path(out, size, folder, "o.h5");
    assert_int_equal(sample_write(out, step, 0, 1, (struct journal_options){.fresh = true}), 0);
    assert_int_equal(build(out, &sample_schema, &err), DSE_OK);
}

static void test_cube_holds_every_point_in_its_cell(void **state)
{
    (void)state;
    char out[600];
    struct arena arena;
    struct dse_error err;
    double *latency, *cycle;
    const char *const *status;
    size_t n;
    arena_init(&arena);
    make_sample(out, sizeof out, 7);
    assert_int_equal(cube_read_number(out, "latency_s", &arena, &latency, &n, &err), DSE_OK);
    assert_int_equal(n, SAMPLE_CELL);
    assert_int_equal(cube_read_number(out, "latency_cycle", &arena, &cycle, &n, &err), DSE_OK);
    assert_int_equal(cube_read_text(out, "status", &arena, &status, &n, &err), DSE_OK);
    for (unsigned cell = 0; cell < SAMPLE_CELL; cell++) {
        uint32_t index[3];
        sample_index(cell, index);
        if (cell == SAMPLE_MISSING || cell == SAMPLE_INFEASIBLE) {
            assert_true(isnan(latency[cell]) && isnan(cycle[cell]));
            assert_string_equal(status[cell], cell == SAMPLE_MISSING ? "" : "infeasible");
            continue;
        }
        assert_string_equal(status[cell], "ok");
        assert_true(latency[cell] == sample_latency(index));
    }
    arena_free(&arena);
}

static void test_cube_groups_have_layers_levels_and_traces(void **state)
{
    (void)state;
    char out[600];
    struct arena arena;
    struct dse_error err;
    double *energy, *count, *cost, *detail, *one;
    const char *const *mapping;
    size_t n;
    arena_init(&arena);
    make_sample(out, sizeof out, 5);
    assert_int_equal(cube_read_number(out, "levels/energy_j", &arena, &energy, &n, &err), DSE_OK);
    assert_int_equal(n, SAMPLE_CELL * SAMPLE_LEVEL);
    assert_true(energy[1] == 2e-3); /* cell 0, DRAM: 2 mJ / (1 + 0) */
    assert_int_equal(cube_read_number(out, "layers/count", &arena, &count, &n, &err), DSE_OK);
    assert_int_equal(n, SAMPLE_CELL * SAMPLE_LAYER);
    /* Cell 0 is the first network, which has no conv2_a; fc occurs 3 times. */
    assert_true(count[0] == 1 && isnan(count[1]) && count[2] == 3);
    assert_int_equal(cube_read_text(out, "layers/mapping", &arena, &mapping, &n, &err), DSE_OK);
    assert_string_equal(mapping[0], "{DRAM: \"C4 K2\", GlobalBuffer: 'P7 Q7'}");
    assert_string_equal(mapping[1], "");
    assert_int_equal(cube_read_number(out, "layers/level_energy_j", &arena, &detail, &n, &err), DSE_OK);
    assert_int_equal(n, SAMPLE_CELL * SAMPLE_LAYER * SAMPLE_LEVEL);
    /* The longest trace has three improvements. */
    assert_int_equal(cube_read_number(out, "trace/cost", &arena, &cost, &n, &err), DSE_OK);
    assert_int_equal(n, SAMPLE_CELL * SAMPLE_LAYER * 3);
    assert_true(cost[0] == 0.5 && cost[2] == 0.125 && cost[6] == 0.5 && isnan(cost[7]));
    assert_int_equal(
        cube_read_cell(out, "trace/evaluation", (const uint32_t[]){0, 0, 1}, 3, &arena, &one, &n, &err),
        DSE_OK);
    assert_int_equal(n, SAMPLE_LAYER * 3);
    assert_true(one[0] == 1 && one[1] == 20 && one[2] == 300 && one[3] == 1);
    arena_free(&arena);
}

static void test_cube_reads_back_its_schema(void **state)
{
    (void)state;
    char out[600], one[64], two[64];
    struct arena arena;
    struct dse_error err;
    struct result_schema schema;
    arena_init(&arena);
    make_sample(out, sizeof out, 1);
    assert_int_equal(cube_read_schema(out, &arena, &schema, &err), DSE_OK);
    assert_string_equal(schema.specification, sample_schema.specification);
    assert_int_equal(schema.specification_hash, sample_schema.specification_hash);
    assert_int_equal(schema.n_point, SAMPLE_CELL - 1);
    assert_int_equal(schema.n_axis, 3);
    assert_int_equal(schema.n_layer, SAMPLE_LAYER);
    assert_string_equal(schema.layer[1], "conv2_a");
    assert_int_equal(schema.n_level, SAMPLE_LEVEL);
    assert_string_equal(schema.level[0], "GlobalBuffer");
    for (size_t a = 0; a < 3; a++) {
        assert_int_equal(schema.axis[a].n_value, sample_axis[a].n_value);
        assert_int_equal(schema.axis[a].n_coordinate, sample_axis[a].n_coordinate);
        for (size_t k = 0; k < schema.axis[a].n_coordinate; k++) {
            const struct result_coordinate *c = &schema.axis[a].coordinate[k],
                                           *was = &sample_axis[a].coordinate[k];
            assert_string_equal(c->name, was->name);
            assert_string_equal(c->unit, was->unit);
            assert_string_equal(c->long_name, was->long_name);
            for (size_t i = 0; i < schema.axis[a].n_value; i++) {
                assert_string_equal(coordinate_text(c, i, one, sizeof one),
                                    coordinate_text(was, i, two, sizeof two));
                assert_string_equal(coordinate_label(c, i, one, sizeof one),
                                    coordinate_label(was, i, two, sizeof two));
            }
        }
    }
    assert_string_equal(cube_read_attribute(out, "Conventions", &arena), "dse-1.0");
    assert_null(cube_read_attribute(out, "nothing", &arena));
    arena_free(&arena);
}

/* A file describes the metrics that not every result has by itself. */
static void assert_same_metric(const struct metric *a, const struct metric *b)
{
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->unit, b->unit);
    assert_string_equal(a->sentence, b->sentence);
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->better, b->better);
}

static void test_cube_has_datasets_of_what_is_measured(void **state)
{
    (void)state;
    char folder[512], out[600];
    struct arena arena;
    struct dse_error err;
    struct journal *journal;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    struct result_schema schema = sample_schema, back;
    uint32_t index[3];
    double *value;
    size_t n;
    arena_init(&arena);
    make_sample(out, sizeof out, 1);
    assert_int_equal(cube_read_schema(out, &arena, &back, &err), DSE_OK);
    assert_string_equal(back.measures, "");
    assert_int_equal(back.n_extra[RESULT_POINTS] + back.n_extra[RESULT_LAYERS], 0);
    assert_int_equal(cube_read_number(out, "wait_cycle", &arena, &value, &n, &err), DSE_BAD_INPUT);
    files_folder(folder, sizeof folder);
    files_path(out, sizeof out, folder, "o.h5");
    sample_extra(&schema);
    assert_int_equal(journal_open(out, &schema, (struct journal_options){.fresh = true}, &journal, &err),
                     DSE_OK);
    size_t n_layer = sample_point(1, &point, layer, index, level);
    point.extra[0].u64 = 123;
    layer[0].extra[1].f64 = -2.25;
    assert_int_equal(sample_append(journal, &schema, &point, layer, n_layer, &err), DSE_OK);
    journal_close(journal);
    assert_int_equal(build(out, &schema, &err), DSE_OK);
    assert_int_equal(cube_read_schema(out, &arena, &back, &err), DSE_OK);
    assert_string_equal(back.measures, "some more");
    for (enum result_table t = 0; t < RESULT_TABLE_COUNT; t++) {
        assert_int_equal(back.n_extra[t], schema.n_extra[t]);
        for (size_t i = 0; i < back.n_extra[t]; i++)
            assert_same_metric(back.extra[t][i], schema.extra[t][i]);
    }
    assert_int_equal(cube_read_number(out, "wait_cycle", &arena, &value, &n, &err), DSE_OK);
    assert_true(value[1] == 123 && isnan(value[0]));
    assert_int_equal(cube_read_number(out, "layers/heat_w", &arena, &value, &n, &err), DSE_OK);
    assert_true(value[SAMPLE_LAYER] == -2.25 && isnan(value[SAMPLE_LAYER + 1]));
    arena_free(&arena);
}

/* What a user puts into the file besides, whatever its name and shape, is no column and no fault. */
static void test_cube_reads_past_what_others_added(void **state)
{
    (void)state;
    static const char *const name[] = {"my note", "speedup"};
    char out[600];
    struct arena arena;
    struct dse_error err = {0};
    struct result_schema back;
    const hsize_t length[] = {SAMPLE_BUFFER, SAMPLE_BANDWIDTH, SAMPLE_NETWORK};
    arena_init(&arena);
    make_sample(out, sizeof out, 1);
    hid_t file = H5Fopen(out, H5F_ACC_RDWR, H5P_DEFAULT);
    for (int i = 0; i < 2; i++) { /* of the axes' shape, and a single number */
        hid_t space = i == 0 ? H5Screate_simple(3, length, NULL) : H5Screate(H5S_SCALAR);
        hid_t dataset =
            H5Dcreate2(file, name[i], H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(file >= 0 && space >= 0 && dataset >= 0);
        H5Dclose(dataset);
        H5Sclose(space);
    }
    H5Fclose(file);
    assert_int_equal(cube_read_schema(out, &arena, &back, &err), DSE_OK);
    assert_int_equal(back.n_extra[RESULT_POINTS], 0);
    arena_free(&arena);
}

/* Every dataset but wall times is the same in whatever order the points came. */
static void test_cube_does_not_depend_on_the_order_of_points(void **state)
{
    (void)state;
    static const char *const dataset[] = {
        "energy_j",        "edp_js",          "evaluations",          "layers/latency_s",
        "layers/energy_j", "levels/byte",     "trace/cost",           "trace/evaluation",
        "utilization",     "levels/energy_j", "layers/level_energy_j"};
    static const char *const text[] = {"status",    "reason",         "stop",
                                       "point_key", "layers/mapping", "layers/status"};
    char one[600], two[600];
    struct arena arena;
    struct dse_error err;
    arena_init(&arena);
    make_sample(one, sizeof one, 1);
    make_sample(two, sizeof two, 11);
    for (size_t i = 0; i < sizeof dataset / sizeof *dataset; i++) {
        double *a, *b;
        size_t n, m;
        assert_int_equal(cube_read_number(one, dataset[i], &arena, &a, &n, &err), DSE_OK);
        assert_int_equal(cube_read_number(two, dataset[i], &arena, &b, &m, &err), DSE_OK);
        assert_int_equal(n, m);
        assert_memory_equal(a, b, n * sizeof *a);
    }
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        const char *const *a, *const *b;
        size_t n, m;
        assert_int_equal(cube_read_text(one, text[i], &arena, &a, &n, &err), DSE_OK);
        assert_int_equal(cube_read_text(two, text[i], &arena, &b, &m, &err), DSE_OK);
        assert_int_equal(n, m);
        for (size_t k = 0; k < n; k++)
            assert_string_equal(a[k], b[k]);
    }
    arena_free(&arena);
}

static void test_cube_without_points_has_axes_and_holes(void **state)
{
    (void)state;
    char folder[512], out[600];
    struct arena arena;
    struct dse_error err;
    struct result_schema schema;
    double *energy;
    size_t n;
    arena_init(&arena);
    files_folder(folder, sizeof folder);
    files_path(out, sizeof out, folder, "empty.h5");
    assert_int_equal(build(out, &sample_schema, &err), DSE_OK);
    assert_int_equal(cube_read_schema(out, &arena, &schema, &err), DSE_OK);
    assert_int_equal(schema.n_axis, 3);
    assert_int_equal(cube_read_number(out, "energy_j", &arena, &energy, &n, &err), DSE_OK);
    assert_true(n == SAMPLE_CELL && isnan(energy[0]));
    arena_free(&arena);
}

/* No axes at all: one point, scalars. */
static void test_cube_without_axes_is_a_scalar(void **state)
{
    (void)state;
    char folder[512], out[600];
    struct arena arena;
    struct dse_error err;
    struct journal *journal;
    struct point_record point;
    struct result_schema schema = {.name = "one", .title = "", .specification = "", .n_point = 1};
    double *energy;
    size_t n;
    arena_init(&arena);
    files_folder(folder, sizeof folder);
    files_path(out, sizeof out, folder, "one.h5");
    assert_int_equal(journal_open(out, &schema, (struct journal_options){0}, &journal, &err), DSE_OK);
    point_record_init(&point);
    point.key = 1;
    point.outcome = RESULT_OK;
    point.energy_j = 2.5;
    assert_int_equal(sample_append(journal, &schema, &point, NULL, 0, &err), DSE_OK);
    journal_close(journal);
    assert_int_equal(build(out, &schema, &err), DSE_OK);
    assert_int_equal(cube_read_number(out, "energy_j", &arena, &energy, &n, &err), DSE_OK);
    assert_true(n == 1 && energy[0] == 2.5);
    arena_free(&arena);
}

static void test_cube_refuses_two_points_in_one_cell(void **state)
{
    (void)state;
    char out[600];
    struct dse_error err;
    struct journal *journal;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    make_sample(out, sizeof out, 1);
    assert_int_equal(journal_open(out, &sample_schema, (struct journal_options){0}, &journal, &err), DSE_OK);
    size_t n = sample_point(0, &point, layer, index, level);
    point.key = 99;
    assert_int_equal(sample_append(journal, &sample_schema, &point, layer, n, &err), DSE_OK);
    journal_close(journal);
    assert_int_equal(build(out, &sample_schema, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, SAMPLE_CELL + 1);
    assert_non_null(strstr(err.text, "the same cell of the sweep as line 2"));
}

static void test_cube_errors_name_the_file(void **state)
{
    (void)state;
    char out[600];
    struct arena arena;
    struct dse_error err;
    struct result_schema schema;
    double *value;
    size_t n;
    arena_init(&arena);
    assert_int_equal(build("/nonexistent/o.h5", &sample_schema, &err), DSE_IO);
    assert_string_equal(err.file, "/nonexistent/o.h5.tmp");
    assert_int_equal(cube_read_schema("/nonexistent/o.h5", &arena, &schema, &err), DSE_IO);
    make_sample(out, sizeof out, 1);
    assert_int_equal(cube_read_number(out, "nothing", &arena, &value, &n, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "there is no dataset nothing");
    assert_int_equal(cube_read_number(out, "status", &arena, &value, &n, &err), DSE_BAD_INPUT);
    char *csv = out;
    csv[strlen(csv) - 2] = '\0';
    strcat(csv, "csv");
    assert_int_equal(cube_read_schema(csv, &arena, &schema, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "not an HDF5 file");
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--sample") == 0) {
        static const struct result_input input[] = {
            {"specification", "sample.yaml", "/tmp/sample.yaml", "name: sample\n", 13},
            {"network", "r\xc3\xa9snet", "networks/resnet.yaml", "layers: []\n", 11},
        };
        static const char *const set[] = {"batch=2"};
        struct dse_error err;
        struct result_schema schema = sample_schema;
        schema.input = input;
        schema.n_input = 2;
        schema.set = set;
        schema.n_set = 1;
        return sample_write(argv[2], 7, 0, 1, (struct journal_options){.fresh = true}) != 0 ||
               build(argv[2], &schema, &err) != DSE_OK;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube_holds_every_point_in_its_cell),
        cmocka_unit_test(test_cube_groups_have_layers_levels_and_traces),
        cmocka_unit_test(test_cube_reads_back_its_schema),
        cmocka_unit_test(test_cube_has_datasets_of_what_is_measured),
        cmocka_unit_test(test_cube_reads_past_what_others_added),
        cmocka_unit_test(test_cube_does_not_depend_on_the_order_of_points),
        cmocka_unit_test(test_cube_without_points_has_axes_and_holes),
        cmocka_unit_test(test_cube_without_axes_is_a_scalar),
        cmocka_unit_test(test_cube_refuses_two_points_in_one_cell),
        cmocka_unit_test(test_cube_errors_name_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
