/* Files as HDF5 itself reads them back, and what a full disk (/dev/full: man 4 full) makes of them. */
#include "tests/results/files.h"

#include <hdf5.h>
#include <sys/stat.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_output.h"

enum { SMALL = 5, LARGE = 400000 }; /* the latter 3.2 MB: more than is gathered */

static char folder[512], path[600];

static int make_folder(void **state)
{
    (void)state;
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "o.h5");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* 0, step, 2 step ... */
static double *numbers(size_t n, double step)
{
    double *value = malloc(n * sizeof *value);
    assert_non_null(value);
    for (size_t i = 0; i < n; i++)
        value[i] = (double)i * step;
    return value;
}

static void put(hid_t file, const char *name, hsize_t n, double step)
{
    double *value = numbers(n, step);
    hid_t space = H5Screate_simple(1, &n, NULL);
    hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    assert_true(H5Dclose(set) >= 0 && H5Sclose(space) >= 0);
    free(value);
}

static void expect(hid_t file, const char *name, size_t n, double step)
{
    double *value = numbers(n, 0), *wanted = numbers(n, step);
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    assert_memory_equal(value, wanted, n * sizeof *value);
    assert_true(H5Dclose(set) >= 0);
    free(value);
    free(wanted);
}

/* Small writes before, between and behind a large one; the small set is written twice. */
static enum dse_status write_sets(const char *to, struct dse_error *err)
{
    struct hdf5_output output;
    DSE_TRY(hdf5_output_open(&output, to, err));
    assert_true(hdf5_put_text(output.file, "title", "first") >= 0);
    put(output.file, "z", SMALL, 1);
    put(output.file, "m", LARGE, 0.5);
    put(output.file, "a", SMALL, 3);
    double *value = numbers(SMALL, 2);
    hid_t set = H5Dopen2(output.file, "z", H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    assert_true(H5Dclose(set) >= 0);
    free(value);
    enum dse_status status = hdf5_output_close(&output, err);
    assert_true(output.file == -1 && output.fd == -1 && output.bytes == NULL);
    assert_int_equal(H5Fget_obj_count(H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
    return status;
}

static void test_written_file_reads_back(void **state)
{
    struct dse_error err = {0};
    hid_t file;
    (void)state;
    files_write(path, "an old file, which goes", 23);
    assert_int_equal(write_sets(path, &err), DSE_OK);
    assert_int_equal(hdf5_open_checked(path, "", &file, &err), DSE_OK); /* the seal holds */
    expect(file, "z", SMALL, 2);
    expect(file, "m", LARGE, 0.5);
    expect(file, "a", SMALL, 3);
    assert_true(H5Fclose(file) >= 0);
}

static herr_t note_name(hid_t group, const char *name, const H5L_info_t *info, void *user)
{
    char *names = user;
    (void)group;
    (void)info;
    strcat(names, name);
    return 0;
}

/* Nothing in it depends on the time; links keep the order of their making. */
static void test_same_content_is_the_same_file(void **state)
{
    struct dse_error err = {0};
    char names[16] = "";
    size_t n, again_n;
    hid_t file;
    (void)state;
    assert_int_equal(write_sets(path, &err), DSE_OK);
    char *bytes = files_read(path, &n);
    assert_int_equal(write_sets(path, &err), DSE_OK);
    char *again = files_read(path, &again_n);
    assert_int_equal(n, again_n);
    assert_memory_equal(bytes, again, n);
    free(bytes);
    free(again);
    assert_int_equal(hdf5_open(path, &file, &err), DSE_OK);
    assert_true(H5Literate(file, H5_INDEX_CRT_ORDER, H5_ITER_INC, NULL, note_name, names) >= 0);
    assert_string_equal(names, "zma");
    assert_true(H5Fclose(file) >= 0);
}

/* HDF5 is told that all is well (write_sets looks at each call) and leaves nothing open. */
static void test_full_disk_is_told_at_the_end(void **state)
{
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(write_sets("/dev/full", &err), DSE_IO);
    assert_string_equal(err.file, "/dev/full");
    assert_string_equal(err.text, "cannot be written: No space left on device");
}

static void test_files_that_cannot_be_made(void **state)
{
    struct hdf5_output output;
    struct dse_error err = {0};
    char missing[700], *longer = malloc(sizeof output.path + 1);
    (void)state;
    assert_non_null(longer);
    snprintf(missing, sizeof missing, "%s/no/o.h5", folder);
    assert_int_equal(hdf5_output_open(&output, missing, &err), DSE_IO);
    assert_string_equal(err.text, "cannot be created: No such file or directory");
    assert_int_equal(hdf5_output_open(&output, folder, &err), DSE_IO);
    assert_string_equal(err.text, "cannot be created: Is a directory");
    memset(longer, 'x', sizeof output.path);
    longer[sizeof output.path] = '\0';
    assert_int_equal(hdf5_output_open(&output, longer, &err), DSE_LIMIT);
    assert_string_equal(err.text, "the output path is too long");
    free(longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_file_reads_back),
        cmocka_unit_test(test_same_content_is_the_same_file),
        cmocka_unit_test(test_full_disk_is_told_at_the_end),
        cmocka_unit_test(test_files_that_cannot_be_made),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
