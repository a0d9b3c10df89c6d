/* The tree of a YAML file: kinds, lines, aliases and merge keys, and the limits that keep hostile files
 * small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/text.h"
#include "base/yaml.h"
#include "base/yaml_tree.h"

static struct yaml_doc parse(const char *text)
{
    struct yaml_doc doc;
    struct dse_error err;
    enum dse_status status = yaml_parse(&doc, "t.yaml", text, strlen(text), &err);
    if (status != DSE_OK)
        print_error("%d: %s\n", err.line, err.text);
    assert_int_equal(status, DSE_OK);
    return doc;
}

static void expect_error(const char *text, enum dse_status status, int line, const char *message)
{
    struct yaml_doc doc;
    struct dse_error err;
    assert_int_equal(yaml_parse(&doc, "t.yaml", text, strlen(text), &err), status);
    if (!strstr(err.text, message))
        print_error("%s\n", err.text);
    assert_non_null(strstr(err.text, message));
    assert_int_equal(err.line, line);
    assert_string_equal(err.file, "t.yaml");
}

static void expect_item(const struct ynode *mapping, size_t index, const char *key, const char *text)
{
    assert_true(index < mapping->n_item);
    assert_string_equal(mapping->key[index], key);
    assert_string_equal(mapping->item[index]->text, text);
}

static void test_yaml_tree_keeps_kinds_lines_and_order(void **state)
{
    (void)state;
    struct yaml_doc doc = parse("# comment\n"
                                "name: simba\n"
                                "levels:\n"
                                "  - !Container {word: 8}\n"
                                "  - 'q'\n"
                                "empty:\n"
                                "last: |\n"
                                "  block\n");
    const struct ynode *root = doc.root;
    assert_int_equal(root->kind, YNODE_MAPPING);
    assert_int_equal(root->n_item, 4);
    expect_item(root, 0, "name", "simba");
    assert_int_equal(root->key_line[0], 2);
    assert_false(root->item[0]->quoted);
    const struct ynode *levels = yaml_find(root, "levels");
    assert_int_equal(levels->kind, YNODE_SEQUENCE);
    assert_int_equal(levels->n_item, 2);
    assert_null(levels->key);
    assert_string_equal(levels->item[0]->tag, "!Container");
    assert_int_equal(levels->item[0]->line, 4);
    expect_item(levels->item[0], 0, "word", "8");
    assert_true(levels->item[1]->quoted);
    assert_int_equal(levels->item[1]->line, 5);
    assert_null(levels->item[1]->tag);
    expect_item(root, 2, "empty", "");
    assert_int_equal(root->item[2]->line, 6);
    expect_item(root, 3, "last", "block\n");
    assert_null(yaml_find(root, "absent"));
    assert_null(yaml_find(levels, "name"));
    assert_null(yaml_find(NULL, "name"));
    yaml_doc_free(&doc);
}

static void test_yaml_tree_alias_shares_its_node(void **state)
{
    (void)state;
    struct yaml_doc doc = parse("a: &x {k: 1}\nb: *x\nc: &y text\nd: *y\n*y : e\nf: &x 2\ng: *x\n");
    assert_ptr_equal(yaml_find(doc.root, "a"), yaml_find(doc.root, "b"));
    assert_ptr_equal(yaml_find(doc.root, "c"), yaml_find(doc.root, "d"));
    assert_string_equal(yaml_find(doc.root, "text")->text, "e");
    assert_string_equal(yaml_find(doc.root, "g")->text, "2"); /* the latest anchor counts */
    yaml_doc_free(&doc);
}

static void test_yaml_tree_merge_keys_expand(void **state)
{
    (void)state;
    struct yaml_doc doc = parse("x: &x {a: 1, b: 2}\n"
                                "y: &y {b: 3, c: 4}\n"
                                "one:\n"
                                "  d: 5\n"
                                "  <<: *x\n"
                                "  a: own\n"
                                "two: &two {<<: [*x, *y]}\n"
                                "three: {<<: *two, e: 6}\n"
                                "quoted: {'<<': 7}\n");
    const struct ynode *one = yaml_find(doc.root, "one");
    assert_int_equal(one->n_item, 3);
    expect_item(one, 0, "b", "2");
    assert_int_equal(one->key_line[0], 1);
    expect_item(one, 1, "d", "5");
    expect_item(one, 2, "a", "own");
    const struct ynode *two = yaml_find(doc.root, "two");
    assert_int_equal(two->n_item, 3);
    expect_item(two, 0, "a", "1");
    expect_item(two, 1, "b", "2"); /* the earlier of the list wins */
    expect_item(two, 2, "c", "4");
    const struct ynode *three = yaml_find(doc.root, "three");
    assert_int_equal(three->n_item, 4);
    expect_item(three, 3, "e", "6");
    expect_item(yaml_find(doc.root, "quoted"), 0, "<<", "7");
    yaml_doc_free(&doc);
}

static void test_yaml_tree_errors_have_lines(void **state)
{
    (void)state;
    expect_error("a: 1\nb: 2\na: 3\n", DSE_BAD_INPUT, 3, "duplicate key \"a\"; it is already on line 1");
    expect_error("a: {b: 1,\n b: 2}\n", DSE_BAD_INPUT, 2, "duplicate key \"b\"; it is already on line 1");
    expect_error("x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x\n", DSE_BAD_INPUT, 4, "duplicate key \"<<\"");
    expect_error("a: 1\n---\nb: 2\n", DSE_BAD_INPUT, 2, "a second YAML document begins here");
    expect_error("a: 1\n[x, y]: 2\n", DSE_BAD_INPUT, 2, "a key must be plain text");
    expect_error("a: &x [1]\n*x : 2\n", DSE_BAD_INPUT, 2, "not an alias of a list");
    expect_error("a: 1\n'': 2\n", DSE_BAD_INPUT, 2, "empty key");
    expect_error("a: 1\nb: *nowhere\n", DSE_BAD_INPUT, 2, "alias *nowhere has no anchor &nowhere");
    expect_error("a: &x\n  b: [1,\n    *x]\n", DSE_BAD_INPUT, 3, "alias *x is cyclic");
    expect_error("a: &x\n  <<: *x\n", DSE_BAD_INPUT, 2, "alias *x is cyclic");
    expect_error("a: 1\n<<: 2\n", DSE_BAD_INPUT, 2, "merge key << takes a mapping");
    expect_error("<<: [{a: 1}, 2]\n", DSE_BAD_INPUT, 1, "merge key << takes a mapping");
    expect_error("a: \"x\\0y\"\n", DSE_BAD_INPUT, 1, "zero byte");
}

static void test_yaml_tree_syntax_errors_have_lines(void **state)
{
    (void)state;
    expect_error("a: 1\nb: \"open\nc: 2\n", DSE_BAD_INPUT, 2, "the quote opened here is never closed");
    expect_error("a: 'open", DSE_BAD_INPUT, 1, "the quote opened here is never closed");
    expect_error("a: [1, 2\nb: 3\n", DSE_BAD_INPUT, 2, "did not find expected ',' or ']'");
    expect_error("a:\n\tb: 1\n", DSE_BAD_INPUT, 2, "tabs cannot indent YAML");
    expect_error("a: 1\n  b: 2\n", DSE_BAD_INPUT, 2, "mapping values are not allowed in this context");
    expect_error("a: 1\n  b: 2\n", DSE_BAD_INPUT, 2, "indented too deep");
    expect_error("x: 1\ntitle: Buffers: small and large\n", DSE_BAD_INPUT, 2, "must be in quotes");
    expect_error("l:\n- {x: 1}\n- t\xc3\xaftle: 1 GB/s: 2\n", DSE_BAD_INPUT, 3,
                 "must be in quotes, as in title:");
    expect_error("a: 1\n b: 2\nc\n", DSE_BAD_INPUT, 2, "not valid YAML");
    expect_error("a: 1\nb: {{ size }}\n", DSE_BAD_INPUT, 2,
                 "a template ({{ }}, {% %}), which is not filled in");
    expect_error("a: 1\nb: {{x}}/2\n", DSE_BAD_INPUT, 2, "a template");
    expect_error("a: 1\n{% if b %}\nb: 1\n", DSE_BAD_INPUT, 2, "a template");
    expect_error("{{ include('arch.yaml') }}\n", DSE_BAD_INPUT, 1, "a template");
    expect_error("]", DSE_BAD_INPUT, 1, "not valid YAML");
    expect_error("a: !<", DSE_BAD_INPUT, 1, "not valid YAML");
    expect_error("%YAML 9.9\n---\na: 1\n", DSE_BAD_INPUT, 1, "not valid YAML");
}

static void test_yaml_tree_nesting_is_limited(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    for (int i = 0; i < YAML_NESTING_MAX - 1; i++)
        text_append(&text, "[");
    text_append(&text, "1");
    for (int i = 0; i < YAML_NESTING_MAX - 1; i++)
        text_append(&text, "]");
    struct yaml_doc doc = parse(text.data);
    yaml_doc_free(&doc);
    text_clear(&text);
    for (int i = 0; i < 100000; i++)
        text_append(&text, "[");
    expect_error(text.data, DSE_LIMIT, 1, "nested deeper than 64 levels");
    text_clear(&text);
    for (int i = 0; i < 1000; i++)
        text_append(&text, "{a: ");
    expect_error(text.data, DSE_LIMIT, 1, "nested deeper than 64 levels");
    text_clear(&text);
    for (int i = 0; i < 1000; i++)
        text_append(&text, "- ");
    expect_error(text.data, DSE_LIMIT, 1, "nested deeper than 64 levels");
    text_free(&text);
}

/* Nine levels of nine aliases stand for 9^9 leaves, but share nodes. */
static void test_yaml_tree_alias_bomb_stays_small(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    text_append(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 9; i++) {
        text_append(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 9; k++)
            text_append(&text, "%s*a%d", k > 0 ? "," : "", i - 1);
        text_append(&text, "]\n");
    }
    struct yaml_doc doc = parse(text.data);
    assert_in_range(doc.arena.used_byte, 1, 20000);
    yaml_doc_free(&doc);
    text_free(&text);
}

static void test_yaml_tree_merge_bomb_is_refused(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    text_append(&text, "a: &a\n");
    for (int i = 0; i < 2000; i++)
        text_append(&text, "  k%d: 1\n", i);
    text_append(&text, "b:\n");
    for (int i = 0; i < 2000; i++) /* 2000 x 2000 entries */
        text_append(&text, "  - <<: *a\n");
    /* 500 merges make a million; the next is one too many: lines 1 .. 2001 are a, 2002 is b */
    expect_error(text.data, DSE_LIMIT, 2002 + 501, "merge keys expand to more than 1000000 entries");
    text_free(&text);
}

static void test_yaml_tree_large_mapping_is_quick(void **state)
{
    (void)state;
    struct text_buffer text;
    text_init(&text);
    for (int i = 0; i < 20000; i++)
        text_append(&text, "key%d: &n%d {a: %d}\n", i, i, i);
    for (int i = 0; i < 20000; i++)
        text_append(&text, "alias%d: *n%d\n", i, i);
    struct yaml_doc doc = parse(text.data);
    assert_int_equal(doc.root->n_item, 40000);
    assert_ptr_equal(doc.root->item[0], doc.root->item[20000]);
    yaml_doc_free(&doc);
    text_free(&text);
}

/* Random changes of a file: any status is fine, no crash, no leak (the sanitizers watch), and errors have
 * words. */
static void test_yaml_tree_survives_random_damage(void **state)
{
    (void)state;
    static const char whole[] = "a: &x {k: [1, 2, 'three'], m: \"four\"}\n"
                                "b:\n  - <<: *x\n    l: 5\n  - |\n    text\n    more\n  - !T {a: ~}\n"
                                "? c\n: *x\n# end\n";
    static const char letters[] = "&*<:-?![]{}'\"|>\n \t#%@`,ax~\\\x80\xC3";
    struct random_stream stream = random_stream_make(11, 12, RANDOM_TEST);
    for (int i = 0; i < 4000; i++) {
        char text[sizeof whole];
        memcpy(text, whole, sizeof whole);
        size_t length = sizeof whole - 1;
        for (uint32_t n = random_below(&stream, 6); n > 0; n--)
            text[random_below(&stream, (uint32_t)length)] =
                letters[random_below(&stream, sizeof letters - 1)];
        if (i % 4 == 0)
            length = random_below(&stream, (uint32_t)length + 1);
        struct yaml_doc doc;
        struct dse_error err;
        if (yaml_parse(&doc, "t.yaml", text, length, &err) == DSE_OK) {
            assert_non_null(doc.root);
            yaml_doc_free(&doc);
        } else {
            assert_true(err.text[0] != '\0');
            assert_true(err.status == DSE_BAD_INPUT || err.status == DSE_LIMIT);
            assert_in_range(err.line, 0, 20);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_yaml_tree_keeps_kinds_lines_and_order),
        cmocka_unit_test(test_yaml_tree_alias_shares_its_node),
        cmocka_unit_test(test_yaml_tree_merge_keys_expand),
        cmocka_unit_test(test_yaml_tree_errors_have_lines),
        cmocka_unit_test(test_yaml_tree_syntax_errors_have_lines),
        cmocka_unit_test(test_yaml_tree_nesting_is_limited),
        cmocka_unit_test(test_yaml_tree_alias_bomb_stays_small),
        cmocka_unit_test(test_yaml_tree_merge_bomb_is_refused),
        cmocka_unit_test(test_yaml_tree_large_mapping_is_quick),
        cmocka_unit_test(test_yaml_tree_survives_random_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
