/* Growing arrays: room for what is asked, what was there is kept, and nothing changes on overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/array.h"

static void test_array_grow_keeps_what_is_there(void **state)
{
    (void)state;
    size_t capacity = 0, n_moved = 0, before = 0;
    uint32_t *item = NULL;
    for (uint32_t i = 0; i < 5000; i++) {
        uint32_t *grown = array_grow(item, i + 1, &capacity, sizeof *item);
        assert_non_null(grown);
        item = grown;
        assert_true(capacity >= i + 1);
        n_moved += capacity != before;
        before = capacity;
        item[i] = 3 * i;
    }
    assert_true(n_moved <= 13); /* doubling: 2^13 = 8192 */
    for (uint32_t i = 0; i < 5000; i++)
        assert_int_equal(item[i], 3 * i);
    free(item);
}

static void test_array_grow_refuses_overflow(void **state)
{
    (void)state;
    size_t capacity = 0;
    char *item = array_grow(NULL, 1, &capacity, 8), *same = item;
    size_t had = capacity;
    assert_non_null(item);
    assert_null(array_grow(item, SIZE_MAX, &capacity, 1));
    assert_null(array_grow(item, SIZE_MAX / 2, &capacity, 8));
    assert_int_equal(capacity, had);
    assert_ptr_equal(array_grow(item, had, &capacity, 8), same);
    free(item);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array_grow_keeps_what_is_there),
        cmocka_unit_test(test_array_grow_refuses_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
