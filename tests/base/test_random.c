/* Philox against Random123's known answers; streams by their definition, their uniformity and fairness. */
#include <gsl/gsl_cdf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"

/* Random123's kat_vectors, lines "philox4x32 10". */
static void test_random_philox_gives_known_answers(void **state)
{
    (void)state;
    static const struct {
        uint32_t counter[4];
        uint32_t key[2];
        uint32_t out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        uint32_t out[4];
        random_philox4x32(known[i].counter, known[i].key, out);
        assert_memory_equal(out, known[i].out, sizeof out);
    }
}

/* The derivation written out again: Philox of (seed, use) under the task key names the stream. */
static void test_random_stream_is_philox_of_its_counter(void **state)
{
    (void)state;
    const uint32_t name[4] = {0x89abcdef, 0x01234567, RANDOM_MOVE, 0};
    const uint32_t task[2] = {0x76543210, 0xfedcba98};
    uint32_t mixed[4];
    random_philox4x32(name, task, mixed);
    struct random_stream stream = random_stream_make(0x0123456789abcdefU, 0xfedcba9876543210U, RANDOM_MOVE);
    for (uint32_t block = 0; block < 5; block++) {
        const uint32_t counter[4] = {block, 0, mixed[2], mixed[3]};
        uint32_t out[4];
        random_philox4x32(counter, mixed, out);
        for (int i = 0; i < 4; i++)
            assert_int_equal(random_u32(&stream), out[i]);
    }
}

static void test_random_counter_carries(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(1, 2, RANDOM_TEST);
    stream.counter[0] = UINT32_MAX;
    for (int i = 0; i < 4; i++)
        random_u32(&stream);
    assert_int_equal(stream.counter[0], 0);
    assert_int_equal(stream.counter[1], 1);
}

static void test_random_streams_differ(void **state)
{
    (void)state;
    struct random_stream stream[5] = {
        random_stream_make(1, 2, RANDOM_INIT),
        random_stream_make(1, 2, RANDOM_MOVE),
        random_stream_make(2, 1, RANDOM_INIT),
        random_stream_make(1, 2 + (UINT64_C(1) << 32), RANDOM_INIT),
        random_stream_make(1 + (UINT64_C(1) << 32), 2, RANDOM_INIT),
    };
    uint64_t first[5];
    for (int i = 0; i < 5; i++)
        first[i] = random_u64(&stream[i]);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < i; k++)
            assert_true(first[i] != first[k]);
    struct random_stream again = random_stream_make(1, 2, RANDOM_INIT);
    assert_true(random_u64(&again) == first[0]);
}

/* Chi-square of n - 1 degrees of freedom, neither too large nor too small by more than a chance of 1e-4; the
 * stream is fixed, so this cannot fail by chance. */
static void test_random_below_is_uniform(void **state)
{
    (void)state;
    enum { N_DRAW = 200000 };
    static const uint32_t size[] = {2, 3, 6, 7, 48, 100};
    for (size_t s = 0; s < sizeof size / sizeof size[0]; s++) {
        uint32_t n = size[s];
        double count[100] = {0};
        struct random_stream stream = random_stream_make(5, n, RANDOM_TEST);
        for (int i = 0; i < N_DRAW; i++) {
            uint32_t draw = random_below(&stream, n);
            assert_true(draw < n);
            count[draw] += 1;
        }
        double expected = (double)N_DRAW / n;
        double chi_square = 0;
        for (uint32_t i = 0; i < n; i++)
            chi_square += (count[i] - expected) * (count[i] - expected) / expected;
        assert_true(gsl_cdf_chisq_Q(chi_square, n - 1) > 1e-4 && gsl_cdf_chisq_P(chi_square, n - 1) > 1e-4);
    }
}

/* n = 3 x 2^30: without rejection, a third of all draws would fall on multiples of 3 twice as often as
 * fair. */
static void test_random_below_rejects_to_be_fair(void **state)
{
    (void)state;
    const uint32_t n = 3U << 30;
    struct random_stream stream = random_stream_make(9, 9, RANDOM_TEST);
    int remainder_zero = 0;
    for (int i = 0; i < 90000; i++)
        remainder_zero += random_below(&stream, n) % 3 == 0;
    /* fair: 30000 with deviation sqrt(90000 x 2/9) = 141; unfair: 45000 */
    assert_in_range(remainder_zero, 30000 - 6 * 141, 30000 + 6 * 141);
    assert_int_equal(random_below(&stream, 1), 0);
}

static void test_random_unit_is_in_range(void **state)
{
    (void)state;
    struct random_stream stream = random_stream_make(3, 4, RANDOM_NOISE);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double unit = random_unit(&stream);
        assert_true(unit >= 0 && unit < 1);
        sum += unit;
    }
    /* mean 1/2, deviation of the mean 1/sqrt(12 x 100000) = 0.00091; six of them */
    assert_true(sum / 100000 > 0.5 - 0.0055 && sum / 100000 < 0.5 + 0.0055);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_philox_gives_known_answers),
        cmocka_unit_test(test_random_stream_is_philox_of_its_counter),
        cmocka_unit_test(test_random_counter_carries),
        cmocka_unit_test(test_random_streams_differ),
        cmocka_unit_test(test_random_below_is_uniform),
        cmocka_unit_test(test_random_below_rejects_to_be_fair),
        cmocka_unit_test(test_random_unit_is_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
