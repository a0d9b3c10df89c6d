/* Texts of megabytes, as schedules of many DRAM tensors are: written, cut in the middle, resumed, built into
 * the cube, merged. Nothing here is a known value: what comes out is compared with what went in.
 * Tests: csv_line.c. */
#include "tests/results/files.h"

#include "results/cube/cube.h"
#include "results/cube/cube_read.h"
#include "results/cube/merge.h"
#include "tests/results/sample.h"

enum { TEXT_BYTE = 3 << 20, LAYER_FC = 2 };

/* "{soma: 1, dram: [[0, 1, 2], [1, 2, 3], ...". With commas, quotes and no line break. */
static char *long_text(void)
{
    static const char piece[] = "[12345, -1, \"q\"], ";
    char *text = malloc(TEXT_BYTE + 1);
    assert_non_null(text);
    for (size_t i = 0; i < TEXT_BYTE; i++)
        text[i] = piece[i % (sizeof piece - 1)];
    text[0] = '{';
    text[TEXT_BYTE] = '\0';
    return text;
}

static void append(struct journal *journal, unsigned cell, const char *text)
{
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    struct dse_error err;
    uint32_t index[3];
    size_t n = sample_point(cell, &point, layer, index, level);
    layer[n - 1].mapping = text;
    assert_int_equal(sample_append(journal, &sample_schema, &point, layer, n, &err), DSE_OK);
}

static void open_journal(const char *out, bool fresh, size_t n_expected, struct journal **journal)
{
    struct dse_error err = {0};
    if (journal_open(out, &sample_schema, (struct journal_options){.fresh = fresh}, journal, &err) != DSE_OK)
        fail_msg("%s", err.text);
    assert_int_equal(journal_count(*journal), n_expected);
}

/* Cells 0 and 2, the second cut in its long line and written again. */
static void write_cut_and_resumed(const char *folder, const char *out, const char *text)
{
    char path[600];
    struct journal *journal;
    open_journal(out, true, 0, &journal);
    append(journal, 0, text);
    journal_close(journal);
    size_t n_csv, n_layers, n_more;
    files_path(path, sizeof path, folder, "long.csv");
    free(files_read(path, &n_csv));
    files_path(path, sizeof path, folder, "long.layers.csv");
    free(files_read(path, &n_layers));
    open_journal(out, false, 1, &journal);
    append(journal, 2, text);
    journal_close(journal);
    free(files_read(path, &n_more));
    assert_true(n_more > n_layers + TEXT_BYTE);
    assert_int_equal(truncate(path, (off_t)(n_layers + TEXT_BYTE / 2)), 0);
    files_path(path, sizeof path, folder, "long.csv");
    assert_int_equal(truncate(path, (off_t)n_csv), 0);
    open_journal(out, false, 1, &journal);
    append(journal, 2, text);
    journal_close(journal);
}

static void test_long_texts_survive_journal_cube_and_merge(void **state)
{
    (void)state;
    char folder[512], out[600], merged[600];
    struct provenance provenance;
    struct merge_summary summary;
    struct dse_error err = {0};
    struct arena arena;
    const char *const *value;
    size_t n;
    char *text = long_text();
    files_folder(folder, sizeof folder);
    files_path(out, sizeof out, folder, "long.h5");
    files_path(merged, sizeof merged, folder, "merged.h5");
    write_cut_and_resumed(folder, out, text);
    const struct merge_options options = {.provenance = &provenance};
    provenance_make(&provenance);
    arena_init(&arena);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_OK);
    const char *const shard[] = {out};
    assert_int_equal(merge_shards(merged, shard, 1, &options, &summary, &err), DSE_OK);
    assert_int_equal(summary.n_point, 2);
    const char *const file[] = {out, merged};
    for (size_t i = 0; i < 2; i++) {
        if (cube_read_text(file[i], "layers/mapping", &arena, &value, &n, &err) != DSE_OK)
            fail_msg("%s", err.text);
        assert_int_equal(n, SAMPLE_CELL * SAMPLE_LAYER);
        assert_string_equal(value[0 * SAMPLE_LAYER + LAYER_FC], text);
        assert_string_equal(value[2 * SAMPLE_LAYER + LAYER_FC], text);
        assert_string_equal(value[1 * SAMPLE_LAYER + LAYER_FC], "");
    }
    arena_free(&arena);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_texts_survive_journal_cube_and_merge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
