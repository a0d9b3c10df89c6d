/* The first row of equal texts is named, whatever stands between them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "results/record/same_text.h"

static void test_same_text_names_the_first(void **state)
{
    (void)state;
    struct same_text same;
    char copy[] = "K4 C2";
    same_text_init(&same);
    assert_null(same_text_find(&same, "K4 C2", "a"));
    assert_null(same_text_find(&same, "K4 C3", "b"));
    assert_string_equal(same_text_find(&same, copy, "c"), "a");
    assert_string_equal(same_text_find(&same, "K4 C3", "d"), "b");
    same_text_clear(&same);
    assert_null(same_text_find(&same, copy, "c")); /* another point */
    same_text_free(&same);
}

static void test_same_text_takes_no_text_for_none(void **state)
{
    (void)state;
    struct same_text same;
    same_text_init(&same);
    for (int i = 0; i < 2; i++) {
        assert_null(same_text_find(&same, NULL, "a"));
        assert_null(same_text_find(&same, "", "a"));
    }
    same_text_free(&same);
}

/* 1000 texts, each of them twice. */
static void test_same_text_of_many(void **state)
{
    (void)state;
    enum { N = 1000 };
    static char text[N][16];
    struct same_text same;
    same_text_init(&same);
    for (int i = 0; i < N; i++) {
        snprintf(text[i], sizeof text[i], "text %d", i);
        assert_null(same_text_find(&same, text[i], text[i] + 5));
    }
    for (int i = N - 1; i >= 0; i--)
        assert_ptr_equal(same_text_find(&same, text[i], "again"), text[i] + 5);
    same_text_free(&same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_text_names_the_first),
        cmocka_unit_test(test_same_text_takes_no_text_for_none),
        cmocka_unit_test(test_same_text_of_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
