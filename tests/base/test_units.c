/* Quantities: every unit parses to the nearest double, prints back as it was, and what is wrong is
 * explained. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/units.h"

enum { N_KIND = UNIT_JOULE_PER_BIT + 1 };

/* Expected values are the decimal literals, so parsing must round as the compiler does. */
static void test_units_parse_gives_si(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit_kind kind;
        double value;
    } known[] = {
        {"128 KiB", UNIT_BYTE, 131072},
        {"128KiB", UNIT_BYTE, 131072},
        {"  128 \tKiB ", UNIT_BYTE, 131072},
        {"1.5 MiB", UNIT_BYTE, 1572864},
        {"3 kB", UNIT_BYTE, 3000},
        {"0 B", UNIT_BYTE, 0},
        {"2 TiB", UNIT_BYTE, 2199023255552},
        {"24 bit", UNIT_BIT, 24},
        {"2 Kibit", UNIT_BIT, 2048},
        {"16 GB/s", UNIT_BYTE_PER_S, 16e9},
        {"25.6 GB/s", UNIT_BYTE_PER_S, 25.6e9},
        {"1 GiB/s", UNIT_BYTE_PER_S, 1073741824},
        {"8 Gbit/s", UNIT_BYTE_PER_S, 1e9},
        {"100 Mbit/s", UNIT_BYTE_PER_S, 12.5e6},
        {"0.8 pJ", UNIT_JOULE, 0.8e-12},
        {"200.3 pJ", UNIT_JOULE, 200.3e-12},
        {"7 fJ", UNIT_JOULE, 7e-15},
        {"1e-3 uJ", UNIT_JOULE, 1e-9},
        {"1 GHz", UNIT_HERTZ, 1e9},
        {"1.2E3 MHz", UNIT_HERTZ, 1.2e9},
        {"30 us", UNIT_SECOND, 30e-6},
        {"2 min", UNIT_SECOND, 120},
        {"0.5 h", UNIT_SECOND, 1800},
        {"30 um", UNIT_METRE, 30e-6},
        {"16 nm", UNIT_METRE, 16e-9},
        {"12.5 mW", UNIT_WATT, 12.5e-3},
        {"1 cycle", UNIT_CYCLE, 1},
        {"12 cycles", UNIT_CYCLE, 12},
        {"8 words", UNIT_WORD, 8},
        {"16 word/cycle", UNIT_WORD_PER_CYCLE, 16},
        {"0.5 words/cycle", UNIT_WORD_PER_CYCLE, 0.5},
        {"0.8 pJ/bit", UNIT_JOULE_PER_BIT, 0.8e-12},
        {".5 B", UNIT_BYTE, 0.5},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct dse_error err;
        double value = -1;
        assert_int_equal(quantity_parse(known[i].text, known[i].kind, "x", &value, &err), DSE_OK);
        assert_true(value == known[i].value);
    }
}

static void test_units_parse_explains_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum unit_kind kind;
        const char *message; /* its beginning */
    } known[] = {
        {"128", UNIT_BYTE, "x: \"128\" has no unit; write a size such as 128 KiB (B, KiB, MiB, "},
        {"128 kib", UNIT_BYTE,
         "x: \"128 kib\" has the unknown unit \"kib\"; did you mean KiB? (accepted: B, KiB, "},
        {"128 mB", UNIT_BYTE, "x: \"128 mB\" has the unknown unit \"mB\"; did you mean MB?"},
        {"128 KB", UNIT_BYTE,
         "x: \"128 KB\" has the unknown unit \"KB\"; did you mean KiB (1024) or kB (1000)?"},
        {"128 K", UNIT_BYTE, "x: \"128 K\" has the unknown unit \"K\"; did you mean KiB?"},
        {"16 GB/s", UNIT_BYTE, "x: \"16 GB/s\" is in GB/s, but a value in byte is wanted; write a size"},
        {"16 GBps", UNIT_BYTE_PER_S, "x: \"16 GBps\" has the unknown unit \"GBps\"; did you mean GB/s?"},
        {"1 ghz", UNIT_HERTZ, "x: \"1 ghz\" has the unknown unit \"ghz\"; did you mean GHz?"},
        {"1 mhz", UNIT_HERTZ, "x: \"1 mhz\" has the unknown unit \"mhz\"; did you mean MHz?"},
        {"1 PJ", UNIT_JOULE, "x: \"1 PJ\" has the unknown unit \"PJ\"; did you mean pJ?"},
        {"3 \xC2\xB5s", UNIT_SECOND,
         "x: \"3 \xC2\xB5s\" has the unknown unit \"\xC2\xB5s\"; did you mean us?"},
        {"3 \xCE\xBCm", UNIT_METRE,
         "x: \"3 \xCE\xBCm\" has the unknown unit \"\xCE\xBCm\"; did you mean um?"},
        {"3 parsec", UNIT_METRE,
         "x: \"3 parsec\" has the unknown unit \"parsec\"; write a length such as 30 um ("},
        {"128 KiB x", UNIT_BYTE, "x: \"128 KiB x\" has the unknown unit \"KiB x\""},
        {"1,000 B", UNIT_BYTE, "x: \"1,000 B\" has a separator in the number"},
        {"-1 B", UNIT_BYTE, "x: \"-1 B\" is negative; write a size such as 128 KiB"},
        {"nan B", UNIT_BYTE, "x: \"nan B\" is not a number with a unit; write a size such as 128 KiB ("},
        {"inf s", UNIT_SECOND, "x: \"inf s\" is not a number with a unit"},
        {"KiB", UNIT_BYTE, "x: \"KiB\" is not a number with a unit"},
        {"", UNIT_BYTE, "x: \"\" is not a number with a unit"},
        {". B", UNIT_BYTE, "x: \". B\" is not a number with a unit"},
        {"+1 B", UNIT_BYTE, "x: \"+1 B\" is not a number with a unit"},
        {"0x10 B", UNIT_BYTE, "x: \"0x10 B\" has the unknown unit \"x10 B\""},
        {"1e400 B", UNIT_BYTE, "x: \"1e400 B\" is too large for a number"},
        {"1e99999999999999999999 B", UNIT_BYTE,
         "x: \"1e99999999999999999999 B\" is not a number with a unit"},
        {"9\nB", UNIT_BYTE, "x: \"9?B\" has the unknown unit \"?B\""},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct dse_error err;
        double value = 42;
        assert_int_equal(quantity_parse(known[i].text, known[i].kind, "x", &value, &err), DSE_BAD_INPUT);
        assert_true(value == 42);
        assert_int_equal(err.line, 0);
        err.text[strlen(known[i].message)] = '\0';
        assert_string_equal(err.text, known[i].message);
    }
}

static void test_units_parse_survives_long_text(void **state)
{
    (void)state;
    char text[5000] = "";
    struct dse_error err;
    double value = 0;
    memset(text, '1', sizeof text - 1);
    assert_int_equal(quantity_parse(text, UNIT_BYTE, "x", &value, &err), DSE_BAD_INPUT);
    text[1] = ' ';
    memset(text + 2, 'B', sizeof text - 3);
    assert_int_equal(quantity_parse(text, UNIT_BYTE, "x", &value, &err), DSE_BAD_INPUT);
}

static void test_units_print_is_for_people(void **state)
{
    (void)state;
    static const struct {
        double value;
        enum unit_kind kind;
        const char *text;
    } known[] = {
        {131072, UNIT_BYTE, "128 KiB"},
        {524288, UNIT_BYTE, "512 KiB"},
        {1572864, UNIT_BYTE, "1.5 MiB"},
        {1e6, UNIT_BYTE, "1 MB"},
        {64, UNIT_BYTE, "64 B"},
        {0, UNIT_BYTE, "0 B"},
        {0, UNIT_BYTE_PER_S, "0 B/s"},
        {0, UNIT_JOULE_PER_BIT, "0 J/bit"},
        {24, UNIT_BIT, "24 bit"},
        {1.6e10, UNIT_BYTE_PER_S, "16 GB/s"},
        {25.6e9, UNIT_BYTE_PER_S, "25.6 GB/s"},
        {8e-13, UNIT_JOULE, "0.8 pJ"},
        {200e-12, UNIT_JOULE, "200 pJ"},
        {5e-15, UNIT_JOULE, "5 fJ"},
        {1e9, UNIT_HERTZ, "1 GHz"},
        {5e8, UNIT_HERTZ, "500 MHz"},
        {5e-9, UNIT_SECOND, "5 ns"},
        {90, UNIT_SECOND, "90 s"},
        {3600, UNIT_SECOND, "1 h"},
        {30e-6, UNIT_METRE, "30 um"},
        {0.01, UNIT_WATT, "10 mW"},
        {1, UNIT_CYCLE, "1 cycle"},
        {12, UNIT_CYCLE, "12 cycles"},
        {1, UNIT_WORD, "1 word"},
        {16, UNIT_WORD_PER_CYCLE, "16 word/cycle"},
        {8e-13, UNIT_JOULE_PER_BIT, "0.8 pJ/bit"},
    };
    char text[48];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(quantity_print(known[i].value, known[i].kind, text, sizeof text), known[i].text);
    assert_string_equal(quantity_print(NAN, UNIT_BYTE, text, sizeof text), "nan B");
    assert_string_equal(quantity_print(131072, UNIT_BYTE, text, 4), "128");
}

static void check_round_trip(double value, enum unit_kind kind)
{
    char text[48];
    double back = -1;
    struct dse_error err;
    quantity_print(value, kind, text, sizeof text);
    assert_true(strlen(text) < 47);
    assert_int_equal(quantity_parse(text, kind, "x", &back, &err), DSE_OK);
    assert_true(back == value);
}

static void test_units_print_round_trips(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(2, 3, RANDOM_TEST);
    for (int kind = 0; kind < N_KIND; kind++) {
        enum unit_kind of = (enum unit_kind)kind;
        check_round_trip(0, of);
        check_round_trip(DBL_MAX, of);
        check_round_trip(DBL_MIN, of);
        check_round_trip(5e-324, of);
        for (int i = 0; i < 400; i++) {
            uint64_t bits = random_u64(&stream) & INT64_MAX;
            double any = 0;
            memcpy(&any, &bits, sizeof any);
            if (isfinite(any))
                check_round_trip(any, of);
            /* the range in use: 1e-18 .. 1e18, with few digits and with all */
            int exponent = (int)random_below(&stream, 37) - 18;
            check_round_trip(random_unit(&stream) * pow(10, exponent), of);
            check_round_trip(random_below(&stream, 1000) * pow(10, exponent), of);
            check_round_trip(ldexp(random_below(&stream, 4096), (int)random_below(&stream, 40)), of);
        }
    }
}

static void test_units_every_kind_has_words(void **state)
{
    (void)state;
    for (int kind = 0; kind < N_KIND; kind++)
        assert_true(strlen(unit_symbol((enum unit_kind)kind)) > 0);
    assert_string_equal(unit_symbol(UNIT_BYTE_PER_S), "byte/s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units_parse_gives_si),
        cmocka_unit_test(test_units_parse_explains_what_is_wrong),
        cmocka_unit_test(test_units_parse_survives_long_text),
        cmocka_unit_test(test_units_print_is_for_people),
        cmocka_unit_test(test_units_print_round_trips),
        cmocka_unit_test(test_units_every_kind_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
