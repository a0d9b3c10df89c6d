/* Bits against an array of bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/bits.h"

static void test_bits_are_those_that_were_set(void **state)
{
    (void)state;
    for (size_t n = 0; n < 200; n += 13) {
        struct bits bits;
        unsigned char is[200] = {0};
        assert_true(bits_init(&bits, n));
        for (size_t i = 0; i < n; i += 1 + i % 5) {
            bits_set(&bits, i);
            bits_set(&bits, i);
            is[i] = 1;
        }
        for (size_t i = 0; i < n; i++)
            assert_int_equal(bits_has(&bits, i), is[i]);
        bits_free(&bits);
        assert_null(bits.word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bits_are_those_that_were_set)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
