/* A file of rows is there only when all went well; without a path the rows go elsewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "dse/console/output_file.h"
#include "tests/results/files.h"

static void test_output_file_is_whole_or_absent(void **state)
{
    (void)state;
    char folder[512], path[600];
    struct output_file file;
    struct dse_error err;
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "rows.csv");
    assert_int_equal(output_file_open(path, NULL, &file, &err), DSE_OK);
    fputs("a,b\n", file.stream);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(output_file_close(&file, DSE_OK, &err), DSE_OK);
    char *text = files_read(path, NULL);
    assert_string_equal(text, "a,b\n");
    free(text);
    assert_int_equal(output_file_open(path, NULL, &file, &err), DSE_OK);
    fputs("half", file.stream);
    assert_int_equal(output_file_close(&file, DSE_IO, &err),
                     DSE_IO); /* the rows failed: the old file stays */
    text = files_read(path, NULL);
    assert_string_equal(text, "a,b\n");
    free(text);
    assert_int_not_equal(access(file.temporary, F_OK), 0);
}

static void test_output_file_refuses_and_borrows(void **state)
{
    (void)state;
    struct output_file file;
    struct dse_error err;
    assert_int_equal(output_file_open("", NULL, &file, &err), DSE_BAD_USAGE);
    assert_int_equal(output_file_open("/no such folder/x", NULL, &file, &err), DSE_IO);
    assert_int_equal(output_file_open(NULL, stdout, &file, &err), DSE_OK);
    assert_ptr_equal(file.stream, stdout);
    assert_int_equal(output_file_close(&file, DSE_OK, &err), DSE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_output_file_is_whole_or_absent),
        cmocka_unit_test(test_output_file_refuses_and_borrows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
