#include "tests/results/files.h"

#include "results/cube.h"
#include "results/merge.h"
#include "tests/results/sample.h"

enum { N_SHARD = 3 };

/* Three shards of the sample and one unsharded run in cell order. */
struct shards {
    char folder[512], path[N_SHARD][600], whole[600], out[600];
    const char *name[N_SHARD];
    struct provenance provenance;
};

static void make_shards(struct shards *shards)
{
    struct dse_error err;
    provenance_make(&shards->provenance);
    files_folder(shards->folder, sizeof shards->folder);
    for (unsigned i = 0; i < N_SHARD; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%u.h5", i);
        shards->name[i] = files_path(shards->path[i], sizeof shards->path[i], shards->folder, name);
        assert_int_equal(
            sample_write(shards->path[i], 5, i, N_SHARD, (struct journal_options){.fresh = true}), 0);
        assert_int_equal(cube_build(shards->path[i], &sample_schema, &shards->provenance, &err), DSE_OK);
    }
    files_path(shards->whole, sizeof shards->whole, shards->folder, "whole.csv");
    assert_int_equal(sample_write(shards->whole, 1, 0, 1, (struct journal_options){.fresh = true}), 0);
    files_path(shards->out, sizeof shards->out, shards->folder, "merged.h5");
}

static void assert_same_files(const struct shards *shards, const char *one, const char *two)
{
    char path[600];
    char *a = files_read(files_path(path, sizeof path, shards->folder, one), NULL);
    char *b = files_read(files_path(path, sizeof path, shards->folder, two), NULL);
    assert_string_equal(a, b);
    free(a);
    free(b);
}

static void test_merge_gives_the_unsharded_journal(void **state)
{
    (void)state;
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    make_shards(&shards);
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.provenance, &summary, &err),
                     DSE_OK);
    assert_int_equal(summary.n_point, SAMPLE_CELL - 1);
    assert_int_equal(summary.n_expected, SAMPLE_CELL - 1);
    assert_int_equal(summary.n_duplicate, 0);
    assert_same_files(&shards, "merged.csv", "whole.csv");
    assert_same_files(&shards, "merged.layers.csv", "whole.layers.csv");
    assert_int_equal(access(shards.out, R_OK), 0);
    /* What is there is not overwritten, unless it is one of the shards. */
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.provenance, &summary, &err),
                     DSE_BAD_USAGE);
    const char *again[] = {shards.out, shards.path[1]};
    assert_int_equal(merge_shards(shards.out, again, 2, &shards.provenance, &summary, &err), DSE_OK);
    assert_int_equal(summary.n_duplicate,
                     8); /* shard 1 of 3 holds 8 of the 24 cells; cell 23 is in shard 2 */
    assert_same_files(&shards, "merged.csv", "whole.csv");
}

static void test_merge_refuses_results_that_differ(void **state)
{
    (void)state;
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    struct journal *journal;
    struct point_record point;
    struct layer_record layer[SAMPLE_LAYER];
    struct level_values level[SAMPLE_LEVEL];
    uint32_t index[3];
    make_shards(&shards);
    /* Cell 0 belongs to shard 0; shard 1 gets it too, with a time of its own first, then with another energy. */
    for (int differ = 0; differ < 2; differ++) {
        assert_int_equal(sample_write(shards.path[1], 5, 1, N_SHARD, (struct journal_options){.fresh = true}),
                         0);
        assert_int_equal(
            journal_open(shards.path[1], &sample_schema, (struct journal_options){0}, &journal, &err),
            DSE_OK);
        size_t n = sample_point(0, &point, layer, index, level);
        point.seconds = 77;
        if (differ)
            point.energy_j *= 2;
        assert_int_equal(journal_append_record(journal, &point, layer, n, &err), DSE_OK);
        journal_close(journal);
        assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.provenance, &summary, &err),
                         differ ? DSE_BAD_INPUT : DSE_OK);
        char csv[600];
        unlink(files_path(csv, sizeof csv, shards.folder, "merged.csv"));
    }
    assert_non_null(strstr(err.text, "the same point as"));
    assert_non_null(strstr(err.text, "with another result"));
}

static void test_merge_refuses_other_specifications_and_nothing(void **state)
{
    (void)state;
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    struct result_schema other = sample_schema;
    make_shards(&shards);
    other.specification_hash = 1;
    assert_int_equal(cube_build(shards.path[2], &other, &shards.provenance, &err), DSE_OK);
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.provenance, &summary, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.file, shards.path[2]);
    assert_non_null(strstr(err.text, "from another specification"));
    assert_int_equal(merge_shards(shards.out, shards.name, 0, &shards.provenance, &summary, &err),
                     DSE_BAD_USAGE);
    char csv[600];
    unlink(files_path(csv, sizeof csv, shards.folder, "s1.csv"));
    assert_int_equal(merge_shards(shards.out, shards.name, 2, &shards.provenance, &summary, &err), DSE_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_gives_the_unsharded_journal),
        cmocka_unit_test(test_merge_refuses_results_that_differ),
        cmocka_unit_test(test_merge_refuses_other_specifications_and_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
