/* Accountings by their names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"

static void test_accounting_is_found_by_its_name(void **state)
{
    size_t n;
    const struct accounting *const *all = accounting_all(&n);
    (void)state;
    assert_int_equal(n, 6);
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(accounting_find(all[i]->name), all[i]);
        assert_true(strlen(all[i]->summary) > 10);
    }
    assert_null(accounting_find("refetch"));
}

static void test_accounting_unknown_names_get_the_nearest(void **state)
{
    const struct accounting *found;
    struct dse_error err;
    (void)state;
    assert_int_equal(accounting_named("soma-compact", &found, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "unknown accounting \"soma-compact\"; did you mean soma-compat?");
    assert_int_equal(accounting_named("wattch!", &found, &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "unknown accounting \"wattch!\"; see `dse list accountings`");
    assert_int_equal(accounting_named("timeloop", &found, &err), DSE_OK);
    assert_ptr_equal(found, &accounting_timeloop);
}

/* Those of schedules want a buffer inside the DRAM, which a machine of one level has not: then it is the
 * first of all, whose message says so. */
static void test_accounting_standard_is_the_first_that_takes_the_machine(void **state)
{
    struct architecture arch = {.n_level = 1};
    struct dse_error err;
    (void)state;
    assert_ptr_equal(accounting_standard(ACCOUNTING_MAPPING, &arch), &accounting_timeloop);
    assert_ptr_equal(accounting_standard(ACCOUNTING_SCHEDULE, &arch), accounting_find("soma"));
    assert_int_equal(accounting_accepts(accounting_find("soma"), &arch, &err), DSE_BAD_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accounting_is_found_by_its_name),
        cmocka_unit_test(test_accounting_unknown_names_get_the_nearest),
        cmocka_unit_test(test_accounting_standard_is_the_first_that_takes_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
