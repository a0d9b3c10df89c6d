#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"

/* The shortest digits as Python's repr gives them (its layout too, less the ".0" of whole numbers). */
static void test_text_double_is_shortest(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {100, "100"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {1e-9, "1e-09"},
        {1.5e-9, "1.5e-09"},
        {0.0001, "0.0001"},
        {0.00001234, "1.234e-05"},
        {131072, "131072"},
        {1e15, "1000000000000000"},
        {1e16, "1e+16"},
        {1e22, "1e+22"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {5e-324, "5e-324"},
        {DBL_MIN, "2.2250738585072014e-308"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {9007199254740993.0, "9007199254740992"},
        {123456.789, "123456.789"},
        {2.0 * 1e23, "2e+23"},
    };
    char text[40];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(text_double(known[i].value, text, sizeof text), known[i].text);
    assert_string_equal(text_double(NAN, text, sizeof text), "nan");
    assert_string_equal(text_double(INFINITY, text, sizeof text), "inf");
    assert_string_equal(text_double(-INFINITY, text, sizeof text), "-inf");
}

/* Any bits: what is printed reads back to the same bits, and no text with one digit less would. */
static void test_text_double_round_trips(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(1, 1, RANDOM_TEST);
    for (int i = 0; i < 50000; i++) {
        uint64_t bits = random_u64(&stream);
        if (i % 10 == 0)
            bits &= UINT64_C(0x800FFFFFFFFFFFFF); /* a subnormal */
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[40];
        double back = 0;
        text_double(value, text, sizeof text);
        assert_true(text_parse_double(text, &back));
        assert_memory_equal(&back, &value, sizeof back);
    }
}

static void test_text_double_shifted_moves_the_point(void **state)
{
    (void)state;
    char text[40];
    assert_string_equal(text_double_shifted(8e-13, 12, text, sizeof text), "0.8");
    assert_string_equal(text_double_shifted(1.6e10, -9, text, sizeof text), "16");
    assert_string_equal(text_double_shifted(-123.45, 1, text, sizeof text), "-1234.5");
    assert_string_equal(text_double_shifted(0, 5, text, sizeof text), "0");
    assert_string_equal(text_double_shifted(1.5, 400, text, sizeof text), "1.5e+400");
}

static void test_text_parse_double_is_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {"",      ".",     "-",        "+1", "nan", "inf", "-inf",
                                      "1e999", "0x1p3", "1.5 ",     " 1", "1e",  "1e+", "1.2.3",
                                      "1,5",   "--1",   "infinity", "1f", "1_0"};
    double value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(text_parse_double(bad[i], &value));
    assert_true(value == 42);
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1", 1},     {"-1.5e-3", -0.0015}, {".5", 0.5},  {"5.", 5},
                {"1E6", 1e6}, {"007", 7},           {"1e-400", 0}};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(text_parse_double(good[i].text, &value));
        assert_true(value == good[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_double_is_shortest),
        cmocka_unit_test(test_text_double_round_trips),
        cmocka_unit_test(test_text_double_shifted_moves_the_point),
        cmocka_unit_test(test_text_parse_double_is_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
