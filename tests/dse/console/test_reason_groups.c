/* Reasons in groups. Expected groups are what a person would call one cause; counts are of the loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "dse/console/reason_groups.h"

static struct reason_groups *new_groups(void)
{
    struct reason_groups *groups = calloc(1, sizeof *groups);
    assert_non_null(groups);
    return groups;
}

static void add(struct reason_groups *groups, const char *reason, uint64_t order)
{
    char place[32];
    struct reason_group *group = reason_groups_add(groups, RESULT_INFEASIBLE, reason, order);
    snprintf(place, sizeof place, "p=%u", (unsigned)order);
    if (group)
        reason_group_place(group, place);
}

static void expect_text(const struct reason_group *group, const char *wanted)
{
    struct text_buffer text;
    text_init(&text);
    reason_group_text(group, &text);
    assert_string_equal(text.data, wanted);
    text_free(&text);
}

static void test_reason_groups_fold_numbers_units_and_layers(void **state)
{
    (void)state;
    /* pairs of the same cause, and how the group is shown */
    static const char *const same[][3] = {
        {"layer conv1: RF needs 576 B, has 1 B", "layer conv4_0_c: RF needs 1.5 KiB, has 1 B",
         "layer *: RF needs *, has 1 B"},
        {"layer fc: no mapping was found", "layer embedding: no mapping was found",
         "layer *: no mapping was found"},
        {"nothing found in 1 candidate; x", "nothing found in 1,204 candidates; x",
         "nothing found in * candidate; x"},
        {"more than 1 GiB of memory", "more than 1 GiB of memory", "more than 1 GiB of memory"},
        {"a.yaml:12: PE.mesh 4x4 is odd", "a.yaml:7: PE.mesh 16x2 is odd", "a.yaml:*: PE.mesh * is odd"},
        {"cost 1e-09 below 2.5e+3", "cost 3 below 4", "cost * below *"},
        {"accounting a does not price architecture simba: simba has none",
         "accounting a does not price architecture k80: k80 has none",
         "accounting a does not price architecture *: * has none"},
        {"network a: layer b, pool, is none", "network c: layer d, pool, is none",
         "network *: layer *, pool, is none"},
        {"simba is no machine of one", "k80 is no machine of one", "* is no machine of one"},
        {"", "", ""},
    };
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        struct reason_groups *groups = new_groups();
        add(groups, same[i][0], 2);
        add(groups, same[i][1], 1);
        assert_int_equal(groups->n, 1);
        assert_int_equal(groups->group[0].n, 2);
        assert_string_equal(groups->group[0].place, "p=1"); /* the lowest order, though it came later */
        expect_text(&groups->group[0], same[i][2]);
        free(groups);
    }
    static const char *const other[][2] = {
        {"the engine crashed: SIGSEGV", "the engine crashed: SIGABRT"},
        {"RF needs 1 B", "GlobalBuffer needs 1 B"},
        {"layer a: RF needs 1 B", "layer a: RF has 1 B"},
        {"accounting a does not price architecture b", "accounting c does not price architecture b"},
    };
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        struct reason_groups *groups = new_groups();
        add(groups, other[i][0], 1);
        add(groups, other[i][1], 2);
        assert_int_equal(groups->n, 2);
        free(groups);
    }
}

/* A group is found by any of its reasons. */
static void test_reason_groups_find_a_reason(void **state)
{
    (void)state;
    struct reason_groups *groups = new_groups();
    add(groups, "layer conv1: RF needs 576 B", 0);
    add(groups, "other", 1);
    assert_ptr_equal(reason_groups_find(groups, RESULT_INFEASIBLE, "layer fc: RF needs 1 B"), groups->group);
    assert_ptr_equal(reason_groups_find(groups, RESULT_INFEASIBLE, "other"), groups->group + 1);
    assert_null(reason_groups_find(groups, RESULT_FAILED, "other"));
    assert_null(reason_groups_find(groups, RESULT_INFEASIBLE, "none"));
    free(groups);
}

static void test_reason_groups_keep_the_status_apart(void **state)
{
    (void)state;
    struct reason_groups *groups = new_groups();
    assert_non_null(reason_groups_add(groups, RESULT_TIMEOUT, "no", 0));
    assert_non_null(reason_groups_add(groups, RESULT_FAILED, "no", 0));
    assert_int_equal(groups->n, 2);
    assert_int_equal(groups->n_status[RESULT_TIMEOUT], 1);
    free(groups);
}

static void test_reason_groups_stay_small_and_keep_the_frequent(void **state)
{
    (void)state;
    enum { N_RARE = 1000, N_OFTEN = 500 };
    char reason[64];
    struct reason_groups *groups = new_groups();
    for (unsigned i = 0; i < N_RARE; i++) {
        /* letters only: another cause each */
        snprintf(reason, sizeof reason, "cause %c%c%c", 'a' + (char)(i / 100), 'a' + (char)(i / 10 % 10),
                 'a' + (char)(i % 10));
        add(groups, reason, i);
        if (i % 2 == 0)
            add(groups, "the common one", i);
    }
    reason_groups_sort(groups);
    assert_int_equal(groups->n, REASON_GROUP_MAX);
    assert_int_equal(groups->group[0].n, N_OFTEN);
    expect_text(&groups->group[0], "the common one");
    uint64_t n = groups->n_other;
    for (size_t i = 0; i < groups->n; i++)
        n += groups->group[i].n;
    assert_int_equal(n, N_RARE + N_OFTEN);
    free(groups);
}

static void test_reason_groups_take_any_text(void **state)
{
    (void)state;
    char text[3000];
    struct reason_groups *groups = new_groups();
    memset(text, '7', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    add(groups, text, 1);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = i % 2 ? ' ' : '8'; /* more numbers than slots */
    add(groups, text, 2);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        text[i] = (char)(1 + i * 37 % 255);
    add(groups, text, 3);
    add(groups, "layer : x", 4);
    add(groups, "layer", 5);
    add(groups, "line\nbreak", 6);
    struct text_buffer out;
    text_init(&out);
    reason_groups_print(groups, 2, "", &out);
    assert_int_equal(out.failed, 0);
    assert_non_null(strstr(out.data, "more with other reasons"));
    text_free(&out);
    free(groups);
}

static void test_reason_groups_print_a_line_each_with_an_example(void **state)
{
    (void)state;
    struct text_buffer out;
    struct reason_groups *groups = new_groups();
    text_init(&out);
    for (unsigned i = 0; i < 1200; i++)
        add(groups, "RF needs 2 B", i);
    add(groups, "no such thing", 7);
    add(groups, "never", 9);
    reason_groups_print(groups, 2, "  ", &out);
    assert_string_equal(out.data, "  1,200 infeasible  RF needs 2 B\n"
                                  "                    e.g. p=0\n"
                                  "      1 infeasible  never\n"
                                  "                    at p=9\n"
                                  "  1 more with other reasons: see the columns status and reason\n");
    text_free(&out);
    free(groups);
}

/* What is ok with a note comes behind what is not, however much there is of it. */
static void test_reason_groups_have_notes_last(void **state)
{
    (void)state;
    struct reason_groups *groups = new_groups();
    for (unsigned i = 0; i < 3; i++)
        (void)reason_groups_add(groups, RESULT_OK, "layer a: try another", i);
    (void)reason_groups_add(groups, RESULT_FAILED, "broken", 7);
    reason_groups_sort(groups);
    assert_int_equal(groups->group[0].status, RESULT_FAILED);
    assert_int_equal(groups->group[1].n, 3);
    free(groups);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reason_groups_fold_numbers_units_and_layers),
        cmocka_unit_test(test_reason_groups_find_a_reason),
        cmocka_unit_test(test_reason_groups_keep_the_status_apart),
        cmocka_unit_test(test_reason_groups_stay_small_and_keep_the_frequent),
        cmocka_unit_test(test_reason_groups_take_any_text),
        cmocka_unit_test(test_reason_groups_have_notes_last),
        cmocka_unit_test(test_reason_groups_print_a_line_each_with_an_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
