/* Data that comes with the program is found or named: test programs lie in build/VARIANT/tests/base, so the
 * source tree is four folders up; with a build folder elsewhere only the installation is left, and the
 * answer must name it. New files are whole or absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/files.h"
#include "tests/results/files.h"

static void test_data_folder_is_found_or_named(void **state)
{
    (void)state;
    char path[4096], file[4200];
    if (data_folder_find("experiments", path, sizeof path)) {
        snprintf(file, sizeof file, "%s/architectures/simba.yaml", path);
        assert_int_equal(access(file, R_OK), 0);
    } else {
        assert_non_null(strstr(path, "share/dse/experiments"));
    }
}

static void test_data_folder_says_what_is_missing(void **state)
{
    (void)state;
    char path[4096];
    assert_int_equal(data_folder_find("no such folder", path, sizeof path), 0);
    assert_non_null(strstr(path, "share/dse/no such folder"));
}

static void test_new_file_is_whole_or_absent(void **state)
{
    (void)state;
    char folder[512], path[600];
    struct new_file file;
    struct dse_error err;
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "rows.csv");
    assert_int_equal(new_file_open(path, NULL, &file, &err), DSE_OK);
    fputs("a,b\n", file.stream);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(new_file_close(&file, DSE_OK, &err), DSE_OK);
    char *text = files_read(path, NULL);
    assert_string_equal(text, "a,b\n");
    free(text);
    assert_int_equal(new_file_open(path, NULL, &file, &err), DSE_OK);
    fputs("half", file.stream);
    assert_int_equal(new_file_close(&file, DSE_IO, &err), DSE_IO); /* the rows failed: the old file stays */
    text = files_read(path, NULL);
    assert_string_equal(text, "a,b\n");
    free(text);
    assert_int_not_equal(access(file.temporary, F_OK), 0);
}

static void test_new_file_refuses_and_borrows(void **state)
{
    (void)state;
    struct new_file file;
    struct dse_error err;
    assert_int_equal(new_file_open("", NULL, &file, &err), DSE_BAD_USAGE);
    assert_int_equal(new_file_open("/no such folder/x", NULL, &file, &err), DSE_IO);
    assert_int_equal(new_file_open(NULL, stdout, &file, &err), DSE_OK);
    assert_ptr_equal(file.stream, stdout);
    assert_int_equal(new_file_close(&file, DSE_OK, &err), DSE_OK);
}

/* A link that somebody planted where the file is being made, to a file of the user's. */
static void test_new_file_follows_no_link(void **state)
{
    (void)state;
    char folder[512], path[600], link[600], victim[600];
    struct text_buffer text;
    struct dse_error err;
    files_folder(folder, sizeof folder);
    files_path(path, sizeof path, folder, "f.csv");
    files_path(link, sizeof link, folder, "f.csv.tmp");
    files_path(victim, sizeof victim, folder, "victim");
    text_init(&text);
    text_append(&text, "mine\n");
    assert_int_equal(new_file_write(victim, &text, &err), DSE_OK);
    assert_int_equal(symlink(victim, link), 0);
    text_append(&text, "more\n");
    assert_int_equal(new_file_write(path, &text, &err), DSE_OK);
    char *left = files_read(victim, NULL), *made = files_read(path, NULL);
    assert_string_equal(left, "mine\n");
    assert_string_equal(made, "mine\nmore\n");
    free(left);
    free(made);
    text_free(&text);
}

/* What the system has under /dev is written to, not replaced (a test may well run as root). */
static void test_new_file_leaves_devices(void **state)
{
    (void)state;
    struct text_buffer text;
    struct dse_error err;
    text_init(&text);
    text_append(&text, "rows\n");
    assert_true(file_is_systems("/dev/stdout") && !file_is_systems("/dev/shm/a") &&
                !file_is_systems("dev/a"));
    assert_int_equal(new_file_write("/dev/null", &text, &err), DSE_OK);
    assert_int_equal(access("/dev/null.tmp", F_OK), -1);
    assert_int_equal(new_file_write("/dev/full", &text, &err), DSE_IO);
    struct stat info;
    assert_int_equal(stat("/dev/full", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_folder_is_found_or_named),
        cmocka_unit_test(test_data_folder_says_what_is_missing),
        cmocka_unit_test(test_new_file_is_whole_or_absent),
        cmocka_unit_test(test_new_file_refuses_and_borrows),
        cmocka_unit_test(test_new_file_follows_no_link),
        cmocka_unit_test(test_new_file_leaves_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
