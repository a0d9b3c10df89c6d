/* Error text: every code has words, places are printed, long texts cut, control characters replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/status.h"

static void test_status_every_code_has_words(void **state)
{
    (void)state;
    assert_int_equal(DSE_OK, 0);
#define CHECK_WORDS(code, text) assert_string_equal(dse_status_text(code), text);
    DSE_STATUS_LIST(CHECK_WORDS)
#undef CHECK_WORDS
}

static void test_status_fail_fills_and_returns(void **state)
{
    (void)state;
    struct dse_error err;
    assert_int_equal(dse_fail(&err, DSE_LIMIT, "%d of %s", 3, "x"), DSE_LIMIT);
    assert_int_equal(err.status, DSE_LIMIT);
    assert_int_equal(err.line, 0);
    assert_string_equal(err.file, "");
    assert_string_equal(err.text, "3 of x");
    assert_int_equal(dse_fail(NULL, DSE_IO, "nobody listens"), DSE_IO);
    assert_int_equal(dse_fail_at(NULL, DSE_IO, "f", 1, "nobody listens"), DSE_IO);
}

static void test_status_print_has_file_line_text(void **state)
{
    (void)state;
    struct dse_error err;
    char text[64];
    assert_int_equal(dse_fail_at(&err, DSE_BAD_INPUT, "a.yaml", 7, "bad %s", "key"), DSE_BAD_INPUT);
    assert_string_equal(dse_error_print(&err, text, sizeof text), "a.yaml:7: bad key");
    dse_fail_at(&err, DSE_BAD_INPUT, "a.yaml", 0, "empty");
    assert_string_equal(dse_error_print(&err, text, sizeof text), "a.yaml: empty");
    dse_fail(&err, DSE_BAD_INPUT, "alone");
    assert_string_equal(dse_error_print(&err, text, sizeof text), "alone");
    assert_string_equal(dse_error_print(&err, text, 3), "al");
    dse_fail_at(&err, DSE_BAD_INPUT, NULL, 0, "%s", "");
    assert_string_equal(dse_error_print(&err, text, sizeof text), "bad input");
}

static void test_status_long_text_is_cut(void **state)
{
    (void)state;
    struct dse_error err;
    char text[3000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    dse_fail_at(&err, DSE_BAD_INPUT, text, 1, "%s", text);
    assert_int_equal(strlen(err.file), DSE_ERROR_FILE_MAX - 1);
    assert_int_equal(strlen(err.text), DSE_ERROR_TEXT_MAX - 1);
}

/* Found by fuzzing: a tab of a layer's name came out in the message. */
static void test_status_text_has_no_control_characters(void **state)
{
    (void)state;
    struct dse_error err;
    dse_fail(&err, DSE_BAD_INPUT, "name \"%s\"", "a\tb\033[2J\n\177 r\xc3\xa9snet");
    assert_string_equal(err.text, "name \"a?b?[2J?? r\xc3\xa9snet\"");
    dse_fail_at(&err, DSE_BAD_INPUT, "f", 1, "\r");
    assert_string_equal(err.text, "?");
}

/* A caller adds a place to an error by passing the error's own text and file on. */
static void test_status_file_may_be_its_own(void **state)
{
    (void)state;
    struct dse_error err;
    dse_fail_at(&err, DSE_BAD_INPUT, "here.yaml", 1, "first");
    dse_fail_at(&err, DSE_BAD_INPUT, err.file, 2, "second");
    assert_string_equal(err.file, "here.yaml");
    assert_int_equal(err.line, 2);
}

static enum dse_status pass_on(enum dse_status inner, int *reached)
{
    DSE_TRY(inner);
    *reached = 1;
    return DSE_OK;
}

static void test_status_try_returns_early(void **state)
{
    (void)state;
    int reached = 0;
    assert_int_equal(pass_on(DSE_IO, &reached), DSE_IO);
    assert_int_equal(reached, 0);
    assert_int_equal(pass_on(DSE_OK, &reached), DSE_OK);
    assert_int_equal(reached, 1);
}

static size_t noted(struct dse_faults *faults, const char *file, int line, const char *text)
{
    struct dse_error err;
    (void)dse_fail_at(&err, DSE_BAD_INPUT, file, line, "%s", text);
    assert_int_equal(dse_note(faults, DSE_BAD_INPUT, &err), DSE_OK);
    return faults->n;
}

/* The same words count once, also for another repetition of a block in the same line; nothing else does. */
static void test_status_notes_what_is_new(void **state)
{
    (void)state;
    static struct dse_faults faults;
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b9.a: K 3 of b9.x"), 1);
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b9.a: K 3 of b9.x"), 1);
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b10.a: K 3 of b10.x"), 1);
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b10.a: K 3 of b1.x"), 1);
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b10.a: K 4 of b10.x"), 2);
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b10.b: K 3 of b10.x"), 3);
    assert_int_equal(noted(&faults, "n.yaml", 9, "layer b10.a: K 3 of b10.x"), 4);
    assert_int_equal(noted(&faults, "m.yaml", 8, "layer b10.a: K 3 of b10.x"), 5);
    assert_int_equal(noted(&faults, "n.yaml", 8, "scale 1.5 and -1.5"), 6);
    assert_int_equal(noted(&faults, "n.yaml", 8, "scale 2.5 and -1.5"), 7);
    assert_int_equal(noted(&faults, "n.yaml", 8, "layer b9.a: K 3 of b9.x again"), 8);
    assert_int_equal(dse_faults_count(&faults), 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_every_code_has_words),
        cmocka_unit_test(test_status_fail_fills_and_returns),
        cmocka_unit_test(test_status_print_has_file_line_text),
        cmocka_unit_test(test_status_long_text_is_cut),
        cmocka_unit_test(test_status_text_has_no_control_characters),
        cmocka_unit_test(test_status_file_may_be_its_own),
        cmocka_unit_test(test_status_try_returns_early),
        cmocka_unit_test(test_status_notes_what_is_new),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
