/* Groups of banks and tensors by name in native architecture files: what they become, as quantities, and what
 * is wrong with them, line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/readers/readers.h"

/* Line 5 is the group's first, 9 the DRAM's, 10 to 12 those of the storages. */
static const char *const line[] = {
    "architecture: small",
    "clock: 1 GHz",
    "title: two storages of a group",
    "groups:",
    "- group: Shared",
    "  banks: 5",
    "  bank: 16 B",
    "hierarchy:",
    "- {storage: DRAM, kind: dram, word: 16 bit, access_energy: 1 pJ}",
    "- {storage: A, word: 16 bit, group: Shared, access_energy: 1 pJ, keeps: [X]}",
    "- {storage: B, word: 32 bit, group: Shared, access_energy: 1 pJ, keeps: "
    "[Y, Inputs]}",
    "- {macs: MAC, word: 16 bit, energy: 1 pJ}"};

enum { N_LINE = sizeof line / sizeof line[0] };

/* The file with line `at`, counted from 1, replaced; built with an override if `path`. */
static enum dse_status build(int at, const char *text, const char *path, const char *value,
                             struct architecture *arch, struct dse_error *err)
{
    char bytes[4096] = "";
    struct yaml_doc doc;
    const struct arch_override override = {path, value};
    for (int i = 0; i < N_LINE; i++) {
        strcat(bytes, i + 1 == at ? text : line[i]);
        strcat(bytes, "\n");
    }
    DSE_TRY(yaml_parse(&doc, "small.yaml", bytes, strlen(bytes), err));
    enum dse_status status = architecture_build(&doc, &override, path != NULL, arch, err);
    yaml_doc_free(&doc);
    return status;
}

static struct architecture good(const char *path, const char *value)
{
    struct architecture arch;
    struct dse_error err = {0};
    if (build(0, NULL, path, value, &arch, &err) != DSE_OK)
        fail_msg("%s: %s", path ? path : "the file", err.text);
    return arch;
}

static void test_groups_become_banks_of_words(void **state)
{
    (void)state;
    const struct architecture arch = good(NULL, NULL);
    const struct storage_level *a = &arch.level[1], *b = &arch.level[0];
    assert_int_equal(arch.n_group, 1);
    assert_string_equal(arch.group[0].name, "Shared");
    assert_int_equal(arch.group[0].banks, 5);
    assert_int_equal(a->bank_group, 1);
    assert_int_equal(b->bank_group, 1);
    assert_int_equal(a->bank_word, 8); /* 16 B of 16 bit */
    assert_int_equal(b->bank_word, 4);
    assert_int_equal(a->size_word, 32); /* 4 banks */
    assert_int_equal(b->size_word, 16);
    assert_int_equal(arch.level[2].bank_group, 0);
}

static void test_groups_are_quantities(void **state)
{
    (void)state;
    const struct architecture more = good("Shared.banks", "9"), wide = good("Shared.bank", "64 word");
    assert_int_equal(more.group[0].banks, 9);
    assert_int_equal(more.level[1].size_word, 64);
    assert_int_equal(wide.level[1].bank_word, 64);
    assert_int_equal(wide.level[0].bank_word, 64);
}

static void test_keeps_takes_roles_and_names(void **state)
{
    (void)state;
    const struct architecture arch = good(NULL, NULL), other = good("A.keeps", "[Outputs, Z, X]");
    const struct tensor x = {.name = "X", .role = TENSOR_WEIGHT}, y = {.name = "Y", .role = TENSOR_WEIGHT},
                        z = {.name = "Z", .role = TENSOR_WEIGHT}, in = {.name = "I", .role = TENSOR_INPUT},
                        out = {.name = "O", .role = TENSOR_OUTPUT};
    assert_true(architecture_keeps(&arch, 1, &x) && !architecture_keeps(&arch, 1, &y));
    assert_true(!architecture_keeps(&arch, 1, &in) && !architecture_keeps(&arch, 1, &out));
    assert_true(architecture_keeps(&arch, 0, &y) && architecture_keeps(&arch, 0, &in));
    assert_true(!architecture_keeps(&arch, 0, &x));
    assert_true(architecture_keeps(&other, 1, &x) && architecture_keeps(&other, 1, &z));
    assert_true(architecture_keeps(&other, 1, &out) && !architecture_keeps(&other, 1, &y));
    assert_true(architecture_hash(&arch) != architecture_hash(&other));
}

/* A machine for X has nothing for a problem without it: that is no machine without buffers. */
static void test_keeps_by_name_needs_such_a_tensor(void **state)
{
    (void)state;
    const struct architecture arch = good(NULL, NULL);
    struct problem problem = {.name = "p", .n_tensor = 1, .tensor = {{.name = "X", .role = TENSOR_INPUT}}};
    struct dse_error err;
    assert_int_equal(architecture_suits(&arch, &problem, &err), DSE_OK);
    strcpy(problem.tensor[0].name, "W");
    assert_int_equal(architecture_suits(&arch, &problem, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "A keeps X by name, and problem p has no such tensor"));
}

static const struct {
    int at;
    const char *text;
    int blame;
    const char *words;
} bad[] = {
    {6, "  banks: 1", 6, "Shared.banks is 1, for 2 storages"},
    {6, "  banks: 1.5", 6, "Shared.banks"},
    {6, "  banks: 0", 6, "Shared.banks"},
    {6, "  bancs: 5", 6, "did you mean \"banks\""},
    {6, "", 5, "\"banks\""},
    {7, "  bank: 1 TiB", 7, "more than 2^32 - 1"},
    {7, "  bank: 1 B", 7, "Shared.bank holds 0 words of A"},
    {5, "- group: 5hared", 5, "is no name"},
    {5, "- name: Shared", 5, "lacks its \"group\""},
    {5, "- group: DRAM", 9, "has the name of the group in line 5"},
    {10, "- {storage: A, word: 16 bit, group: Shard, access_energy: 1 pJ}", 10, "did you mean \"Shared\""},
    {10, "- {storage: A, word: 16 bit, group: Shared, capacity: 1 KiB, access_energy: 1 pJ}", 10,
     "A.capacity is for a storage of its own"},
    {10, "- {storage: A, word: 16 bit, group: Shared, multiple_buffering: 2, access_energy: 1 pJ}", 10,
     "A.multiple_buffering"},
    {10, "- {storage: A, word: 16 bit, group: Shared, access_energy: 1 pJ, keeps: [Wieghts]}", 10,
     "did you mean \"Weights\""},
    {10, "- {storage: A, word: 16 bit, group: Shared, access_energy: 1 pJ, keeps: [X, X]}", 10,
     "names X twice"},
    {10, "- {storage: A, word: 16 bit, group: Shared, access_energy: 1 pJ, keeps: []}", 10, "empty"},
    {9, "- {storage: DRAM, kind: dram, word: 16 bit, group: Shared, access_energy: 1 pJ}", 9, "outermost"},
    {10, "- {storage: A, word: 16 bit, group: Shared, access_energy: 1 pJ}\n- {array: PE, mesh: 2x1}", 12,
     "on the other side of an array"},
};

static void test_groups_that_cannot_be_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct architecture arch;
        struct dse_error err = {0};
        assert_int_equal(build(bad[i].at, bad[i].text, NULL, NULL, &arch, &err), DSE_BAD_INPUT);
        if (!strstr(err.text, bad[i].words) || err.line != bad[i].blame)
            fail_msg("case %zu: line %d: \"%s\" lacks \"%s\" of line %d", i, err.line, err.text, bad[i].words,
                     bad[i].blame);
    }
}

static void test_groups_that_overrides_break_name_the_override(void **state)
{
    (void)state;
    struct architecture arch;
    struct dse_error err = {0};
    assert_int_equal(build(0, NULL, "Shared.banks", "1", &arch, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "set by an axis or --set"));
    assert_int_equal(build(0, NULL, "A.capacity", "1 KiB", &arch, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "A.capacity is for a storage of its own"));
    assert_int_equal(build(0, NULL, "Shared.bnak", "1 KiB", &arch, &err), DSE_BAD_INPUT);
    assert_non_null(strstr(err.text, "did you mean \"Shared.bank\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_become_banks_of_words),
        cmocka_unit_test(test_groups_are_quantities),
        cmocka_unit_test(test_keeps_takes_roles_and_names),
        cmocka_unit_test(test_keeps_by_name_needs_such_a_tensor),
        cmocka_unit_test(test_groups_that_cannot_be_are_explained),
        cmocka_unit_test(test_groups_that_overrides_break_name_the_override),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
