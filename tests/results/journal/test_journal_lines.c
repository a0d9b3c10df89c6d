/* Lines of several points at once: the same bytes as point by point. The points are those of sample.h.
 * Tests: journal.c. */
#include "tests/results/files.h"

#include "results/journal/journal.h"
#include "tests/results/sample.h"

enum { N_POINT = 9, AT_ONCE = 4 };

/* A journal of N_POINT points, `at_once` of them with each append; its two files, which the caller frees. */
static void write_journal(unsigned at_once, char *file[2])
{
    char folder[512], out[600], path[2][600];
    struct journal *journal;
    struct journal_lines lines;
    files_folder(folder, sizeof folder);
    files_path(out, sizeof out, folder, "o.h5");
    files_path(path[0], sizeof path[0], folder, "o.csv");
    files_path(path[1], sizeof path[1], folder, "o.layers.csv");
    assert_int_equal(journal_open(out, &sample_schema, (struct journal_options){0}, &journal, NULL), DSE_OK);
    journal_lines_init(&lines);
    for (unsigned cell = 0; cell < N_POINT; cell++) {
        struct point_record point;
        struct layer_record layer[SAMPLE_LAYER];
        struct level_values level[SAMPLE_LEVEL];
        uint32_t index[3];
        size_t n = sample_point(cell, &point, layer, index, level);
        assert_int_equal(journal_format(&sample_schema, &point, layer, n, &lines, NULL), DSE_OK);
        assert_int_equal(lines.n_point, cell % at_once + 1);
        if ((cell + 1) % at_once > 0 && cell + 1 < N_POINT)
            continue;
        assert_int_equal(journal_append(journal, &lines, NULL), DSE_OK);
        assert_int_equal(journal_count(journal), cell + 1);
        journal_lines_clear(&lines);
    }
    journal_lines_free(&lines);
    assert_int_equal(journal_finish(journal, NULL), DSE_OK);
    for (int i = 0; i < 2; i++)
        file[i] = files_read(path[i], NULL);
}

static void test_journal_lines_of_several_points_are_those_of_each(void **state)
{
    (void)state;
    char *each[2], *some[2];
    write_journal(1, each);
    write_journal(AT_ONCE, some);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(each[i], some[i]);
        free(each[i]);
        free(some[i]);
    }
}

static void test_journal_lines_stay_as_they_are_when_a_point_is_refused(void **state)
{
    (void)state;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    struct journal_lines lines;
    struct dse_error err;
    uint32_t index[3];
    size_t n = sample_point(0, &point, layer, index, level);
    journal_lines_init(&lines);
    assert_int_equal(journal_format(&sample_schema, &point, layer, n, &lines, &err), DSE_OK);
    size_t point_length = lines.point.length, layer_length = lines.layers.length;
    layer[n - 1].layer = "nowhere";
    assert_int_equal(journal_format(&sample_schema, &point, layer, n, &lines, &err), DSE_INTERNAL);
    assert_int_equal(lines.n_point, 1);
    assert_int_equal(lines.point.length, point_length);
    assert_int_equal(lines.layers.length, layer_length);
    assert_int_equal(strlen(lines.layers.data), layer_length);
    journal_lines_free(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_journal_lines_of_several_points_are_those_of_each),
        cmocka_unit_test(test_journal_lines_stay_as_they_are_when_a_point_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
