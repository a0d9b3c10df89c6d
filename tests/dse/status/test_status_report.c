/* Rates as people read them; the reports as a whole are in tests/dse/command/test_command_status.sh. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dse/status/status_report.h"

static void test_status_rate_is_readable_at_any_speed(void **state)
{
    (void)state;
    static const struct {
        double per_s;
        const char *wanted;
    } known[] = {
        {19132.4, "19,132 points/s"}, {12.34, "12.3 points/s"}, {1, "1.0 points/s"}, {0.5, "30.0 points/min"},
        {1.0 / 3600, "1.0 points/h"}, {0, "0.0 points/h"},      {NAN, "-"},          {INFINITY, "-"}};
    char text[64];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(status_rate(known[i].per_s, text, sizeof text), known[i].wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_rate_is_readable_at_any_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
