/* Texts that may be anything become texts of HTML and of JSON within it; numbers as people read them; scales.
 * Tests: page_html.c, page_scale.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "results/page/page_html.h"
#include "results/page/page_parts.h"

static void expect(void write(struct text_buffer *, const char *), const char *from, const char *to)
{
    struct text_buffer text;
    text_init(&text);
    write(&text, from);
    assert_false(text.failed);
    assert_string_equal(text.length ? text.data : "", to);
    text_free(&text);
}

/* The five letters that HTML has names for; U+FFFD stands for what is no UTF-8, as the Encoding Standard has
 * it. */
static void test_html_text_is_a_text_whatever_it_is(void **state)
{
    (void)state;
    expect(html_text, "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;");
    expect(html_text, "</script><!-- x -->", "&lt;/script&gt;&lt;!-- x --&gt;");
    expect(html_text, "a\tb\nc", "a\tb\nc");
    expect(html_text, "\x01|\x1b[31m|\x7f|", "\xef\xbf\xbd|\xef\xbf\xbd[31m|\xef\xbf\xbd|");
    expect(html_text, "\xc2\x9b|\xc2\xa0", "\xef\xbf\xbd\xef\xbf\xbd|\xc2\xa0"); /* C1, byte by byte */
    expect(html_text, "\xff|\xc0\xbc|\xe2\x82",
           "\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd");
    expect(html_text, "r\xc3\xa9sn\xe2\x82\xact\xf0\x9f\x98\x80", "r\xc3\xa9sn\xe2\x82\xact\xf0\x9f\x98\x80");
    expect(html_text, "", "");
}

/* RFC 8259, and nothing in it that ends a script or begins a comment. */
static void test_html_json_may_stand_in_a_script(void **state)
{
    (void)state;
    expect(html_json, "a\"b\\c", "\"a\\u0022b\\u005cc\"");
    expect(html_json, "</script><!--", "\"\\u003c/script\\u003e\\u003c!--\"");
    expect(html_json, "a\nb\tc&'", "\"a\\u000ab\\u0009c\\u0026\\u0027\"");
    expect(html_json, "\xe2\x80\xa8|\xe2\x80\xa9", "\" | \"");
    expect(html_json, "\xff\x02\xc3\xa9", "\"\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\"");
}

static void expect_doubles(const double *value, size_t n, const char *wanted)
{
    struct text_buffer text;
    text_init(&text);
    html_doubles(&text, value, n);
    assert_string_equal(text.length ? text.data : "", wanted);
    text_free(&text);
}

/* Python: base64.b64encode(struct.pack("<3d", 1.5, -0.1, math.nan)) and its beginnings. */
static void test_html_doubles_are_base64(void **state)
{
    (void)state;
    const double value[] = {1.5, -0.1, NAN};
    expect_doubles(value, 0, "");
    expect_doubles(value, 1, "AAAAAAAA+D8=");
    expect_doubles(value, 2, "AAAAAAAA+D+amZmZmZm5vw==");
    expect_doubles(value, 3, "AAAAAAAA+D+amZmZmZm5vwAAAAAAAPh/");
}

static void test_html_value_is_for_people(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *unit, *text;
    } row[] = {
        {4.56e-3, "J", "4.56 mJ"}, {2.5e-8, "J s", "25.0 nJ s"},          {65536, "byte", "64 KiB"},
        {0.25, "1", "0.25"},       {1234567, "cycle", "1,234,567 cycle"}, {1.23456, "mm2", "1.235 mm2"},
        {NAN, "s", "-"},           {16e9, "byte/s", "16.0 GB/s"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[64];
        assert_string_equal(html_value(row[i].value, row[i].unit, text, sizeof text), row[i].text);
    }
}

/* Worked out by hand. */
static void test_scale_has_round_ticks_and_places(void **state)
{
    (void)state;
    double tick[8];
    const struct page_scale line = page_scale_of(10, 50), log = page_scale_of(1, 100);
    assert_false(line.log);
    assert_true(log.log);
    assert_float_equal(page_scale_place(&line, 20), 0.25, 1e-12);
    assert_float_equal(page_scale_place(&log, 10), 0.5, 1e-12);
    assert_int_equal(page_ticks(&line, tick, 6), 5);
    assert_float_equal(tick[0], 10, 1e-12);
    assert_float_equal(tick[4], 50, 1e-12);
    assert_int_equal(page_ticks(&log, tick, 8), 7); /* 1 2 5 10 20 50 100 */
    assert_float_equal(tick[4], 20, 1e-12);
}

static void test_scale_of_one_value_has_room(void **state)
{
    (void)state;
    const struct page_scale one = page_scale_of(5, 5), zero = page_scale_of(0, 0);
    assert_float_equal(page_scale_place(&one, 5), 0.5, 1e-12);
    assert_float_equal(page_scale_place(&zero, 0), 0.5, 1e-12);
}

static void test_ticks_have_no_zeros_at_the_end(void **state)
{
    (void)state;
    char text[64];
    assert_string_equal(page_tick_text(5e-3, "s", text, sizeof text), "5 ms");
    assert_string_equal(page_tick_text(2.5e-3, "s", text, sizeof text), "2.5 ms");
    assert_string_equal(page_tick_text(100, "cycle", text, sizeof text), "100 cycle");
    assert_string_equal(page_tick_text(24.25e-6, "J s", text, sizeof text), "24.25 uJ s");
    assert_string_equal(page_tick_text(1.5 * 1024 * 1024, "byte", text, sizeof text), "1.5 MiB");
    assert_string_equal(page_tick_text(100, "byte", text, sizeof text), "100 B");
    assert_string_equal(page_tick_text(2.5e9, "byte/s", text, sizeof text), "2.5 GB/s");
    assert_string_equal(page_tick_text(0.25, "1", text, sizeof text), "0.25");
    assert_string_equal(page_tick_text(0, "s", text, sizeof text), "0 s");
    assert_string_equal(page_tick_text(1.5, NULL, text, sizeof text), "1.5\xc3\x97");
    assert_string_equal(page_tick_text(2000, NULL, text, sizeof text), "2000\xc3\x97");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_html_text_is_a_text_whatever_it_is),
        cmocka_unit_test(test_html_json_may_stand_in_a_script),
        cmocka_unit_test(test_html_doubles_are_base64),
        cmocka_unit_test(test_html_value_is_for_people),
        cmocka_unit_test(test_scale_has_round_ticks_and_places),
        cmocka_unit_test(test_scale_of_one_value_has_room),
        cmocka_unit_test(test_ticks_have_no_zeros_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
