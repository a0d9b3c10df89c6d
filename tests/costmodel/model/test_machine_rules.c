/* Rules of a machine as text and as a list with the lines of their file; what the machine's hash sees of
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/model/architecture.h"
#include "costmodel/model/machine_rules.h"

static void set_up(struct architecture *arch, const char *rules)
{
    *arch = (struct architecture){.name = "m"};
    snprintf(arch->rules, sizeof arch->rules, "%s", rules);
}

static void test_machine_rules_keep_lines_in_any_order(void **state)
{
    static const char rules[] =
        "a dir/ma: ch.yaml\n7 {target: \"B\"}\n3 {target: \"A\"}\n3 {target: \"C\"}\n";
    struct yaml_doc doc;
    struct dse_error err;
    struct text_buffer text;
    (void)state;
    assert_int_equal(machine_rules_parse(rules, &doc, &err), DSE_OK);
    assert_string_equal(doc.path, "a dir/ma: ch.yaml");
    assert_int_equal(doc.root->n_item, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(doc.root->item[i]->line, i < 2 ? 3 : 7);
        assert_string_equal(yaml_find(doc.root->item[i], "target")->text, i == 0 ? "A" : i == 1 ? "C" : "B");
    }
    yaml_doc_free(&doc);
    text_init(&text);
    machine_rules_begin(&text, "x\ny");
    assert_string_equal(text.data, "x?y\n");
    text_free(&text);
    assert_int_equal(machine_rules_parse("x\n1 }\n", &doc, &err), DSE_BAD_INPUT);
}

static void test_machine_hash_sees_rules_but_not_their_places(void **state)
{
    struct architecture f, g;
    (void)state;
    set_up(&f, "a.yaml\n3 {target: \"DRAM\", type: temporal, factors: [\"K=2\"]}\n");
    set_up(&g, "b.yaml\n9 {target: \"DRAM\", type: temporal, factors: [\"K=2\"]}\n");
    assert_true(architecture_hash(&f) == architecture_hash(&g));
    set_up(&g, "a.yaml\n3 {target: \"DRAM\", type: temporal, factors: [\"K=4\"]}\n");
    assert_false(architecture_hash(&f) == architecture_hash(&g));
    set_up(&g, "");
    assert_false(architecture_hash(&f) == architecture_hash(&g));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_rules_keep_lines_in_any_order),
        cmocka_unit_test(test_machine_hash_sees_rules_but_not_their_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
