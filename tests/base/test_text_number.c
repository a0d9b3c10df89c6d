/* Doubles as text against printf and strtod, bit for bit: random bits, short decimals, powers.
 * Tests: decimal.c. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/decimal.h"
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

/* The text by printf and strtod alone: the digits by trial, laid out by printf. */
static void plain_text(double value, int shift, char *buffer, size_t size)
{
    char digit[32];
    int exponent = 0;
    const char *sign = signbit(value) ? "-" : "";
    if (value == 0) {
        snprintf(buffer, size, "%s0", sign);
        return;
    }
    int n = snprintf(digit, sizeof digit, "%llu",
                     (unsigned long long)decimal_shortest_by_trial(fabs(value), &exponent));
    exponent += n - 1 + shift;
    while (n > 1 && digit[n - 1] == '0')
        digit[--n] = '\0';
    if (exponent < -4 || exponent > 15)
        snprintf(buffer, size, "%s%c%s%se%c%02d", sign, digit[0], n > 1 ? "." : "", digit + 1,
                 exponent < 0 ? '-' : '+', abs(exponent));
    else if (exponent < 0)
        snprintf(buffer, size, "%s0.%.*s%s", sign, -exponent - 1, "0000", digit);
    else if (n <= exponent + 1)
        snprintf(buffer, size, "%s%s%.*s", sign, digit, exponent + 1 - n, "0000000000000000");
    else
        snprintf(buffer, size, "%s%.*s.%s", sign, exponent + 1, digit, digit + exponent + 1);
}

static double of_bits(uint64_t bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The quick text is that of printf and strtod, and both ways of reading give the value back. */
static void check_text(double value, int shift)
{
    char quick[TEXT_DOUBLE_MAX], plain[64];
    double back = 0;
    if (!isfinite(value))
        return;
    text_double_shifted(value, shift, quick, sizeof quick);
    plain_text(value, shift, plain, sizeof plain);
    assert_string_equal(quick, plain);
    text_double(value, quick, sizeof quick);
    assert_true(text_parse_double(quick, &back));
    assert_memory_equal(&back, &value, sizeof back);
}

static void test_text_double_of_random_bits_is_that_of_printf(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(2, 1, RANDOM_TEST);
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = random_u64(&stream);
        if (i % 10 == 0)
            bits &= UINT64_C(0x800FFFFFFFFFFFFF) >> (i % 50); /* subnormals, short ones too */
        if (i % 10 == 1)
            bits &= ~UINT64_C(0) << (i % 52); /* few bits in use */
        check_text(of_bits(bits), i % 3 ? 0 : (int)(bits % 41) - 20);
    }
}

/* Numbers as results have them: short decimals, whole numbers, and their neighbours. */
static void test_text_double_of_short_decimals_is_that_of_printf(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(3, 1, RANDOM_TEST);
    for (int i = 0; i < 30000; i++) {
        char text[64];
        uint64_t digits = random_u64(&stream) >> (random_u64(&stream) % 64);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits,
                 (int)(random_u64(&stream) % 60) - 40);
        double value = strtod(text, NULL);
        check_text(value, 0);
        check_text(nextafter(value, INFINITY), 0);
        check_text((double)digits, 0);
        check_text((double)digits + 0.5, 0);
    }
}

/* Every power of two, where the rounding interval is lopsided, and of ten, with their neighbours. */
static void test_text_double_of_powers_is_that_of_printf(void **state)
{
    (void)state;
    for (int e = -1074; e <= 1023; e++) {
        double two = ldexp(1, e);
        check_text(two, 0);
        check_text(nextafter(two, 0), 0);
        check_text(nextafter(two, INFINITY), 0);
        check_text(-two * 5, 1);
    }
    for (int e = -324; e <= 308; e++) {
        char text[16];
        snprintf(text, sizeof text, "1e%d", e);
        double ten = strtod(text, NULL);
        check_text(ten, 0);
        check_text(nextafter(ten, 0), 0);
        check_text(nextafter(ten, INFINITY), 0);
    }
}

static void check_parse(const char *text)
{
    double value = 0, plain = strtod(text, NULL);
    assert_int_equal(text_parse_double(text, &value), isfinite(plain));
    if (isfinite(plain))
        assert_memory_equal(&value, &plain, sizeof value);
}

static void test_text_parse_double_is_that_of_strtod(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(4, 1, RANDOM_TEST);
    char text[1200];
    for (int i = 0; i < 100000; i++) {
        uint64_t digits = random_u64(&stream) >> (random_u64(&stream) % 64);
        int exponent = (int)(random_u64(&stream) % (i % 2 ? 60 : 700)) - (i % 2 ? 40 : 350);
        snprintf(text, sizeof text, "%s%llu.%03llue%d", i % 5 ? "" : "-", (unsigned long long)digits,
                 (unsigned long long)(random_u64(&stream) % 1000), exponent);
        check_parse(text);
    }
    /* halfway between two doubles, written out in full, and a little off */
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = random_u64(&stream) & ~(UINT64_C(0x7FF) << 52);
        double value = of_bits(bits | (UINT64_C(1010) + (uint64_t)(i % 80)) << 52);
        long double half = ((long double)value + (long double)nextafter(value, value * 2)) / 2;
        for (int precision = 14; precision <= 60; precision += i % 7 + 1) {
            snprintf(text, sizeof text, "%.*Le", precision, half);
            check_parse(text);
        }
    }
    /* more digits than are looked at, limits, and zeros before and behind */
    static const char *const known[] = {
        "9007199254740993",
        "9007199254740992.99999999999999999999",
        "9007199254740993.00000000000000000001",
        "00000000000000000000000000000000001.5",
        "0.0000000000000000000000000000000000000000000000015",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "2.2250738585072011e-308",
        "2.2250738585072014e-308",
        "4.9e-324",
        "2.4e-324",
        "2.5e-324",
        "0e999999999999999999999",
        "1e-99999999999999999999",
        "1e99999999999999999999",
        "18446744073709551615",
        "18446744073709551616",
        "9999999999999999999",
        "123456789012345678900000000000",
        "-0",
        "-0.0e-5",
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        check_parse(known[i]);
}

static void test_text_double_is_cut_at_size(void **state)
{
    (void)state;
    char text[8] = "#######";
    assert_string_equal(text_double(-1.0 / 3, text, 5), "-0.3");
    assert_int_equal(text[5], '#');
    text_double(1, text, 0);
    assert_int_equal(text[0], '-');
}

static void test_text_u64_and_hex_bytes_are_those_of_printf(void **state)
{
    (void)state;
    for (int i = 0; i < 64; i++) {
        uint64_t value = (UINT64_C(0x123456789ABCDEF0) ^ ~UINT64_C(0)) >> i;
        char quick[32] = "", plain[32];
        quick[text_u64_bytes(value, quick)] = '\0';
        snprintf(plain, sizeof plain, "%llu", (unsigned long long)value);
        assert_string_equal(quick, plain);
        quick[text_hex_bytes(value, quick)] = '\0';
        snprintf(plain, sizeof plain, "%016llx", (unsigned long long)value);
        assert_string_equal(quick, plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_double_is_shortest),
        cmocka_unit_test(test_text_double_round_trips),
        cmocka_unit_test(test_text_double_shifted_moves_the_point),
        cmocka_unit_test(test_text_parse_double_is_strict),
        cmocka_unit_test(test_text_double_of_random_bits_is_that_of_printf),
        cmocka_unit_test(test_text_double_of_short_decimals_is_that_of_printf),
        cmocka_unit_test(test_text_double_of_powers_is_that_of_printf),
        cmocka_unit_test(test_text_parse_double_is_that_of_strtod),
        cmocka_unit_test(test_text_double_is_cut_at_size),
        cmocka_unit_test(test_text_u64_and_hex_bytes_are_those_of_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
