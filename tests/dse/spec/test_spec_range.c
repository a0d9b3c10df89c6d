/* Ranges of axes: the lists that they stand for, written by hand, and what makes none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "dse/spec/spec_range.h"

/* The values of a range with ", " between them, or the message. */
static enum dse_status expand(const char *yaml, size_t max, char *joined, size_t size, struct dse_error *err)
{
    struct yaml_doc doc;
    struct arena arena;
    const char *const *value;
    size_t n, used = 0;
    arena_init(&arena);
    *err = (struct dse_error){0};
    assert_int_equal(yaml_parse(&doc, "r.yaml", yaml, strlen(yaml), err), DSE_OK);
    enum dse_status status = spec_range_expand(&doc, "a", doc.root, max, &arena, &value, &n, err);
    joined[0] = '\0';
    for (size_t i = 0; status == DSE_OK && i < n && used < size; i++)
        used += (size_t)snprintf(joined + used, size - used, "%s%s", i ? ", " : "", value[i]);
    arena_free(&arena);
    yaml_doc_free(&doc);
    return status;
}

static void test_spec_range_is_the_list_by_hand(void **state)
{
    static const char *const row[][2] = {
        {"{from: 1, to: 5}", "1, 2, 3, 4, 5"},
        {"{from: 0.1, to: 0.5, step: 0.1}", "0.1, 0.2, 0.3, 0.4, 0.5"}, /* doubles give 0.30000000000000004 */
        {"{from: 1, to: 2, step: 0.3}", "1, 1.3, 1.6, 1.9"},            /* the end is not hit */
        {"{from: 7, to: 7}", "7"},
        {"{from: -2, to: 2, step: 2}", "-2, 0, 2"},
        {"{from: 5, to: 1, step: -2}", "5, 3, 1"},
        {"{from: 0.05, to: -0.05, step: -0.05}", "0.05, 0, -0.05"},
        {"{from: 1, to: 16, factor: 2}", "1, 2, 4, 8, 16"},
        {"{from: 1e-3, to: 1e3, factor: 100}", "0.001, 0.1, 10, 1000"},
        {"{from: 1.5, to: 6, factor: 1.5}", "1.5, 2.25, 3.375, 5.0625"},
        {"{from: 256 KiB, to: 4 MiB, factor: 2}", "256 KiB, 512 KiB, 1 MiB, 2 MiB, 4 MiB"},
        {"{from: 512 KiB, to: 1.5 MiB, step: 256 KiB}", "512 KiB, 768 KiB, 1 MiB, 1280 KiB, 1536 KiB"},
        {"{from: 1 GB/s, to: 4 GB/s, step: 1 GB/s}", "1 GB/s, 2 GB/s, 3 GB/s, 4 GB/s"},
        {"{from: 100 MB/s, to: 1 GB/s, step: 0.3 GB/s}", "100 MB/s, 400 MB/s, 700 MB/s, 1 GB/s"},
        {"{from: 8 Gbit/s, to: 3 GB/s, step: 1 GB/s}", "1 GB/s, 2 GB/s, 3 GB/s"}, /* 8 bit are a byte */
        {"{from: 0.1 pJ, to: 0.4pJ, step: 0.1 pJ}", "0.1 pJ, 0.2 pJ, 0.3 pJ, 0.4 pJ"},
        {"{from: 1 KiB, to: 1224 B, step: 100 B}", "1024 B, 1124 B, 1224 B"},
        {"{from: 1000 B, to: 4 KiB, factor: 2}", "1000 B, 2000 B, 4000 B"},
        {"{from: 30 min, to: 1.5 h, step: 15 min}", "30 min, 45 min, 1 h, 75 min, 90 min"},
        {"{from: 123456789012345678, to: 123456789012345679}", "123456789012345678, 123456789012345679"},
    };
    char joined[400];
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (expand(row[i][0], 100, joined, sizeof joined, &err) != DSE_OK)
            fail_msg("%s: %s", row[i][0], err.text);
        assert_string_equal(joined, row[i][1]);
    }
}

static void test_spec_range_says_what_is_wrong(void **state)
{
    static const char *const row[][2] = {
        {"{from: 5, to: 1}", "a step of 1 does not lead from 5 to 1"},
        {"{from: 1, to: 5, step: -1}", "a step of -1 does not lead from 1 to 5"},
        {"{from: 1, to: 5, step: 0}", "step 0 leads nowhere"},
        {"{from: 1, to: 5, step: 0.0}", "step 0 leads nowhere"},
        {"{from: 1, to: 5, factor: 1}", "factor 1 is not above 1"},
        {"{from: 1, to: 5, factor: 0.5}", "factor 0.5 is not above 1"},
        {"{from: 1, to: 5, factor: -2}", "factor -2 is not above 1"},
        {"{from: 0, to: 5, factor: 2}", "goes up from above 0; from is 0"},
        {"{from: 5, to: 1, factor: 2}", "goes up from above 0; from is 5, to is 1"},
        {"{from: 1, to: 5, factor: 2, step: 1}", "a step or a factor, not both"},
        {"{from: 1, to: 5, factor: 2 KiB}", "a factor has no unit"},
        {"{from: 1, to: 5 KiB, step: 1}", "from is in plain numbers, to in KiB"},
        {"{from: 1 KiB, to: 5 GB/s, factor: 2}", "from is in KiB, to in GB/s"},
        {"{from: 1 KiB, to: 5 KiB, step: 1}", "from is in KiB, step in plain numbers"},
        {"{from: 1 KiB, to: 5 KiB}", "say step or factor"},
        {"{from: 0.5, to: 3}", "say step or factor"},
        {"{from: 1 KX, to: 3 KX, step: 1 KX}", "from has the unknown unit \"KX\""},
        {"{from: a, to: 3}", "from \"a\" is no number"},
        {"{from: 1, to: 1234567890123456789}", "no number of at most 18 digits"},
        {"{from: 1, to: .}", "to \".\" is no number"},
        {"{from: 1}", "\"to\""},
        {"{to: 1}", "\"from\""},
        {"{from: 1, to: 2, stop: 3}", "\"stop\""},
        {"{from: [1], to: 2}", "from must be a single value"},
        {"{from: 1, to: 101}", "axis a has more than 100 values"},
        {"{from: 1, to: 1e17, step: 0.01}", "has more than 100 values"},
        {"{from: 1, to: 9, factor: 1.00001}", "more digits than can be counted"},
        {"{from: 1e-90, to: 1e90, factor: 10}", "more digits than can be counted"},
    };
    char joined[400];
    struct dse_error err;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        if (expand(row[i][0], 100, joined, sizeof joined, &err) != DSE_BAD_INPUT)
            fail_msg("%s: taken, %s", row[i][0], joined);
        if (!strstr(err.text, row[i][1]) || err.line != 1)
            fail_msg("%s: line %d: %s", row[i][0], err.line, err.text);
    }
}

static void test_spec_is_range_tells_named_lists(void **state)
{
    static const struct {
        const char *yaml;
        bool wanted;
    } row[] = {{"{from: 1, to: 2}", true}, {"{step: 1}", true},           {"{from: [], to: []}", false},
               {"[from, to]", false},      {"{CKP: [], PKC: []}", false}, {"from", false}};
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct yaml_doc doc;
        assert_int_equal(yaml_parse(&doc, "r.yaml", row[i].yaml, strlen(row[i].yaml), NULL), DSE_OK);
        assert_int_equal(spec_is_range(doc.root), row[i].wanted);
        yaml_doc_free(&doc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spec_range_is_the_list_by_hand),
        cmocka_unit_test(test_spec_range_says_what_is_wrong),
        cmocka_unit_test(test_spec_is_range_tells_named_lists),
    };
    return cmocka_run_group_tests_name("spec_range", tests, NULL, NULL);
}
