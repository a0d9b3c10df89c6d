/* Which folder is synced, and what its failures mean. This program has its own fsync, which notes the folder
 * and fails as told. */
#include "tests/results/files.h"

#include <errno.h>

#include "results/journal/sync_folder.h"

static struct {
    char path[4096];
    int n, fail;
} synced;

int fsync(int fd)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, synced.path, sizeof synced.path - 1);
    synced.path[n > 0 ? n : 0] = '\0';
    synced.n++;
    errno = synced.fail;
    return synced.fail ? -1 : 0;
}

static enum dse_status sync_it(const char *path, int fail, struct dse_error *err)
{
    memset(&synced, 0, sizeof synced);
    synced.fail = fail;
    return sync_folder(path, err);
}

static void test_the_folder_of_the_path_is_synced(void **state)
{
    char folder[512], real[4096], path[600], here[4096];
    struct dse_error err = {0};
    (void)state;
    files_folder(folder, sizeof folder);
    assert_non_null(realpath(folder, real));
    assert_non_null(getcwd(here, sizeof here));
    const struct {
        const char *path, *wanted;
    } row[] = {{files_path(path, sizeof path, folder, "o.h5"), real}, {"/o.h5", "/"}, {"o.h5", here}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(sync_it(row[i].path, 0, &err), DSE_OK);
        assert_int_equal(synced.n, 1);
        assert_string_equal(synced.path, row[i].wanted);
    }
    rmdir(folder);
}

/* Some file systems cannot (man 2 fsync: EINVAL); only EIO says that the disk failed. */
static void test_only_a_failing_disk_is_an_error(void **state)
{
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(sync_it("/o.h5", EINVAL, &err), DSE_OK);
    assert_int_equal(sync_it("/o.h5", EROFS, &err), DSE_OK);
    assert_int_equal(sync_it("/o.h5", EIO, &err), DSE_IO);
    assert_string_equal(err.file, "/");
    assert_string_equal(err.text, "cannot be synced: Input/output error");
}

static void test_folder_that_cannot_be_opened_is_left(void **state)
{
    struct dse_error err = {0};
    char path[5000];
    (void)state;
    assert_int_equal(sync_it("/no/such/folder/o.h5", EIO, &err), DSE_OK);
    assert_int_equal(synced.n, 0);
    memset(path, 'a', sizeof path); /* longer than any path */
    path[sizeof path - 2] = '/';
    path[sizeof path - 1] = '\0';
    path[0] = '/';
    assert_int_equal(sync_it(path, EIO, &err), DSE_OK);
    assert_int_equal(synced.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_folder_of_the_path_is_synced),
        cmocka_unit_test(test_only_a_failing_disk_is_an_error),
        cmocka_unit_test(test_folder_that_cannot_be_opened_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
