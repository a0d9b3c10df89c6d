/* Merging three shards gives the file of an unsharded run, byte for byte; what does not belong together is
 * refused; a kill between renames is survived.
 * Tests: merge_files.c, merge_rows.c. */
#include "tests/results/files.h"

#include "results/cube/cube.h"
#include "results/cube/merge.h"
#include "tests/results/sample.h"

enum { N_SHARD = 3 };

/* Three shards of the sample and one unsharded run in cell order. */
struct shards {
    char folder[512], path[N_SHARD][600], whole[600], out[600];
    const char *name[N_SHARD];
    struct provenance provenance;
    struct merge_options options;
};

static void make_shards(struct shards *shards)
{
    struct dse_error err;
    provenance_make(&shards->provenance);
    shards->options = (struct merge_options){.provenance = &shards->provenance};
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

/* Cube `i` says that it is shard k of n. */
static void build_shard(const struct shards *shards, unsigned i, uint32_t k, uint32_t n)
{
    struct dse_error err;
    struct result_schema schema = sample_schema;
    schema.shard = k;
    schema.n_shard = n;
    assert_int_equal(cube_build(shards->path[i], &schema, &shards->provenance, &err), DSE_OK);
}

static void mark_shards(const struct shards *shards, uint32_t n)
{
    for (unsigned i = 0; i < N_SHARD; i++)
        build_shard(shards, i, i + 1, n);
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
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err), DSE_OK);
    assert_int_equal(summary.n_point, SAMPLE_CELL - 1);
    assert_int_equal(summary.n_expected, SAMPLE_CELL - 1);
    assert_int_equal(summary.n_duplicate, 0);
    assert_same_files(&shards, "merged.csv", "whole.csv");
    assert_same_files(&shards, "merged.layers.csv", "whole.layers.csv");
    assert_int_equal(access(shards.out, R_OK), 0);
    /* What is there is not overwritten, unless it is one of the shards. */
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err),
                     DSE_BAD_USAGE);
    const char *again[] = {shards.out, shards.path[1]};
    assert_int_equal(merge_shards(shards.out, again, 2, &shards.options, &summary, &err), DSE_OK);
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
    /* Cell 0 belongs to shard 0; shard 1 gets it too, with a time of its own first, then with another
     * energy. */
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
        assert_int_equal(sample_append(journal, &sample_schema, &point, layer, n, &err), DSE_OK);
        journal_close(journal);
        assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err),
                         differ ? DSE_BAD_INPUT : DSE_OK);
        char csv[600];
        unlink(files_path(csv, sizeof csv, shards.folder, "merged.csv"));
    }
    assert_non_null(strstr(err.text, "the same point as"));
    assert_non_null(strstr(err.text, "with another result"));
}

/* Two rows of one point may differ when a failure or a limit of seconds had a part: shard 1 has a worse row
 * of a cell of shard 0. */
static void test_merge_takes_the_better_of_two_rows(void **state)
{
    (void)state;
    static const struct {
        enum result_status outcome;
        const char *reason, *stop;
    } row[] = {
        {RESULT_TIMEOUT, "out of time", "max_seconds"},
        {RESULT_FAILED, "the engine crashed", ""},
        {RESULT_OK, "", "max_seconds"}, /* the other ended by itself */
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct shards shards;
        struct merge_summary summary;
        struct journal *journal;
        struct point_record point;
        struct layer_record layer[SAMPLE_LAYER];
        struct level_values level[SAMPLE_LEVEL];
        struct dse_error err;
        uint32_t index[3];
        make_shards(&shards);
        assert_int_equal(
            journal_open(shards.path[1], &sample_schema, (struct journal_options){0}, &journal, &err),
            DSE_OK);
        size_t n = sample_point(0, &point, layer, index, level);
        point.outcome = row[i].outcome;
        point.reason = row[i].reason;
        point.stop = row[i].stop;
        point.energy_j *= 2;
        assert_int_equal(sample_append(journal, &sample_schema, &point, layer, n, &err), DSE_OK);
        journal_close(journal);
        for (int turned = 0; turned < 2; turned++) {
            const char *name[N_SHARD];
            char csv[600];
            for (unsigned k = 0; k < N_SHARD; k++)
                name[k] = shards.name[turned ? N_SHARD - 1 - k : k];
            assert_int_equal(merge_shards(shards.out, name, N_SHARD, &shards.options, &summary, &err),
                             DSE_OK);
            assert_int_equal(summary.n_chosen, 1);
            assert_int_equal(summary.n_duplicate, 0);
            assert_same_files(&shards, "merged.csv", "whole.csv");
            assert_same_files(&shards, "merged.layers.csv", "whole.layers.csv");
            unlink(files_path(csv, sizeof csv, shards.folder, "merged.csv"));
        }
    }
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
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err),
                     DSE_BAD_INPUT);
    assert_string_equal(err.file, shards.path[2]);
    assert_non_null(strstr(err.text, "from another specification"));
    assert_int_equal(merge_shards(shards.out, shards.name, 0, &shards.options, &summary, &err),
                     DSE_BAD_USAGE);
    char csv[600];
    unlink(files_path(csv, sizeof csv, shards.folder, "s1.csv"));
    assert_int_equal(merge_shards(shards.out, shards.name, 2, &shards.options, &summary, &err), DSE_IO);
}

/* Shards 1 and 3 of 3: what is missing is counted and named. */
static void test_merge_says_what_is_missing(void **state)
{
    (void)state;
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    make_shards(&shards);
    mark_shards(&shards, 3);
    const char *two[] = {shards.path[2], shards.path[0]};
    assert_int_equal(merge_shards(shards.out, two, 2, &shards.options, &summary, &err), DSE_OK);
    /* Shard 2 has the 8 cells 1, 4, 7 ... 22; cell 23 is no point, so the files cannot tell it from a missing
     * one. */
    assert_int_equal(summary.n_point, 15);
    assert_int_equal(summary.n_missing, 8);
    assert_int_equal(summary.n_example, 0);
    assert_int_equal(summary.n_shard, 3);
    assert_int_equal(summary.n_absent, 1);
    assert_int_equal(summary.absent[0], 2);
    const uint32_t cell[] = {0, 1, 2, 3, 4, 5, 20, 21, 22};
    assert_int_equal(merge_missing_find(shards.out, &sample_schema, cell, 9, &summary, &err), DSE_OK);
    assert_int_equal(summary.n_example, 3);
    /* Cell 1 is buffer 0, bandwidth 0, network 1; cell 22 is 2, 3, 0. */
    assert_string_equal(
        summary.example[0],
        "global_buffer_byte=65536 dram_byte_per_s=4000000000 dram_preset=LPDDR4 x16 network=r\xc3\xa9snet");
    assert_string_equal(
        summary.example[2],
        "global_buffer_byte=262144 dram_byte_per_s=32000000000 dram_preset=DDR4, \"fast\" network=alexnet");
}

static void test_merge_refuses_shards_that_do_not_belong_together(void **state)
{
    (void)state;
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    make_shards(&shards);
    mark_shards(&shards, 3);
    const char *twice[] = {shards.path[0], shards.path[0]};
    assert_int_equal(merge_shards(shards.out, twice, 2, &shards.options, &summary, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "shard 1 of 3"));
    build_shard(&shards, 1, 2, 4);
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err),
                     DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "shard 2 of 4"));
    assert_string_equal(err.file, shards.path[1]);
    assert_int_not_equal(access(shards.out, F_OK), 0);
}

/* A kill between two renames: the next merge or run goes on. Before the first, what was there is there. */
static void test_merge_goes_on_after_a_kill(void **state)
{
    (void)state;
    static const char *const part[] = {"merged.layers.csv", "merged.csv", "merged.h5"};
    static const char *const merging[] = {"merged.merging.layers.csv", "merged.merging.csv",
                                          "merged.merging.h5"};
    char from[600], to[600];
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    bool finished;
    make_shards(&shards);
    for (size_t n_renamed = 0; n_renamed <= 3; n_renamed++) {
        unlink(files_path(to, sizeof to, shards.folder, "merged.csv"));
        assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err),
                         DSE_OK);
        for (size_t i = n_renamed; i < 3; i++)
            assert_int_equal(rename(files_path(from, sizeof from, shards.folder, part[i]),
                                    files_path(to, sizeof to, shards.folder, merging[i])),
                             0);
        assert_int_equal(merge_finish(shards.out, &finished, &err), DSE_OK);
        assert_int_equal(finished, n_renamed < 3);
        assert_same_files(&shards, "merged.csv", "whole.csv");
        assert_same_files(&shards, "merged.layers.csv", "whole.layers.csv");
        assert_int_equal(access(shards.out, R_OK), 0);
        for (size_t i = 0; i < 3; i++)
            assert_int_not_equal(access(files_path(to, sizeof to, shards.folder, merging[i]), F_OK), 0);
    }
    /* The same command, as it was: it finishes the renames and takes in what is there. */
    assert_int_equal(rename(files_path(from, sizeof from, shards.folder, part[2]),
                            files_path(to, sizeof to, shards.folder, merging[2])),
                     0);
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err), DSE_OK);
    assert_same_files(&shards, "merged.csv", "whole.csv");
    assert_same_files(&shards, "merged.layers.csv", "whole.layers.csv");
    /* Killed in its renames, and again while it wrote anew: there is a whole output, and a merge has
     * begun. */
    files_write(files_path(to, sizeof to, shards.folder, merging[1]), "half", 4);
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err), DSE_OK);
    assert_same_files(&shards, "merged.csv", "whole.csv");
    assert_int_not_equal(access(to, F_OK), 0);
    /* Killed while it wrote: the tables are not whole, and count for nothing. */
    files_write(files_path(to, sizeof to, shards.folder, merging[1]), "half", 4);
    assert_int_equal(merge_finish(shards.out, &finished, &err), DSE_OK);
    assert_false(finished);
    const char *again[] = {shards.out, shards.path[1]};
    assert_int_equal(merge_shards(shards.out, again, 2, &shards.options, &summary, &err), DSE_OK);
    assert_same_files(&shards, "merged.csv", "whole.csv");
}

/* A merge that fails half-way leaves the file it was to replace, and nothing else. */
static void test_merge_leaves_what_it_cannot_replace(void **state)
{
    (void)state;
    char path[600];
    struct shards shards;
    struct merge_summary summary;
    struct dse_error err;
    make_shards(&shards);
    assert_int_equal(merge_shards(shards.out, shards.name, N_SHARD, &shards.options, &summary, &err), DSE_OK);
    /* One byte in the last line of shard 1 changes. */
    size_t n;
    char *bytes = files_read(files_path(path, sizeof path, shards.folder, "s0.csv"), &n);
    bytes[n - 40] ^= 1;
    files_write(path, bytes, n);
    free(bytes);
    const char *again[] = {shards.out, shards.path[0]};
    assert_int_equal(merge_shards(shards.out, again, 2, &shards.options, &summary, &err), DSE_BAD_INPUT);
    assert_string_equal(err.file, path);
    assert_same_files(&shards, "merged.csv", "whole.csv");
    assert_same_files(&shards, "merged.layers.csv", "whole.layers.csv");
    assert_int_not_equal(access(files_path(path, sizeof path, shards.folder, "merged.merging.csv"), F_OK), 0);
    assert_int_not_equal(access(files_path(path, sizeof path, shards.folder, "merged.lock"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merge_gives_the_unsharded_journal),
        cmocka_unit_test(test_merge_refuses_results_that_differ),
        cmocka_unit_test(test_merge_takes_the_better_of_two_rows),
        cmocka_unit_test(test_merge_refuses_other_specifications_and_nothing),
        cmocka_unit_test(test_merge_says_what_is_missing),
        cmocka_unit_test(test_merge_refuses_shards_that_do_not_belong_together),
        cmocka_unit_test(test_merge_goes_on_after_a_kill),
        cmocka_unit_test(test_merge_leaves_what_it_cannot_replace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
