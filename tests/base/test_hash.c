/* Hashes are XXH3-64 (known answer), do not depend on how the bytes are handed over, and keep fields
 * apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>
#include <cmocka.h>

#include "base/hash.h"

static uint64_t of_texts(const char *first, const char *second)
{
    struct hash_state hash;
    hash_begin(&hash);
    hash_text(&hash, first);
    hash_text(&hash, second);
    return hash_end(&hash);
}

static uint64_t of_double(double value)
{
    struct hash_state hash;
    hash_begin(&hash);
    hash_double(&hash, value);
    return hash_end(&hash);
}

/* XXH3_64bits of nothing with seed 0, as xxHash's own sanity check has it. */
static void test_hash_is_xxh3(void **state)
{
    (void)state;
    assert_true(hash_of_bytes("", 0) == UINT64_C(0x2D06800538D394C2));
}

/* The same of XXH3_128bits. */
static void test_hash_of_128_bits_is_xxh3(void **state)
{
    (void)state;
    struct hash_state hash;
    hash_begin(&hash);
    const struct hash_128 of_nothing = hash_end_128(&hash);
    assert_true(of_nothing.low == UINT64_C(0x6001C324468D497F));
    assert_true(of_nothing.high == UINT64_C(0x99AA06D3014798D8));
}

/* Kept or streamed. */
static void test_hash_of_128_bits_of_any_length(void **state)
{
    (void)state;
    static unsigned char bytes[2 * HASH_KEPT_MAX];
    for (size_t n = HASH_KEPT_MAX - 2; n <= sizeof bytes; n += HASH_KEPT_MAX / 2 - 1) {
        struct hash_state whole, parts;
        hash_begin(&whole);
        hash_bytes(&whole, bytes, n);
        hash_begin(&parts);
        for (size_t at = 0; at < n; at++)
            hash_bytes(&parts, bytes + at, 1);
        const struct hash_128 a = hash_end_128(&whole), b = hash_end_128(&parts);
        assert_true(a.low == b.low && a.high == b.high);
        assert_null(whole.xxh);
        assert_null(parts.xxh);
        const XXH128_hash_t c = XXH3_128bits(bytes, n);
        assert_true(a.low == c.low64 && a.high == c.high64);
    }
}

static void test_hash_in_parts_equals_one_shot(void **state)
{
    (void)state;
    unsigned char bytes[1000];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 31);
    struct hash_state hash;
    hash_begin(&hash);
    for (size_t at = 0, part = 1; at < sizeof bytes; at += part, part++) {
        size_t length = part < sizeof bytes - at ? part : sizeof bytes - at;
        hash_bytes(&hash, bytes + at, length);
    }
    assert_true(hash_end(&hash) == hash_of_bytes(bytes, sizeof bytes));
    assert_null(hash.xxh);
}

/* Around the length up to which everything is kept and hashed in one go, in small parts and in one. */
static void test_hash_of_any_length_equals_one_shot(void **state)
{
    (void)state;
    static unsigned char bytes[2 * HASH_KEPT_MAX + 9];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 37 + 11);
    for (size_t part = 1; part <= sizeof bytes; part = part * 2 + 3) {
        for (size_t n = part % 5; n <= sizeof bytes;
             n += n < HASH_KEPT_MAX - 9 || n > HASH_KEPT_MAX + 9 ? 101 : 1) {
            struct hash_state hash;
            hash_begin(&hash);
            for (size_t at = 0; at < n; at += part)
                hash_bytes(&hash, bytes + at, part < n - at ? part : n - at);
            assert_true(hash_end(&hash) == hash_of_bytes(bytes, n));
        }
    }
}

static void test_hash_text_keeps_boundaries(void **state)
{
    (void)state;
    assert_true(of_texts("ab", "c") != of_texts("a", "bc"));
    assert_true(of_texts("", "a") != of_texts("a", ""));
    assert_true(of_texts(NULL, "a") == of_texts("", "a"));
}

static void test_hash_u64_is_little_endian_bytes(void **state)
{
    (void)state;
    const unsigned char bytes[8] = {8, 7, 6, 5, 4, 3, 2, 1};
    struct hash_state hash;
    hash_begin(&hash);
    hash_u64(&hash, UINT64_C(0x0102030405060708));
    assert_true(hash_end(&hash) == hash_of_bytes(bytes, sizeof bytes));
}

static void test_hash_double_joins_the_zeros_only(void **state)
{
    (void)state;
    assert_true(of_double(-0.0) == of_double(0.0));
    assert_true(of_double(-1.0) != of_double(1.0));
    assert_true(of_double(5e-324) != of_double(0.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash_is_xxh3),
        cmocka_unit_test(test_hash_of_128_bits_is_xxh3),
        cmocka_unit_test(test_hash_of_128_bits_of_any_length),
        cmocka_unit_test(test_hash_in_parts_equals_one_shot),
        cmocka_unit_test(test_hash_of_any_length_equals_one_shot),
        cmocka_unit_test(test_hash_text_keeps_boundaries),
        cmocka_unit_test(test_hash_u64_is_little_endian_bytes),
        cmocka_unit_test(test_hash_double_joins_the_zeros_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
