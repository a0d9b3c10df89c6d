/* The number of threads: never more than the variables say, never none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "dse/run/threads.h"

static void test_threads_keep_to_the_variables(void **state)
{
    (void)state;
    unsetenv("SLURM_CPUS_PER_TASK");
    unsetenv("OMP_NUM_THREADS");
    int all = threads_available();
    assert_true(all >= 1);
    static const char *const variable[] = {"SLURM_CPUS_PER_TASK", "OMP_NUM_THREADS"};
    for (size_t i = 0; i < 2; i++) {
        setenv(variable[i], "1", 1);
        assert_int_equal(threads_available(), 1);
        setenv(variable[i], "1000000", 1); /* more than there are */
        assert_int_equal(threads_available(), all);
        setenv(variable[i], "0", 1);
        assert_int_equal(threads_available(), all);
        setenv(variable[i], "many", 1);
        assert_int_equal(threads_available(), all);
        unsetenv(variable[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_keep_to_the_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
