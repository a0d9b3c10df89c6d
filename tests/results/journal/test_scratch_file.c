/* Scratch files hold what is written and leave no name behind. */
#include "tests/results/files.h"

#include <dirent.h>

#include "results/journal/scratch_file.h"

static int n_names(const char *folder)
{
    DIR *open = opendir(folder);
    int n = 0;
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open)) != NULL;)
        n += entry->d_name[0] != '.';
    closedir(open);
    return n;
}

static void test_scratch_file_has_no_name(void **state)
{
    (void)state;
    char folder[512], near[600], bytes[8] = {0};
    FILE *file;
    struct dse_error err;
    files_folder(folder, sizeof folder);
    files_path(near, sizeof near, folder, "out.h5");
    assert_int_equal(scratch_file_open(near, &file, &err), DSE_OK);
    assert_int_equal(n_names(folder), 0);
    assert_int_equal(fwrite("1234567", 1, 8, file), 8);
    rewind(file);
    assert_int_equal(fread(bytes, 1, 8, file), 8);
    assert_string_equal(bytes, "1234567");
    fclose(file);
    assert_int_equal(n_names(folder), 0);
    assert_int_equal(scratch_file_open("/no such folder/out.h5", &file, &err), DSE_IO);
    assert_null(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scratch_file_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
