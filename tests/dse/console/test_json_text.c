/* Texts as JSON (RFC 8259): what must be escaped, bytes that are no UTF-8, numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/text.h"
#include "dse/console/json_text.h"

/* RFC 8259: what must be escaped, and UTF-8 as it is. */
static void test_json_text_quote_makes_json_of_any_bytes(void **state)
{
    (void)state;
    static const char *const pair[][2] = {
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"\b\t\n\v\f\r\x01\x1f\x7f", "\"\\b\\t\\n\\u000b\\f\\r\\u0001\\u001f\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xc0\x80|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82",
         "\"\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|"
         "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
         "\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\""},
        {"", "\"\""},
    };
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        struct text_buffer text;
        text_init(&text);
        json_text_quote(&text, pair[i][0]);
        assert_string_equal(text.data, pair[i][1]);
        text_free(&text);
    }
    struct text_buffer text;
    text_init(&text);
    for (double value = 1e-320; value < 1e308; value *= 1e7) {
        text_clear(&text);
        json_text_number(&text, value);
        assert_true(strtod(text.data, NULL) == value);
    }
    text_clear(&text);
    json_text_number(&text, NAN);
    json_text_number(&text, -INFINITY);
    assert_string_equal(text.data, "nullnull");
    text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_text_quote_makes_json_of_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
