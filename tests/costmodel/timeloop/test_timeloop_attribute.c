/* The table of attributes, names with ranges and top-level keys; and that docs/timeloop.md lists them all.
 * Tests: timeloop_names.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/yaml.h"
#include "costmodel/timeloop/timeloop_parts.h"

static void test_timeloop_attribute_override_beats_the_file(void **state)
{
    static const char text[] = "{word-bits: 8, datawidth: 8, depth: 5}";
    static const struct arch_override override[] = {
        {"GB.word_width", "4"}, {"GB.depth", "6"}, {"GB.depth", "7"}, {"GBX.word-bits", "3"}};
    static const char *const word[] = {"word-bits", "word_width", "datawidth", NULL};
    static const char *const depth[] = {"depth", NULL};
    struct timeloop_component component = {.kind = TIMELOOP_STORAGE, .name = "GB"};
    struct yaml_doc doc;
    struct dse_error err;
    uint64_t value = 16;
    bool given = false;

    (void)state;
    assert_int_equal(yaml_parse(&doc, "a.yaml", text, strlen(text), &err), DSE_OK);
    component.doc = &doc;
    component.node = component.attributes = doc.root;
    assert_int_equal(timeloop_attribute_u64(&component, word, 1, 100, &value, &given, &err), DSE_OK);
    assert_int_equal(value, 8);
    component.override = override;
    component.n_override = 4;
    assert_int_equal(timeloop_attribute_u64(&component, word, 1, 100, &value, &given, &err), DSE_OK);
    assert_int_equal(value, 4);
    assert_int_equal(timeloop_attribute_u64(&component, depth, 1, 100, &value, &given, &err), DSE_OK);
    assert_int_equal(value, 7); /* the last of two */
    yaml_doc_free(&doc);
}

static char *read_whole(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text;
    long size;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}

/* Every quoted name in the table and the list of refused top-level keys must be in the page. */
static void expect_documented(const char *source, const char *page)
{
    char *text = read_whole(source), *docs = read_whole(page);
    char name[96];
    int n = 0;

    for (const char *p = text; (p = strstr(p, "\n    {\"")) != NULL; p++) {
        const char *start = p + strlen("\n    {\"");

        snprintf(name, sizeof name, "`%.*s`", (int)strcspn(start, "\""), start);
        if (strstr(docs, name) == NULL)
            fail_msg("%s is in %s but not in %s", name, source, page);
        n++;
    }
    assert_true(n > 6);
    free(text);
    free(docs);
}

static void test_timeloop_attribute_table_is_documented(void **state)
{
    (void)state;
    expect_documented("costmodel/timeloop/timeloop_attribute.c", "docs/timeloop.md");
    expect_documented("costmodel/timeloop/timeloop_names.c", "docs/timeloop.md");
}

static void test_timeloop_name_splits_the_range(void **state)
{
    static const struct {
        const char *text, *name;
        uint64_t count;
    } good[] = {{"PE", "PE", 1}, {"PE[0..15]", "PE", 16}, {"PE[1..1]", "PE", 1}, {"PE[3..7]", "PE", 5}};
    static const char *const bad[] = {
        "PE[0..]", "PE[..3]", "PE[3..0]", "PE[0..3", "PE[0..3]x", "PE[-1..3]", "PE[0..99999999999999999999]",
        "PE[",     "PE]..["};
    struct yaml_doc doc = {.path = NULL};
    struct dse_error err;
    char name[8], path[] = "a.yaml";
    uint64_t count;

    (void)state;
    doc.path = path;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct ynode node = {.kind = YNODE_SCALAR, .line = 4, .text = good[i].text};

        assert_int_equal(timeloop_name(&doc, &node, "x", name, sizeof name, &count, &err), DSE_OK);
        assert_string_equal(name, good[i].name);
        assert_int_equal(count, good[i].count);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct ynode node = {.kind = YNODE_SCALAR, .line = 4, .text = bad[i]};

        assert_int_equal(timeloop_name(&doc, &node, "x", name, sizeof name, &count, &err), DSE_BAD_INPUT);
        assert_int_equal(err.line, 4);
    }
}

static void test_timeloop_unknown_says_what_there_is(void **state)
{
    static const char *const known[] = {"Weights", "Inputs"};
    struct yaml_doc doc = {.path = NULL};
    struct dse_error err;
    char path[] = "a.yaml";

    (void)state;
    doc.path = path;
    assert_int_equal(timeloop_unknown(&doc, 3, &err, "tensor", "Weigts", known, 2), DSE_BAD_INPUT);
    assert_string_equal(err.text,
                        "unknown tensor \"Weigts\"; did you mean \"Weights\"? (there are: Weights, Inputs)");
    assert_int_equal(timeloop_unknown(&doc, 3, &err, "tensor", "zzzzzz", known, 0), DSE_BAD_INPUT);
    assert_string_equal(err.text, "unknown tensor \"zzzzzz\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeloop_attribute_override_beats_the_file),
        cmocka_unit_test(test_timeloop_attribute_table_is_documented),
        cmocka_unit_test(test_timeloop_name_splits_the_range),
        cmocka_unit_test(test_timeloop_unknown_says_what_there_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
