/* Test programs lie in build/VARIANT/tests/base, so the source tree is the one four folders up; with a build
 * folder elsewhere only the installation is left, and the answer must name it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/data_folder.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_folder_is_found_or_named),
        cmocka_unit_test(test_data_folder_says_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
