/* Getters of scalars: what each takes, what it says about the rest, and on which line. */
#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"

/* One document per test: `value` is on line 2. */
struct fixture {
    struct yaml_doc doc;
    const struct ynode *value;
    struct dse_error err;
};

static void open_value(struct fixture *f, const char *value)
{
    char text[256] = "# first line\nvalue: ";
    strncat(text, value, sizeof text - strlen(text) - 1);
    assert_int_equal(yaml_parse(&f->doc, "v.yaml", text, strlen(text), &f->err), DSE_OK);
    f->value = yaml_find(f->doc.root, "value");
    assert_non_null(f->value);
}

static void expect_message(struct fixture *f, enum dse_status status, const char *message)
{
    assert_int_equal(status, DSE_BAD_INPUT);
    assert_string_equal(f->err.text, message);
    assert_string_equal(f->err.file, "v.yaml");
    assert_int_equal(f->err.line, 2);
    yaml_doc_free(&f->doc);
}

static void test_yaml_values_u64_takes_plain_decimals(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *message; /* NULL: good */
    } known[] = {
        {"12", NULL},
        {"'12'", NULL},
        {"1", NULL},
        {"64", NULL},
        {"0", "PE.n: 0 is out of range; it must be 1 to 64"},
        {"65", "PE.n: 65 is out of range; it must be 1 to 64"},
        {"010", "PE.n: \"010\" begins with 0, which YAML 1.1 reads as octal; write 10"},
        {"0x10", "PE.n: \"0x10\" is not a whole number; write a plain decimal number, 1 to 64"},
        {"1e1", "PE.n: \"1e1\" is not a whole number; write a plain decimal number, 1 to 64"},
        {"-3", "PE.n: \"-3\" is not a whole number; write a plain decimal number, 1 to 64"},
        {"99999999999999999999",
         "PE.n: \"99999999999999999999\" is too large; write a plain decimal number, 1 to 64"},
        {"", "PE.n is empty; it must be a single value"},
        {"~", "PE.n is empty (\"~\"); it must be a single value"},
        {"[1]", "PE.n must be a single value, not a list"},
        {"{a: 1}", "PE.n must be a single value, not a mapping"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct fixture f;
        uint64_t number = 42;
        open_value(&f, known[i].value);
        enum dse_status status = yaml_u64(&f.doc, f.value, "PE.n", 1, 64, &number, &f.err);
        if (known[i].message) {
            expect_message(&f, status, known[i].message);
            assert_int_equal(number, 42);
        } else {
            assert_int_equal(status, DSE_OK);
            assert_in_range(number, 1, 64);
            yaml_doc_free(&f.doc);
        }
    }
}

static void test_yaml_values_u64_open_range_is_said_so(void **state)
{
    (void)state;
    struct fixture f;
    uint64_t number = 0;
    open_value(&f, "0");
    expect_message(&f, yaml_u64(&f.doc, f.value, "n", 1, UINT64_MAX, &number, &f.err),
                   "n: 0 is out of range; it must be 1 or more");
}

static void test_yaml_values_double_takes_finite_numbers(void **state)
{
    (void)state;
    struct fixture f;
    double number = 0;
    open_value(&f, "-2.5e-1");
    assert_int_equal(yaml_double(&f.doc, f.value, "x", -1, 1, &number, &f.err), DSE_OK);
    assert_true(number == -0.25);
    yaml_doc_free(&f.doc);
    open_value(&f, ".nan");
    expect_message(&f, yaml_double(&f.doc, f.value, "x", 0, 1, &number, &f.err),
                   "x: \".nan\" is not a plain finite number; write one such as 0.5 or 1e-3, from 0 to 1");
    open_value(&f, "1 GHz");
    expect_message(&f, yaml_double(&f.doc, f.value, "x", 0, DBL_MAX, &number, &f.err),
                   "x: \"1 GHz\" is not a plain finite number; write one such as 0.5 or 1e-3, at least 0");
    open_value(&f, "1.5");
    expect_message(&f, yaml_double(&f.doc, f.value, "x", -DBL_MAX, 1, &number, &f.err),
                   "x: 1.5 is out of range; it must be at most 1");
}

static void test_yaml_values_bool_takes_switch_words(void **state)
{
    (void)state;
    static const char *const yes[] = {"true", "on", "yes", "True", "ON"};
    static const char *const no[] = {"false", "off", "no", "False", "OFF"};
    struct fixture f;
    for (size_t i = 0; i < 5; i++) {
        bool value = false;
        open_value(&f, yes[i]);
        assert_int_equal(yaml_bool(&f.doc, f.value, "links", &value, &f.err), DSE_OK);
        assert_true(value);
        yaml_doc_free(&f.doc);
        open_value(&f, no[i]);
        assert_int_equal(yaml_bool(&f.doc, f.value, "links", &value, &f.err), DSE_OK);
        assert_false(value);
        yaml_doc_free(&f.doc);
    }
    bool value = false;
    open_value(&f, "1");
    expect_message(&f, yaml_bool(&f.doc, f.value, "links", &value, &f.err),
                   "links: \"1\" is not a switch; write true or false (or on, off, yes, no)");
}

static void test_yaml_values_quantity_has_place_and_range(void **state)
{
    (void)state;
    struct fixture f;
    double value = 0;
    open_value(&f, "128 KiB");
    assert_int_equal(yaml_quantity(&f.doc, f.value, "GB.capacity", UNIT_BYTE, 1, 1e15, &value, &f.err),
                     DSE_OK);
    assert_true(value == 131072);
    yaml_doc_free(&f.doc);
    open_value(&f, "0 B");
    expect_message(&f, yaml_quantity(&f.doc, f.value, "GB.capacity", UNIT_BYTE, 1, DBL_MAX, &value, &f.err),
                   "GB.capacity: 0 B is out of range; it must be at least 1 B");
    open_value(&f, "2 TiB");
    expect_message(&f, yaml_quantity(&f.doc, f.value, "GB.capacity", UNIT_BYTE, 1, 1024, &value, &f.err),
                   "GB.capacity: 2 TiB is out of range; it must be from 1 B to 1 KiB");
    open_value(&f, "1");
    expect_message(&f, yaml_quantity(&f.doc, f.value, "clock", UNIT_HERTZ, 1, DBL_MAX, &value, &f.err),
                   "clock: \"1\" has no unit; write a frequency such as 1 GHz (Hz, kHz, MHz, GHz)");
}

static void test_yaml_values_choice_suggests(void **state)
{
    (void)state;
    static const char *const engine[] = {"random", "hybrid", "annealing"};
    struct fixture f;
    size_t index = 9;
    open_value(&f, "hybrid");
    assert_int_equal(yaml_choice(&f.doc, f.value, "engine", engine, 3, &index, &f.err), DSE_OK);
    assert_int_equal(index, 1);
    yaml_doc_free(&f.doc);
    open_value(&f, "anealing");
    expect_message(
        &f, yaml_choice(&f.doc, f.value, "engine", engine, 3, &index, &f.err),
        "engine: \"anealing\" is unknown; did you mean \"annealing\"? (accepted: random, hybrid, annealing)");
    open_value(&f, "gurobi");
    expect_message(&f, yaml_choice(&f.doc, f.value, "engine", engine, 3, &index, &f.err),
                   "engine: \"gurobi\" is unknown (accepted: random, hybrid, annealing)");
}

static void test_yaml_values_text_refuses_null(void **state)
{
    (void)state;
    static const char *const none[] = {"", "~", "null", "Null", "NULL"};
    struct fixture f;
    const char *text = NULL;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        open_value(&f, none[i]);
        assert_int_equal(yaml_text(&f.doc, f.value, "name", &text, &f.err), DSE_BAD_INPUT);
        yaml_doc_free(&f.doc);
    }
    open_value(&f, "'null'");
    assert_int_equal(yaml_text(&f.doc, f.value, "name", &text, &f.err), DSE_OK);
    assert_string_equal(text, "null");
    yaml_doc_free(&f.doc);
    open_value(&f, "\"\"");
    assert_int_equal(yaml_text(&f.doc, f.value, "name", &text, &f.err), DSE_OK);
    assert_string_equal(text, "");
    yaml_doc_free(&f.doc);
}

static void test_yaml_values_unknown_key_is_named(void **state)
{
    (void)state;
    static const char *const allowed[] = {"name", "capacity", "bandwidth"};
    struct fixture f;
    open_value(&f, "{name: x, capactiy: 3}");
    expect_message(&f, yaml_check_keys(&f.doc, f.value, "level GlobalBuffer", allowed, 3, &f.err),
                   "unknown key \"capactiy\" in level GlobalBuffer; did you mean \"capacity\"? "
                   "(accepted: name, capacity, bandwidth)");
    open_value(&f, "{name: x, colour: 3}");
    expect_message(&f, yaml_check_keys(&f.doc, f.value, "level GlobalBuffer", allowed, 3, &f.err),
                   "unknown key \"colour\" in level GlobalBuffer (accepted: name, capacity, bandwidth)");
    open_value(&f, "5");
    expect_message(&f, yaml_check_keys(&f.doc, f.value, "level L1", allowed, 3, &f.err),
                   "level L1 must be a mapping (lines of \"key: value\"), not the single value \"5\"");
    open_value(&f, "{bandwidth: 2, name: x}");
    assert_int_equal(yaml_check_keys(&f.doc, f.value, "level L1", allowed, 3, &f.err), DSE_OK);
    yaml_doc_free(&f.doc);
}

static void test_yaml_values_unknown_key_has_its_own_line(void **state)
{
    (void)state;
    static const char text[] = "a: 1\n\nb: 2\n";
    static const char *const allowed[] = {"a"};
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_parse(&doc, "k.yaml", text, sizeof text - 1, &err), DSE_OK);
    assert_int_equal(yaml_check_keys(&doc, doc.root, "the file", allowed, 1, &err), DSE_BAD_INPUT);
    assert_int_equal(err.line, 3);
    yaml_doc_free(&doc);
}

static void test_yaml_values_required_key_is_named(void **state)
{
    (void)state;
    struct fixture f;
    const struct ynode *node = NULL;
    open_value(&f, "{capactiy: 3}");
    assert_int_equal(yaml_require(&f.doc, f.value, "level L1", "capactiy", &node, &f.err), DSE_OK);
    assert_string_equal(node->text, "3");
    expect_message(&f, yaml_require(&f.doc, f.value, "level L1", "capacity", &node, &f.err),
                   "level L1 lacks the required key \"capacity\" (is \"capactiy\" meant to be it?)");
    open_value(&f, "{x: 3}");
    expect_message(&f, yaml_require(&f.doc, f.value, "level L1", "capacity", &node, &f.err),
                   "level L1 lacks the required key \"capacity\"");
    open_value(&f, "[x, 3]");
    expect_message(&f, yaml_require(&f.doc, f.value, "level L1", "capacity", &node, &f.err),
                   "level L1 must be a mapping (lines of \"key: value\"), not a list");
}

static void test_yaml_values_sequence_is_checked(void **state)
{
    (void)state;
    struct fixture f;
    open_value(&f, "[1, 2]");
    assert_int_equal(yaml_is_sequence(&f.doc, f.value, "levels", &f.err), DSE_OK);
    yaml_doc_free(&f.doc);
    open_value(&f, "");
    expect_message(&f, yaml_is_sequence(&f.doc, f.value, "levels", &f.err),
                   "levels is empty; it must be a list ([a, b] or lines of \"- a\")");
    open_value(&f, "x");
    expect_message(&f, yaml_fail(&f.doc, f.value, &f.err, "%s is %d", "x", 3), "x is 3");
}

static void test_yaml_values_long_lists_are_cut(void **state)
{
    (void)state;
    enum { N_WORD = 200 };
    const char *word[N_WORD];
    struct fixture f;
    size_t index = 0;
    for (size_t i = 0; i < N_WORD; i++)
        word[i] = "a_rather_long_name";
    open_value(&f, "zzz");
    assert_int_equal(yaml_choice(&f.doc, f.value, "engine", word, N_WORD, &index, &f.err), DSE_BAD_INPUT);
    assert_non_null(strstr(f.err.text, "a_rather_long_name, ...)"));
    yaml_doc_free(&f.doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml_values_u64_takes_plain_decimals),
        cmocka_unit_test(test_yaml_values_u64_open_range_is_said_so),
        cmocka_unit_test(test_yaml_values_double_takes_finite_numbers),
        cmocka_unit_test(test_yaml_values_bool_takes_switch_words),
        cmocka_unit_test(test_yaml_values_quantity_has_place_and_range),
        cmocka_unit_test(test_yaml_values_choice_suggests),
        cmocka_unit_test(test_yaml_values_text_refuses_null),
        cmocka_unit_test(test_yaml_values_unknown_key_is_named),
        cmocka_unit_test(test_yaml_values_unknown_key_has_its_own_line),
        cmocka_unit_test(test_yaml_values_required_key_is_named),
        cmocka_unit_test(test_yaml_values_sequence_is_checked),
        cmocka_unit_test(test_yaml_values_long_lists_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
