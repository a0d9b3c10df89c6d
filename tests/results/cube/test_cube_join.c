/* Shards of the sample are the sample; the same points with another fixed text are a further axis; files that
 * do not go together are refused. sample_point makes all values. */
#include "tests/results/files.h"

#include <math.h>

#include "results/cube/cube.h"
#include "results/cube/cube_join.h"
#include "tests/results/sample.h"

enum { N_FILE = 3 };
static char folder[512], path[N_FILE][600]; /* cells 0, 2, ...; 1, 3, ...; all */
static struct arena arena;

static int make_files(void **state)
{
    struct provenance provenance;
    struct dse_error err;
    (void)state;
    files_folder(folder, sizeof folder);
    provenance_make(&provenance);
    arena_init(&arena);
    for (unsigned i = 0; i < N_FILE; i++) {
        char name[8];
        snprintf(name, sizeof name, "%u.h5", i);
        files_path(path[i], sizeof path[i], folder, name);
        if (sample_write(path[i], 1, i % 2 * (i < 2), i < 2 ? 2 : 1,
                         (struct journal_options){.fresh = true}) ||
            cube_build(path[i], &sample_schema, &provenance, &err) != DSE_OK)
            return 1;
    }
    return 0;
}

static int remove_files(void **state)
{
    (void)state;
    arena_free(&arena);
    for (size_t i = 0; i < N_FILE; i++) {
        static const char *const ending[] = {".h5", ".csv", ".layers.csv"};
        for (size_t e = 0; e < 3; e++) {
            char each[600];
            assert_true(result_path(each, sizeof each, path[i], ending[e]));
            unlink(each);
        }
    }
    return rmdir(folder);
}

/* Cell by cell of the sample, from cell `offset` of the join on, every `step`-th. */
static void assert_sample(const struct cube_join *join, size_t offset, size_t step)
{
    double *latency_s;
    const char *const *stop;
    struct dse_error err;
    assert_int_equal(cube_join_number(join, "latency_s", &arena, &latency_s, &err), DSE_OK);
    assert_int_equal(cube_join_text(join, "stop", &arena, &stop, &err), DSE_OK);
    for (unsigned cell = 0; cell < SAMPLE_CELL; cell++) {
        uint32_t index[3];
        const size_t at = offset + cell * step;
        sample_index(cell, index);
        assert_string_equal(join->status[at], cell == SAMPLE_MISSING      ? ""
                                              : cell == SAMPLE_INFEASIBLE ? "infeasible"
                                                                          : "ok");
        if (cell == SAMPLE_MISSING || cell == SAMPLE_INFEASIBLE)
            assert_true(isnan(latency_s[at]));
        else
            assert_true(latency_s[at] == sample_latency(index));
        assert_string_equal(stop[at], cell == SAMPLE_MISSING ? "" : index[2] == 0 ? "optimal" : "converged");
    }
}

static void test_shards_are_the_whole(void **state)
{
    (void)state;
    struct cube_join join;
    struct dse_error err;
    static const size_t which[][3] = {{2}, {0, 1}, {1, 0}, {0, 2}, {2, 1, 0}};
    static const size_t n[] = {1, 2, 2, 2, 3};
    for (size_t i = 0; i < 5; i++) {
        struct cube_file file[3] = {0};
        for (size_t k = 0; k < n[i]; k++)
            file[k].path = path[which[i][k]];
        assert_int_equal(cube_join_open(&join, file, n[i], &arena, &err), DSE_OK);
        assert_int_equal(join.schema.n_axis, 3);
        assert_int_equal(join.n_cell, SAMPLE_CELL);
        assert_string_equal(join.schema.axis[1].coordinate[1].text[3], sample_preset[3]);
        assert_sample(&join, 0, 1);
    }
}

/* Texts in which the files differ are the last axis, in their order; what all have alike is none. */
static void test_fixed_texts_become_an_axis(void **state)
{
    (void)state;
    static const struct cube_fixed one[] = {{"batch", "4"}, {"engine", "soma"}},
                                   other[] = {{"engine", "cocco"}, {"batch", "4"}};
    const struct cube_file file[] = {{path[2], one, 2}, {path[2], other, 2}, {path[0], other, 2}};
    struct cube_join join;
    struct dse_error err;
    assert_int_equal(cube_join_open(&join, file, 3, &arena, &err), DSE_OK);
    assert_int_equal(join.schema.n_axis, 4);
    assert_int_equal(join.n_cell, 2 * SAMPLE_CELL);
    assert_int_equal(join.schema.axis[3].n_value, 2);
    assert_string_equal(join.schema.axis[3].coordinate[0].name, "engine");
    assert_string_equal(join.schema.axis[3].coordinate[0].text[0], "soma");
    assert_string_equal(join.schema.axis[3].coordinate[0].text[1], "cocco");
    assert_sample(&join, 0, 2);
    assert_sample(&join, 1, 2);
}

/* Of a fixed text that one file lacks nothing is known: the points are the same, and agree. A file that is
 * none is named. */
static void test_what_does_not_go_together(void **state)
{
    (void)state;
    static const struct cube_fixed one[] = {{"engine", "soma"}};
    struct cube_file file[] = {{path[2], one, 1}, {path[2], NULL, 0}};
    struct cube_join join;
    struct dse_error err;
    double *value;
    assert_int_equal(cube_join_open(&join, file, 2, &arena, &err), DSE_OK);
    assert_int_equal(join.schema.n_axis, 3);
    assert_sample(&join, 0, 1);
    assert_int_equal(cube_join_number(&join, "latenzy_s", &arena, &value, &err), DSE_BAD_INPUT);
    file[1].path = "/nonexistent/x.h5";
    assert_int_equal(cube_join_open(&join, file, 2, &arena, &err), DSE_IO);
    assert_string_equal(err.file, "/nonexistent/x.h5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shards_are_the_whole),
        cmocka_unit_test(test_fixed_texts_become_an_axis),
        cmocka_unit_test(test_what_does_not_go_together),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
