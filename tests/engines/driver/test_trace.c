/* A trace that is thinned keeps its first and its last point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engines/driver/trace.h"

static void test_trace_keeps_first_and_last(void **state)
{
    (void)state;
    struct engine_result *r = calloc(1, sizeof *r);
    assert_non_null(r);
    for (uint64_t i = 1; i <= 5000; i++) {
        trace_add(r, i, 1.0 / (double)i);
        assert_true(r->n_trace <= ENGINE_TRACE_MAX);
        assert_int_equal(r->trace[0].evaluation, 1);
        assert_int_equal(r->trace[r->n_trace - 1].evaluation, i);
        for (uint32_t k = 1; k < r->n_trace; k++)
            assert_true(r->trace[k].evaluation > r->trace[k - 1].evaluation);
    }
    assert_true(r->n_trace > ENGINE_TRACE_MAX / 4);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_trace_keeps_first_and_last)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
