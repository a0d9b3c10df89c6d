/* YAML: any bytes give a tree or an error, and every getter takes every node. */
#include <stdlib.h>

#include "base/yaml.h"
#include "tests/fuzz/fuzz.h"

/* Aliases share nodes, so a small file may have a walk without end. */
enum { VISIT_MAX = 20000 };

static void call_scalar_getters(const struct yaml_doc *doc, const struct ynode *node)
{
    static const char *const choice[] = {"storage", "array", "macs"};
    struct dse_error err;
    const char *text;
    uint64_t count;
    double number;
    bool flag;
    size_t index;
    if (fuzz_ok(yaml_text(doc, node, "a text", &text, &err), &err))
        FUZZ_REQUIRE(text && strlen(text) <= DSE_ERROR_TEXT_MAX * (size_t)65536, "no text");
    if (fuzz_ok(yaml_u64(doc, node, "a count", 2, 1000, &count, &err), &err))
        FUZZ_REQUIRE(count >= 2 && count <= 1000, "out of range");
    if (fuzz_ok(yaml_double(doc, node, "a number", -1.5, 1e9, &number, &err), &err))
        FUZZ_REQUIRE(number >= -1.5 && number <= 1e9, "out of range");
    if (fuzz_ok(yaml_choice(doc, node, "a kind", choice, 3, &index, &err), &err))
        FUZZ_REQUIRE(index < 3, "index %zu", index);
    (void)fuzz_ok(yaml_bool(doc, node, "a switch", &flag, &err), &err);
    for (enum unit_kind kind = UNIT_BYTE; kind <= UNIT_JOULE_PER_BIT; kind++)
        if (fuzz_ok(yaml_quantity(doc, node, "a quantity", kind, 0, 1e30, &number, &err), &err))
            fuzz_check_number(number, "quantity");
}

static void visit(const struct yaml_doc *doc, const struct ynode *node, unsigned *left)
{
    static const char *const allowed[] = {"name", "levels"};
    const struct ynode *value;
    struct dse_error err;
    if (*left == 0)
        return;
    --*left;
    FUZZ_REQUIRE(node && node->line >= 1, "a node without a line");
    FUZZ_REQUIRE((node->kind == YNODE_SCALAR) == (node->text != NULL), "text and kind");
    FUZZ_REQUIRE((node->kind == YNODE_MAPPING) == (node->key != NULL) || node->n_item == 0, "keys and kind");
    call_scalar_getters(doc, node);
    (void)fuzz_ok(yaml_is_sequence(doc, node, "a list", &err), &err);
    (void)fuzz_ok(yaml_check_keys(doc, node, "a thing", allowed, 2, &err), &err);
    if (fuzz_ok(yaml_require(doc, node, "a thing", "name", &value, &err), &err))
        FUZZ_REQUIRE(value == yaml_find(node, "name"), "another value");
    if (!fuzz_ok(yaml_is_mapping(doc, node, "a mapping", &err), &err))
        FUZZ_REQUIRE(yaml_find(node, "name") == NULL, "found in no mapping");
    for (size_t i = 0; node->kind != YNODE_SCALAR && i < node->n_item; i++) {
        if (node->kind == YNODE_MAPPING)
            FUZZ_REQUIRE(node->key[i] && node->key_line[i] >= 1 &&
                             yaml_find(node, node->key[i]) == node->item[i],
                         "key %zu", i);
        visit(doc, node->item[i], left);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_doc doc;
    struct dse_error err;
    unsigned left = VISIT_MAX;
    if (!fuzz_ok(yaml_parse(&doc, "fuzz.yaml", (const char *)data, size, &err), &err))
        return 0;
    visit(&doc, doc.root, &left);
    yaml_doc_free(&doc);
    return 0;
}
