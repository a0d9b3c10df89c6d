/* The text buffer, "did you mean", thousands, whole numbers, safe copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"

static void test_text_buffer_grows(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    for (int i = 0; i < 1000; i++)
        text_append(&text, "%03d", i);
    text_append_bytes(&text, "a\0b", 3);
    text_append_bytes(&text, NULL, 0);
    assert_int_equal(text.length, 3003);
    assert_int_equal(text.failed, 0);
    assert_memory_equal(text.data, "000001002", 9);
    assert_memory_equal(text.data + 2997, "999a\0b", 7);
    text_clear(&text);
    assert_string_equal(text.data, "");
    text_append(&text, "%s", "again");
    assert_string_equal(text.data, "again");
    text_free(&text);
    assert_null(text.data);
}

static void test_text_buffer_too_large_is_marked(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    text_append(&text, "kept");
    text_append_bytes(&text, "x", SIZE_MAX / 2);
    assert_int_equal(text.failed, 1);
    text_append(&text, "more");
    assert_string_equal(text.data, "kept");
    text_free(&text);
}

static void test_text_buffer_empty_append_terminates(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    text_append(&text, "%s", "");
    assert_non_null(text.data);
    assert_string_equal(text.data, "");
    text_free(&text);
}

static void test_text_nearest_finds_typing_errors(void **state)
{
    (void)state;
    static const char *const key[] = {"capacity", "bandwidth",   "word_bits", "energy",
                                      "mesh",     "marsh_shape", "mash_shape"};
    static const struct {
        const char *word;
        const char *nearest;
    } known[] = {
        {"capactiy", "capacity"},
        {"Capacity", "capacity"},
        {"bandwith", "bandwidth"},
        {"wordbits", "word_bits"},
        {"enrgy", "energy"},
        {"mehs", "mesh"},
        {"colour", NULL},
        {"", NULL},
        {"x", NULL},
        {"cap", NULL},
        {"word", "word_bits"}, /* a name but for its unit */
        {"WORD", "word_bits"},
        {"wor", NULL},
        {"marsh", "marsh_shape"}, /* two slips from "mesh" */
        {"mash", "mesh"},         /* one slip */
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const char *nearest = text_nearest(known[i].word, key, 7);
        if (known[i].nearest) {
            assert_non_null(nearest);
            assert_string_equal(nearest, known[i].nearest);
        } else {
            assert_null(nearest);
        }
    }
    assert_null(text_nearest("capacity", key, 0));
}

static void test_text_nearest_ties_go_to_the_first(void **state)
{
    (void)state;
    static const char *const key[] = {"size_a", "size_b"};
    assert_string_equal(text_nearest("size_c", key, 2), "size_a");
}

static void test_text_nearest_ignores_long_words(void **state)
{
    (void)state;
    char word[200];
    memset(word, 'w', sizeof word);
    word[sizeof word - 1] = '\0';
    const char *const key[] = {word};
    assert_null(text_nearest(word, key, 1));
    assert_null(text_nearest("w", key, 1));
}

static void test_text_thousands_has_separators(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        const char *text;
    } known[] = {
        {0, "0"},
        {7, "7"},
        {999, "999"},
        {1000, "1,000"},
        {133888, "133,888"},
        {1000000, "1,000,000"},
        {UINT64_MAX, "18,446,744,073,709,551,615"},
    };
    char text[32];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_string_equal(text_thousands(known[i].value, text, sizeof text), known[i].text);
    assert_string_equal(text_thousands(133888, text, 4), "133");
}

static void test_text_parse_u64_is_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", " 1", "1 ", "+1", "-1", "1.0", "0x10", "1e3", "18446744073709551616", "1,000"};
    uint64_t value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(text_parse_u64(bad[i], &value));
    assert_true(value == 42);
    assert_true(text_parse_u64("18446744073709551615", &value));
    assert_true(value == UINT64_MAX);
    assert_true(text_parse_u64("007", &value));
    assert_true(value == 7);
}

static void test_text_parse_i64_is_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    "-", "--1", "+1", "9223372036854775808", "-9223372036854775809",
                                      "1.5", " 1"};
    int64_t value = 42;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(text_parse_i64(bad[i], &value));
    assert_true(value == 42);
    assert_true(text_parse_i64("-9223372036854775808", &value));
    assert_true(value == INT64_MIN);
    assert_true(text_parse_i64("9223372036854775807", &value));
    assert_true(value == INT64_MAX);
    assert_true(text_parse_i64("-3", &value));
    assert_true(value == -3);
}

static void test_text_copy_says_when_cut(void **state)
{
    (void)state;
    char to[4] = "zzz";
    assert_true(text_copy(to, sizeof to, "abc"));
    assert_string_equal(to, "abc");
    assert_false(text_copy(to, sizeof to, "defg"));
    assert_string_equal(to, "def");
    assert_false(text_copy(to, 0, "x"));
    assert_string_equal(to, "def");
}

static void test_text_mark_is_three_bytes(void **state)
{
    (void)state;
    assert_int_equal(text_mark("\xEF\xBB\xBFx", 4), 3);
    assert_int_equal(text_mark("\xEF\xBB\xBF", 2), 0);
    assert_int_equal(text_mark("x\xEF\xBB\xBF", 4), 0);
}

/* RFC 3629. */
static void test_text_letter_bytes_knows_utf8(void **state)
{
    (void)state;
    assert_int_equal(text_letter_bytes("a"), 1);
    assert_int_equal(text_letter_bytes(""), 1);
    assert_int_equal(text_letter_bytes("\xc3\xa9"), 2);
    assert_int_equal(text_letter_bytes("\xe2\x82\xac"), 3);
    assert_int_equal(text_letter_bytes("\xf0\x9f\x98\x80"), 4);
    static const char *const none[] = {"\x80",         "\xc0\x80",         "\xc3",
                                       "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(text_letter_bytes(none[i]), 0);
}

static void test_text_excerpt_is_one_clean_line(void **state)
{
    (void)state;
    char text[12];
    assert_string_equal(text_excerpt("a\nb\tc\x7f", text, sizeof text), "a?b?c?");
    assert_string_equal(text_excerpt("0123456789abcdef", text, sizeof text), "01234567...");
    /* a two-byte letter is not split: seven ASCII letters, then U+00B5 at bytes 7 and 8 */
    assert_string_equal(text_excerpt("0123456\xC2\xB5xyzabc", text, sizeof text), "0123456...");
    assert_string_equal(text_excerpt("exactly 11.", text, sizeof text), "exactly 11.");
}

static void test_text_is_name_stands_in_yaml_without_quotes(void **state)
{
    (void)state;
    static const char *const good[] = {"DRAM", "_a", "PE_array", "a-b", "L1.5", "x+y/z", "nullable"};
    static const char *const bad[] = {
        "", "1a", "-a", "a b", "a,b", "a:", "a]", "a\n", "r\xc3\xa9", "null", "NULL"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(text_is_name(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(text_is_name(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_buffer_grows),
        cmocka_unit_test(test_text_buffer_too_large_is_marked),
        cmocka_unit_test(test_text_buffer_empty_append_terminates),
        cmocka_unit_test(test_text_nearest_finds_typing_errors),
        cmocka_unit_test(test_text_nearest_ties_go_to_the_first),
        cmocka_unit_test(test_text_nearest_ignores_long_words),
        cmocka_unit_test(test_text_thousands_has_separators),
        cmocka_unit_test(test_text_parse_u64_is_strict),
        cmocka_unit_test(test_text_parse_i64_is_strict),
        cmocka_unit_test(test_text_copy_says_when_cut),
        cmocka_unit_test(test_text_mark_is_three_bytes),
        cmocka_unit_test(test_text_letter_bytes_knows_utf8),
        cmocka_unit_test(test_text_excerpt_is_one_clean_line),
        cmocka_unit_test(test_text_is_name_stands_in_yaml_without_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
