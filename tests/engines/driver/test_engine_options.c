/* Option values of every kind from text, and what is said about bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engines/driver/engine.h"

static const char *const colours[] = {"red", "green", "blue"};
static const struct engine_option option[] = {
    {"count", "how many there are", "mapping", OPTION_INTEGER, 5, 0, 1e6, NULL},
    {"share", "how much of it", "", OPTION_REAL, 0.5, 0, 1, NULL},
    {"loud", "whether it is loud", "", OPTION_BOOL, 0, 0, 1, NULL},
    {"colour", "which colour it has", "", OPTION_CHOICE, 1, 0, 2, colours},
    {"model", "what was learned before", "", OPTION_FILE, 0, 0, 0, NULL},
};
static const struct engine sample = {.name = "sample", .option = option, .n_option = 5};
static const struct engine bare = {.name = "bare"};

static void test_option_set_reads_every_kind(void **state)
{
    (void)state;
    double value[5];
    char text[32];
    struct dse_error err;
    engine_option_defaults(&sample, value);
    assert_true(value[0] == 5 && value[1] == 0.5 && value[2] == 0 && value[3] == 1);
    assert_int_equal(engine_option_set(&sample, "count", "1000000", value, &err), DSE_OK);
    assert_int_equal(engine_option_set(&sample, "share", "1e-3", value, &err), DSE_OK);
    assert_int_equal(engine_option_set(&sample, "loud", "yes", value, &err), DSE_OK);
    assert_int_equal(engine_option_set(&sample, "colour", "blue", value, &err), DSE_OK);
    assert_string_equal(engine_option_print(&option[0], value[0], text, sizeof text), "1000000");
    assert_string_equal(engine_option_print(&option[1], value[1], text, sizeof text), "0.001");
    assert_string_equal(engine_option_print(&option[2], value[2], text, sizeof text), "true");
    assert_string_equal(engine_option_print(&option[3], value[3], text, sizeof text), "blue");
    assert_string_equal(engine_option_print(&option[4], value[4], text, sizeof text), "none");
    value[4] = 1;
    assert_int_equal(engine_option_set(&sample, "model", "none", value, &err), DSE_OK);
    assert_true(value[4] == 0);
}

/* A choice that was a switch before takes the words of one. */
static void test_option_set_reads_a_switch_among_choices(void **state)
{
    static const char *const rules[] = {"auto", "yes", "no"};
    static const struct engine_option rule[] = {{"rule", "when", "", OPTION_CHOICE, 0, 0, 2, rules}};
    static const struct engine engine = {.name = "sample", .option = rule, .n_option = 1};
    static const struct {
        const char *text;
        double value;
    } row[] = {{"auto", 0}, {"yes", 1}, {"true", 1}, {"1", 1}, {"no", 2}, {"False", 2}, {"off", 2}};
    double value[1];
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        assert_int_equal(engine_option_set(&engine, "rule", row[i].text, value, &err), DSE_OK);
        assert_true(value[0] == row[i].value);
    }
    assert_int_equal(engine_option_set(&engine, "rule", "maybe", value, &err), DSE_BAD_INPUT);
}

/* XXH3-64 of the empty text is 2d06800538d394c2 (xxHash's own test vectors), of which 53 bits are left. */
static void test_files_are_told_apart_by_their_bytes(void **state)
{
    (void)state;
    char text[32];
    assert_true(engine_file_id("", 0) == (double)0x06800538d394c2);
    assert_true(engine_file_id("a", 1) != engine_file_id("b", 1));
    assert_string_equal(engine_option_print(&option[4], engine_file_id("", 0), text, sizeof text),
                        "06800538d394c2");
}

static void test_option_set_refuses_with_what_is_accepted(void **state)
{
    (void)state;
    static const char *const row[][3] = {
        {"count", "-1", "an integer 0 to 1"}, {"count", "1.5", "an integer"},
        {"count", "x", "an integer"},         {"count", "10000001", "an integer"},
        {"share", "1.01", "a number 0 to 1"}, {"share", "nan", "a number"},
        {"loud", "maybe", "true or false"},   {"colour", "pink", "red, green, blue"},
        {"colour", "", "red, green"},         {"colours", "red", "did you mean \"colour\"?"},
        {"model", "m.h5", "a file"},          {"zzz", "1", "count, share, loud, colour"},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double value[5] = {7, 7, 7, 7, 7};
        struct dse_error err;
        assert_int_equal(engine_option_set(&sample, row[i][0], row[i][1], value, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, row[i][2]))
            fail_msg("%s=%s: %s", row[i][0], row[i][1], err.text);
        assert_true(value[0] == 7 && value[1] == 7 && value[2] == 7 && value[3] == 7 && value[4] == 7);
    }
    struct dse_error err;
    assert_int_equal(engine_option_set(&bare, "x", "1", NULL, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "it has none"));
}

static void test_stop_text_names_every_reason(void **state)
{
    (void)state;
    assert_string_equal(engine_stop_text(STOP_OPTIMAL), "optimal");
    assert_string_equal(engine_stop_text(STOP_CONVERGED), "converged");
    assert_string_equal(engine_stop_text(STOP_MAX_EVALUATIONS), "max_evaluations");
    assert_string_equal(engine_stop_text(STOP_MAX_SECONDS), "max_seconds");
    assert_string_equal(engine_stop_text((enum engine_stop)99), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_option_set_reads_every_kind),
        cmocka_unit_test(test_option_set_reads_a_switch_among_choices),
        cmocka_unit_test(test_files_are_told_apart_by_their_bytes),
        cmocka_unit_test(test_option_set_refuses_with_what_is_accepted),
        cmocka_unit_test(test_stop_text_names_every_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
