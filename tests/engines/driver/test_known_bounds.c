/* The table of lower bounds: what is raised is found, the highest counts, other keys never are, and what no
 * longer fits takes the place of others. By several threads. */
#include <omp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engines/driver/known_bounds.h"

static struct known_key key_of(uint64_t i)
{
    return (struct known_key){i * 0x9e3779b97f4a7c15u, i * 0xc2b2ae3d27d4eb4fu};
}

static void test_the_highest_is_found(void **state)
{
    (void)state;
    struct known_bounds *known;
    struct dse_error err;
    assert_int_equal(known_bounds_new(256, &known, &err), DSE_OK);
    assert_true(known_bounds_get(known, key_of(1)).bound == 0);
    known_bounds_raise(known, key_of(1), (struct known_bound){2, false});
    known_bounds_raise(known, key_of(1), (struct known_bound){5, false});
    known_bounds_raise(known, key_of(1), (struct known_bound){3, false});
    assert_true(known_bounds_get(known, key_of(1)).bound == 5);
    assert_false(known_bounds_get(known, key_of(1)).exact);
    known_bounds_raise(known, key_of(1), (struct known_bound){6, true});
    known_bounds_raise(known, key_of(1), (struct known_bound){7, false});
    assert_true(known_bounds_get(known, key_of(1)).bound == 6 && known_bounds_get(known, key_of(1)).exact);
    const struct known_key half = {key_of(1).hash, key_of(2).check}; /* found by the same hash */
    assert_true(known_bounds_get(known, half).bound == 0);
    known_bounds_free(known);
    known_bounds_free(NULL);
}

/* Of 100,000 bounds a small table keeps some, each of them right. */
static void test_a_full_table_keeps_what_is_right(void **state)
{
    (void)state;
    enum { N = 100000, ROOM = 1024 };
    struct known_bounds *known;
    struct dse_error err;
    uint32_t n_kept = 0, n_wrong = 0;
    assert_int_equal(known_bounds_new(ROOM, &known, &err), DSE_OK);
#pragma omp parallel for num_threads(4) reduction(+ : n_wrong)
    for (uint64_t i = 1; i <= N; i++) {
        known_bounds_raise(known, key_of(i), (struct known_bound){(double)i, i % 2 == 0});
        const struct known_bound found = known_bounds_get(known, key_of(i / 2));
        n_wrong += found.bound != 0 && (found.bound != (double)(i / 2) || found.exact != (i / 2 % 2 == 0));
    }
    for (uint64_t i = 1; i <= N; i++) {
        const double found = known_bounds_get(known, key_of(i)).bound;
        n_kept += found != 0;
        n_wrong += found != 0 && found != (double)i;
    }
    assert_int_equal(n_wrong, 0);
    assert_true(n_kept > ROOM / 2 && n_kept <= ROOM);
    known_bounds_free(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_highest_is_found),
        cmocka_unit_test(test_a_full_table_keeps_what_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
