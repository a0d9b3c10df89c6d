/* When a search of the SoMa family has to end.
 * Tests: search.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/clock.h"
#include "engines/soma/search/lfa_search.h"
#include "engines/soma/search/plus_price.h"
#include "tests/support/soma_case.h"

static void test_search_is_over_when_time_or_cancel_says_so(void **state)
{
    (void)state;
    atomic_int cancel = 0;
    struct soma_search search = {0};
    assert_false(soma_search_is_over(&search));
    search.cancel = &cancel;
    search.stop_at_s = clock_wall_s() + 3600;
    assert_false(soma_search_is_over(&search));
    cancel = 1;
    assert_true(soma_search_is_over(&search));
    search.cancel = NULL;
    search.stop_at_s = clock_wall_s();
    assert_true(soma_search_is_over(&search));
}

/* tiny6 with 16 tiles a layer: polishing gives a schedule all the same, of less than all it would look at. */
static void test_search_that_is_over_polishes_no_more(void **state)
{
    (void)state;
    struct soma_case c;
    struct soma_lfa lfa;
    struct fused_schedule schedule;
    struct soma_price price;
    struct arena scratch;
    struct dse_error err;
    atomic_int cancel = 0;
    uint64_t left = 1000000;
    soma_case_open(&c, "tests/known/soma/tiny6.yaml", 1 << 20);
    struct soma_search search = {.context = c.context,
                                 .machine = {1 << 20, {1, 1}, 84e-12},
                                 .objective = {1, 1},
                                 .clock_hz = 1e9,
                                 .cancel = &cancel};
    arena_init(&scratch);
    soma_lfa_new(6, &c.arena, &lfa);
    assert_int_equal(soma_initial_lfa(&search, SOMA_MOVES_PAPER, 1 << 20, NULL, &lfa, &price, &err), DSE_OK);
    atomic_store(&cancel, 1);
    assert_int_equal(plus_polish(&search, &lfa, NULL, 350, &left, random_stream_make(1, 1, RANDOM_TEST),
                                 &scratch, &schedule, &price, &err),
                     DSE_OK);
    assert_true(isfinite(price.cost));
    assert_true(left > 999990);
    arena_free(&scratch);
    soma_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_is_over_when_time_or_cancel_says_so),
        cmocka_unit_test(test_search_that_is_over_polishes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
