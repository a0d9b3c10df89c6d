/* Numbers as people read them. Expected texts are written by hand from the rules in text.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"

static void test_text_numbers_have_prefixes(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{4.56e-3, "4.56 mJ"}, {123.4, "123 J"},   {12.34, "12.3 J"},
                {0, "0 J"},           {999.7, "1.00 kJ"}, {1e-12, "1.00 pJ"},
                {2.5e9, "2.50 GJ"},   {NAN, "-"},         {-0.002, "-2.00 mJ"}};
    char text[48];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(text_si(rows[i].value, "J", text, sizeof text), rows[i].text);
}

static void test_text_bytes_are_binary(void **state)
{
    (void)state;
    char text[48];
    assert_string_equal(text_bytes(12, text, sizeof text), "12 B");
    assert_string_equal(text_bytes(1536, text, sizeof text), "1.5 KiB");
    assert_string_equal(text_bytes(1048576, text, sizeof text), "1 MiB");
    assert_string_equal(text_bytes(NAN, text, sizeof text), "-");
}

static void test_text_plural_is_for_all_but_one(void **state)
{
    (void)state;
    assert_string_equal(text_plural(1), "");
    assert_string_equal(text_plural(0), "s");
    assert_string_equal(text_plural(2), "s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_numbers_have_prefixes),
        cmocka_unit_test(test_text_bytes_are_binary),
        cmocka_unit_test(test_text_plural_is_for_all_but_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
