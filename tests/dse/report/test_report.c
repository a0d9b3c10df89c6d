/* The CSV reports of `dse eval` against Timeloop's own tables (tests/known/timeloop, whose README says how
 * they were made): every field is the same text, but for energies, which may differ in the last digits (1e-9
 * relative, as the issue allows).
 * Tests: report_csv.c, report_json.c, report_table.c. */
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "costmodel/loopnest/accounting_timeloop.h"
#include "costmodel/readers/readers.h"
#include "costmodel/timeloop/timeloop.h"
#include "dse/inputs/inputs.h"
#include "dse/report/mapping_report.h"

#define FOLDER "tests/known/timeloop/"

enum { FIELD_MAX = 16, CELL_MAX = 256, N_CASE = 130 };

struct one_case {
    char field[FIELD_MAX][CELL_MAX]; /* of cases.csv */
    struct problem problem;
    struct architecture arch;
    struct mapping mapping;
    struct evaluator *evaluator;
    struct arena arena;
    struct evaluation_detail detail;
};

/* Split one line without quoted commas; returns the number of fields. */
static int split(const char *line, size_t length, char field[FIELD_MAX][CELL_MAX])
{
    int n = 0;
    for (size_t from = 0; from <= length && n < FIELD_MAX; n++) {
        size_t to = from;
        while (to < length && line[to] != ',')
            to++;
        snprintf(field[n], CELL_MAX, "%.*s", (int)(to - from), line + from);
        from = to + 1;
    }
    return n;
}

static char *in_folder(const char *name, char *path, size_t size)
{
    snprintf(path, size, FOLDER "%s", name);
    return path;
}

static void load(struct one_case *c)
{
    char path[512];
    struct dse_error err = {0};
    arena_init(&c->arena);
    assert_int_equal(architecture_read(in_folder(c->field[1], path, sizeof path), &c->arch, &err), DSE_OK);
    assert_int_equal(problem_read(in_folder(c->field[2], path, sizeof path), &c->problem, &err), DSE_OK);
    assert_int_equal(
        mapping_read(in_folder(c->field[3], path, sizeof path), &c->problem, &c->arch, &c->mapping, &err),
        DSE_OK);
    assert_int_equal(evaluator_new(&accounting_timeloop, &c->problem, &c->arch, &c->evaluator, &err), DSE_OK);
    assert_int_equal(evaluator_detail(c->evaluator, &c->mapping, &c->arena, &c->detail, &err), DSE_OK);
    assert_int_equal(c->detail.total.fit.what, FITS);
}

static void unload(struct one_case *c)
{
    evaluator_delete(c->evaluator);
    arena_free(&c->arena);
}

static int is_energy(const char *column, const char *key)
{
    return strstr(column, "energy") != NULL || strncmp(key, "energy", 6) == 0;
}

static int same_field(const char *got, const char *want, int energy)
{
    if (strcmp(got, want) == 0)
        return 1;
    double expected = strtod(want, NULL);
    return energy && strchr(got, '.') && fabs(strtod(got, NULL) - expected) <= 1e-9 * fabs(expected);
}

/* The next line of the reference that the report must have, or NULL. */
static const char *next_wanted(const char *at)
{
    while (at && *at &&
           (strncmp(at, "mapping_origin,", 15) == 0 || strncmp(at, "energy_total_uJ_as_printed,", 27) == 0))
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    return at && *at ? at : NULL;
}

/* Compare line by line; returns how many fields differ and counts how many agree only within the
 * tolerance. */
static int compare(const char *name, const char *got, const char *want)
{
    char header[FIELD_MAX][CELL_MAX], g[FIELD_MAX][CELL_MAX], w[FIELD_MAX][CELL_MAX];
    int n_wrong = 0, n_header = split(want, strcspn(want, "\r\n"), header);
    while ((want = next_wanted(want)) != NULL) {
        size_t length = strcspn(got, "\n"), wanted = strcspn(want, "\r\n");
        int n = split(got, length, g);
        if (n != n_header || split(want, wanted, w) != n_header) {
            print_error("%s: %.*s, Timeloop has %.*s\n", name, (int)length, got, (int)wanted, want);
            return n_wrong + 1;
        }
        for (int i = 0; i < n; i++)
            if (!same_field(g[i], w[i], is_energy(header[i], w[0]))) {
                print_error("%s: %s of %s is %s, Timeloop has %s\n", name, header[i], w[0], g[i], w[i]);
                n_wrong++;
            }
        got += length + (got[length] == '\n');
        want += strcspn(want, "\n");
        want += *want == '\n';
    }
    return n_wrong + (*got != '\0'); /* surplus rows */
}

static int check_case(struct one_case *c)
{
    int n_wrong = 0;
    load(c);
    struct mapping_report report = {.problem = &c->problem, .arch = &c->arch, .detail = &c->detail};
    for (int kind = REPORT_LEVELS; kind <= REPORT_SUMMARY; kind++) {
        char path[512], *want;
        size_t length;
        struct text_buffer got;
        struct dse_error err = {0};
        assert_int_equal(
            input_file_text(in_folder(c->field[4 + kind], path, sizeof path), &want, &length, &err), DSE_OK);
        text_init(&got);
        report_csv(&report, (enum report_kind)kind, &got);
        n_wrong += compare(c->field[4 + kind], got.data, want);
        text_free(&got);
        free(want);
    }
    unload(c);
    return n_wrong;
}

/* Calls `check` for each accepted case (at most `most`); returns how many there were, adds up what it
 * returns. */
static int each_case(int (*check)(struct one_case *), int most, int *sum)
{
    char line[4096];
    int n = 0;
    FILE *file = fopen(FOLDER "cases.csv", "r");
    struct one_case *c = calloc(1, sizeof *c);
    assert_non_null(file);
    assert_non_null(c);
    assert_non_null(fgets(line, sizeof line, file));
    while (n < most && fgets(line, sizeof line, file)) {
        split(line, strcspn(line, "\r\n"), c->field);
        if (c->field[4][0] == '\0')
            continue;
        *sum += check(c);
        n++;
    }
    free(c);
    fclose(file);
    return n;
}

static void test_eval_report_csv_is_timeloops_for_all_cases(void **state)
{
    (void)state;
    int n_wrong = 0;
    assert_int_equal(each_case(check_case, N_CASE + 1, &n_wrong), N_CASE);
    assert_int_equal(n_wrong, 0);
}

static int check_json(struct one_case *c)
{
    struct dse_error err = {0};
    struct text_buffer text;
    load(c);
    struct mapping_report report = {.problem = &c->problem, .arch = &c->arch, .detail = &c->detail};
    size_t n_row = (size_t)c->arch.n_level * c->problem.n_tensor;
    for (int kind = REPORT_LEVELS; kind <= REPORT_SUMMARY; kind++) {
        text_init(&text);
        assert_int_equal(report_json(&report, (enum report_kind)kind, &text, &err), DSE_OK);
        json_t *root = json_loads(text.data, 0, NULL);
        assert_non_null(root);
        if (kind == REPORT_SUMMARY)
            assert_int_equal(json_integer_value(json_object_get(json_object_get(root, "summary"), "cycles")),
                             c->detail.total.cycle);
        else
            assert_int_equal(json_array_size(json_object_get(root, "rows")), n_row);
        json_decref(root);
        text_free(&text);
    }
    unload(c);
    return 0;
}

static void test_eval_report_json_parses_and_has_all_rows(void **state)
{
    (void)state;
    int sum = 0;
    assert_int_equal(each_case(check_json, 10, &sum), 10);
}

static int check_table(struct one_case *c)
{
    struct text_buffer text;
    load(c);
    struct mapping_report report = {.problem = &c->problem, .arch = &c->arch, .detail = &c->detail};
    for (int kind = REPORT_LEVELS; kind <= REPORT_SUMMARY; kind++) {
        text_init(&text);
        report_table(&report, (enum report_kind)kind, &text);
        assert_int_equal(text.failed, 0);
        assert_non_null(strstr(text.data, c->arch.level[0].name));
        text_free(&text);
    }
    unload(c);
    return 0;
}

static void test_eval_report_table_names_the_levels(void **state)
{
    (void)state;
    int sum = 0;
    assert_int_equal(each_case(check_table, 10, &sum), 10);
}

static void test_eval_report_numbers_have_a_point(void **state)
{
    (void)state;
    char text[40];
    assert_string_equal(report_number(458752, text, sizeof text),
                        "458752.0"); /* as Timeloop's tables print it */
    assert_string_equal(report_number(0, text, sizeof text), "0.0");
    assert_string_equal(report_number(0.1, text, sizeof text), "0.1");
    assert_string_equal(report_number(NAN, text, sizeof text), "nan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eval_report_csv_is_timeloops_for_all_cases),
        cmocka_unit_test(test_eval_report_json_parses_and_has_all_rows),
        cmocka_unit_test(test_eval_report_table_names_the_levels),
        cmocka_unit_test(test_eval_report_numbers_have_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
