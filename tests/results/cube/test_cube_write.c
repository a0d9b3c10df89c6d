/* How cubes are made: what they carry, failures in the middle, what a failure leaves, and the order of rows
 * beyond memory.
 * Tests: cube.c, cube_index.c, cube_read_inputs.c. */
#include <hdf5.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "results/cube/cube.h"
#include "results/cube/cube_index.h"
#include "results/cube/cube_read.h"
#include "tests/results/files.h"
#include "tests/results/sample.h"

static const struct result_input inputs[] = {
    {"specification", "a.yaml", "/home/u/a.yaml", "axes: {}\n", 9},
    {"network", "r\xc3\xa9snet", "n/resnet.yaml", "", 0},
};
static const char *const set[] = {"batch=2", "title='a b'"};

/* A journal of the sample and its path as OUT.h5. */
static void make_journal(char *out, size_t size)
{
    char folder[512];
    files_folder(folder, sizeof folder);
    files_path(out, size, folder, "o.h5");
    assert_int_equal(sample_write(out, 7, 0, 1, (struct journal_options){.fresh = true}), 0);
}

static void test_cube_carries_its_inputs(void **state)
{
    (void)state;
    char out[600];
    struct arena arena;
    struct dse_error err;
    struct result_schema schema = sample_schema, back = {0};
    struct provenance made, read;
    make_journal(out, sizeof out);
    schema.input = inputs;
    schema.n_input = 2;
    schema.set = set;
    schema.n_set = 2;
    schema.shard = 3;
    schema.n_shard = 8;
    provenance_make(&made);
    made.n_thread = 5;
    assert_int_equal(cube_build(out, &schema, &made, &err), DSE_OK);
    arena_init(&arena);
    assert_int_equal(cube_read_inputs(out, &arena, &back, &read, &err), DSE_OK);
    assert_int_equal(back.n_input, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(back.input[i].role, inputs[i].role);
        assert_string_equal(back.input[i].name, inputs[i].name);
        assert_string_equal(back.input[i].path, inputs[i].path);
        assert_string_equal(back.input[i].content, inputs[i].content);
        assert_int_equal(back.input[i].n_byte, inputs[i].n_byte);
    }
    assert_int_equal(back.n_set, 2);
    assert_string_equal(back.set[1], "title='a b'");
    assert_int_equal(back.shard, 3);
    assert_int_equal(back.n_shard, 8);
    assert_memory_equal(&read, &made, sizeof made);
    assert_non_null(strstr(read.libraries, "libyaml "));
    assert_non_null(strstr(read.libraries, "GLPK "));
    assert_non_null(strstr(read.build_flags, "-std=c11"));
    /* A file of all points, without inputs. */
    assert_int_equal(cube_build(out, &sample_schema, &made, &err), DSE_OK);
    assert_int_equal(cube_read_inputs(out, &arena, &back, NULL, &err), DSE_OK);
    assert_true(back.n_input == 0 && back.n_set == 0 && back.shard == 1 && back.n_shard == 1);
    arena_free(&arena);
}

/* One build under a limit on the size of files: 0 when it went as it should. In a child, since the limit is
 * of the process. */
static int build_limited(const char *out, rlim_t byte, const char *whole, size_t length)
{
    struct provenance provenance;
    struct dse_error err = {0};
    struct rlimit limit;
    struct stat info;
    char temporary[700];
    provenance_make(&provenance);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 1;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = byte;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    enum dse_status status = cube_build(out, &sample_schema, &provenance, &err);
    limit.rlim_cur = before;
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 3;
    if (status != DSE_IO || !strstr(err.text, "File too large") || !err.file[0])
        return 4;
    snprintf(temporary, sizeof temporary, "%s.tmp", out);
    if (stat(temporary, &info) == 0 || H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL) != 0)
        return 5;
    size_t n;
    char *now = files_read(out, &n);
    int same = n == length && memcmp(now, whole, n) == 0;
    free(now);
    return same ? 0 : 6;
}

/* Wherever it ends, there is one message with the reason, and the cube of before is as it was. */
static void test_cube_survives_a_full_disk(void **state)
{
    (void)state;
    char out[600];
    struct provenance provenance;
    struct dse_error err;
    size_t length;
    make_journal(out, sizeof out);
    provenance_make(&provenance);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_OK);
    char *whole = files_read(out, &length);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        int code = 0;
        for (rlim_t byte = 0; byte + 8192 < length && code == 0; byte += length / 23)
            code = build_limited(out, byte, whole, length);
        _exit(code);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_OK);
    free(whole);
}

static void test_cube_writes_over_what_a_kill_left(void **state)
{
    (void)state;
    char out[600], temporary[700];
    struct provenance provenance;
    struct dse_error err;
    struct arena arena;
    struct result_schema schema;
    arena_init(&arena);
    make_journal(out, sizeof out);
    provenance_make(&provenance);
    snprintf(temporary, sizeof temporary, "%s.tmp", out);
    files_write(temporary, "half a cube", 11);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_OK);
    assert_int_not_equal(access(temporary, F_OK), 0);
    assert_int_equal(cube_read_schema(out, &arena, &schema, &err), DSE_OK);
    arena_free(&arena);
}

/* A path that is a folder: said, and nothing is left. */
static void test_cube_does_not_replace_a_folder(void **state)
{
    (void)state;
    char out[600], temporary[700];
    struct provenance provenance;
    struct dse_error err;
    make_journal(out, sizeof out);
    provenance_make(&provenance);
    assert_int_equal(mkdir(out, 0777), 0);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_IO);
    assert_string_equal(err.file, out);
    snprintf(temporary, sizeof temporary, "%s.tmp", out);
    assert_int_not_equal(access(temporary, F_OK), 0);
    /* And when the temporary name is one. */
    assert_int_equal(rmdir(out), 0);
    assert_int_equal(mkdir(temporary, 0777), 0);
    assert_int_equal(cube_build(out, &sample_schema, &provenance, &err), DSE_IO);
    assert_string_equal(err.file, temporary);
}

/* Entries come back by cell from memory (n below the limit of 1024) and from runs on disk; equal cells in the
 * order of lines. */
static void test_cube_index_sorts_beyond_memory(void **state)
{
    (void)state;
    static const uint64_t size[] = {0, 1, 1000, 1024, 1025, 30011};
    char folder[512], near[600];
    struct dse_error err;
    files_folder(folder, sizeof folder);
    files_path(near, sizeof near, folder, "o.h5");
    for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
        struct cube_index index;
        const struct cube_entry *entry;
        const uint64_t n = size[k];
        cube_index_init(&index, 0, near);
        /* 7919 has no divisor with these sizes, so each cell but the one that comes twice comes once. */
        for (uint64_t i = 0; i < n; i++) {
            struct cube_entry one = {.cell = i * 7919 % n, .line = i + 1, .offset = 3 * i};
            assert_int_equal(cube_index_add(&index, &one, &err), DSE_OK);
        }
        struct cube_entry twin = {.cell = n / 2, .line = n + 1};
        assert_int_equal(cube_index_add(&index, &twin, &err), DSE_OK);
        assert_int_equal(cube_index_finish(&index, &err), DSE_OK);
        assert_true((index.file != NULL) == (n + 1 > 1024));
        for (uint64_t i = 0; i < n; i++) {
            assert_int_equal(cube_index_next(&index, &entry, &err), DSE_OK);
            assert_non_null(entry);
            assert_int_equal(entry->cell, i);
            assert_int_equal((entry->line - 1) * 7919 % n, i);
            assert_int_equal(entry->offset, 3 * (entry->line - 1));
            if (i == n / 2) {
                assert_int_equal(cube_index_next(&index, &entry, &err), DSE_OK);
                assert_int_equal(entry->cell, i);
                assert_int_equal(entry->line, n + 1);
            }
        }
        assert_int_equal(cube_index_next(&index, &entry, &err), DSE_OK);
        assert_true((entry == NULL) == (n > 0));
        cube_index_free(&index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cube_carries_its_inputs),
        cmocka_unit_test(test_cube_survives_a_full_disk),
        cmocka_unit_test(test_cube_writes_over_what_a_kill_left),
        cmocka_unit_test(test_cube_does_not_replace_a_folder),
        cmocka_unit_test(test_cube_index_sorts_beyond_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
