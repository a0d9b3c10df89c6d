/* The table of axes that are no quantity: names, and the docs that people read. */
#include "dse/spec/axis_kinds.h"
#include "tests/results/files.h"

static void test_axis_kinds_are_found_by_their_spelling(void **state)
{
    (void)state;
    assert_int_equal(axis_kind_of("seed")->target, SPEC_SEED);
    assert_int_equal(axis_kind_of("option.patience")->target, SPEC_OPTION);
    assert_string_equal(axis_kind_rest(axis_kind_of("option.patience"), "option.patience"), "patience");
    assert_int_equal(axis_kind_of("seeds")->target, SPEC_QUANTITY);
    assert_int_equal(axis_kind_of("option")->target, SPEC_QUANTITY);
    assert_int_equal(axis_kind_of("DRAM.bandwidth")->target, SPEC_QUANTITY);
    assert_int_equal(axis_kind_of("")->target, SPEC_QUANTITY);
}

/* `seed`, or `option.NAME` of "option.". */
static void test_axis_kinds_are_in_the_docs(void **state)
{
    (void)state;
    size_t n;
    const struct axis_kind *kind = axis_kind_all(&n);
    char *text = files_read("docs/sweeps.md", NULL);
    for (size_t i = 0; i < n; i++) {
        char word[64];
        size_t length = strlen(kind[i].name);
        snprintf(word, sizeof word, "`%s%s`", kind[i].name, kind[i].name[length - 1] == '.' ? "NAME" : "");
        if (!strstr(text, word))
            fail_msg("docs/sweeps.md does not speak of %s", word);
        assert_ptr_equal(axis_kind_of(kind[i].name), &kind[i]);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axis_kinds_are_found_by_their_spelling),
        cmocka_unit_test(test_axis_kinds_are_in_the_docs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
