/* Both clocks go on, and only the thread's own counts work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

#include "base/clock.h"

static void test_clock_wall_goes_on_while_sleeping(void **state)
{
    (void)state;
    const struct timespec pause = {.tv_nsec = 2000000};
    double wall_s = clock_wall_s();
    (void)nanosleep(&pause, NULL);
    assert_true(clock_wall_s() - wall_s >= 0.002); /* what nanosleep promises */
}

static void test_clock_thread_counts_work(void **state)
{
    (void)state;
    double start_s = clock_thread_s(), wall_s = clock_wall_s();
    while (clock_thread_s() - start_s < 0.001)
        ;                                                 /* ends only when the clock counts this very loop */
    assert_true(clock_wall_s() - wall_s >= 0.001 * 0.99); /* one thread cannot work longer than time passes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clock_wall_goes_on_while_sleeping),
        cmocka_unit_test(test_clock_thread_counts_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
