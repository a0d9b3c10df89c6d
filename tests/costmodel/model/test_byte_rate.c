/* The ratio behind a bandwidth: hand values as people write them, and times against counting cycle by
 * cycle. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/units.h"
#include "costmodel/model/byte_rate.h"

/* "25.6 GB/s" at "700 MHz" as the reader of architectures divides it: bytes to words of `word_bit`, by the
 * clock; then back to bytes. */
static struct byte_rate written(const char *bandwidth, const char *clock, uint32_t word_bit)
{
    double byte_per_s, hertz;
    struct dse_error err;
    struct byte_rate rate = {0, 0};
    assert_int_equal(quantity_parse(bandwidth, UNIT_BYTE_PER_S, "bandwidth", &byte_per_s, &err), DSE_OK);
    assert_int_equal(quantity_parse(clock, UNIT_HERTZ, "clock", &hertz, &err), DSE_OK);
    double word_per_cycle = byte_per_s * 8 / word_bit / hertz;
    assert_true(byte_rate_of(word_per_cycle * word_bit / 8, hertz, &rate));
    return rate;
}

static void test_byte_rate_is_the_ratio_that_was_written(void **state)
{
    static const struct {
        const char *bandwidth, *clock;
        uint64_t byte, cycle;
    } row[] = {
        {"16 GB/s", "1 GHz", 16, 1},
        {"25.6 GB/s", "1 GHz", 128, 5},
        {"12.8 GB/s", "700 MHz", 128, 7},
        {"1 GB/s", "3 GHz", 1, 3},
        {"102.4 Gbit/s", "800 MHz", 16, 1},
        {"1 GiB/s", "1 GHz", 2097152, 1953125},                      /* 2^30 / 10^9, both by 2^9 */
        {"25600000001 B/s", "999999937 Hz", 25600000001, 999999937}, /* the clock is a prime */
        {"19.2 GB/s", "1066 MHz", 9600, 533},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (uint32_t bit = 8; bit <= 24; bit += 8) {
            struct byte_rate rate = written(row[i].bandwidth, row[i].clock, bit);
            if (rate.byte != row[i].byte || rate.cycle != row[i].cycle)
                fail_msg("%s at %s: %llu bytes in %llu cycles", row[i].bandwidth, row[i].clock,
                         (unsigned long long)rate.byte, (unsigned long long)rate.cycle);
        }
}

/* Words per cycle with the digits that a file has, at a clock that makes them no whole bytes per second. */
static void test_byte_rate_of_other_numbers_is_the_simplest_that_it_can_be(void **state)
{
    static const struct {
        double byte_per_cycle, hertz;
        uint64_t byte, cycle;
    } row[] = {
        {0.3333333333333333, 1e9, 1, 3},      {0.0123, 333.5, 123, 10000}, {2.5, 0.1, 5, 2},
        {1e18, 1e15, 1000000000000000000, 1}, {1.0 / 1024, 1e15, 1, 1024},
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct byte_rate rate;
        assert_true(byte_rate_of(row[i].byte_per_cycle, row[i].hertz, &rate));
        assert_int_equal(rate.byte, row[i].byte);
        assert_int_equal(rate.cycle, row[i].cycle);
    }
}

static void test_byte_rate_has_limits(void **state)
{
    static const double none[] = {0, -1, 0.9 / 1024, 1e19, INFINITY, NAN};
    struct byte_rate rate;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(byte_rate_of(none[i], 1e9, &rate));
}

/* One cycle after the other brings rate.byte / rate.cycle bytes. */
static void test_byte_rate_times_are_those_of_counting(void **state)
{
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct byte_rate rate;
        uint64_t byte = random_below(&stream, 300), cycle = 0;
        assert_true(
            byte_rate_of((1 + random_below(&stream, 40)) / (1.0 + random_below(&stream, 9)), 1e9, &rate));
        while ((cycle + 1) * rate.byte <= byte * rate.cycle)
            cycle++;
        bool partial = cycle * rate.byte != byte * rate.cycle;
        assert_int_equal(byte_rate_full_cycle(byte, rate), cycle);
        assert_int_equal(byte_rate_cycle(byte, rate), cycle + partial);
        assert_int_equal(byte_rate_partial(byte, rate), partial);
    }
}

/* A year at 25.6 GB/s: no drift. 2^53 bytes at the slowest rate; more than 2^64 cycles. */
static void test_byte_rate_is_exact_for_large_numbers(void **state)
{
    (void)state;
    const struct byte_rate rate = {128, 5}, odd = {25600000001, 999999937}, slow = {1, 1024};
    const uint64_t year = UINT64_C(31536000) * 1000000000;
    assert_int_equal(byte_rate_cycle(year / 5 * 128, rate), year);
    assert_int_equal(byte_rate_cycle(year / 5 * 128 + 1, rate), year + 1);
    assert_int_equal(byte_rate_cycle(UINT64_C(25600000001) * 31536000, odd), UINT64_C(999999937) * 31536000);
    assert_int_equal(byte_rate_cycle(UINT64_C(1) << 53, slow), UINT64_C(1) << 63);
    assert_true(byte_rate_cycle(UINT64_MAX, slow) == UINT64_MAX);
    assert_int_equal(byte_rate_scaled(31, 128, 5, false), 793); /* 31 cycles bring 793.6 bytes */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_rate_is_the_ratio_that_was_written),
        cmocka_unit_test(test_byte_rate_of_other_numbers_is_the_simplest_that_it_can_be),
        cmocka_unit_test(test_byte_rate_has_limits),
        cmocka_unit_test(test_byte_rate_times_are_those_of_counting),
        cmocka_unit_test(test_byte_rate_is_exact_for_large_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
