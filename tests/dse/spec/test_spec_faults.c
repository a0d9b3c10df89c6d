/* Errors are taken up once, in the order of their places, and no more than twenty are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/spec/spec_faults.h"

static void note(struct dse_faults *faults, const char *file, int line, const char *text)
{
    struct dse_error err = {0};
    enum dse_status status = dse_fail_at(&err, DSE_BAD_INPUT, file, line, "%s", text);
    assert_int_equal(dse_note(faults, status, &err), DSE_OK);
    assert_string_equal(err.text, "");
}

static void test_spec_faults_are_sorted_and_different(void **state)
{
    struct dse_faults *faults = calloc(1, sizeof *faults);
    struct text_buffer text;
    (void)state;
    assert_non_null(faults);
    text_init(&text);
    note(faults, "machine.yaml", 3, "d");
    note(faults, "s.yaml", 9, "b");
    note(faults, "s.yaml", 2, "a");
    note(faults, "s.yaml", 9, "c");
    note(faults, "s.yaml", 12, "b"); /* the same again, of another value */
    spec_faults_print(faults, "s.yaml", &text);
    assert_string_equal(text.data,
                        "dse: s.yaml:2: a\ndse: s.yaml:9: b\ndse: s.yaml:9: c\ndse: machine.yaml:3: d\n");
    text_free(&text);
    free(faults);
}

static void test_spec_faults_stop_at_twenty(void **state)
{
    struct dse_faults *faults = calloc(1, sizeof *faults);
    struct text_buffer text;
    char word[24];
    int n = 0;
    (void)state;
    assert_non_null(faults);
    text_init(&text);
    for (int i = 1; i <= 300; i++) {
        snprintf(word, sizeof word, "fault %d", i);
        note(faults, "s.yaml", i, word);
    }
    spec_faults_print(faults, "s.yaml", &text);
    for (const char *at = text.data; *at; at++)
        n += *at == '\n';
    assert_int_equal(n, 21);
    assert_non_null(strstr(text.data, "dse: s.yaml:20: fault 20\ndse: and 280 more\n"));
    text_free(&text);
    free(faults);
}

static void test_spec_note_hands_on_what_is_no_input(void **state)
{
    struct dse_faults *faults = calloc(1, sizeof *faults);
    struct dse_error err = {0};
    (void)state;
    assert_non_null(faults);
    assert_int_equal(dse_note(NULL, dse_fail(&err, DSE_BAD_INPUT, "x"), &err), DSE_BAD_INPUT);
    assert_string_equal(err.text, "x");
    assert_int_equal(dse_note(faults, dse_fail(&err, DSE_NO_MEMORY, "y"), &err), DSE_NO_MEMORY);
    assert_int_equal(dse_note(faults, DSE_OK, &err), DSE_OK);
    assert_int_equal(faults->n, 0);
    free(faults);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_faults_are_sorted_and_different),
        cmocka_unit_test(test_spec_faults_stop_at_twenty),
        cmocka_unit_test(test_spec_note_hands_on_what_is_no_input),
    };
    return cmocka_run_group_tests_name("spec_faults", tests, NULL, NULL);
}
