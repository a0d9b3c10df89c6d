/* Every misfit in words. Expected sentences are written by hand from the numbers in the cases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/misfit.h"
#include "tests/engines/small_cases.h"

static void test_misfit_says_who_needs_what(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    char text[256];
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 8, 64);
    const char *level = arch.level[1].name;
    struct misfit_info fit = {
        .what = MISFIT_CAPACITY, .level = 1, .dim = -1, .tensors = 3, .needed = 70, .available = 64};
    misfit_print(&fit, &problem, &arch, text, sizeof text);
    assert_non_null(strstr(text, level));
    assert_non_null(strstr(text, problem.tensor[0].name));
    assert_non_null(strstr(text, problem.tensor[1].name));
    assert_null(strstr(text, problem.tensor[2].name));
    fit = (struct misfit_info){.what = MISFIT_MESH_X, .level = -1, .dim = -1, .needed = 5, .available = 2};
    misfit_print(&fit, &problem, &arch, text, sizeof text);
    assert_non_null(strstr(text, arch.mac.name));
    assert_true(strchr(text, '5') && strchr(text, '2'));
}

/* No reason is without words, and no two say the same. */
static void test_misfit_every_reason_has_its_sentence(void **state)
{
    (void)state;
    struct problem problem;
    struct architecture arch;
    char text[MISFIT_ORDER + 1][256];
    small_gemm(&problem, 4, 4, 4);
    small_machine(&arch, 8, 64);
    arch.group[0] = (struct bank_group){.name = "Group", .banks = 3};
    arch.level[1].bank_group = 1;
    arch.n_group = 1;
    for (int what = MISFIT_FACTORS; what <= MISFIT_ORDER; what++) {
        const struct misfit_info fit = {(enum misfit)what, 1, 0, 1, 12345, 678};
        misfit_print(&fit, &problem, &arch, text[what], sizeof text[what]);
        assert_true(strlen(text[what]) > 10);
        for (int other = MISFIT_FACTORS; other < what; other++)
            assert_string_not_equal(text[what], text[other]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misfit_says_who_needs_what),
        cmocka_unit_test(test_misfit_every_reason_has_its_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
