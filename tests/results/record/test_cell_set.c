/* Cells that were added are there and no others, in both forms of the set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "results/record/cell_set.h"

/* A small cube by bits, one of 10^15 cells by a table. */
static void test_cell_set_holds_what_was_added(void **state)
{
    (void)state;
    static const uint64_t n_cell[] = {100000, 1000000000000000};
    for (int i = 0; i < 2; i++) {
        struct cell_set set;
        struct dse_error err;
        bool is_new;
        assert_int_equal(cell_set_init(&set, n_cell[i], &err), DSE_OK);
        for (int again = 0; again < 2; again++)
            for (uint64_t k = 0; k < 5000; k++) {
                assert_int_equal(cell_set_add(&set, k * (n_cell[i] / 5000), &is_new, &err), DSE_OK);
                assert_int_equal(is_new, !again);
            }
        assert_true(cell_set_has(&set, n_cell[i] / 5000));
        assert_false(cell_set_has(&set, 1));
        assert_false(cell_set_has(&set, n_cell[i] - 1));
        cell_set_free(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cell_set_holds_what_was_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
