/* A file that HDF5 fills with every way to lead out of a file is refused by hdf5_check, sealed or not, and
 * nothing waits for the pipe that it leads to. Tests: hdf5_inside.c. */
#include "tests/results/files.h"

#include <sys/stat.h>

#include "base/hdf5/hdf5_file.h"
#include "base/hdf5/hdf5_guard.h"
#include "base/hdf5/hdf5_inside.h"

enum way { NOTHING, SOFT, EXTERNAL, EXTERNAL_IN_GROUP, SOFT_TO_EXTERNAL, STORAGE, VIRTUAL, N_WAY };

static char folder[] = "/tmp/dse-inside-XXXXXX", path[64], pipe_path[64];

/* A dataset `values` of three numbers whose values lie elsewhere. */
static void add_elsewhere(hid_t file, bool virtual)
{
    const hsize_t n = 3;
    hid_t space = H5Screate_simple(1, &n, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    if (virtual)
        assert_true(H5Pset_virtual(list, space, pipe_path, "x", space) >= 0);
    else
        assert_true(H5Pset_external(list, pipe_path, 0, n * sizeof(double)) >= 0);
    hid_t dataset = H5Dcreate2(file, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(dataset >= 0);
    H5Dclose(dataset);
    H5Pclose(list);
    H5Sclose(space);
}

static void make(enum way way, bool seal)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t group = hdf5_create_group(file, "levels");
    assert_true(file >= 0 && group >= 0);
    if (way == SOFT)
        assert_true(H5Lcreate_soft("/levels", file, "same", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    if (way == EXTERNAL || way == SOFT_TO_EXTERNAL)
        assert_true(H5Lcreate_external(pipe_path, "/", file, "values", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    if (way == EXTERNAL_IN_GROUP)
        assert_true(H5Lcreate_external(pipe_path, "/", group, "values", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    if (way == SOFT_TO_EXTERNAL)
        assert_true(H5Lcreate_soft("/values/x", file, "status", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    if (way == STORAGE || way == VIRTUAL)
        add_elsewhere(file, way == VIRTUAL);
    H5Gclose(group);
    H5Fclose(file);
    if (seal)
        assert_int_equal(hdf5_seal(path, 0, NULL), DSE_OK);
}

static void test_hdf5_inside_ways_out_of_a_file_are_refused(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x.h5", folder);
    snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    for (enum way way = NOTHING; way < N_WAY; way++)
        for (int seal = 0; seal < 2; seal++) {
            struct dse_error err = {0};
            make(way, seal);
            alarm(60); /* a pipe that is opened has no other end */
            enum dse_status status = hdf5_check(path, "write it again", &err);
            alarm(0);
            assert_int_equal(status, way <= SOFT ? DSE_OK : DSE_BAD_INPUT);
            assert_true(way <= SOFT || strstr(err.text, "in another file"));
            assert_true(way <= SOFT || strstr(err.text, "values"));
        }
    unlink(path);
    unlink(pipe_path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hdf5_inside_ways_out_of_a_file_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
