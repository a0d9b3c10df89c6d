/* What schedules have on the command line, of a format that is made up here: its options are set, what is
 * short for an accounting chooses it, and flags of other formats are refused.
 * Tests: schedule_input.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "dse/report/schedule_input.h"

static const struct engine_option color = {
    .name = "color", .unit = "", .kind = OPTION_INTEGER, .standard = 1, .lowest = 1, .highest = 9};

/* Takes every machine, and is never compiled. */
static const struct accounting plain = {.name = "plain", .kind = ACCOUNTING_SCHEDULE};
static const struct accounting fancy = {.name = "fancy", .kind = ACCOUNTING_SCHEDULE};

static const struct schedule_flag flags[] = {{"color", "N", "of its bars", NULL},
                                             {"plain", NULL, "short for it", &plain},
                                             {"fancy", NULL, "short for it", &fancy}};

/* What reached the format. */
struct seen {
    double color;
    const struct accounting *accounting;
};

static enum dse_status evaluate(const struct schedule_request *request, struct arena *arena, void **schedule,
                                struct dse_error *err)
{
    struct seen *seen = arena_alloc(arena, 1, sizeof *seen);
    *schedule = seen;
    if (seen)
        *seen = (struct seen){request->option[0], request->accounting};
    return arena_check(arena, "what was seen", err);
}

static const struct schedule_format drawing = {
    .name = "drawing",
    .key = "drawing",
    .option = &color,
    .n_option = 1,
    .flag = flags,
    .n_flag = 3,
    .evaluate = evaluate,
};

/* The options as the command line gives them; a name may be one of the registered formats' flags. */
static enum dse_status read(size_t n, const char *const name[][2], struct seen *seen, struct dse_error *err)
{
    struct schedule_request request = {.path = "a.yaml"};
    struct cli_args args = {.n_value = n};
    struct cli_option option[4];
    struct arena arena;
    void *found = NULL;
    arena_init(&arena);
    for (size_t i = 0; i < n; i++) {
        option[i] = (struct cli_option){.name = name[i][0]};
        args.value[i].option = &option[i];
        args.value[i].text = name[i][1];
    }
    enum dse_status status = schedule_input(&args, &drawing, &request, &arena, &found, err);
    if (status == DSE_OK)
        *seen = *(struct seen *)found;
    arena_free(&arena);
    return status;
}

static void test_flags_reach_the_format(void **state)
{
    struct seen seen;
    struct dse_error err = {0};
    (void)state;
    assert_int_equal(read(0, NULL, &seen, &err), DSE_OK);
    assert_true(isnan(seen.color));
    assert_null(seen.accounting);
    assert_int_equal(read(2, (const char *const[][2]){{"color", "7"}, {"fancy", NULL}}, &seen, &err), DSE_OK);
    assert_true(seen.color == 7);
    assert_ptr_equal(seen.accounting, &fancy);
    assert_int_equal(read(1, (const char *const[][2]){{"option", "color=3"}}, &seen, &err), DSE_OK);
    assert_true(seen.color == 3);
}

static void test_flags_that_contradict_are_refused(void **state)
{
    static const struct {
        const char *given[2][2];
        const char *text;
    } row[] = {
        {{{"plain", NULL}, {"fancy", NULL}},
         "--fancy is --accounting fancy, but --accounting plain is given as well"},
        {{{"accounting", "soma"}, {"plain", NULL}},
         "--plain is --accounting plain, but --accounting soma is given as well"},
        {{{"accounting", "timeloop"}, {"color", "2"}},
         "accounting timeloop prices mappings; a.yaml is a schedule"},
        {{{"color", "2"}, {"align", "64"}}, "--align is no option of a drawing"},
        {{{"color", "2"}, {"compat", NULL}}, "--compat is no option of a drawing"},
    };
    struct seen seen;
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct dse_error err = {0};
        assert_int_equal(read(2, row[i].given, &seen, &err), DSE_BAD_USAGE);
        assert_string_equal(err.text, row[i].text);
    }
}

/* Every flag of a registered format is one of its options, or short for an accounting of schedules. */
static void test_flags_of_registered_formats_mean_something(void **state)
{
    size_t n;
    const struct schedule_format *const *format = schedule_format_all(&n);
    (void)state;
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < format[f]->n_flag; i++) {
            const struct schedule_flag *flag = &format[f]->flag[i];
            size_t k = 0;
            while (k < format[f]->n_option && strcmp(format[f]->option[k].name, flag->name) != 0)
                k++;
            assert_true(flag->accounting ? flag->accounting->kind == ACCOUNTING_SCHEDULE && !flag->value
                                         : k < format[f]->n_option && flag->value);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flags_reach_the_format),
        cmocka_unit_test(test_flags_that_contradict_are_refused),
        cmocka_unit_test(test_flags_of_registered_formats_mean_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
